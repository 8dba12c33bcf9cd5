//! What a world is told, what it answers, and what it must be given first.

use crate::evaluate::Answer;
use crate::ids::{BulkId, RunId, RunKey, TaskNo, TaskRef};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::kernel::group::Group;
use crate::kernel::limit::Rate;
use crate::kernel::record::{Admin, Record, Role};
use crate::kernel::row::{AdditionRow, RunStatus, TaskRow, WorkflowRow};
use crate::kernel::wait::Verdict;
use crate::limits::SIGNALS_MAX;
use crate::spec::definition::Definition;
use crate::time::Timestamp;
use crate::view::tiers::TierView;
use crate::work::Report;
use crate::world::snapshot::RunSnapshot;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Input {
    /// A checked definition, to be stored as a version.
    Deploy(Deploy),
    /// Start a run of a stored version.
    Trigger(Trigger),
    Command(Command),
    /// The time of a run that sleeps has come.
    Rouse(RunId),
    DeleteWorkflow(DeleteWorkflow),
    /// Final runs whose time is up.
    Forget(Forget),
    /// What needs no decision, only to be written.
    Admin(Admin),
    /// Changes a limit of the server's, or adds a tier.
    SetTier(SetTier),
    /// Asks how limits stand that tasks count against.
    Tiers,
    /// Asks how limits stand that runs count against.
    RunLimits,
    Report(Report),
    /// To a question that this world or a former one asked.
    Answer(Answered),
    /// An input that leaves a record if it is accepted.
    Recorded(Box<Record>, Box<Input>),
}

/// A question's answer.
#[derive(Clone, Debug)]
pub struct Answered {
    pub run: RunKey,
    pub number: (u64, u64),
    pub answer: Answer,
}

#[derive(Clone, Debug)]
pub struct Deploy {
    pub definition: Arc<Definition>,
    pub text: Arc<str>,
    pub hash: [u8; 32],
}

#[derive(Clone, Debug)]
pub struct Trigger {
    pub workflow: Arc<str>,
    /// None: the latest.
    pub version: Option<u32>,
    /// Checked against the schema already, defaults filled in.
    pub input: Json,
    pub labels: BTreeMap<String, String>,
    pub priority: i32,
    pub triggered_by: String,
    pub workdir: String,
    /// The key of its concurrency group, worked out by `evaluate::group_key`.
    pub group: Option<Arc<str>>,
    /// It runs another run anew.
    pub again: Option<Box<Again>>,
}

/// A final run once more: as another run.
#[derive(Clone, Debug)]
pub struct Again {
    pub of: RunId,
    /// Of the former run, as it was read.
    pub stamp: u64,
    /// The new run's, known in advance: what it takes over of large outputs is under that name
    /// already.
    pub id: RunId,
    /// Rows that it begins with, in the order of its tasks: made by `plan::dag::kept`.
    pub kept: Vec<TaskRow>,
    /// What was added to the former run, if the new one is pinned to the same version.
    pub added: Option<Inherited>,
}

/// Additions that a run begins with.
#[derive(Clone, Debug)]
pub struct Inherited {
    pub rows: Vec<AdditionRow>,
    /// The version's with all of them.
    pub definition: Arc<Definition>,
}

/// A person's or a program's order about a run, or about tasks of it.
#[derive(Clone, Debug)]
pub struct Command {
    pub run: RunId,
    pub order: Order,
    pub by: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    Run(Verb),
    Task(Named, Verb),
    /// These, as one retry. What never began because the run was over begins as well.
    RetryTasks(Vec<Arc<str>>),
    Signal(Signal),
    /// On an approval.
    Rule(Named, Ruling),
    /// More tasks.
    Add(Box<Addition>),
}

/// Tasks for a run that lives, checked already.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    pub text: Arc<str>,
    /// The run's, with the new tasks behind those that it has.
    pub definition: Arc<Definition>,
    /// The number of the last addition when that was made.
    pub after: u32,
}

/// A key and a value for whatever waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    pub key: Arc<str>,
    /// At most `SIGNAL_BYTES_MAX` bytes.
    pub value: Json,
}

/// What somebody says to an approval, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    pub verdict: Verdict,
    pub comment: Option<String>,
    pub role: Role,
}

