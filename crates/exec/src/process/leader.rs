//! The process an attempt was started as: signalled as a group, looked at without being reaped,
//! reaped once.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::os::fd::{AsFd, OwnedFd};

/// What the kernel says of a leader.
pub(super) enum Fate {
    Running,
    Ended(WaitIdStatus),
    /// Its status was taken by something else in this process.
    Unknown,
}

/// Looks without reaping: the zombie keeps the group's number ours.
pub(super) fn fate(pidfd: &OwnedFd) -> Fate {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match waitid(WaitId::PidFd(pidfd.as_fd()), options) {
        Ok(Some(status)) => Fate::Ended(status),
        Ok(None) | Err(Errno::INTR) => Fate::Running,
        Err(_) => Fate::Unknown,
    }
}

/// A process that leads its group; never left alive or unreaped, not even when the runtime drops
/// its follower.
pub(super) struct Leader {
    pub pid: Pid,
    /// From then on its number, and the group's, may be someone else's.
    pub reaped: bool,
}

impl Leader {
    /// To every member; once the leader is reaped the group's number may be someone else's.
    pub fn kill_group(&self, signal: Signal) {
        if !self.reaped {
            // No such group: its members are gone or have left it.
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Of a leader that has ended or was killed.
    pub fn reap(&mut self) {
        if std::mem::replace(&mut self.reaped, true) {
            return;
        }
        let _ = waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED);
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        // The zombie stays until the server, which is ending, is gone.
        self.kill_group(Signal::KILL);
    }
}
