//! The data folder: there, and ours.

use super::Finding;
use crate::masked;
use rustix::fs::{Access, access};
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

pub fn folder(path: &Path) -> Finding {
    const CHECK: &str = "data folder";
    let shown = path.display();
    let found = match path.metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Finding::ok(CHECK, format!("{shown} is not there yet: the first run makes it"));
        }
        Err(error) => {
            let to_do = "make it readable, or name another folder with --data";
            return Finding::problem(CHECK, format!("{shown}: {error}"), to_do);
        }
    };
    if !found.is_dir() {
        let to_do = "name a folder with --data";
        return Finding::problem(CHECK, format!("{shown} is not a folder"), to_do);
    }
    if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        let to_do = "run as its owner, or name another folder with --data";
        return Finding::problem(CHECK, format!("{shown} cannot be written: {error}"), to_do);
    }
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let to_do = format!("chmod 700 {shown}");
        let found = format!("{shown} can be opened by others (mode {mode:o})");
        return Finding::warning(CHECK, found, to_do);
    }
    Finding::ok(CHECK, shown.to_string())
}

/// Who is at work in it.
pub fn holder(path: &Path) -> Option<Finding> {
    const CHECK: &str = "at work";
    let mut lock = File::open(path.join("lock")).ok()?;
    match lock.try_lock_shared() {
        Ok(()) => Some(Finding::ok(CHECK, "nobody: the folder is free")),
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            lock.read_to_string(&mut pid).ok()?;
            let pid = pid.trim();
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            let words = masked::command_line(line.trim_end_matches('\0').split('\0'));
            Some(Finding::ok(CHECK, format!("process {pid}: {words}")))
        }
        Err(TryLockError::Error(error)) => {
            let to_do = "use a file system with locks: two programs could work here at once";
            Some(Finding::problem(CHECK, format!("the lock cannot be tried: {error}"), to_do))
        }
    }
}
