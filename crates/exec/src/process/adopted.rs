//! Orphans that became our children, because the server is a child subreaper or process 1:
//! members of a killed group, processes that left theirs. Somebody has to reap them, and must not
//! take an exit status that someone else in this process waits for.
//!
//! A dead process no longer shows its environment, so a zombie is taken for an orphan when
//! - its parent is not a spawn thread (those are parents of attempts' leaders and of nothing else;
//!   the kernel gives orphans to the main thread), and
//! - it is in another session than we are, or in a group that is neither ours nor its own, or it
//!   was seen carrying the id of one of our data folders while it lived.
//!
//! A child that other code of this process starts in the usual way is in our session, and in our
//! group or one of its own: it is never touched. Only a child that other code moves into a session
//! of its own could be.

use super::environment::DATA_ID;
use super::procfs::{self, Stat};
use super::spawner;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How soon after an attempt's end, and how often while orphans of ours live.
const SOON: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(30);

/// Data folders this process works for: one, but for tests.
static DATA_IDS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub(super) fn works_for(data_id: &str) {
    let mut ids = DATA_IDS.lock().unwrap_or_else(PoisonError::into_inner);
    ids.insert(data_id.to_owned());
}

/// Children that carry one of our data ids and are waited for by whoever started them.
static SPARED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Leaves a child to whoever holds this.
#[derive(Debug)]
pub(crate) struct Spared(u32);

pub(crate) fn spare(pid: u32) -> Spared {
    SPARED.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
    Spared(pid)
}

impl Drop for Spared {
    fn drop(&mut self) {
        SPARED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

fn is_spared(pid: i32) -> bool {
    let spared = SPARED.lock().unwrap_or_else(PoisonError::into_inner);
    u32::try_from(pid).is_ok_and(|pid| spared.contains(&pid))
}

pub(super) struct Adopted {
    next_look: Option<Instant>,
    wait: Duration,
    /// Seen alive with one of our data ids.
    ours: BTreeSet<i32>,
    is_init: bool,
}

impl Adopted {
    pub fn new() -> Self {
        let is_init = rustix::process::getpid() == Pid::INIT;
        let next_look = is_init.then(|| Instant::now() + SELDOM);
        Self { next_look, wait: SOON, ours: BTreeSet::new(), is_init }
    }

    /// When it wants to look again; None while there is nothing to expect.
    pub fn next_look(&self) -> Option<Instant> {
        self.next_look
    }

    /// Orphans may have come.
    pub fn expect(&mut self, now: Instant) {
        self.wait = SOON;
        self.next_look = Some(now + SOON);
    }

    /// Reaps the dead and remembers the living.
    pub fn look(&mut self, now: Instant) {
        let mut alive = BTreeSet::new();
        for pid in strangers() {
            let Ok(Some(stat)) = procfs::stat(pid) else { continue };
            if !stat.is_zombie() {
                if carries_our_id(pid) {
                    alive.insert(pid);
                }
            } else if !is_spared(pid) && (self.ours.contains(&pid) || is_foreign(&stat)) {
                reap(pid);
            }
        }
        let expects = self.is_init || !alive.is_empty();
        self.ours = alive;
        self.wait = (self.wait * 2).min(SELDOM);
        self.next_look = expects.then(|| now + self.wait);
    }
}

/// Children of any thread but those that start attempts.
fn strangers() -> Vec<i32> {
    let Ok(spawner) = spawner::start() else { return Vec::new() };
    let others = procfs::own_threads().filter(|thread| !spawner.owns(*thread));
    others.flat_map(procfs::children_of_thread).collect()
}

fn carries_our_id(pid: i32) -> bool {
    let environ = procfs::environ(pid).ok().flatten().unwrap_or_default();
    let ids = DATA_IDS.lock().unwrap_or_else(PoisonError::into_inner);
    let id = procfs::variable(&environ, DATA_ID).and_then(|id| std::str::from_utf8(id).ok());
    id.is_some_and(|id| ids.contains(id))
}

/// Our own numbers are read from `/proc` like the other's, not asked of the kernel: in a container
/// that someone else's session entered both are 0, which is no process number for a system call.
fn is_foreign(stat: &Stat) -> bool {
    let Some(own) = procfs::own_stat() else { return false };
    stat.session != own.session || (stat.group != own.group && stat.group != stat.pid)
}

fn reap(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}
