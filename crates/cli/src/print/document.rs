//! One document on stdout.

use super::tree::Tree;
use super::yaml;
use crate::args::Format;
use crate::out;
use anyhow::Result;
use serde::Serialize;

/// Prints a value as JSON or YAML; as a table it is whatever `drawn` makes of it.
pub fn document(
    format: Format,
    value: &impl Serialize,
    drawn: impl FnOnce() -> Result<String>,
) -> Result<()> {
    match format {
        Format::Table => out::result(&drawn()?),
        Format::Json => out::result(&(serde_json::to_string_pretty(value)? + "\n")),
        Format::Yaml => out::result(&yaml::text(&Tree::of(value)?)),
    }
    Ok(())
}
