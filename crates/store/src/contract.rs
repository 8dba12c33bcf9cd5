//! What every store does, in terms of batches.

use mainspring_core::evaluate::InstanceOutput;
use mainspring_core::ids::{AttemptId, BulkId, RunId, RunKey, SchedulerId, TaskNo, TaskRef};
use mainspring_core::kernel::bulk::BulkRow;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::ledger::LedgerRow;
use mainspring_core::kernel::limit::LimitRow;
use mainspring_core::kernel::record::{AuditRow, IdempotencyKey, KeyRow, TokenRow};
use mainspring_core::kernel::row::{
    AdditionRow, AttemptRow, Log, RunHead, RunProgress, RunStatus, TaskRow, VersionRow, WorkflowRow,
};
use mainspring_core::kernel::wait::{ApprovalPlace, SignalRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_core::world::input::Forgotten;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Called once, on a thread of the store's own, when the fate of a commit is known.
pub type Done = Box<dyn FnOnce(Result<(), CommitError>) + Send>;

/// An answer to a question, some time later.
pub type Reading<'a, T> = Pin<Box<dyn Future<Output = Result<T, ReadError>> + Send + 'a>>;

/// Proof of who is writing. A commit whose fence is not the current one changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    pub scheduler: SchedulerId,
    pub epoch: u64,
}

/// What a scheduler learns when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    pub fence: Fence,
    /// Small number of this scheduler, for its run keys.
    pub ordinal: u32,
    /// Next free sequence number of a run key.
    pub next_run: u64,
    /// Next free commit stamp.
    pub next_stamp: u64,
}

/// Why a commit is not durable, or not known to be.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Another life of this scheduler has begun: stop deciding.
    #[error("another process has taken over this scheduler's work")]
    Fenced,
    /// Nothing, or everything, of the batch may be there: load again and look.
    #[error("{what}")]
    Failed {
        /// What failed, and what to do about it, for a person.
        what: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The disk did not confirm a write. What the operating system now holds in memory may
    /// differ from the disk: only a new process may look again.
    #[error("the disk did not confirm a write: {what}")]
    Fsync { what: String },
}

impl CommitError {
    /// The same for another batch, and without its source.
    pub(crate) fn told_again(&self) -> Self {
        match self {
            Self::Fenced => Self::Fenced,
            Self::Failed { what, .. } => Self::Failed { what: what.clone(), source: None },
            Self::Fsync { what } => Self::Fsync { what: what.clone() },
        }
    }
}

/// Why a question could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("{what}")]
    Failed {
        what: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The rows contradict themselves: a bug or a damaged file.
    #[error("the database is damaged: {0}")]
    Damaged(String),
}

/// A run as stored, with its task rows in order of task number and index: all of plain tasks and
/// groups, and of a group's instances those that are no success. Of these there are as many as the
/// group's row says, the last ones if there should be more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    pub head: RunHead,
    pub progress: RunProgress,
    pub tasks: Vec<TaskRow>,
}

/// Which runs to list: newest first.
#[derive(Clone, Debug, Default)]
pub struct RunsQuery {
    /// Empty: every status.
    pub statuses: Vec<RunStatus>,
    pub workflow: Option<String>,
    /// Accepted at this moment or later, and before that one.
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Every one of these, with this value.
    pub labels: Vec<(String, String)>,
    /// Only children of this run.
    pub parent: Option<RunId>,
    /// Only runs listed after this one.
    pub after: Option<(Timestamp, RunId)>,
    pub limit: usize,
}

/// Which versions of a workflow to list: newest first.
#[derive(Clone, Copy, Debug)]
pub struct VersionsQuery<'a> {
    pub workflow: &'a str,
    /// Only numbers below this one.
    pub below: Option<u32>,
    pub limit: usize,
}

/// Which instances of a group to list: in the order of their indexes.
#[derive(Clone, Debug, Default)]
pub struct InstancesQuery {
    /// This index and those after it.
    pub from: u32,
    pub limit: usize,
    /// Empty: every fact.
    pub facts: Vec<Fact>,
}

/// A final run whose time is up, and the logs that go with it. What it has in the blob store is
/// named after it. Its child runs, and theirs, go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expired {
    pub run: Forgotten,
    /// The runs below it, in the order of their ids.
    pub children: Vec<RunId>,
    /// About how many rows of tasks go with it: as many as it has tasks, and of instances as the
    /// highest indexes say.
    pub rows: u64,
    /// Attempts whose logs are not in their rows, in the order of their ids.
    pub logs: Vec<AttemptId>,
}

/// An approval that waits for somebody, with the row of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredApproval {
    pub place: ApprovalPlace,
    pub run: RunId,
    pub workflow: Arc<str>,
    pub version: u32,
    pub row: TaskRow,
}

/// Limits that somebody set while a server ran, and what rates count; each by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredLimits {
    pub set: Vec<LimitRow>,
    pub ledgers: Vec<LedgerRow>,
}

/// A row of the audit log with its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    pub number: u64,
    pub row: AuditRow,
}

