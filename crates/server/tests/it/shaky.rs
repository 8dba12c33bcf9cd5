//! A store in memory that fails in the way a test says.

use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId};
use mainspring_core::kernel::record::{IdempotencyKey, KeyRow, TokenRow};
use mainspring_core::kernel::row::{
    AttemptRow, Log, RunHead, RunProgress, VersionRow, WorkflowRow,
};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{
    Audited, CommitError, Done, Expired, Fence, Memory, ReadError, Reading, Registration,
    RunsQuery, Store, StoredRun, VersionsQuery,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

pub const FULL: &str = "no space left on the disk: free some";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Nobody answers.
    Unreachable,
    /// What is there contradicts itself.
    Damaged,
    /// The next commit fails.
    CommitLost,
    /// The next commit is durable, and said to have failed.
    AnswerLost,
    /// Commits take until the fault is over.
    CommitsWait,
    /// There is room for what is written over, and for nothing more: a ping goes through, a
    /// commit does not, and nobody can begin anew.
    Full,
}

#[derive(Default)]
pub struct Shaky {
    pub memory: Memory,
    fault: Mutex<Fault>,
    waiting: Mutex<Vec<(Fence, Vec<Change>, Done)>>,
    arrived: Notify,
    pub catching_up: Stop,
}

/// Holds the next reader who catches up, with the answer in hand.
#[derive(Default)]
pub struct Stop {
    pub is_set: AtomicBool,
    pub reached: Notify,
    pub released: Notify,
}

impl Shaky {
    pub fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
        if fault != Fault::CommitsWait {
            for (fence, changes, done) in self.waiting.lock().unwrap().drain(..) {
                self.memory.commit(fence, changes, done);
            }
        }
    }

    /// A commit has come and waits for the fault to be over.
    pub async fn commit_waits(&self) {
        self.arrived.notified().await;
    }

    fn read<'a, T: Send + 'a>(&self, answer: Reading<'a, T>) -> Reading<'a, T> {
        let error = match *self.fault.lock().unwrap() {
            Fault::Unreachable => {
                ReadError::Failed { what: "nobody answers".to_owned(), source: None }
            }
            Fault::Damaged => ReadError::Damaged("a row is missing".to_owned()),
            Fault::None
            | Fault::CommitLost
            | Fault::AnswerLost
            | Fault::CommitsWait
            | Fault::Full => return answer,
        };
        Box::pin(std::future::ready(Err(error)))
    }
}

fn failed() -> CommitError {
    CommitError::Failed { what: "the disk is full".to_owned(), source: None }
}

impl Store for Shaky {
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration> {
        if *self.fault.lock().unwrap() == Fault::Full {
            let error = ReadError::Failed { what: FULL.to_owned(), source: None };
            return Box::pin(std::future::ready(Err(error)));
        }
        self.read(self.memory.register(scheduler))
    }

    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done) {
        let mut fault = self.fault.lock().unwrap();
        match *fault {
            Fault::CommitLost => {
                *fault = Fault::None;
                done(Err(failed()));
            }
            Fault::AnswerLost => {
                *fault = Fault::None;
                done(self.memory.apply_now(fence, &changes).and(Err(failed())));
            }
            Fault::Full => {
                done(Err(CommitError::Failed { what: FULL.to_owned(), source: None }));
            }
            Fault::CommitsWait => {
                self.waiting.lock().unwrap().push((fence, changes, done));
                self.arrived.notify_one();
            }
            Fault::None | Fault::Unreachable | Fault::Damaged => {
                self.memory.commit(fence, changes, done);
            }
        }
    }

    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>> {
        self.read(self.memory.unfinished(scheduler))
    }

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.read(self.memory.run(id))
    }

    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.read(self.memory.runs(query))
    }

    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>> {
        self.read(self.memory.version(workflow, number))
    }

    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>> {
        self.read(self.memory.attempts(run))
    }

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>> {
        self.read(self.memory.log(run, attempt))
    }

    fn logs_outside(&self, of: &[AttemptId]) -> Reading<'_, Vec<AttemptId>> {
        self.read(self.memory.logs_outside(of))
    }

    fn workflow(&self, name: &str) -> Reading<'_, Option<WorkflowRow>> {
        self.read(self.memory.workflow(name))
    }

    fn workflows(&self, after: Option<&str>, limit: usize) -> Reading<'_, Vec<WorkflowRow>> {
        self.read(self.memory.workflows(after, limit))
    }

    fn versions(&self, query: VersionsQuery<'_>) -> Reading<'_, Vec<VersionRow>> {
        self.read(self.memory.versions(query))
    }

    fn changed(
        &self,
        scheduler: SchedulerId,
        after: u64,
        limit: usize,
    ) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        let answer = self.read(self.memory.changed(scheduler, after, limit));
        if !self.catching_up.is_set.swap(false, Ordering::Relaxed) {
            return answer;
        }
        Box::pin(async move {
            let answer = answer.await;
            self.catching_up.reached.notify_one();
            self.catching_up.released.notified().await;
            answer
        })
    }

    fn key(&self, key: &IdempotencyKey) -> Reading<'_, Option<KeyRow>> {
        self.read(self.memory.key(key))
    }

    fn has_old_keys(&self, before: Timestamp) -> Reading<'_, bool> {
        self.read(self.memory.has_old_keys(before))
    }

    fn audit(&self, below: Option<u64>, limit: usize) -> Reading<'_, Vec<Audited>> {
        self.read(self.memory.audit(below, limit))
    }

    fn tokens(&self) -> Reading<'_, Vec<TokenRow>> {
        self.read(self.memory.tokens())
    }

    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>> {
        self.read(self.memory.expired(before, limit))
    }

    fn ping(&self) -> Reading<'_, ()> {
        self.read(self.memory.ping())
    }
}
