//! The checkout this command was started from: its root, its files, and cargo in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The root of the checkout. Asked of the environment, not fixed at compile time: worktrees
/// that share a target directory also share this binary.
pub fn root() -> Result<PathBuf> {
    let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest_dir) => PathBuf::from(manifest_dir),
        None => std::env::current_dir().context("the current directory is gone")?,
    };
    start
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file())
        .map(Path::to_path_buf)
        .with_context(|| format!("no Cargo.lock in {} or above it", start.display()))
}

/// Every file git tracks or would track, relative to `root`, in order.
pub fn files(root: &Path) -> Result<BTreeSet<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("could not start git, which knows the files of this checkout")?;
    if !output.status.success() {
        bail!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let listed = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let present = |path: &&str| !path.is_empty() && root.join(path).is_file();
    Ok(listed.split('\0').filter(present).map(str::to_owned).collect())
}

/// Where cargo puts what it builds: this program is there.
pub fn target_folder() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program has no place")?;
    let folder = own.parent().and_then(Path::parent).map(Path::to_path_buf);
    folder.with_context(|| format!("{} is not in a target directory", own.display()))
}

/// A command of the cargo that started this one, in `root`. It is not told what that one says of
/// this package: build scripts that ask for such variables, as ring's does, would run again whenever
/// a person and this program take turns, and with them all that is built on ring.
pub fn cargo(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command
}
