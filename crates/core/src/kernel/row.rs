//! The rows: everything that is stored of runs, tasks and attempts.

use crate::error::{ErrorClass, TaskError};
use crate::ids::{AttemptId, RunId, RunKey, SchedulerId, TaskRef};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::{Finalizer, Step};
use crate::kernel::group::Group;
use crate::kernel::wait::{Awaited, Wait};
use crate::output::Output;
use crate::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One immutable version of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRow {
    pub workflow: Arc<str>,
    /// From 1.
    pub number: u32,
    /// SHA-256 of the text: the same text twice makes no new version.
    pub hash: [u8; 32],
    pub text: Arc<str>,
    pub created_at: Timestamp,
}

/// Tasks that were added to a run, append-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdditionRow {
    /// From 1, in the order in which they were added.
    pub number: u32,
    pub text: Arc<str>,
    pub by: String,
    pub at: Timestamp,
}

/// A workflow by name: which version is its latest, and whether people still see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowRow {
    pub name: Arc<str>,
    pub latest: u32,
    pub created_at: Timestamp,
    /// When its latest version was deployed.
    pub updated_at: Timestamp,
    /// Hidden since; its history stays.
    pub deleted_at: Option<Timestamp>,
}

/// What is said of a run once, when it is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHead {
    pub key: RunKey,
    pub id: RunId,
    pub workflow: Arc<str>,
    pub version: u32,
    pub kind: RunKind,
    pub input: Json,
    pub labels: BTreeMap<String, String>,
    pub priority: i32,
    pub triggered_by: String,
    /// Where its processes run, unless a task says otherwise.
    pub workdir: String,
    /// The task that it was begun by.
    pub parent: Option<Box<Parent>>,
    /// The run that it runs anew.
    pub retry_of: Option<RunId>,
    /// The key of its concurrency group, if its workflow has one.
    pub group: Option<Arc<str>>,
    pub created_at: Timestamp,
}

impl RunHead {
    pub fn parent_run(&self) -> Option<RunId> {
        self.parent.as_ref().map(|parent| parent.run)
    }
}

/// Which attempt of which task a child run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    pub run: RunId,
    pub task: TaskRef,
    /// Of the task.
    pub name: Arc<str>,
    /// Its number.
    pub attempt: u32,
}

impl Parent {
    /// As who the parent acts on its child.
    pub fn word(&self) -> String {
        format!("run {}", self.run)
    }
}

/// What changes of a run while it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunProgress {
    pub status: RunStatus,
    /// Who placed the run's hold; set exactly while it is paused.
    pub hold: Option<Hold>,
    /// Set while it is cancelling, and kept when that was how it ended.
    pub cancel: Option<CancelCause>,
    /// Since when nothing but `always` tasks is left of a run that was cancelled or has timed out:
    /// what their graces count from.
    pub alone_since: Option<Timestamp>,
    /// Since when something of it was told to end and is not known to be gone, though it should be.
    pub unconfirmed_since: Option<Timestamp>,
    pub owner: SchedulerId,
    /// Number of the commit that last touched it, in its owner's order.
    pub stamp: u64,
    /// First start.
    pub started_at: Option<Timestamp>,
    /// Last opening: what the run's timeout counts from.
    pub opened_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub error: Option<RunError>,
    /// What the definition's `outputs` came to; set only by success.
    pub output: Option<Output>,
    /// The number of the last signal that it got.
    pub signals: u32,
    /// The number of the last addition to its tasks.
    pub additions: u32,
    pub counts: Counts,
}

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    Dag,
}

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Pending,
    Running,
    Paused,
    Cancelling,
    Success,
    Failed,
    Cancelled,
}

impl RunStatus {
    pub const ALL: &[Self] = &[
        Self::Pending,
        Self::Running,
        Self::Paused,
        Self::Cancelling,
        Self::Success,
        Self::Failed,
        Self::Cancelled,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Cancelling => "cancelling",
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub const fn is_final(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Cancelled)
    }
}

/// Why no new attempt of a run starts any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelCause {
    /// Who asked.
    Asked(String),
    RunTimeout,
}

