//! The limit on open files. A live attempt takes three (two pipes, a pidfd): the usual soft limit
//! of 1,024 would end at about 330 attempts. It is raised for the server and put back in every
//! child, because programs that use `select` or close all possible files expect the usual one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::sync::OnceLock;

/// What a live attempt keeps open: two pipes, a pidfd and its log.
const OF_AN_ATTEMPT: u64 = 4;
/// What the server keeps for itself: 20 when it is idle (database, runtime, lock), the rest to
/// start an attempt, put a log together and look at `/proc`.
const OF_THE_SERVER: u64 = 28;

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

/// How many attempts can live at once within this limit on open files. More would be refused over
/// and over, and lose their logs: they wait for a permit instead.
pub fn attempts_within(open_files: u64) -> u64 {
    open_files.saturating_sub(OF_THE_SERVER) / OF_AN_ATTEMPT
}

/// How many open files so many attempts and the server itself leave for others.
pub fn left_beside(open_files: u64, attempts: u32) -> u64 {
    open_files.saturating_sub(OF_THE_SERVER + u64::from(attempts) * OF_AN_ATTEMPT)
}

/// The limit on open files that one attempt at a time needs.
pub fn open_files_min() -> u64 {
    OF_THE_SERVER + OF_AN_ATTEMPT
}

/// The soft and hard limit children get back; None when nothing was raised.
pub(super) fn for_children() -> Option<libc::rlimit> {
    let raw = |limit: Option<u64>| limit.unwrap_or(libc::RLIM_INFINITY);
    let (soft, hard) = ORIGINAL.get()?;
    Some(libc::rlimit { rlim_cur: raw(*soft), rlim_max: raw(*hard) })
}
