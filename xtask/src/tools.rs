//! What the other steps need, installed when it is missing. Debian packages: `postgresql`, whose
//! programs the tests start for themselves, `python3-venv` for the fuzzer, `nodejs`, `npm` and
//! `chromium` for the page; the C compiler that SQLite is built with is the linker that Rust already
//! needs.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::checkout::cargo;
use crate::fuzz::python;
use crate::page;

/// The version that is installed where there is none; any other that is present will do.
const NEXTEST_VERSION: &str = "0.9.143";

/// What runs the tests and counts them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Runner {
    Nextest,
    /// Where nextest cannot be had: the same tests, one closing line per test binary.
    CargoTest,
}

/// Makes sure that format, clippy, PostgreSQL and a test runner are there.
pub fn install(root: &Path) -> Result<()> {
    install_postgres()?;
    python::install(root)?;
    page::install()?;
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

/// Where Debian has its programs: one folder for each major version, none of them on PATH.
const POSTGRES_INSTALLED: &str = "/usr/lib/postgresql";

fn install_postgres() -> Result<()> {
    if has_postgres() {
        return Ok(());
    }
    if install_debian("postgresql") && has_postgres() {
        return Ok(());
    }
    bail!(
        "the tests start a PostgreSQL of their own, and its programs are not here: install \
         version 15 or later, on Debian with `sudo apt-get install postgresql`, elsewhere so \
         that `postgres` and `initdb` are on PATH"
    )
}

/// Whether a Debian package could be installed, which takes Debian and root.
pub fn install_debian(package: &str) -> bool {
    eprintln!("installing the Debian package {package}");
    ["update", "install"].iter().all(|verb| {
        let mut apt = Command::new("apt-get");
        apt.args(["--yes", "--quiet", verb]).env("DEBIAN_FRONTEND", "noninteractive");
        if *verb == "install" {
            apt.args(["--no-install-recommends", package]);
        }
        apt.status().is_ok_and(|status| status.success())
    })
}

fn has_postgres() -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&paths)
        .any(|folder| ["postgres", "initdb"].iter().all(|program| folder.join(program).is_file()));
    let versions = std::fs::read_dir(POSTGRES_INSTALLED).into_iter().flatten().flatten();
    on_path || versions.map(|entry| entry.path()).any(|path| path.join("bin/initdb").is_file())
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
