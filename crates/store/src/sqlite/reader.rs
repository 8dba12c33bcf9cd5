//! Threads that answer questions.
//!
//! ```text
//!  any thread ── question ──► one queue ──► 2 threads, a query-only connection each
//!                                              │ one short read transaction each
//!      future ◄──────────────── answer ────────┘
//! ```
//! Asking never blocks. A question sees one state of the database, whatever is written beside.

use super::fault::Fault;
use super::frozen::Frozen;
use crate::contract::{ReadError, Reading};
use crate::thread::Thread;
use rusqlite::Connection;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use tokio::sync::oneshot;

/// One long question (a run of 100,000 tasks) does not hold up the short ones.
pub(super) const READERS: usize = 2;

type Question = Box<dyn FnOnce(&mut Connection) + Send>;

#[derive(Debug)]
pub(super) struct Readers {
    path: Arc<Path>,
    frozen: Option<Arc<Frozen>>,
    queue: Option<mpsc::Sender<Question>>,
    threads: Vec<Thread>,
}

impl Readers {
    pub fn start(
        path: &Path,
        connections: Vec<Connection>,
        frozen: Option<Frozen>,
    ) -> io::Result<Self> {
        let (queue, questions) = mpsc::channel();
        let questions = Arc::new(Mutex::new(questions));
        let threads = connections.into_iter().map(|conn| {
            let questions = Arc::clone(&questions);
            Thread::start("sqlite-reader", move || work(conn, &questions))
        });
        let threads = threads.collect::<io::Result<Vec<Thread>>>()?;
        let (path, frozen) = (path.into(), frozen.map(Arc::new));
        Ok(Self { path, frozen, queue: Some(queue), threads })
    }

    /// Asks; the answer comes whenever the future is waited for.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Reading<'static, T> {
        let (reply, answer) = oneshot::channel();
        let path = Arc::clone(&self.path);
        let frozen = self.frozen.clone();
        self.send(Box::new(move |conn| {
            let result = in_one_state(conn, question).map_err(|fault| fault.into_read(&path));
            let unchanged = frozen.map_or(Ok(()), |frozen| frozen.check());
            // Nobody may be waiting any more.
            let _ = reply.send(unchanged.and(result));
        }));
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(ended())) })
    }

    /// Carries something out on a thread of the store's own.
    pub fn send(&self, question: Question) {
        let queue = self.queue.as_ref().expect("taken only by drop");
        // Without a thread the question is dropped, and whoever waits is told.
        let _ = queue.send(question);
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in &mut self.threads {
            thread.join();
        }
    }
}

pub(super) fn ended() -> ReadError {
    let what = "the database was closed before it answered".to_owned();
    ReadError::Failed { what, source: None }
}

fn work(mut conn: Connection, questions: &Mutex<mpsc::Receiver<Question>>) {
    loop {
        let next = questions.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(question) = next else { return };
        question(&mut conn);
    }
}

fn in_one_state<T>(
    conn: &mut Connection,
    question: impl FnOnce(&Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let tx = conn.transaction()?;
    let answer = question(&tx)?;
    tx.commit()?;
    Ok(answer)
}
