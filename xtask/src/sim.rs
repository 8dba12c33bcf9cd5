//! Simulated worlds, played by testkit's own program.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::checkout::cargo;

// The dev profile: it is built already for the tests, is optimised (level 1), and keeps
// overflow checks.
const SIM: &[&str] = &["run", "--quiet", "--package", "mainspring-testkit", "--bin", "sim", "--"];

/// Builds the simulator and hands it the options.
pub fn run(root: &Path, options: &[String]) -> Result<()> {
    let status = cargo(root, SIM).args(options).status().context("could not start cargo")?;
    if !status.success() {
        bail!("the simulator ended with {status}");
    }
    Ok(())
}
