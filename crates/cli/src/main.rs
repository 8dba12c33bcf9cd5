//! The program `mainspring`: knows command lines, the environment, terminals and exit codes.
//! Decides nothing about runs: that is asked of the engine.

mod exit;
mod args;
mod out;
mod terminal;
mod limits;
mod source;
mod draw;
mod pages;
mod inputs;
mod data;
mod masked;
mod find;
mod time_text;
mod table;
mod print;
mod fan;
mod client;
mod signals;
mod progress;
mod summary;
mod executors;
mod git_merge;
mod embedded;
mod remote;
mod server;
mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
