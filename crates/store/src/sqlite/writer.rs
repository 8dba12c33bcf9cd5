//! The one thread that writes.
//!
//! ```text
//!  any thread ── commit, register ──► queue ──► transactions, in order; batches that
//!                                                  │ have queued up share one
//!                                                  │ ok, fenced, failed, fsync
//!                                                  └──► done(), on this thread
//! ```
//! A failed transaction is rolled back, and nothing more is written under its fence; after an
//! fsync error nothing is tried again, because only a new process may look at what the disk holds.

use super::checkpoint::Wal;
use super::connection;
use super::fault::Fault;
use super::identity::Identity;
use super::transaction;
use crate::contract::{CommitError, Fence, ReadError};
use crate::job::{Job, Together};
use crate::thread::Thread;
use mainspring_core::world::batch::Change;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, DEFAULT_NAME};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A pause this long, and pages may be read again when they are needed. Shorter than that after
/// which the program gives memory back.
const REST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Thread,
}

impl Writer {
    pub fn start(path: &Path, conn: Connection, wal: Arc<Wal>) -> io::Result<Self> {
        let (queue, jobs) = mpsc::channel();
        let file = Identity::of(path)?;
        let mut desk = Desk { path: path.to_owned(), file, conn: Some(conn), wal, failed: None };
        let thread = Thread::start("sqlite-writer", move || {
            let mut next = None;
            while let Some(job) = next.take().or_else(|| desk.next(&jobs)) {
                next = desk.serve(job, &jobs);
            }
            desk.close();
        })?;
        Ok(Self { queue: Some(queue), thread })
    }

    pub fn send(&self, job: Job) {
        let queue = self.queue.as_ref().expect("taken only by drop");
        // The thread ends early only by a panic in a callback. Then the job is dropped, and with
        // it whoever waits is told.
        let _ = queue.send(job);
    }
}

impl Drop for Writer {
    /// What was queued is still written.
    fn drop(&mut self) {
        self.queue = None;
        self.thread.join();
    }
}

/// Tells the checkpoint thread the size of the WAL after each commit.
pub(super) fn watched(mut conn: Connection, wal: &Arc<Wal>) -> rusqlite::Result<Connection> {
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
    /// What the path named when it was opened.
    file: Identity,
    /// None after a transaction that could not be rolled back: opened anew by the next one.
    conn: Option<Connection>,
    wal: Arc<Wal>,
    /// A batch of this fence failed, and why.
    failed: Option<(Fence, CommitError)>,
}

impl Desk {
    /// Waits for work. When there is none for a while, pages that were kept for it are given back.
    fn next(&self, queue: &mpsc::Receiver<Job>) -> Option<Job> {
        match queue.recv_timeout(REST) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(conn) = &self.conn {
            // One that keeps its pages is as good.
            let _ = conn.execute_batch("pragma shrink_memory");
        }
        queue.recv().ok()
    }

    /// Does what is asked, and gives back what it took from the queue beyond that.
    fn serve(&mut self, job: Job, queue: &mpsc::Receiver<Job>) -> Option<Job> {
        let mut next = None;
        match job {
            Job::Commit { fence, batch } => {
                let (together, other) = Together::of(fence, batch, || queue.try_recv().ok());
                next = other;
                let result = self.commit(fence, &together.changes());
                together.keep(&result);
            }
            Job::Register { scheduler, reply } => {
                let result = self.transact(|conn| transaction::register(conn, scheduler));
                self.failed.take_if(|_| result.is_ok());
                // Nobody waits any more: the epoch is taken all the same.
                let _ = reply.send(result.map_err(not_answered));
            }
            Job::Ping { reply } => {
                let result = self.transact(transaction::rewrite);
                let _ = reply.send(result.map_err(not_answered));
            }
        }
        if self.wal.is_forced()
            && let Some(conn) = &self.conn
        {
            self.wal.force(conn);
        }
        next
    }

    fn commit(&mut self, fence: Fence, batches: &[&[Change]]) -> Result<(), CommitError> {
        if let Some((failed, why)) = &self.failed
            && *failed == fence
        {
            return Err(why.told_again());
        }
        let result = self.transact(|conn| transaction::commit(conn, fence, batches));
        // One that is fenced off stays so by itself.
        if let Err(error @ CommitError::Failed { .. }) = &result {
            self.failed = Some((fence, error.told_again()));
        }
        result
    }

    fn transact<T>(
        &mut self,
        body: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, CommitError> {
        if let Some(what) = self.wal.broken() {
            return Err(CommitError::Fsync { what: what.to_owned() });
        }
        self.file.check(&self.path)?;
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
            None => Ok(conn.insert(watched(connection::open_writer(path)?, wal)?)),
        }
    }

