//! The model behind the contract of every store.
//!
//! ```text
//!  commit() ── queue ──► thread: apply to the model ──► done()
//!  reads, …_now() ─────► lock the model, answer at once
//! ```
//! The thread is started by the first `commit`: a simulation that only calls the `…_now`
//! methods has none.

use super::model::Model;
use crate::contract::{
    Audited, CommitError, Done, Expired, Fence, InstancesQuery, ReadError, Reading, Registration,
    RunsQuery, Store, StoredApproval, StoredLimits, StoredRun, VersionsQuery,
};
use crate::thread::Thread;
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
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};

#[derive(Debug, Default)]
pub struct Memory {
    model: Arc<Mutex<Model>>,
    committer: OnceLock<Committer>,
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    /// A store that begins with the rows of a snapshot.
    pub fn from_model(model: Model) -> Self {
        Self { model: Arc::new(Mutex::new(model)), committer: OnceLock::new() }
    }

    /// A copy of every row, as a crash at this moment would leave them.
    pub fn snapshot(&self) -> Model {
        self.model().clone()
    }

    pub fn register_now(&self, scheduler: SchedulerId) -> Registration {
        self.model().register(scheduler)
    }

    pub fn apply_now(&self, fence: Fence, changes: &[Change]) -> Result<(), CommitError> {
        self.model().apply(fence, changes)
    }

    pub fn unfinished_now(&self, scheduler: SchedulerId) -> Vec<(RunKey, RunId)> {
        self.model().unfinished(scheduler)
    }

    pub fn load_now(&self, id: RunId) -> Option<StoredRun> {
        self.model().run(id)
    }

    pub fn runs_now(&self, query: &RunsQuery) -> Vec<(RunHead, RunProgress)> {
        self.model().runs(query)
    }

    pub fn version_now(&self, workflow: &str, number: Option<u32>) -> Option<VersionRow> {
        self.model().version(workflow, number)
    }

    pub fn workflow_now(&self, name: &str) -> Option<WorkflowRow> {
        self.model().workflow(name)
    }

    pub fn attempts_now(&self, run: RunKey) -> Vec<AttemptRow> {
        self.model().attempts(run)
    }

    pub fn log_now(&self, run: RunKey, attempt: AttemptId) -> Option<Log> {
        self.model().log(run, attempt)
    }

    fn model(&self) -> MutexGuard<'_, Model> {
        lock(&self.model)
    }
}