impl Order {
    pub fn is_cancel(&self) -> bool {
        matches!(
            self,
            Self::Run(Verb::Cancel | Verb::ForceCancel)
                | Self::Task(_, Verb::Cancel | Verb::ForceCancel)
        )
    }
}

/// A task, or one instance of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub task: Arc<str>,
    pub index: Option<u32>,
}

impl<T: Into<Arc<str>>> From<T> for Named {
    fn from(task: T) -> Self {
        Self { task: task.into(), index: None }
    }
}

impl Named {
    /// Where it is in a run, by the run's definition and the rows of its tasks.
    pub fn find<'r>(
        &self,
        definition: &Definition,
        row: impl FnOnce(TaskNo) -> Option<&'r TaskRow>,
    ) -> Result<TaskRef, Refusal> {
        let task = || Arc::clone(&self.task);
        let no = definition.task_no(&self.task).ok_or_else(|| Refusal::TaskNotFound(task()))?;
        let Some(index) = self.index else { return Ok(TaskRef::plain(no)) };
        if definition.task(no).fan_out.is_none() {
            return Err(Refusal::NotAGroup(task()));
        }
        let row = row(no);
        // One that had no items has its outcome, and was never open.
        let group = match row.and_then(|row| row.group.as_deref()) {
            Some(group) if group.count > 0 => *group,
            _ if row.is_some_and(|row| row.fact == Fact::Success) => Group::default(),
            _ => return Err(Refusal::NotStarted(index)),
        };
        match index {
            index if index >= group.count => {
                Err(Refusal::InstanceNotFound { task: task(), index, count: group.count })
            }
            index if index >= group.next => Err(Refusal::NotStarted(index)),
            index => Ok(TaskRef { no, index: Some(index) }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Pause,
    Resume,
    Cancel,
    /// Cancelled now, whether or not the work is known to be gone.
    ForceCancel,
    Retry,
}

impl Verb {
    pub const ALL: &[Self] =
        &[Self::Pause, Self::Resume, Self::Cancel, Self::ForceCancel, Self::Retry];
}

/// Hides a workflow; its history stays.
#[derive(Clone, Debug)]
pub struct DeleteWorkflow {
    pub name: Arc<str>,
    pub active: ActiveRuns,
    pub by: String,
}

/// What to do about runs that are not final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActiveRuns {
    /// Refuse while there are any.
    Refuse,
    /// Cancel them first.
    Cancel,
}

/// What a limit is to be from now on; what is not said stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTier {
    /// A name that `check_name` allows.
    pub name: Arc<str>,
    pub limit: Option<u32>,
    pub rate: SetRate,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetRate {
    #[default]
    Keep,
    To(Rate),
    Off,
}

/// Drops what is stored of final runs. One that is active again, or has changed since it was
/// looked at, stays.
#[derive(Clone, Debug)]
pub struct Forget {
    pub runs: Vec<Forgotten>,
    /// Idempotency keys from before this moment whose run is gone, and orders on many runs that
    /// had ended by then.
    pub keys_before: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    pub key: RunKey,
    pub id: RunId,
    pub stamp: u64,
}

/// Something an input needs that memory may lack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A workflow and its latest version, if there is one.
    Workflow(Arc<str>),
    Version(Arc<str>, u32),
    /// A run that is not in memory.
    Run(RunId),
    /// Runs that are not final and not in memory.
    Asleep(Vec<RunId>),
}

/// What was found for the needs of one input.
#[derive(Clone, Debug, Default)]
pub struct Prefetched {
    /// For `Need::Workflow`.
    pub workflow: Option<KnownWorkflow>,
    /// For `Need::Version`.
    pub version: Option<KnownVersion>,
    pub run: Option<RunSnapshot>,
    /// For `Need::Asleep`.
    pub asleep: Vec<RunSnapshot>,
}

#[derive(Clone, Debug)]
pub struct KnownWorkflow {
    pub row: WorkflowRow,
    pub latest: KnownVersion,
}

#[derive(Clone, Debug)]
pub struct KnownVersion {
    pub number: u32,
    pub hash: [u8; 32],
    pub definition: Arc<Definition>,
}

/// A positive answer. It is given only once what it says is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Stored under this number, or found there.
    Deployed {
        version: u32,
        is_new: bool,
    },
    Accepted {
        run: RunId,
    },
    /// An order on many runs.
    Ordered {
        bulk: BulkId,
    },
    /// How limits stand, by name.
    Tiers(Vec<TierView>),
    Done,
}

