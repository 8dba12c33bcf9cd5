//! Files that come from code. A program of testkit prints them, so that xtask itself depends
//! on no room. That they are current is a test of testkit, which needs no build of its own.

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
