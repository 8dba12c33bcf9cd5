//! `mainspring schema`: what a workflow file may hold, for editors.

use crate::exit::Exit;
use crate::out;
use anyhow::Result;
use mainspring_core::spec::format;

pub fn schema() -> Result<Exit> {
    out::raw((serde_json::to_string_pretty(&format::schema())? + "\n").as_bytes());
    Ok(Exit::Success)
}
