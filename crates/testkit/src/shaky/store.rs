//! The store: a model in memory behind faults.

use super::ShakyBlobs;
use mainspring_core::evaluate::InstanceOutput;
use mainspring_core::ids::{AttemptId, BulkId, RunId, RunKey, SchedulerId, TaskNo, TaskRef};
use mainspring_core::kernel::bulk::BulkRow;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::record::{IdempotencyKey, KeyRow, TokenRow};
use mainspring_core::kernel::row::{
    AdditionRow, AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow, WorkflowRow,
};
use mainspring_core::kernel::wait::{ApprovalPlace, SignalRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_engine::logs::LogPlaces;
use mainspring_store::{
    Audited, CommitError, Done, Expired, Fence, InstancesQuery, Memory, ReadError, Reading,
    Registration, RunsQuery, Store, StoredApproval, StoredLimits, StoredRun, VersionsQuery,
};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use tempfile::TempDir;
use tokio::sync::Notify;

/// What a full disk says.
pub const FULL: &str = "no space left on the disk: free some";

/// What is wrong with the store until a test says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Nobody answers.
    Unreachable,
    /// What is there contradicts itself.
    Damaged,
    /// Commits take until the fault is over.
    CommitsWait,
    /// There is room for what is written over, and for nothing more: a ping goes through, a
    /// commit does not, and nobody can begin anew.
    Full,
}

/// What becomes of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Durable,
    /// Nothing of it is there.
    Lost,
    /// All of it is there, but that is not what is said.
    DurableButReportedFailed,
    /// The disk did not confirm it.
    Unconfirmed,
}

#[derive(Default)]
pub struct Shaky {
    pub memory: Memory,
    fault: Mutex<Fault>,
    /// Of the next commits, before the fault has a say.
    fates: Mutex<VecDeque<Fate>>,
    waiting: Mutex<Vec<(Fence, Vec<Change>, Done)>>,
    /// A commit of this fence failed, and so do those after it.
    failed: Mutex<Option<Fence>>,
    arrived: Notify,
    /// Loads that fail before one works.
    pub failing_loads: Mutex<u32>,
    /// Whatever has expired was opened again since it was looked at.
    pub opens_again: AtomicBool,
    pub catching_up: Stop,
    /// How often a run was read with the rows of its instances.
    pub whole_runs: AtomicUsize,
    pub blobs: Arc<ShakyBlobs>,
    folder: OnceLock<TempDir>,
}

impl fmt::Debug for Shaky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shaky").field("fault", &self.fault).finish_non_exhaustive()
    }
}

/// Holds the next reader who catches up, with the answer in hand.
#[derive(Debug, Default)]
pub struct Stop {
    pub is_set: AtomicBool,
    pub reached: Notify,
    pub released: Notify,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("unpoisoned")
}

impl Shaky {
    /// Where its logs are, in this life and every other.
    pub fn logs(&self) -> LogPlaces {
        let folder = self.folder.get_or_init(|| tempfile::tempdir().expect("a folder"));
        LogPlaces { folder: folder.path().to_owned(), blobs: Arc::clone(&self.blobs) as _ }
    }

    pub fn set(&self, fault: Fault) {
        *held(&self.fault) = fault;
        if fault != Fault::CommitsWait {
            for (fence, changes, done) in held(&self.waiting).drain(..) {
                self.memory.commit(fence, changes, done);
            }
        }
    }

    pub fn next(&self, fates: &[Fate]) {
        held(&self.fates).extend(fates);
    }

    /// What was said of the next commits is not so.
    pub fn forget_fates(&self) {
        held(&self.fates).clear();
    }

    /// A commit has come and waits for the fault to be over.
    pub async fn commit_waits(&self) {
        self.arrived.notified().await;
    }

    fn read<'a, T: Send + 'a>(&self, answer: Reading<'a, T>) -> Reading<'a, T> {
        match *held(&self.fault) {
            Fault::Unreachable => failed_reading("nobody answers"),
            Fault::Damaged => {
                let error = ReadError::Damaged("a row is missing".to_owned());
                Box::pin(std::future::ready(Err(error)))
            }
            Fault::None | Fault::CommitsWait | Fault::Full => answer,
        }
    }

    /// How a load fails before it has begun, if it does.
    fn failing_load(&self) -> Option<&'static str> {
        let mut failing = held(&self.failing_loads);
        if *failing > 0 {
            *failing -= 1;
            return Some("still full");
        }
        (*held(&self.fault) == Fault::Full).then_some(FULL)
    }
}

fn failed_reading<'a, T: Send + 'a>(what: &str) -> Reading<'a, T> {
    let error = ReadError::Failed { what: what.to_owned(), source: None };
    Box::pin(std::future::ready(Err(error)))
}

fn failed(what: &str) -> CommitError {
    CommitError::Failed { what: what.to_owned(), source: None }
}

