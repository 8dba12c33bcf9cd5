//! The one thread that writes.
//!
//! ```text
//!  any thread ── commit, register, ping ──► queue ──► transactions, in order; batches that
//!                                                        │ have queued up share one
//!                                                        │ ok, fenced, failed
//!                                                        └──► done(), on this thread
//! ```
//! A transaction that failed is rolled back, or, when the connection was lost under it, nobody
//! knows its fate. Nothing more is written under the same fence, because what follows may build
//! on what is not there. A new life looks first.

use super::fault::{Fault, within};
use super::link::Link;
use super::open::ConnectError;
use super::place::Place;
use super::schema;
use super::session::{Role, Step, WRITE};
use super::tables::schedulers;
use super::transaction::{self, Owners};
use crate::contract::{Fence, Registration};
use crate::job::{Job, Together};
use crate::thread::Thread;
use mainspring_core::ids::SchedulerId;
use mainspring_core::world::batch::Change;
use std::sync::{Arc, mpsc as blocking};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

/// Writes what is there already, to the disk.
const REWRITE: &str = "
    update migrations set applied_at = applied_at
    where number = (select max(number) from migrations)";

/// Longer than the server's own limits, which are told with their cause.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<mpsc::UnboundedSender<Job>>,
    thread: Thread,
}

impl Writer {
    /// Returns when the database is locked for this server and up to date.
    pub fn start(place: &Arc<Place>) -> Result<Self, ConnectError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ConnectError::thread(error, place))?;
        let (queue, jobs) = mpsc::unbounded_channel();
        let (opened, outcome) = blocking::channel();
        let own = Arc::clone(place);
        let thread = Thread::start("postgres-writer", move || {
            let mut desk = Desk::new(&own);
            runtime.block_on(async {
                let result = desk.open().await;
                let is_open = result.is_ok();
                // Whoever opens waits for it.
                let _ = opened.send(result);
                if is_open {
                    desk.work(jobs).await;
                }
            });
        });
        let thread = thread.map_err(|error| ConnectError::thread(error, place))?;
        let writer = Self { queue: Some(queue), thread };
        let ended = || ConnectError::thread(std::io::Error::other("its writer has ended"), place);
        outcome.recv().unwrap_or_else(|_| Err(ended())).map(|()| writer)
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

/// Where the writer sits.
struct Desk {
    link: Link,
    owners: Owners,
    /// The connection over which those were learnt.
    learnt_over: u64,
    /// Whose last batch is not there, or not known to be.
    unsettled: Option<Fence>,
}

impl Desk {
    fn new(place: &Arc<Place>) -> Self {
        let link = Link::new(Arc::clone(place), Role::Writer);
        Self { link, owners: Owners::default(), learnt_over: 0, unsettled: None }
    }

    async fn open(&mut self) -> Result<(), ConnectError> {
        let migrated = match self.link.session().await {
            Ok(session) => schema::migrate(session).await,
            Err(fault) => Err(fault.into()),
        };
        migrated.map_err(|unfit| ConnectError::of(unfit, self.link.place()))
    }

    async fn work(&mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let mut next = None;
        loop {
            if let Some(job) = next.take() {
                next = self.serve(job, &mut jobs).await;
                continue;
            }
            tokio::select! {
                biased;
                job = jobs.recv() => match job {
                    Some(job) => next = self.serve(job, &mut jobs).await,
                    None => return,
                },
                // Left as soon as there is something to do, or nothing more will come: a server
                // that does not answer must not hold up the end of this program.
                never = self.link.keep_up() => match never {},
            }
        }
    }

    /// Does what is asked, and gives back what it took from the queue beyond that.
    async fn serve(&mut self, job: Job, queue: &mut mpsc::UnboundedReceiver<Job>) -> Option<Job> {
        let mut next = None;
        match job {
            Job::Commit { fence, batch } => {
                let (together, other) = Together::of(fence, batch, || queue.try_recv().ok());
                next = other;
                let result = self.commit(fence, &together.changes()).await;
                together.keep(&result.map_err(|fault| fault.into_commit(self.link.place())));
            }
            Job::Register { scheduler, reply } => {
                let result = self.register(scheduler).await;
                // Nobody waits any more: the epoch is taken all the same.
                let _ = reply.send(result.map_err(|fault| fault.into_read(self.link.place())));
            }
            Job::Ping { reply } => {
                let result = self.ping().await;
                let _ = reply.send(result.map_err(|fault| fault.into_read(self.link.place())));
            }
        }
        next
    }

    async fn commit(&mut self, fence: Fence, batches: &[&[Change]]) -> Result<(), Fault> {
        if self.unsettled == Some(fence) {
            return Err(Fault::Unsettled);
        }
        let result = self.write(fence, batches).await;
        // One that is fenced off stays so by itself.
        if !matches!(result, Ok(()) | Err(Fault::Fenced)) {
            self.unsettled = Some(fence);
        }
        result
    }

    async fn write(&mut self, fence: Fence, batches: &[&[Change]]) -> Result<(), Fault> {
        self.link.session().await?;
        if self.learnt_over != self.link.made() {
            // Behind another connection may be another database, brought back from a backup.
            self.owners.forget();
            self.learnt_over = self.link.made();
        }
        let session = self.link.session().await?;
        let written = transaction::commit(session, &mut self.owners, fence, batches);
        let result = within(PATIENCE, written).await;
        self.is_cut_off(&result);
        result
    }

    async fn register(&mut self, scheduler: SchedulerId) -> Result<Registration, Fault> {
        let registered = schedulers::register(self.link.session().await?, scheduler);
        let result = within(PATIENCE, registered).await;
        self.is_cut_off(&result);
        self.unsettled.take_if(|_| result.is_ok());
        result
    }

    async fn ping(&mut self) -> Result<(), Fault> {
        let session = self.link.session().await?;
        let rewrite = [Step { sql: REWRITE, params: Vec::new() }];
        let rewritten = async {
            let result = session.transaction(WRITE, &rewrite).await;
            result.map(drop).map_err(|broken| broken.error.into())
        };
        let result = within(PATIENCE, rewritten).await;
        self.is_cut_off(&result);
        result
    }

    /// Whether the connection was lost, which then is of no use any more.
    fn is_cut_off<T>(&mut self, result: &Result<T, Fault>) -> bool {
        let is_lost = result.as_ref().is_err_and(Fault::is_lost_connection);
        if is_lost {
            self.link.hang_up();
        }
        is_lost
    }
}
