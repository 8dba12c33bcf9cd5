//! A copy of the workspace to break things in, with a target directory of its own: the
//! dependencies are built once, and after a change only the rooms that it touches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::mutant::{self, Mutant};
use super::switch;
use crate::checkout;

pub struct Tree {
    copy: PathBuf,
    target: PathBuf,
}

impl Tree {
    /// Brings the copy up to date, with every breakage behind its switch. Files that are the
    /// same are left alone, and with them what was built from them.
    pub fn new(original: &Path) -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| original.join("target"), PathBuf::from)
            .join("mutants");
        let tree = Self { copy: target.join("tree"), target: target.join("build") };
        let broken = broken_files(original)?;
        for path in checkout::files(original)? {
            if !broken.contains_key(path.as_str()) {
                tree.write(&path, &read(original, &path)?)?;
            }
        }
        for (path, text) in broken {
            tree.write(path, text.as_bytes())?;
        }
        Ok(tree)
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

    /// Builds the simulator with all breakages in it, and says where it is.
    pub fn build(&self) -> Result<PathBuf> {
        let args = ["build", "--quiet", "--package", "mainspring-testkit", "--bin", "sim"];
        let built = checkout::cargo(&self.copy, &args)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", "--cap-lints=allow")
            // Nobody debugs a mutant, and linking is quicker without.
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .status()
            .context("could not start cargo")?;
        if !built.success() {
            bail!("a mutant does not compile; the copy is {}", self.copy.display());
        }
        Ok(self.target.join("debug").join("sim"))
    }
}

fn read(original: &Path, path: &str) -> Result<Vec<u8>> {
    std::fs::read(original.join(path)).with_context(|| format!("could not read {path}"))
}

/// Every file that differs from the original, as it is in the copy.
fn broken_files(original: &Path) -> Result<BTreeMap<&'static str, String>> {
    let text = |path| String::from_utf8(read(original, path)?).context(path);
    let mut by_file: BTreeMap<&'static str, Vec<&Mutant>> = BTreeMap::new();
    for mutant in mutant::all() {
        by_file.entry(mutant.file).or_default().push(mutant);
    }
    let mut files = BTreeMap::from([
        (switch::FILE, switch::source()),
        (switch::LIB, switch::declared(&text(switch::LIB)?)),
    ]);
    for (file, mutants) in by_file {
        let broken = switch::applied(file, &text(file)?, &mutants);
        files.insert(file, broken.map_err(anyhow::Error::msg)?);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::{Block, Pat, Stmt};

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace")
    }

    #[test]
    fn every_mutant_has_its_place_in_the_source() {
        let files = broken_files(root()).unwrap_or_else(|stale| panic!("{stale:#}"));
        for mutant in mutant::all() {
            let switch = format!("mutant::is(\"{}\")", mutant.name);
            assert!(files[mutant.file].contains(&switch), "{} is not there", mutant.name);
            assert_ne!(mutant.passage(), mutant.new, "{} changes nothing", mutant.name);
        }
    }

    /// Half a statement has no switch before it. What only a build shows is left to the hunt.
    #[test]
    fn every_mutant_is_an_expression_or_whole_statements() {
        for mutant in mutant::all() {
            let Mutant { name, file, new, .. } = mutant;
            let text = std::fs::read_to_string(root().join(file)).expect("it has its place");
            let switched = switch::applied(file, &text, &[mutant]).expect("it has its place");
            if let Err(error) = syn::parse_file(&switched) {
                panic!("{name}: not with a switch before it: {error}");
            }
            for passage in [mutant.passage(), new] {
                let block: Block = syn::parse_str(&format!("{{ {passage} }}")).expect("it parses");
                assert!(!ends_with_a_binding(&block), "{name}: nobody sees what it binds");
            }
        }
    }

    fn ends_with_a_binding(block: &Block) -> bool {
        match block.stmts.last() {
            Some(Stmt::Local(local)) => !matches!(local.pat, Pat::Wild(_)),
            _ => false,
        }
    }
}
