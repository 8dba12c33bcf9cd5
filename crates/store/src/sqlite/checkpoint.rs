//! Moves what was committed from the WAL into the database file, away from the writer.
//!
//! ```text
//!  writer: commit ──► wrote(pages) ──► over 4 MiB, or first after a pause: wake
//!                                             │
//!  checkpoint thread:  asleep ◄── truncated ──┤
//!                         └──► awake ──► every 4 MiB: passive, beside the writer
//!                                   └──► nobody wrote for a while: passive, then truncate
//!                                        with the gate closed to the writer
//! ```
//! While awake it looks once per pause; asleep it costs nothing.
//!
//! A passive checkpoint that always ends while the writer is already further leaves the WAL
//! growing: beyond 64 MiB the writer makes one itself, between two commits.

use super::connection;
use super::fault::is_fsync;
use crate::thread::Thread;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, DEFAULT_NAME};
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// 4 MiB: small enough that a start after a crash reads it in milliseconds, large enough that
/// a checkpoint's two fsyncs are spread over hundreds of commits.
const PASSIVE_PAGES: u32 = 1_024;
/// 64 MiB: reached only when passive checkpoints cannot catch up.
const FORCED_PAGES: u32 = 16_384;
/// A pause this long means that nobody is waiting for the disk.
const IDLE: Duration = Duration::from_secs(3);
/// When a reader elsewhere holds the WAL, ask again ever less often.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// What writer and checkpoint thread know of the WAL.
#[derive(Debug, Default)]
pub(super) struct Wal {
    state: Mutex<State>,
    wake: Condvar,
    /// Held by the writer for a transaction, by the checkpoint thread to truncate.
    gate: Mutex<()>,
    /// Set once: the disk did not confirm a write.
    broken: OnceLock<String>,
}

#[derive(Debug, Default)]
struct State {
    pages: u32,
    commits: u64,
    /// Ask for a passive checkpoint at this size. Follows `pages` while they cannot be reset.
    passive_at: u32,
    forced_at: u32,
    asleep: bool,
    closing: bool,
}

enum Order {
    Passive,
    Truncate,
    End,
}

impl Wal {
    pub fn new() -> Self {
        let wal = Self::default();
        wal.state().restart();
        wal
    }

    /// After each commit, with the size of the WAL.
    pub fn wrote(&self, pages: u32) {
        let mut state = self.state();
        if pages < state.pages {
            state.restart();
        }
        state.pages = pages;
        state.commits += 1;
        if std::mem::take(&mut state.asleep) || pages >= state.passive_at {
            self.wake.notify_one();
        }
    }

    /// Whether the writer has to make a checkpoint itself.
    pub fn is_forced(&self) -> bool {
        let state = self.state();
        state.pages >= state.forced_at
    }

    /// Made by the writer; when a reader holds the WAL it is not tried again at once.
    pub fn force(&self, conn: &Connection) {
        self.passive(conn);
        let mut state = self.state();
        state.forced_at = state.pages + FORCED_PAGES;
    }

