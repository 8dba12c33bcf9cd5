//! The project's own commands. `cargo xtask test` is the one door: what it lets through is
//! what the project accepts, on any machine.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for the terminal: what it prints is its whole output"
)]

mod bench;
mod checkout;
mod clean_clone;
mod door;
mod fuzz;
mod generated;
mod mutants;
mod page;
mod sim;
mod tidy;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Commands for working on Mainspring")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Format, clippy, tidy and every test; stops at the first step that fails
    Test {
        /// Run this step alone
        #[arg(long, value_name = "STEP")]
        only: Option<door::Step>,
    },
    /// Check the house rules that no compiler knows
    Tidy,
    /// Play simulated worlds: `--seeds N [--from SEED] [--minutes M] [--covered]` plays many,
    /// `--seed SEED` tells the story of one
    Sim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Break core and engine on purpose, one breakage at a time, and see each noticed
    Mutants {
        /// Worlds in which each has to be noticed
        #[arg(long, default_value_t = 50_000)]
        seeds: u64,
        /// Only those with this in their name
        #[arg(long)]
        named: Option<String>,
    },
    /// Ask a real server whatever its OpenAPI file allows and forbids, and check every answer
    Fuzz(fuzz::rounds::Args),
    /// Write the files that come from code: docs/states.md
    Gen,
    /// Take the pictures of the page that the documents show, with the page's own tests
    Pictures,
    /// Measure what it costs, beside what the machine can do
    Bench(bench::Args),
    /// Clone HEAD into a temporary folder and run `.ci/run` there, from a cold cache
    CleanClone,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    let root = checkout::root()?;
    match &args.command {
        Command::Test { only: None } => door::pass(&root),
        Command::Test { only: Some(step) } => door::run(&root, *step).map(drop),
        Command::Bench(args) => bench::run(&root, args),
        Command::Fuzz(args) => fuzz::rounds::run(&root, args),
        Command::Tidy => tidy::report::run(&root),
        Command::Sim { options } => sim::run(&root, options),
        Command::Mutants { seeds, named } => mutants::hunt::run(&root, *seeds, named.as_deref()),
        Command::Gen => generated::write(&root),
        Command::Pictures => page::pictures(&root),
        Command::CleanClone => clean_clone::run(&root),
    }
}