impl CancelCause {
    /// What it means for the tasks of the run.
    pub const fn of_tasks(&self) -> Cancelled {
        match self {
            Self::Asked(_) => Cancelled::RunCancelled,
            Self::RunTimeout => Cancelled::RunTimeout,
        }
    }
}

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    pub class: ErrorClass,
    pub message: String,
}

/// Tasks by stored fact, kept on the run so that lists need no task rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub total: u32,
    /// Dispatched or running.
    pub live: u32,
    /// Parked.
    #[serde(default)]
    pub waiting: u32,
    /// The work is done, and what lands it has not.
    #[serde(default)]
    pub worker_done: u32,
    pub success: u32,
    pub failed: u32,
    pub cancelled: u32,
    pub skipped: u32,
}

/// A pause placed by a person or a policy.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub by: String,
    pub at: Timestamp,
}

/// How the name of a policy's hold begins. Nobody who may hold a run has such a name.
pub const CHECKPOINT: &str = "checkpoint ";

impl Hold {
    /// Placed by a task that is a checkpoint.
    pub fn checkpoint(task: &str, at: Timestamp) -> Self {
        Self { by: format!("{CHECKPOINT}{task}"), at }
    }

    /// The task whose success placed it, if it was one.
    pub fn by_checkpoint(&self) -> Option<&str> {
        self.by.strip_prefix(CHECKPOINT)
    }
}

/// Why a live attempt is being killed.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopping {
    Pause,
    Cancel,
    /// It ran too long.
    Timeout,
    /// It did not start in time.
    StartTimeout,
}

impl Stopping {
    pub const ALL: &[Self] = &[Self::Pause, Self::Cancel, Self::Timeout, Self::StartTimeout];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Cancel => "cancel",
            Self::Timeout => "timeout",
            Self::StartTimeout => "start_timeout",
        }
    }
}

/// Why a task was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cancelled {
    /// Somebody named it.
    ByName,
    /// Together with a task above it.
    UpstreamCancelled,
    RunCancelled,
    RunTimeout,
    /// Another instance of its group failed, and the strategy is `fail_fast`.
    FailFast,
    /// It runs always, and was not through within its `grace`.
    GraceOver,
    /// Its child run was cancelled by itself.
    ChildCancelled,
}

impl Cancelled {
    pub const ALL: &[Self] = &[
        Self::ByName,
        Self::UpstreamCancelled,
        Self::RunCancelled,
        Self::RunTimeout,
        Self::FailFast,
        Self::GraceOver,
        Self::ChildCancelled,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::ByName => "by_name",
            Self::UpstreamCancelled => "upstream_cancelled",
            Self::RunCancelled => "run_cancelled",
            Self::RunTimeout => "run_timeout",
            Self::FailFast => "fail_fast",
            Self::GraceOver => "grace_over",
            Self::ChildCancelled => "child_cancelled",
        }
    }
}

/// Everything stored of one task. There is no row before there is something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    pub task: TaskRef,
    pub fact: Fact,
    /// Set exactly while the fact is `Delayed`, while it is `Waiting` if that has an end, while its
    /// finalizer is delayed, and while a live attempt is being stopped: it has to be gone by then.
    pub until: Option<Timestamp>,
    /// Attempt numbers used so far; they go on after a retry by a person.
    pub attempts: u32,
    /// The current or last attempt at its work; superseded ones are in the history.
    pub attempt: Option<Attempt>,
    /// Counted failures since the last retry by a person.
    pub tries: u32,
    pub losses: u32,
    /// Refused starts in a row, and how long they and the waits after them took together.
    /// Waiting for permits is not part of it.
    pub refusals: u32,
    pub refused_for: Span,
    /// Some attempt of it has started, ever.
    pub ever_started: bool,
    pub hold: Option<Box<Hold>>,
    pub stopping: Option<Stopping>,
    /// Why it is being cancelled or was; set while `stopping` is `Cancel` or the fact `Cancelled`.
    pub cancelled: Option<Cancelled>,
    /// When it got its outcome; set exactly while the fact is a settled one.
    pub settled_at: Option<Timestamp>,
    /// Set by the end of its work if that went well, and by the end of a group that was not
    /// cancelled. A failed finalizer does not take it away, but nobody reads it then.
    pub output: Option<Output>,
    /// Of a failure that was decided without an attempt of its own.
    pub error: Option<Box<TaskError>>,
    /// Set exactly on the row of a fan-out task, from its opening on.
    pub group: Option<Box<Group>>,
    /// Set on the row of a control task from its first start on.
    pub wait: Option<Box<Wait>>,
    /// Set on the row of a task with a finalizer from the end of its work on.
    pub finalizer: Option<Box<Finalizer>>,
}

