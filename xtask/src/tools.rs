//! What the other steps need, installed when it is missing. Debian packages: none so far;
//! the C compiler that SQLite is built with is the linker that Rust already needs.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::checkout::cargo;

/// The version that is installed where there is none; any other that is present will do.
const NEXTEST_VERSION: &str = "0.9.143";

/// What runs the tests and counts them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Runner {
    Nextest,
    /// Where nextest cannot be had: the same tests, one closing line per test binary.
    CargoTest,
}

/// Makes sure that format, clippy and a test runner are there.
pub fn install(root: &Path) -> Result<()> {
    for component in ["rustfmt", "clippy"] {
        let subcommand = if component == "rustfmt" { "fmt" } else { "clippy" };
        if !is_present(root, subcommand) {
            add_component(component)?;
        }
    }
    if runner(root) == Runner::Nextest {
        return Ok(());
    }
    eprintln!("cargo-nextest is missing: installing {NEXTEST_VERSION}, once, some minutes");
    let args = ["install", "--locked", "cargo-nextest", "--version", NEXTEST_VERSION];
    let status = cargo(root, &args).status().context("could not start cargo install")?;
    if !status.success() {
        eprintln!(
            "cargo-nextest could not be installed (see above): the tests will run under plain \
             `cargo test`, which prints one `test result` line per test binary"
        );
    }
    Ok(())
}

/// The test runner of this machine as it is now.
pub fn runner(root: &Path) -> Runner {
    if is_present(root, "nextest") { Runner::Nextest } else { Runner::CargoTest }
}

fn is_present(root: &Path, subcommand: &str) -> bool {
    cargo(root, &[subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn add_component(component: &str) -> Result<()> {
    let status = std::process::Command::new("rustup")
        .args(["component", "add", component])
        .status()
        .with_context(|| format!("{component} is missing, and so is rustup to install it"))?;
    if !status.success() {
        bail!("rustup could not install {component}");
    }
    Ok(())
}
