//! Kills whatever carries a data folder's id: at start, what a former life left behind, sessions
//! of their own included; at shutdown, what this life started.

use super::environment::DATA_ID;
use super::procfs;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

/// SIGKILL takes effect at once, but for a process that the kernel holds in a system call.
const WAIT_MAX: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// It is not sure that everyone is gone.
#[derive(Debug, thiserror::Error)]
pub enum StillAlive {
    #[error(
        "processes {pids:?} carry {DATA_ID}={data_id} and did not end within {}s of SIGKILL; \
         the kernel may be holding them in a system call (state D)",
        WAIT_MAX.as_secs()
    )]
    Seen { data_id: String, pids: Vec<i32> },
    #[error("who is alive cannot be read from /proc")]
    Unseen(#[source] io::Error),
}

/// Kills every process that carries this data id, and returns when none is left: how many they
/// were. At start, before anything is reattached or dispatched. Other users' processes cannot be
/// read and are left alone.
pub fn kill_leftovers(data_id: &str) -> Result<usize, StillAlive> {
    kill_until_gone(data_id, &[])
}

/// The same for members of these groups, whatever they carry.
pub(super) fn kill_until_gone(data_id: &str, groups: &[i32]) -> Result<usize, StillAlive> {
    let until = Instant::now() + WAIT_MAX;
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is_prey =
        |pid: i32| -> io::Result<bool> { Ok(carries(pid, data_id)? || is_member(pid, groups)?) };
    let mut killed = BTreeSet::new();
    loop {
        // Over and over: a fork may slip past a single look. Never ourselves: a server may have
        // been started by a task.
        let mut pids = Vec::new();
        let looked = procfs::processes().and_then(|mut all| {
            all.try_for_each(|pid| {
                if pid != own && is_prey(pid)? {
                    pids.push(pid);
                }
                Ok(())
            })
        });
        if looked.is_ok() && pids.is_empty() {
            return Ok(killed.len());
        }
        for pid in &pids {
            procfs::signal_if(*pid, Signal::KILL, || is_prey(*pid).unwrap_or(false));
        }
        if Instant::now() >= until {
            looked.map_err(StillAlive::Unseen)?;
            return Err(StillAlive::Seen { data_id: data_id.to_owned(), pids });
        }
        killed.extend(pids);
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn carries(pid: i32, data_id: &str) -> io::Result<bool> {
    // The environment of the dead is empty.
    let environ = procfs::environ(pid)?.unwrap_or_default();
    Ok(procfs::variable(&environ, DATA_ID) == Some(data_id.as_bytes()))
}

fn is_member(pid: i32, groups: &[i32]) -> io::Result<bool> {
    if groups.is_empty() {
        return Ok(false);
    }
    let stat = procfs::stat(pid)?;
    Ok(stat.is_some_and(|stat| !stat.is_zombie() && groups.contains(&stat.group)))
}