impl Store for Shaky {
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration> {
        match self.failing_load() {
            Some(what) => failed_reading(what),
            None => self.read(self.memory.register(scheduler)),
        }
    }

    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done) {
        if *held(&self.failed) == Some(fence) {
            return done(Err(failed("an earlier batch failed")));
        }
        let fate = held(&self.fates).pop_front();
        if fate.is_some_and(|fate| fate != Fate::Durable) {
            *held(&self.failed) = Some(fence);
        }
        match (fate, *held(&self.fault)) {
            (Some(Fate::Lost), _) => done(Err(failed("the disk is full"))),
            (Some(Fate::Unconfirmed), _) => {
                done(Err(CommitError::Fsync { what: "EIO".to_owned() }));
            }
            (Some(Fate::DurableButReportedFailed), _) => {
                let result = self.memory.apply_now(fence, &changes);
                done(result.and(Err(failed("the disk is full"))));
            }
            (None, Fault::Full) => done(Err(failed(FULL))),
            (None, Fault::CommitsWait) => {
                held(&self.waiting).push((fence, changes, done));
                self.arrived.notify_one();
            }
            (Some(Fate::Durable), _)
            | (None, Fault::None | Fault::Unreachable | Fault::Damaged) => {
                self.memory.commit(fence, changes, done);
            }
        }
    }

    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>> {
        self.read(self.memory.unfinished(scheduler))
    }

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.whole_runs.fetch_add(1, Ordering::Relaxed);
        self.read(self.memory.run(id))
    }

    fn outline(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.read(self.memory.outline(id))
    }

    fn known_runs(&self, among: &[RunId]) -> Reading<'_, Vec<RunId>> {
        self.read(self.memory.known_runs(among))
    }

    fn instances(
        &self,
        run: RunKey,
        no: TaskNo,
        query: InstancesQuery,
    ) -> Reading<'_, Vec<TaskRow>> {
        self.read(self.memory.instances(run, no, query))
    }

    fn instance(&self, run: RunKey, no: TaskNo, index: u32) -> Reading<'_, Option<TaskRow>> {
        self.read(self.memory.instance(run, no, index))
    }

    fn outputs(
        &self,
        run: RunKey,
        no: TaskNo,
        from: u32,
        limit: usize,
    ) -> Reading<'_, Vec<InstanceOutput>> {
        self.read(self.memory.outputs(run, no, from, limit))
    }

    fn cached(&self, key: &CacheKey) -> Reading<'_, Option<CacheRow>> {
        self.read(self.memory.cached(key))
    }

    fn attempts_of(&self, run: RunKey, task: TaskRef) -> Reading<'_, Vec<AttemptRow>> {
        self.read(self.memory.attempts_of(run, task))
    }

    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.read(self.memory.runs(query))
    }

    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>> {
        self.read(self.memory.version(workflow, number))
    }

    fn additions(&self, run: RunKey) -> Reading<'_, Vec<AdditionRow>> {
        self.read(self.memory.additions(run))
    }

    fn signals(&self, run: RunKey) -> Reading<'_, Vec<SignalRow>> {
        self.read(self.memory.signals(run))
    }

    fn approvals(
        &self,
        after: Option<ApprovalPlace>,
        limit: usize,
    ) -> Reading<'_, Vec<StoredApproval>> {
        self.read(self.memory.approvals(after, limit))
    }

    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>> {
        self.read(self.memory.attempts(run))
    }

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>> {
        self.read(self.memory.log(run, attempt))
    }

    fn logs_outside(&self, among: &[AttemptId]) -> Reading<'_, Vec<AttemptId>> {
        self.read(self.memory.logs_outside(among))
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

    fn bulk(&self, id: BulkId) -> Reading<'_, Option<BulkRow>> {
        self.read(self.memory.bulk(id))
    }

    fn unfinished_bulks(&self) -> Reading<'_, Vec<BulkRow>> {
        self.read(self.memory.unfinished_bulks())
    }

    fn has_old_bulks(&self, before: Timestamp) -> Reading<'_, bool> {
        self.read(self.memory.has_old_bulks(before))
    }

    fn limits(&self) -> Reading<'_, StoredLimits> {
        self.read(self.memory.limits())
    }

    fn tokens(&self) -> Reading<'_, Vec<TokenRow>> {
        self.read(self.memory.tokens())
    }

    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>> {
        let answer = self.read(self.memory.expired(before, limit));
        if !self.opens_again.load(Ordering::Relaxed) {
            return answer;
        }
        Box::pin(async move {
            let mut expired = answer.await?;
            expired.iter_mut().for_each(|expired| expired.run.stamp -= 1);
            Ok(expired)
        })
    }

    fn ping(&self) -> Reading<'_, ()> {
        self.read(self.memory.ping())
    }
}
