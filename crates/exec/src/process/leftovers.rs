//! Kills whatever carries a data folder's id: at start, what a former life left behind, sessions
//! of their own included; at shutdown, what this life started.

use super::environment::DATA_ID;
use super::procfs;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// SIGKILL takes effect at once, but for a process that the kernel holds in a system call.
const WAIT_MAX: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Processes that a SIGKILL did not end in time.
#[derive(Debug, thiserror::Error)]
#[error(
    "processes {pids:?} carry {DATA_ID}={data_id} and did not end within {}s of SIGKILL; \
     the kernel may be holding them in a system call (state D)",
    WAIT_MAX.as_secs()
)]
pub struct StillAlive {
    pub data_id: String,
    pub pids: Vec<i32>,
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
    let is_prey = |pid: i32| carries(pid, data_id) || is_member(pid, groups);
    let mut killed = BTreeSet::new();
    loop {
        // Over and over: a fork may slip past a single look. Never ourselves: a server may have
        // been started by a task.
        let pids: Vec<i32> =
            procfs::processes().filter(|pid| *pid != own && is_prey(*pid)).collect();
        if pids.is_empty() {
            return Ok(killed.len());
        }
        for pid in &pids {
            procfs::signal_if(*pid, Signal::KILL, || is_prey(*pid));
        }
        if Instant::now() >= until {
            return Err(StillAlive { data_id: data_id.to_owned(), pids });
        }
        killed.extend(pids);
        std::thread::sleep(LOOK_AGAIN);
    }
}

fn carries(pid: i32, data_id: &str) -> bool {
    // The environment of the dead is empty.
    let environ = procfs::environ(pid).unwrap_or_default();
    procfs::variable(&environ, DATA_ID) == Some(data_id.as_bytes())
}

fn is_member(pid: i32, groups: &[i32]) -> bool {
    !groups.is_empty()
        && procfs::stat(pid).is_some_and(|stat| !stat.is_zombie() && groups.contains(&stat.group))
}
