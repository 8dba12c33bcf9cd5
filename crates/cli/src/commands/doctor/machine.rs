//! What the machine gives: room on the disk, files that may be open.

use super::Finding;
use crate::print::size;
use rustix::fs::statvfs;
use rustix::process::{Resource, getrlimit};
use std::path::Path;

/// Below this the next run may fail.
const SPACE_LOW_BYTES: u64 = 100 * MIB;
const SPACE_SCANT_BYTES: u64 = 1024 * MIB;
const INODES_LOW: u64 = 1_000;
/// Three for each process that runs, and some hundred of our own.
const OPEN_FILES_SCANT: u64 = 4_096;
const MIB: u64 = 1024 * 1024;

pub fn disk_space(folder: &Path) -> Finding {
    const CHECK: &str = "disk space";
    // The folder may not be there yet: then it will be where its parent is.
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let Some(found) = absolute.ancestors().find_map(|path| statvfs(path).ok()) else {
        return Finding::warning(CHECK, "it cannot be found out", "look with `df`");
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let to_do = "free some space, or name a folder on another disk with --data";
    let shown = format!("{} free", size(free));
    // Some file systems have no such limit and say 0 of 0.
    if found.f_files > 0 && found.f_favail < INODES_LOW {
        return Finding::problem(CHECK, format!("room for {} files", found.f_favail), to_do);
    }
    match free {
        free if free < SPACE_LOW_BYTES => Finding::problem(CHECK, shown, to_do),
        free if free < SPACE_SCANT_BYTES => Finding::warning(CHECK, shown, to_do),
        _ => Finding::ok(CHECK, shown),
    }
}

pub fn open_files() -> Finding {
    const CHECK: &str = "open files";
    // The soft limit is raised to this when work begins.
    match getrlimit(Resource::Nofile).maximum {
        Some(most) if most < OPEN_FILES_SCANT => Finding::warning(
            CHECK,
            format!("at most {most} at once"),
            format!(
                "raise the hard limit (`ulimit -Hn`, LimitNOFILE=) to {OPEN_FILES_SCANT} or more"
            ),
        ),
        Some(most) => Finding::ok(CHECK, format!("at most {most} at once")),
        None => Finding::ok(CHECK, "no limit"),
    }
}