/// A place where decisions are kept.
///
/// Changes of one commit become visible together or not at all. Commits of one caller are
/// carried out in the order they were handed over.
pub trait Store: Send + Sync + 'static {
    /// Takes up work as this scheduler: its epoch goes up by one, which fences off any
    /// former life. Whoever registers is alone with the store, so that every other scheduler is
    /// dead: what it left unfinished becomes this one's, as its next commit, and its epoch goes
    /// up too.
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration>;

    /// Writes all changes or none. Several batches may be handed over before the first is
    /// durable; when one fails, every later one of the same fence fails, too, because it may
    /// build on what is not there. Registering again begins anew.
    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done);

    /// Keys of the scheduler's runs that are not final, oldest first.
    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>>;

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>>;

    /// The same without instances: what a run is shown with, however many of them there are.
    fn outline(&self, id: RunId) -> Reading<'_, Option<StoredRun>>;

    /// Heads and progress, newest first (by `created_at`, then id): without outputs, and large
    /// inputs unread, so that a page is small whatever runs were given.
    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>>;

    /// One version of a workflow; the latest when no number is given.
    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>>;

    /// Those of these runs, in any order, that are stored.
    fn known_runs(&self, among: &[RunId]) -> Reading<'_, Vec<RunId>>;

    /// Instances of a group that have rows, in the order of their indexes.
    fn instances(
        &self,
        run: RunKey,
        no: TaskNo,
        query: InstancesQuery,
    ) -> Reading<'_, Vec<TaskRow>>;

    fn instance(&self, run: RunKey, no: TaskNo, index: u32) -> Reading<'_, Option<TaskRow>>;

    /// Outputs of those instances that have one, in the order of their indexes, those that failed to
    /// land among them. A page may be shorter than asked for, when much is in it: only an empty one is the last.
    fn outputs(
        &self,
        run: RunKey,
        no: TaskNo,
        from: u32,
        limit: usize,
    ) -> Reading<'_, Vec<InstanceOutput>>;

    /// A success that may be taken instead of running, whether or not its time is up.
    fn cached(&self, key: &CacheKey) -> Reading<'_, Option<CacheRow>>;

    /// What was added to a run's tasks, in the order of their numbers.
    fn additions(&self, run: RunKey) -> Reading<'_, Vec<AdditionRow>>;

    /// The newest signal of each key, in the order of their numbers.
    fn signals(&self, run: RunKey) -> Reading<'_, Vec<SignalRow>>;

    /// Approvals that wait for somebody, whoever owns their runs: those that wait longest first.
    fn approvals(
        &self,
        after: Option<ApprovalPlace>,
        limit: usize,
    ) -> Reading<'_, Vec<StoredApproval>>;

    /// Superseded attempts of a run, by task and number.
    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>>;

    /// Superseded attempts of one task or instance, by number.
    fn attempts_of(&self, run: RunKey, task: TaskRef) -> Reading<'_, Vec<AttemptRow>>;

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>>;

    /// Those of these attempts, in any order, that have a log which is not in its row.
    fn logs_outside(&self, among: &[AttemptId]) -> Reading<'_, Vec<AttemptId>>;

    /// A workflow by name, hidden ones included.
    fn workflow(&self, name: &str) -> Reading<'_, Option<WorkflowRow>>;

    /// Workflows that are not hidden, by name, after the one given.
    fn workflows(&self, after: Option<&str>, limit: usize) -> Reading<'_, Vec<WorkflowRow>>;

    /// Whole versions, newest first.
    fn versions(&self, query: VersionsQuery<'_>) -> Reading<'_, Vec<VersionRow>>;

    /// A scheduler's runs that changed after this stamp, in the order of their stamps, then of
    /// their keys. Runs of one stamp are never torn apart: as many more than `limit` are given
    /// as that takes.
    fn changed(
        &self,
        scheduler: SchedulerId,
        after: u64,
        limit: usize,
    ) -> Reading<'_, Vec<(RunHead, RunProgress)>>;

    /// What was answered under this key. The body is not part of what is looked for.
    fn key(&self, key: &IdempotencyKey) -> Reading<'_, Option<KeyRow>>;

    /// Whether there is a key from before this moment that no run holds: one that
    /// `Change::DropKeys` would drop.
    fn has_old_keys(&self, before: Timestamp) -> Reading<'_, bool>;

    /// Newest first, below the number given.
    fn audit(&self, below: Option<u64>, limit: usize) -> Reading<'_, Vec<Audited>>;

    /// Every token and session, in the order of their making, then of their ids.
    fn tokens(&self) -> Reading<'_, Vec<TokenRow>>;

    fn bulk(&self, id: BulkId) -> Reading<'_, Option<BulkRow>>;

    /// Orders on many runs that are at work, oldest first (by `created_at`, then id).
    fn unfinished_bulks(&self) -> Reading<'_, Vec<BulkRow>>;

    /// Whether there is one that `Change::DropBulks` would drop.
    fn has_old_bulks(&self, before: Timestamp) -> Reading<'_, bool>;

    fn limits(&self) -> Reading<'_, StoredLimits>;

    /// Final runs that were accepted and ended before this moment and are nobody's children,
    /// oldest first (by `created_at`, then id).
    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>>;

    /// Answers if it can be reached and written to.
    fn ping(&self) -> Reading<'_, ()>;
}
