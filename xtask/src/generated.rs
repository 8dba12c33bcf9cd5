//! Files that come from code. A program of testkit prints them, so that xtask itself depends
//! on no room.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::checkout::cargo;

/// Each file, and the program that prints it.
const FILES: &[(&str, &str)] = &[("docs/states.md", "states")];

pub fn write(root: &Path) -> Result<()> {
    for (path, program) in FILES {
        let text = print(root, program)?;
        let to = root.join(path);
        let folder = to.parent().context("a file has a folder")?;
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&to, text))
            .with_context(|| format!("could not write {path}"))?;
        eprintln!("wrote {path}");
    }
    Ok(())
}

pub fn check(root: &Path) -> Result<()> {
    for (path, program) in FILES {
        let stored = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        if stored != print(root, program)? {
            bail!("{path} is not what the code says: run `cargo xtask gen`");
        }
    }
    Ok(())
}

fn print(root: &Path, program: &str) -> Result<String> {
    let args = ["run", "--quiet", "--package", "mainspring-testkit", "--bin", program];
    let output = cargo(root, &args)
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("could not start cargo")?;
    if !output.status.success() {
        bail!("the program '{program}' of testkit failed ({})", output.status);
    }
    String::from_utf8(output.stdout).context("what it printed is not UTF-8")
}
