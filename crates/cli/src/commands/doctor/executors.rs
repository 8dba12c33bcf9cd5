//! What tasks are carried out with: a shell, a folder to begin in, git.

use super::Finding;
use rustix::fs::{Access, access};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

const CHECK: &str = "executors";
/// Carries out `run`.
const SHELL: &str = "/bin/sh";

pub fn executors(workdir: &Path) -> Finding {
    if let Err(error) = access(SHELL, Access::EXEC_OK) {
        let to_do = "install a shell there: tasks with `run` need it";
        return Finding::problem(CHECK, format!("{SHELL} cannot be run: {error}"), to_do);
    }
    let shown = workdir.display();
    let to_do = "make it, or name another with --workdir: processes begin there";
    match workdir.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Finding::problem(CHECK, format!("{shown} is not there"), to_do);
        }
        Err(error) => return Finding::problem(CHECK, format!("{shown}: {error}"), to_do),
        Ok(found) if !found.is_dir() => {
            return Finding::problem(CHECK, format!("{shown} is not a folder"), to_do);
        }
        Ok(_) => {}
    }
    // A task may have nothing to write there.
    if let Err(error) = access(workdir, Access::WRITE_OK | Access::EXEC_OK) {
        let to_do = "let whoever runs the server write there, or name another with --workdir";
        return Finding::warning(CHECK, format!("{shown} cannot be written: {error}"), to_do);
    }
    Finding::ok(CHECK, format!("{SHELL}; {}; processes begin in {shown}", git()))
}

fn git() -> String {
    let asked = Command::new("git").arg("--version").stdin(Stdio::null()).output();
    match asked {
        Ok(said) if said.status.success() => {
            String::from_utf8_lossy(&said.stdout).lines().next().unwrap_or("git").to_owned()
        }
        _ => "no git, which only workspaces and merges need".to_owned(),
    }
}
