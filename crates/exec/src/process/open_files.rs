//! The limit on open files. A live attempt takes three (two pipes, a pidfd): the usual soft limit
//! of 1,024 would end at about 330 attempts. It is raised for the server and put back in every
//! child, because programs that use `select` or close all possible files expect the usual one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::sync::OnceLock;

/// The limit as the server found it.
static ORIGINAL: OnceLock<(Option<u64>, Option<u64>)> = OnceLock::new();

/// Raises the soft limit on open files to the hard one; returns it, None when there is none.
pub fn raise_open_files() -> io::Result<Option<u64>> {
    let found = getrlimit(Resource::Nofile);
    ORIGINAL.get_or_init(|| (found.current, found.maximum));
    if found.current != found.maximum {
        setrlimit(Resource::Nofile, Rlimit { current: found.maximum, maximum: found.maximum })?;
    }
    Ok(found.maximum)
}

/// The soft and hard limit children get back; None when nothing was raised.
pub(super) fn for_children() -> Option<libc::rlimit> {
    let raw = |limit: Option<u64>| limit.unwrap_or(libc::RLIM_INFINITY);
    let (soft, hard) = ORIGINAL.get()?;
    Some(libc::rlimit { rlim_cur: raw(*soft), rlim_max: raw(*hard) })
}
