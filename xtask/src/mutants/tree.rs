//! A copy of the workspace to break things in, with a target directory of its own: the
//! dependencies are built once, and a breakage costs only the rooms above it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::mutant::Mutant;
use crate::checkout;

pub struct Tree {
    original: PathBuf,
    copy: PathBuf,
    target: PathBuf,
}

impl Tree {
    /// Brings the copy up to date. Files that are the same are left alone, and with them
    /// what was built from them.
    pub fn new(original: &Path) -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| original.join("target"), PathBuf::from)
            .join("mutants");
        let copy = target.join("tree");
        let tree = Self { original: original.to_path_buf(), copy, target: target.join("build") };
        for path in checkout::files(original)? {
            tree.restore(&path)?;
        }
        Ok(tree)
    }

    fn restore(&self, path: &str) -> Result<()> {
        let text = std::fs::read(self.original.join(path))
            .with_context(|| format!("could not read {path}"))?;
        self.write(path, &text)
    }

    fn write(&self, path: &str, text: &[u8]) -> Result<()> {
        let to = self.copy.join(path);
        if std::fs::read(&to).is_ok_and(|known| known == text) {
            return Ok(());
        }
        let folder = to.parent().context("a file has a folder")?;
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&to, text))
            .with_context(|| format!("could not write {}", to.display()))
    }

    /// Builds the simulator with a breakage in it. The copy is whole again afterwards.
    pub fn build(&self, mutant: Option<&Mutant>) -> Result<PathBuf> {
        if let Some(mutant) = mutant {
            let text = std::fs::read_to_string(self.original.join(mutant.file))
                .with_context(|| format!("could not read {}", mutant.file))?;
            let broken = mutant.applied(&text).map_err(anyhow::Error::msg)?;
            self.write(mutant.file, broken.as_bytes())?;
        }
        let args = ["build", "--quiet", "--package", "mainspring-testkit", "--bin", "sim"];
        let built = checkout::cargo(&self.copy, &args)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", "--cap-lints=allow")
            .status()
            .context("could not start cargo")?;
        if let Some(mutant) = mutant {
            self.restore(mutant.file)?;
        }
        if !built.success() {
            bail!("{} does not compile", mutant.map_or("the copy", |mutant| mutant.name));
        }
        Ok(self.target.join("debug").join("sim"))
    }
}
