//! Simulated worlds, played by testkit's own program.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::checkout::{cargo, target_folder};

/// As the tests of the whole workspace build it: any other choice of packages means other features
/// of what they have in common, and builds all of that once more. The simulator comes with the test
/// of its name. The dev profile serves it well: it is optimised (level 1), and keeps overflow checks.
const BUILD: &[&str] = &["test", "--quiet", "--workspace", "--no-run", "--test", "sim"];

/// Builds the simulator and hands it the options.
pub fn run(root: &Path, options: &[String]) -> Result<()> {
    let built = cargo(root, BUILD).status().context("could not start cargo")?;
    if !built.success() {
        bail!("the simulator could not be built ({built})");
    }
    let sim = target_folder()?.join("debug").join("sim");
    let mut command = Command::new(&sim);
    let status = command
        .args(options)
        .status()
        .with_context(|| format!("could not start {}", sim.display()))?;
    if !status.success() {
        bail!("the simulator ended with {status}");
    }
    Ok(())
}