    /// Leaves one whole file behind, when no other process reads it just now. After an fsync
    /// error the WAL may hold more than the file will ever get: it is left for the next process.
    fn close(&mut self) {
        if let (Some(conn), None) = (&self.conn, self.wal.broken()) {
            // Whoever still reads is not waited for.
            let _ = conn.busy_timeout(Duration::ZERO);
            let _ = conn.wal_checkpoint_v2(DEFAULT_NAME, CheckpointMode::TRUNCATE);
        }
    }
}

fn not_answered(error: CommitError) -> ReadError {
    ReadError::Failed { what: error.to_string(), source: Some(Box::new(error)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Batch;
    use crate::promise::Promise;
    use crate::sqlite::open;
    use mainspring_core::ids::SchedulerId;
    use mainspring_core::kernel::row::VersionRow;
    use mainspring_core::time::Timestamp;

    const SCHEDULER: SchedulerId = SchedulerId::from_bytes([1; 16]);

    /// A writer on a new file, with whatever was done to its connection before.
    fn writer(set_up: impl FnOnce(&Connection, &Wal)) -> (Writer, Fence, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db");
        let wal = Arc::new(Wal::new());
        let mut conn = open::writer(&path).unwrap();
        let fence = transaction::register(&mut conn, SCHEDULER).unwrap().fence;
        set_up(&conn, &wal);
        let conn = watched(conn, &wal).unwrap();
        (Writer::start(&path, conn, wal).unwrap(), fence, folder)
    }

    fn next_life(writer: &Writer) -> Fence {
        let (reply, told) = tokio::sync::oneshot::channel();
        writer.send(Job::Register { scheduler: SCHEDULER, reply });
        told.blocking_recv().unwrap().unwrap().fence
    }

    fn deploy(writer: &Writer, fence: Fence, text_bytes: usize) -> Result<(), CommitError> {
        let version = VersionRow {
            workflow: "w".into(),
            number: u32::try_from(text_bytes).unwrap(),
            hash: [0; 32],
            text: "x".repeat(text_bytes).into(),
            created_at: Timestamp(0),
        };
        let (fate, told) = mpsc::channel();
        let promise = Promise::new(Box::new(move |result| fate.send(result).unwrap()));
        let batch = Batch { changes: vec![Change::NewVersion(version)], promise };
        writer.send(Job::Commit { fence, batch });
        told.recv().unwrap()
    }

    #[test]
    fn a_full_disk_fails_the_batch_and_not_the_next_life() {
        let (writer, fence, folder) = writer(|conn, _| {
            let pages: u32 = conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
            conn.query_row(&format!("pragma max_page_count = {}", pages + 5), [], |_| Ok(()))
                .unwrap();
        });
        let full = deploy(&writer, fence, 1_000_000).unwrap_err();
        assert_eq!(
            full.to_string(),
            format!(
                "the disk that holds {} is full: free some space and run again",
                folder.path().join("db").display()
            )
        );
        let again = deploy(&writer, fence, 10).unwrap_err();
        assert_eq!(again.to_string(), full.to_string());
        deploy(&writer, next_life(&writer), 10).unwrap();
        drop(writer);
        let conn = Connection::open(folder.path().join("db")).unwrap();
        let versions: u32 =
            conn.query_row("select count(*) from versions", [], |row| row.get(0)).unwrap();
        assert_eq!(versions, 1);
    }

    #[test]
    fn nothing_is_written_to_a_file_that_is_gone() {
        let (writer, fence, folder) = writer(|_, _| {});
        let (path, away) = (folder.path().join("db"), folder.path().join("away"));
        deploy(&writer, fence, 10).unwrap();
        std::fs::rename(&path, &away).unwrap();
        let removed = deploy(&writer, fence, 11).unwrap_err().to_string();
        assert!(removed.contains("was removed"), "{removed}");
        std::fs::copy(&away, &path).unwrap();
        let other = Fence { epoch: fence.epoch + 9, ..fence };
        let replaced = deploy(&writer, other, 11).unwrap_err().to_string();
        assert!(replaced.contains("was replaced"), "{replaced}");
        std::fs::rename(&away, &path).unwrap();
        deploy(&writer, next_life(&writer), 11).unwrap();
    }

    #[test]
    fn nothing_is_tried_after_an_fsync_error() {
        let (writer, fence, _folder) = writer(|_, wal| wal.break_with("sdb1".to_owned()));
        for _ in 0..2 {
            let error = deploy(&writer, fence, 10).unwrap_err();
            assert!(matches!(error, CommitError::Fsync { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_connection_left_inside_a_transaction_is_opened_anew() {
        let (writer, fence, _folder) = writer(|conn, _| conn.execute_batch("begin").unwrap());
        let error = deploy(&writer, fence, 10).unwrap_err();
        assert!(matches!(error, CommitError::Failed { .. }), "{error:?}");
        deploy(&writer, next_life(&writer), 10).unwrap();
    }
}
