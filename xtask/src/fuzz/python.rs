//! A Python environment of our own under the target directory, with the versions of
//! `requirements.txt` and nothing of the machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::checkout::target_folder;
use crate::tools::install_debian;

const REQUIREMENTS: &str = "xtask/fuzz/requirements.txt";

fn folder() -> Result<PathBuf> {
    Ok(target_folder()?.join("fuzz-python"))
}

/// A program of the environment.
pub fn program(name: &str) -> Result<PathBuf> {
    Ok(folder()?.join("bin").join(name))
}

/// Makes the environment unless it is there with these versions.
pub fn install(root: &Path) -> Result<()> {
    let wanted = fs::read_to_string(root.join(REQUIREMENTS))
        .with_context(|| format!("could not read {REQUIREMENTS}"))?;
    let folder = folder()?;
    // Written last: an installation that was cut off is made again.
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    eprintln!("making a Python environment for the fuzzer, once");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("could not remove the old Python environment")?;
    }
    make(&folder)?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    let status = Command::new(folder.join("bin/python"))
        .args(pip)
        .arg(root.join(REQUIREMENTS))
        .status()
        .context("could not start pip")?;
    if !status.success() {
        bail!(
            "pip could not install {REQUIREMENTS} (see above): the fuzzer comes from the Python \
             package index, which has to be within reach once"
        );
    }
    fs::write(&stamp, wanted).context("could not write into the Python environment")
}

fn make(folder: &Path) -> Result<()> {
    if venv(folder) {
        return Ok(());
    }
    // Debian has the module in a package of its own.
    if install_debian("python3-venv") && venv(folder) {
        return Ok(());
    }
    bail!(
        "the fuzzer needs Python 3.10 or newer with its module venv: on Debian \
         `sudo apt-get install python3-venv`, elsewhere so that `python3 -m venv` works"
    )
}

fn venv(folder: &Path) -> bool {
    let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder).status();
    made.is_ok_and(|status| status.success())
}
