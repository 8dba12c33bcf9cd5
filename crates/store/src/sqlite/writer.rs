//! The one thread that writes.
//!
//! ```text
//!  any thread ── commit, register ──► queue ──► one transaction each, in order
//!                                                  │ ok, fenced, failed, fsync
//!                                                  └──► done(), on this thread
//! ```
//! A failed transaction is rolled back and the next one is tried; after an fsync error nothing
//! is tried again, because only a new process may look at what the disk holds.

use super::checkpoint::Wal;
use super::connection;
use super::fault::Fault;
use super::transaction;
use crate::contract::{CommitError, Done, Fence, ReadError, Registration};
use crate::thread::Thread;
use mainspring_core::ids::SchedulerId;
use mainspring_core::world::batch::Change;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, DEFAULT_NAME};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use tokio::sync::oneshot;

pub(super) enum Job {
    Commit { fence: Fence, changes: Vec<Change>, done: Done },
    Register { scheduler: SchedulerId, reply: oneshot::Sender<Result<Registration, ReadError>> },
}

#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Thread,
}

impl Writer {
    pub fn start(path: &Path, conn: Connection, wal: Arc<Wal>) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel();
        let mut desk = Desk { path: path.to_owned(), conn: Some(conn), wal };
        let thread = Thread::start("sqlite-writer", move || {
            for job in jobs {
                desk.serve(job);
            }
            desk.close();
        })?;
        Ok(Self { queue: Some(queue), thread })
    }

    pub fn send(&self, job: Job) {
        let queue = self.queue.as_ref().expect("taken only by drop");
        // The thread ends early only by a panic in a callback.
        if let Err(mpsc::SendError(Job::Commit { done, .. })) = queue.send(job) {
            let what = "the database's writer has ended: start the server again".to_owned();
            done(Err(CommitError::Failed { what, source: None }));
        }
    }
}

impl Drop for Writer {
    /// What was queued is still written.
    fn drop(&mut self) {
        self.queue = None;
        self.thread.join();
    }
}

/// The writer's connection, watched for the size of its WAL.
pub(super) fn open(path: &Path, wal: &Arc<Wal>) -> rusqlite::Result<Connection> {
    let mut conn = connection::open_writer(path)?;
    let wal = Arc::clone(wal);
    conn.wal_hook(Some(move |_: &mut _, pages| {
        wal.wrote(u32::try_from(pages).unwrap_or(0));
        Ok(())
    }))?;
    Ok(conn)
}

/// Where the writer sits.
struct Desk {
    path: PathBuf,
    /// None after a transaction that could not be rolled back: opened anew by the next one.
    conn: Option<Connection>,
    wal: Arc<Wal>,
}

impl Desk {
    fn serve(&mut self, job: Job) {
        match job {
            Job::Commit { fence, changes, done } => {
                done(self.transact(|conn| transaction::commit(conn, fence, &changes)));
            }
            Job::Register { scheduler, reply } => {
                let result = self.transact(|conn| transaction::register(conn, scheduler));
                let result = result.map_err(|error| ReadError::Failed {
                    what: error.to_string(),
                    source: Some(Box::new(error)),
                });
                // Nobody waits any more: the epoch is taken all the same.
                let _ = reply.send(result);
            }
        }
        if self.wal.is_forced()
            && let Some(conn) = &self.conn
        {
            self.wal.force(conn);
        }
    }

    fn transact<T>(
        &mut self,
        body: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, CommitError> {
        if let Some(what) = self.wal.broken() {
            return Err(CommitError::Fsync { what: what.to_owned() });
        }
        let result = {
            let _gate = self.wal.gate();
            Self::connected(&mut self.conn, &self.path, &self.wal).and_then(body)
        };
        self.conn.take_if(|conn| !conn.is_autocommit());
        result.map_err(|fault| {
            let error = fault.into_commit(&self.path);
            if let CommitError::Fsync { what } = &error {
                self.wal.break_with(what.clone());
            }
            error
        })
    }

    fn connected<'a>(
        conn: &'a mut Option<Connection>,
        path: &Path,
        wal: &Arc<Wal>,
    ) -> Result<&'a mut Connection, Fault> {
        match conn {
            Some(conn) => Ok(conn),
            None => Ok(conn.insert(open(path, wal)?)),
        }
    }

    /// Leaves one whole file behind, when no other process reads it just now. After an fsync
    /// error the WAL may hold more than the file will ever get: it is left for the next process.
    fn close(&mut self) {
        if let (Some(conn), None) = (&self.conn, self.wal.broken()) {
            let _ = conn.wal_checkpoint_v2(DEFAULT_NAME, CheckpointMode::TRUNCATE);
        }
    }
}
