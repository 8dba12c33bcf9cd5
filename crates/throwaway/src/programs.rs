//! Where PostgreSQL's programs are, and as whom they run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian has them: one folder for each major version.
const INSTALLED: &str = "/usr/lib/postgresql";
/// PostgreSQL refuses to run as root. The first of these that exists will do.
const UNPRIVILEGED: &[&str] = &["postgres", "nobody"];

/// A command of PostgreSQL's that runs as somebody else than root.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(path_of(program));
    // What people set for their own servers is not for this one.
    for name in ["PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGPASSWORD", "PGOPTIONS", "PGDATA"] {
        command.env_remove(name);
    }
    if let Some((uid, gid)) = unprivileged() {
        command.uid(uid).gid(gid).current_dir("/");
    }
    command
}

/// The user that stands in for root; None when this process is not root.
pub fn unprivileged() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("there is a list of users");
    let found = UNPRIVILEGED.iter().find_map(|name| ids_of(&users, name));
    Some(found.expect("there is a user postgres or nobody to run PostgreSQL as"))
}

fn ids_of(users: &str, name: &str) -> Option<(u32, u32)> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        match fields[..] {
            [user, _, uid, gid, ..] if user == name => Some((uid.parse().ok()?, gid.parse().ok()?)),
            _ => None,
        }
    })
}

/// Beside `postgres` on the path, else in the folder of the newest version; what is not
/// PostgreSQL's own, wherever it is.
fn path_of(program: &str) -> PathBuf {
    if program == "openssl" {
        return program.into();
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&paths)
        .map(|folder| folder.join("postgres"))
        .find(|path| path.is_file())
        .and_then(|path| fs::canonicalize(path).ok())
        .and_then(|path| path.parent().map(Path::to_owned));
    let folder = on_path.filter(|folder| folder.join("initdb").is_file()).or_else(newest);
    let folder = folder.unwrap_or_else(|| {
        panic!("PostgreSQL is not installed: `apt-get install postgresql`, or put it on PATH")
    });
    folder.join(program)
}

fn newest() -> Option<PathBuf> {
    let versions = fs::read_dir(INSTALLED).ok()?.flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| path.file_name().and_then(OsStr::to_str)?.parse::<u32>().ok();
    let newest = versions.filter(|path| path.join("bin/initdb").is_file()).max_by_key(number)?;
    Some(newest.join("bin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_whole_name() {
        let users = "postgres2:x:7:8::/:/bin/sh\nnobody:x:65534:65533:a:/:/bin/sh\n";
        assert_eq!(ids_of(users, "nobody"), Some((65_534, 65_533)));
        assert_eq!(ids_of(users, "postgres"), None);
    }
}
