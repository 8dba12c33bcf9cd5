//! Reads `/proc`: who is alive, in which group, with what in its environment. Processes come and
//! go while it reads; one that cannot be read is either gone or another user's, and is left out.
//! An error means that nothing can be looked at just now: that nobody was seen says nothing then.

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs::File;
use std::io::{self, Read};

/// More than the kernel lets a process have.
const ENVIRON_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What `/proc/<pid>/stat` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub pid: i32,
    state: u8,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
}

impl Stat {
    /// Dead, and waiting for its parent to take notice.
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// The numbers of all processes.
pub(super) fn processes() -> io::Result<impl Iterator<Item = i32>> {
    numbers("/proc")
}

/// The numbers of this process's threads.
pub(super) fn own_threads() -> impl Iterator<Item = i32> {
    numbers("/proc/self/task").into_iter().flatten()
}

fn numbers(folder: &str) -> io::Result<impl Iterator<Item = i32>> {
    let entries = unless_scarce(std::fs::read_dir(folder))?.into_iter().flatten();
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

/// None when it cannot be had; an error when nothing can be had just now.
fn unless_scarce<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_scarcity(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Open files or memory are used up, here or in the whole machine: later it may go well.
pub(super) fn is_scarcity(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM))
}

/// Children that one thread of ours is the parent of.
pub(super) fn children_of_thread(thread: i32) -> Vec<i32> {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/children"));
    text.unwrap_or_default().split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

pub(super) fn stat(pid: i32) -> io::Result<Option<Stat>> {
    let text = read(&format!("/proc/{pid}/stat"))?;
    Ok(text.and_then(|text| parse_stat(&text)))
}

/// What it says of this process.
pub(super) fn own_stat() -> Option<Stat> {
    parse_stat(&read("/proc/self/stat").ok()??)
}

fn parse_stat(text: &[u8]) -> Option<Stat> {
    let text = String::from_utf8_lossy(text);
    let pid = text.split_ascii_whitespace().next()?.parse().ok()?;
    // The name in brackets may hold anything, brackets and blanks included.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let mut number = || fields.next()?.parse().ok();
    Some(Stat { pid, state, parent: number()?, group: number()?, session: number()? })
}

/// Its environment as it was when it was executed.
pub(super) fn environ(pid: i32) -> io::Result<Option<Vec<u8>>> {
    read(&format!("/proc/{pid}/environ"))
}

/// The value of a variable in such an environment.
pub(super) fn variable<'a>(environ: &'a [u8], name: &str) -> Option<&'a [u8]> {
    environ
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

fn read(path: &str) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(ENVIRON_BYTES_MAX).read_to_end(&mut bytes));
    Ok(unless_scarce(read)?.map(|_| bytes))
}

/// Signals a process if it still is the one that is meant: between a look at `/proc` and the
/// signal its number may have gone to someone else.
pub(super) fn signal_if(pid: i32, signal: Signal, is_meant: impl FnOnce() -> bool) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if is_meant() {
        // It may have ended by itself: as good.
        let _ = pidfd_send_signal(pidfd, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = parse_stat(b"42 (a) Z (b c) S 1 40 39 0 -1 4194304").expect("a stat line");
        assert_eq!(stat, Stat { pid: 42, state: b'S', parent: 1, group: 40, session: 39 });
        assert!(!stat.is_zombie());
    }

    #[test]
    fn variables_are_found_by_their_whole_name() {
        let environ = b"XA=1\0A=2\0AB=3\0";
        assert_eq!(variable(environ, "A"), Some(&b"2"[..]));
        assert_eq!(variable(environ, "B"), None);
    }
}
