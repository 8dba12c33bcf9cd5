//! Builds the benchmarks as they have to be built, and runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::checkout::{cargo, target_folder};

/// What to measure, and where to put it beside the terminal.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// memory, chain, processes, fanout, start, approvals, foreach, http; all of them if none is named
    workloads: Vec<String>,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Rounds of each measurement
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
}

/// The benchmarks, and the program, which some of them measure as people run it. In one go: two
/// would differ in the features of what both depend on, and build all of that twice.
const BUILD: &[&str] = &[
    "build",
    "--release",
    "--package",
    "mainspring",
    "--package",
    "mainspring-testkit",
    "--features",
    "mainspring/bench,mainspring-testkit/bench",
    "--bin",
    "mainspring",
    "--bin",
    "bench",
];

/// Prints what was measured; judging it is for people.
pub fn run(root: &Path, args: &Args) -> Result<()> {
    let built = cargo(root, BUILD).status().context("could not start cargo")?;
    if !built.success() {
        bail!("the benchmarks could not be built ({built})");
    }
    let mut command = Command::new(target_folder()?.join("release").join("bench"));
    command.args(&args.workloads).current_dir(root);
    if let Some(file) = &args.json {
        // It runs in the root of the checkout, we may not.
        let file = std::path::absolute(file).context("no such place for the figures")?;
        command.arg("--json").arg(file);
    }
    if let Some(rounds) = args.rounds {
        command.args(["--rounds", &rounds.to_string()]);
    }
    let status = command.status().context("could not start the benchmarks")?;
    if !status.success() {
        bail!("the benchmarks failed ({status})");
    }
    Ok(())
}