/// A panic elsewhere cannot leave the model half written: it checks before it writes.
fn lock(model: &Mutex<Model>) -> MutexGuard<'_, Model> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for Memory {
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration> {
        answer(self.register_now(scheduler))
    }

    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done) {
        let committer = self.committer.get_or_init(|| Committer::start(&self.model));
        committer.send(Job { fence, changes, done });
    }

    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>> {
        answer(self.unfinished_now(scheduler))
    }

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        answer(self.load_now(id))
    }

    fn outline(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        let mut found = self.load_now(id);
        if let Some(run) = &mut found {
            run.tasks.retain(|row| row.task.index.is_none());
        }
        answer(found)
    }

    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        answer(self.runs_now(&query))
    }

    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>> {
        answer(self.version_now(workflow, number))
    }

    fn known_runs(&self, among: &[RunId]) -> Reading<'_, Vec<RunId>> {
        answer(self.model().known_runs(among))
    }

    fn instances(
        &self,
        run: RunKey,
        no: TaskNo,
        query: InstancesQuery,
    ) -> Reading<'_, Vec<TaskRow>> {
        answer(self.model().instances(run, no, &query))
    }

    fn instance(&self, run: RunKey, no: TaskNo, index: u32) -> Reading<'_, Option<TaskRow>> {
        answer(self.model().instance(run, no, index))
    }

    fn outputs(
        &self,
        run: RunKey,
        no: TaskNo,
        from: u32,
        limit: usize,
    ) -> Reading<'_, Vec<InstanceOutput>> {
        answer(self.model().outputs(run, no, from, limit))
    }

    fn cached(&self, key: &CacheKey) -> Reading<'_, Option<CacheRow>> {
        answer(self.model().cache.get(key))
    }

    fn additions(&self, run: RunKey) -> Reading<'_, Vec<AdditionRow>> {
        answer(self.model().additions(run))
    }

    fn signals(&self, run: RunKey) -> Reading<'_, Vec<SignalRow>> {
        answer(self.model().signals(run))
    }

    fn approvals(
        &self,
        after: Option<ApprovalPlace>,
        limit: usize,
    ) -> Reading<'_, Vec<StoredApproval>> {
        answer(self.model().approvals(after, limit))
    }

    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>> {
        answer(self.attempts_now(run))
    }

    fn attempts_of(&self, run: RunKey, task: TaskRef) -> Reading<'_, Vec<AttemptRow>> {
        answer(self.model().attempts_of(run, task))
    }

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>> {
        answer(self.log_now(run, attempt))
    }

    fn logs_outside(&self, among: &[AttemptId]) -> Reading<'_, Vec<AttemptId>> {
        answer(self.model().logs_outside(among))
    }

    fn workflow(&self, name: &str) -> Reading<'_, Option<WorkflowRow>> {
        answer(self.workflow_now(name))
    }

    fn workflows(&self, after: Option<&str>, limit: usize) -> Reading<'_, Vec<WorkflowRow>> {
        answer(self.model().workflows(after, limit))
    }

    fn versions(&self, query: VersionsQuery<'_>) -> Reading<'_, Vec<VersionRow>> {
        answer(self.model().versions(query))
    }

    fn changed(
        &self,
        scheduler: SchedulerId,
        after: u64,
        limit: usize,
    ) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        answer(self.model().changed(scheduler, after, limit))
    }

    fn key(&self, key: &IdempotencyKey) -> Reading<'_, Option<KeyRow>> {
        answer(self.model().records.key(key))
    }

    fn has_old_keys(&self, before: Timestamp) -> Reading<'_, bool> {
        answer(self.model().has_old_keys(before))
    }

    fn audit(&self, below: Option<u64>, limit: usize) -> Reading<'_, Vec<Audited>> {
        answer(self.model().records.audit(below, limit))
    }

    fn bulk(&self, id: BulkId) -> Reading<'_, Option<BulkRow>> {
        answer(self.model().records.bulk(id))
    }

    fn unfinished_bulks(&self) -> Reading<'_, Vec<BulkRow>> {
        answer(self.model().records.unfinished_bulks())
    }

    fn has_old_bulks(&self, before: Timestamp) -> Reading<'_, bool> {
        answer(self.model().records.has_old_bulks(before))
    }

    fn limits(&self) -> Reading<'_, StoredLimits> {
        answer(self.model().limits())
    }

    fn tokens(&self) -> Reading<'_, Vec<TokenRow>> {
        answer(self.model().records.tokens())
    }

    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>> {
        answer(self.model().expired(before, limit))
    }

    fn ping(&self) -> Reading<'_, ()> {
        answer(())
    }
}

fn answer<T: Send + 'static>(value: T) -> Reading<'static, T> {
    Box::pin(ready(Ok::<T, ReadError>(value)))
}

struct Job {
    fence: Fence,
    changes: Vec<Change>,
    done: Done,
}

#[derive(Debug)]
struct Committer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Thread,
}

impl Committer {
    fn start(model: &Arc<Mutex<Model>>) -> Self {
        let (queue, jobs) = mpsc::channel::<Job>();
        let model = Arc::clone(model);
        let thread = Thread::start("memory-writer", move || {
            let mut failed = None;
            for Job { fence, changes, done } in jobs {
                let result = match &failed {
                    Some((of, CommitError::Failed { what, .. })) if *of == fence => {
                        let failed =
                            CommitError::Failed { what: String::clone(what), source: None };
                        // Whoever is fenced off is told so before anything else.
                        lock(&model).apply(fence, &[]).and(Err(failed))
                    }
                    _ => lock(&model).apply(fence, &changes),
                };
                if let Err(error @ CommitError::Failed { .. }) = &result {
                    failed = Some((fence, error.told_again()));
                }
                done(result);
            }
        });
        let thread = thread.expect("the model is for tests: they can start a thread");
        Self { queue: Some(queue), thread }
    }

    fn send(&self, job: Job) {
        let queue = self.queue.as_ref().expect("taken only by drop");
        if let Err(mpsc::SendError(job)) = queue.send(job) {
            let what = "the store's writer has ended".to_owned();
            (job.done)(Err(CommitError::Failed { what, source: None }));
        }
    }
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.queue = None;
        self.thread.join();
    }
}
