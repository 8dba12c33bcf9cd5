//! Commands that make a new run of a former one, or more of a live one.

use super::{Format, PlaceArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct RerunArgs {
    /// A run that has ended: its id, the beginning of it, or `last`
    pub run: String,
    /// Run this task again and everything below it; what else had succeeded is copied [default:
    /// everything runs again]
    #[arg(long, value_name = "TASK")]
    pub from: Option<String>,
    /// With the workflow's latest version [default: with that of the run]
    #[arg(long)]
    pub latest: bool,
    /// However often it is asked for with this key, there is one new run
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Wait until the new run has ended
    #[arg(long)]
    pub wait: bool,
    /// Wait, and show progress
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}

#[derive(Debug, Args)]
pub struct AddArgs {
    /// Its id, the beginning of it, or `last`
    pub run: String,
    /// A file with `tasks:` and nothing else, as in a workflow; `-` is stdin
    pub file: PathBuf,
    /// However often it is asked for with this key, the tasks are added once
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub output: Format,
}
