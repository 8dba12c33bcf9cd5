//! What a stranger gets: a fresh clone of HEAD, with nothing of this checkout in reach.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Clones HEAD and runs `.ci/run` in the clone. A failed clone is left for a look at it.
pub fn run(root: &Path) -> Result<()> {
    let clone = std::env::temp_dir().join(format!("mainspring-clone-{}", std::process::id()));
    eprintln!("==> clone of HEAD in {}", clone.display());
    let cloned = Command::new("git")
        .args(["clone", "--quiet", "--no-hardlinks"])
        .args([root, &clone])
        .status()
        .context("could not start git")?;
    if !cloned.success() {
        bail!("git clone failed");
    }
    let passed = Command::new("bash")
        .arg(".ci/run")
        .current_dir(&clone)
        .env_remove("CARGO_TARGET_DIR")
        .status()
        .context("could not start bash")?;
    if !passed.success() {
        bail!(".ci/run failed; the clone is kept in {}", clone.display());
    }
    std::fs::remove_dir_all(&clone).with_context(|| format!("could not remove {}", clone.display()))
}