/// A negative answer: nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no such workflow or version")]
    WorkflowNotFound,
    #[error("{0} of its runs are not final: cancel them, or delete with force")]
    WorkflowActive(usize),
    #[error("there is no such run")]
    RunNotFound,
    #[error("the run has no task '{0}'")]
    TaskNotFound(Arc<str>),
    #[error("task '{0}' is not a fan-out: leave the index out")]
    NotAGroup(Arc<str>),
    #[error("task '{task}' has no instance {index}: it has {count}, numbered from 0")]
    InstanceNotFound { task: Arc<str>, index: u32, count: u32 },
    #[error("instance {0} has not been started yet: it can only be told apart from then on")]
    NotStarted(u32),
    #[error(
        "'{0}' is a workflow's own limit: deploy a version of the workflow with another number"
    )]
    TierOfWorkflow(Arc<str>),
    #[error("there is no tier '{0}' yet: say its limit to add it")]
    TierNotFound(Arc<str>),
    #[error("run {run} holds the concurrency group '{group}', which takes no other")]
    GroupHeld { group: Arc<str>, run: RunId },
    #[error("another scheduler owns this run")]
    NotOwned,
    #[error("the attempt is not the task's current one, or the task is settled")]
    Stale,
    #[error("the run has changed since it was read: look at it again")]
    Outdated,
    #[error("tasks were added to the run meanwhile: look at it again")]
    AddedMeanwhile,
    #[error("the run is {}", .0.word())]
    RunIs(RunStatus),
    #[error("the task is settled already")]
    TaskSettled,
    #[error("the task is held already")]
    TaskHeld,
    #[error("the task is not held")]
    TaskNotHeld,
    #[error("the task is being cancelled already")]
    TaskStopping,
    #[error(
        "the task neither failed nor was cancelled by itself, so there is nothing of it to retry"
    )]
    TaskNotFailed,
    #[error("task '{0}' would have to go back and is running: cancel it or wait for it")]
    DependentRunning(Arc<str>),
    #[error("task '{0}' is no approval")]
    NotAnApproval(Arc<str>),
    #[error("nothing of it waits for a decision now")]
    NotWaiting,
    #[error("it has been decided already: the decision takes effect when the task is resumed")]
    Decided,
    #[error("only these may decide: {0}")]
    NotAllowed(String),
    #[error("the run has got {SIGNALS_MAX} signals, and takes no more")]
    TooManySignals,
    #[error("it is a child of run {0}, and is not retried by itself: retry run {0}")]
    ChildRun(RunId),
    #[error("its parent, run {0}, holds it: resume that, or the task of it that waits")]
    HeldByParent(RunId),
}

impl Refusal {
    /// Stable, for programs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::WorkflowNotFound => "workflow_not_found",
            Self::WorkflowActive(_) => "workflow_active",
            Self::RunNotFound => "run_not_found",
            Self::TaskNotFound(_) => "task_not_found",
            Self::NotAGroup(_) => "not_a_group",
            Self::InstanceNotFound { .. } => "instance_not_found",
            Self::NotStarted(_) => "not_started",
            Self::TierOfWorkflow(_) => "tier_of_workflow",
            Self::TierNotFound(_) => "tier_not_found",
            Self::GroupHeld { .. } => "group_held",
            Self::NotOwned => "not_owned",
            Self::Stale => "stale",
            Self::Outdated => "outdated",
            Self::AddedMeanwhile => "added_meanwhile",
            Self::RunIs(_) => "run_state",
            Self::TaskSettled => "task_settled",
            Self::TaskHeld => "task_held",
            Self::TaskNotHeld => "task_not_held",
            Self::TaskStopping => "task_stopping",
            Self::TaskNotFailed => "task_not_failed",
            Self::DependentRunning(_) => "dependent_running",
            Self::NotAnApproval(_) => "not_an_approval",
            Self::NotWaiting => "not_waiting",
            Self::Decided => "decided",
            Self::NotAllowed(_) => "not_allowed",
            Self::TooManySignals => "too_many_signals",
            Self::ChildRun(_) => "child_run",
            Self::HeldByParent(_) => "held_by_parent",
        }
    }
}