    /// While held, the WAL is not truncated.
    pub fn gate(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn break_with(&self, what: String) {
        // The first cause is the one to tell.
        let _ = self.broken.set(what);
    }

    pub fn broken(&self) -> Option<&str> {
        self.broken.get().map(String::as_str)
    }

    fn close(&self) {
        self.state().closing = true;
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is something to do.
    fn next(&self, idle: Duration) -> Order {
        let mut state = self.state();
        let mut seen = state.commits;
        loop {
            if state.closing {
                return Order::End;
            }
            if state.pages >= state.passive_at {
                state.passive_at = state.pages + PASSIVE_PAGES;
                return Order::Passive;
            }
            if state.asleep {
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.wake.wait_timeout(state, idle);
            let timeout;
            (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() && state.commits == seen && !state.closing {
                return Order::Truncate;
            }
            seen = state.commits;
        }
    }

    /// Sleeps from here on, unless something was written since `commits`.
    fn fall_asleep(&self, commits: u64) {
        let mut state = self.state();
        state.asleep = state.commits == commits;
    }

    fn passive(&self, conn: &Connection) {
        let _ = self.checkpoint(conn, CheckpointMode::PASSIVE);
    }

    /// Whether the WAL is empty now.
    fn truncate(&self, conn: &Connection) -> bool {
        // Nearly all of the work is done beside the writer; only the rest needs the gate.
        self.passive(conn);
        let _gate = self.gate();
        self.checkpoint(conn, CheckpointMode::TRUNCATE).is_ok()
    }

    /// A checkpoint that another one or a reader stands in the way of is no harm: the next one
    /// takes over. A disk that does not confirm is the end.
    fn checkpoint(&self, conn: &Connection, mode: CheckpointMode) -> rusqlite::Result<()> {
        let result = conn.wal_checkpoint_v2(DEFAULT_NAME, mode);
        if let Err(error) = &result
            && is_fsync(error)
        {
            self.break_with(format!("checkpoint failed ({error})"));
        }
        result.map(drop)
    }
}

impl State {
    fn restart(&mut self) {
        self.passive_at = PASSIVE_PAGES;
        self.forced_at = FORCED_PAGES;
    }
}

/// The thread; ends with its owner.
#[derive(Debug)]
pub(super) struct Checkpointer {
    wal: Arc<Wal>,
    thread: Thread,
}

impl Checkpointer {
    pub fn start(path: &Path, wal: Arc<Wal>) -> Result<Self, CheckpointerError> {
        let conn = connection::open_checkpointer(path)?;
        let worker = Arc::clone(&wal);
        let thread = Thread::start("sqlite-checkpoint", move || work(&conn, &worker))?;
        Ok(Self { wal, thread })
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum CheckpointerError {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Thread(#[from] io::Error),
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wal.close();
        self.thread.join();
    }
}

fn work(conn: &Connection, wal: &Wal) {
    let mut idle = IDLE;
    loop {
        match wal.next(idle) {
            Order::Passive => {
                wal.passive(conn);
                idle = IDLE;
            }
            Order::Truncate => {
                let commits = wal.state().commits;
                if wal.truncate(conn) {
                    wal.fall_asleep(commits);
                    idle = IDLE;
                } else {
                    idle = (idle * 2).min(IDLE_MAX);
                }
            }
            Order::End => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::open;

    const AT_ONCE: Duration = Duration::ZERO;

    #[test]
    fn every_four_mebibytes_are_checkpointed_once() {
        let wal = Wal::new();
        wal.wrote(PASSIVE_PAGES);
        assert!(matches!(wal.next(IDLE_MAX), Order::Passive));
        wal.wrote(PASSIVE_PAGES + 1);
        assert!(matches!(wal.next(AT_ONCE), Order::Truncate), "not again so soon");
        wal.wrote(2 * PASSIVE_PAGES);
        assert!(matches!(wal.next(IDLE_MAX), Order::Passive));
        // It begins anew.
        wal.wrote(1);
        wal.wrote(PASSIVE_PAGES);
        assert!(matches!(wal.next(IDLE_MAX), Order::Passive));
    }

    #[test]
    fn the_writer_steps_in_when_the_wal_outgrows_the_thread() {
        let folder = tempfile::tempdir().unwrap();
        let conn = open::writer(&folder.path().join("db")).unwrap();
        let wal = Wal::new();
        wal.wrote(FORCED_PAGES - 1);
        assert!(!wal.is_forced());
        wal.wrote(FORCED_PAGES);
        assert!(wal.is_forced());
        wal.force(&conn);
        assert!(!wal.is_forced());
        wal.wrote(2 * FORCED_PAGES);
        assert!(wal.is_forced());
    }

    #[test]
    fn an_idle_wal_is_emptied_unless_someone_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let writer = open::writer(&path).unwrap();
        let conn = connection::open_checkpointer(&path).unwrap();
        let wal = Wal::new();
        let mut reader = connection::open_reader(&path).unwrap();
        let size = || std::fs::metadata(folder.path().join("db-wal")).unwrap().len();
        let write = || writer.execute("insert into inputs (input) values ('x')", []).unwrap();

        write();
        let reading = reader.transaction().unwrap();
        reading.query_row("select count(*) from inputs", [], |_| Ok(())).unwrap();
        write();
        assert!(!wal.truncate(&conn), "a reader still needs it");
        assert!(size() > 0);
        drop(reading);
        assert!(wal.truncate(&conn));
        assert_eq!(size(), 0);
        assert_eq!(wal.broken(), None, "standing in the way is no fault of the disk");
    }

    #[test]
    fn the_thread_sleeps_when_all_is_done_and_ends_when_told() {
        let wal = Wal::new();
        wal.wrote(1);
        let commits = wal.state().commits;
        assert!(matches!(wal.next(AT_ONCE), Order::Truncate));
        wal.fall_asleep(commits);
        assert!(wal.state().asleep);
        wal.wrote(2);
        assert!(matches!(wal.next(AT_ONCE), Order::Truncate), "awake again");
        wal.close();
        assert!(matches!(wal.next(IDLE_MAX), Order::End));
    }
}
