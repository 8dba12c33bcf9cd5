//! What every store does, in terms of batches.

use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId};
use mainspring_core::kernel::row::{
    AttemptRow, Log, RunHead, RunProgress, RunStatus, TaskRow, VersionRow,
};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use std::future::Future;
use std::pin::Pin;

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

/// A run as stored, with all its task rows in order of task number and index.
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
    /// Only runs listed after this one.
    pub after: Option<(Timestamp, RunId)>,
    pub limit: usize,
}

/// A place where decisions are kept.
///
/// Changes of one commit become visible together or not at all. Commits of one caller are
/// carried out in the order they were handed over.
pub trait Store: Send + Sync + 'static {
    /// Takes up work as this scheduler: its epoch goes up by one, which fences off any
    /// former life.
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration>;

    /// Writes all changes or none.
    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done);

    /// Keys of the scheduler's runs that are not final, oldest first.
    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>>;

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>>;

    /// Heads and progress, newest first (by `created_at`, then id).
    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>>;

    /// One version of a workflow; the latest when no number is given.
    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>>;

    /// Superseded attempts of a run, by task and number.
    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>>;

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>>;
}