/// One try at a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub number: u32,
    pub id: AttemptId,
    pub dispatched_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// None while it is live.
    pub end: Option<AttemptEnd>,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    Success,
    /// A former success under the same cache key was taken instead.
    Cached,
    /// It succeeded in another run, which this one was begun from: nothing ran here.
    Copied,
    Failed(Box<TaskError>),
    /// Stopped by a cancel or for a pause.
    Cancelled,
    /// Given up by force: whether the work is gone is not known.
    Abandoned,
    /// Its executor could not take it; its number is used again.
    Refused(Box<str>),
}

/// A superseded attempt, or one of a finalizer that has ended; append-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRow {
    pub task: TaskRef,
    pub step: Step,
    pub attempt: Attempt,
    pub output: Option<Output>,
}

/// What an attempt wrote, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Log {
    /// Whole, in the log format, at most `LOG_INLINE_BYTES_MAX`.
    Inline(Arc<[u8]>),
    /// In a local file of its executor, named by the attempt's id.
    File { bytes: u64 },
    /// In the blob store, named by the attempt's id; so many bytes before it was compressed.
    Blob { bytes: u64 },
}

/// How much an attempt wrote, and where that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSize {
    Inline { bytes: u64 },
    File { bytes: u64 },
    Blob { bytes: u64 },
}

impl TaskRow {
    /// Why it failed, whether or not an attempt of it did.
    pub fn failure(&self) -> Option<&TaskError> {
        let of_attempt = || match self.attempt.as_ref()?.end.as_ref()? {
            AttemptEnd::Failed(error) => Some(&**error),
            _ => None,
        };
        let of_finalizer = || self.finalizer.as_ref()?.error.as_deref();
        self.error.as_deref().or_else(of_attempt).or_else(of_finalizer)
    }

    /// An executor holds an attempt of it, be it at its work or at what lands that.
    pub fn is_live(&self) -> bool {
        self.acting().is_live()
    }

    /// The fact of the step that it is at.
    pub fn acting(&self) -> Fact {
        self.finalizing().map_or(self.fact, |finalizer| finalizer.fact)
    }

    /// What lands its work, while that has not ended.
    pub fn finalizing(&self) -> Option<&Finalizer> {
        self.finalizer.as_deref().filter(|_| self.fact == Fact::WorkerDone)
    }

    /// The attempt that an executor holds, and when it was handed over.
    pub fn live_attempt(&self) -> Option<(AttemptId, Timestamp)> {
        if let Some(finalizer) = self.finalizing() {
            return finalizer.attempt.map(|attempt| (attempt.id, attempt.dispatched_at));
        }
        let attempt = self.attempt.as_ref().filter(|_| self.fact.is_live())?;
        Some((attempt.id, attempt.dispatched_at))
    }

    /// What others may read of what it put out.
    pub fn readable_output(&self) -> Option<&Output> {
        let is_good = matches!(self.fact, Fact::WorkerDone | Fact::Success);
        self.output.as_ref().filter(|_| is_good || self.group.is_some())
    }

    /// The row of a task of which nothing is known yet.
    pub fn new(task: TaskRef) -> Self {
        Self {
            task,
            fact: Fact::None,
            until: None,
            attempts: 0,
            attempt: None,
            tries: 0,
            losses: 0,
            refusals: 0,
            refused_for: Span::ZERO,
            ever_started: false,
            hold: None,
            stopping: None,
            cancelled: None,
            settled_at: None,
            output: None,
            error: None,
            group: None,
            wait: None,
            finalizer: None,
        }
    }

    /// The child run that it waits for.
    pub fn child(&self) -> Option<RunId> {
        match self.awaited()? {
            Awaited::Child { run } if self.fact == Fact::Waiting => Some(*run),
            _ => None,
        }
    }

    /// What it waits for, while it is parked.
    pub fn awaited(&self) -> Option<&Awaited> {
        self.wait.as_ref()?.on.as_ref()
    }
}
