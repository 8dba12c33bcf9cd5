//! `mainspring completions`: a script for a shell.

use crate::args::{Cli, CompletionsArgs};
use crate::exit::Exit;
use crate::out;
use anyhow::Result;
use clap::CommandFactory as _;

pub fn completions(args: &CompletionsArgs) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mainspring", &mut script);
    out::raw(&script);
    Ok(Exit::Success)
}
