//! The one thread that writes.
//!
//! ```text
//!  any thread ── commit, register, ping ──► queue ──► one transaction each, in order
//!                                                        │ ok, fenced, failed
//!                                                        └──► done(), on this thread
//! ```
//! A transaction that failed is rolled back and the next one is tried. When the connection was
//! lost under one, nobody knows its fate: then nothing more is written under the same fence,
//! because what follows may build on what is not there. A new life looks first.

use super::fault::{Fault, within};
use super::link::Link;
use super::open::ConnectError;
use super::place::Place;
use super::schema;
use super::session::{Role, Step, WRITE};
use super::tables::schedulers;
use super::transaction::{self, Owners};
use crate::contract::{Fence, ReadError, Registration};
use crate::promise::Promise;
use crate::thread::Thread;
use mainspring_core::ids::SchedulerId;
use mainspring_core::world::batch::Change;
use std::sync::{Arc, mpsc as blocking};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};

/// Writes what is there already, to the disk.
const REWRITE: &str = "
    update migrations set applied_at = applied_at
    where number = (select max(number) from migrations)";

/// Longer than the server's own limits, which are told with their cause.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) enum Job {
    Commit { fence: Fence, changes: Vec<Change>, promise: Promise },
    Register { scheduler: SchedulerId, reply: oneshot::Sender<Result<Registration, ReadError>> },
    Ping { reply: oneshot::Sender<Result<(), ReadError>> },
}

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
        let mut desk = Desk::new(place);
        let thread = Thread::start("postgres-writer", move || {
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
    /// Whose last batch may be there or not.
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
        loop {
            tokio::select! {
                biased;
                job = jobs.recv() => match job {
                    Some(job) => self.serve(job).await,
                    None => return,
                },
                // Left as soon as there is something to do, or nothing more will come: a server
                // that does not answer must not hold up the end of this program.
                never = self.link.keep_up() => match never {},
            }
        }
    }

    async fn serve(&mut self, job: Job) {
        match job {
            Job::Commit { fence, changes, promise } => {
                let result = self.commit(fence, &changes).await;
                promise.keep(result.map_err(|fault| fault.into_commit(self.link.place())));
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
    }

    async fn commit(&mut self, fence: Fence, changes: &[Change]) -> Result<(), Fault> {
        if self.unsettled == Some(fence) {
            return Err(Fault::Unsettled);
        }
        self.link.session().await?;
        if self.learnt_over != self.link.made() {
            // Behind another connection may be another database, brought back from a backup.
            self.owners.forget();
            self.learnt_over = self.link.made();
        }
        let session = self.link.session().await?;
        let written = transaction::commit(session, &mut self.owners, fence, changes);
        let result = within(PATIENCE, written).await;
        if self.is_cut_off(&result) {
            self.unsettled = Some(fence);
        }
        result
    }

    async fn register(&mut self, scheduler: SchedulerId) -> Result<Registration, Fault> {
        let registered = schedulers::register(self.link.session().await?, scheduler);
        let result = within(PATIENCE, registered).await;
        self.is_cut_off(&result);
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
