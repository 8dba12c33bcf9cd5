//! Runs and tasks as they are shown to programs. Fields that do not apply are absent.

use crate::error::TaskError;
use crate::ids::{RunId, TaskNo};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::Step;
use crate::kernel::group::Group;
use crate::kernel::row::{
    Attempt, AttemptEnd, AttemptRow, Hold, Parent, RunError, RunHead, RunKind, RunProgress,
    RunStatus, Stopping, TaskRow,
};
use crate::kernel::rows::Rows;
use crate::limits::INPUT_LISTED_BYTES_MAX;
use crate::output::Output;
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::spec::definition::{Action, Definition, Task};
use crate::time::Timestamp;
use crate::view::awaits::Awaits;
use crate::view::finalizer::{self, FinalizerView};
use crate::view::word::{Reason, Shown, Word};
use crate::view::words::{instance_word, words};
use crate::work::ExecutorKind;
use serde::Serialize;
use std::collections::BTreeMap;

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct RunView {
    pub id: RunId,
    pub workflow: String,
    pub version: u32,
    pub status: RunStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_reason: Option<PausedReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Hold>,
    /// Set while it needs a person, though nobody holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<Attention>,
    /// In lists and events only one of at most 1 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    pub labels: BTreeMap<String, String>,
    pub priority: i32,
    pub triggered_by: String,
    pub kind: RunKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentView>,
    /// The run that this one runs anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// What the workflow's `outputs` came to. Not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Instead of `output`, when it is too large to be shown with everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_blob: Option<BlobView>,
    /// `total`, then tasks by state; only states that occur. A fan-out is one task.
    pub tasks: BTreeMap<&'static str, u32>,
}

/// Which attempt of which task a child run is.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParentView {
    pub run: RunId,
    pub task: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    pub attempt: u32,
}

impl ParentView {
    fn of(parent: &Parent) -> Self {
        let Parent { run, task, name, attempt } = parent;
        Self { run: *run, task: name.to_string(), index: task.index, attempt: *attempt }
    }
}

/// What a run needs a person for.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Attention {
    pub why: AttentionReason,
    pub since: Timestamp,
}

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttentionReason {
    /// An attempt was told to end, and five minutes later nothing said that it is gone. A cancel by
    /// force gives it up as abandoned.
    KillUnconfirmed,
}

impl Attention {
    fn of(progress: &RunProgress) -> Option<Self> {
        let since = progress.unconfirmed_since?;
        Some(Self { why: AttentionReason::KillUnconfirmed, since })
    }
}

/// Why a run is paused.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PausedReason {
    /// Somebody holds it: `held` says who, and since when.
    Person,
    /// A task that is a checkpoint has succeeded: `held` says which.
    Checkpoint,
    /// The run that it is a child of is paused, or the task there that waits for it is held.
    Parent,
}

impl PausedReason {
    fn of(head: &RunHead, progress: &RunProgress) -> Option<Self> {
        let hold = progress.hold.as_ref().filter(|_| progress.status == RunStatus::Paused)?;
        let parent = head.parent.as_deref().map(Parent::word);
        Some(match hold.by_checkpoint() {
            Some(_) => Self::Checkpoint,
            None if parent.as_deref() == Some(hold.by.as_str()) => Self::Parent,
            None => Self::Person,
        })
    }
}

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct TaskView {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// How many instances a fan-out has; for an instance, its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// A fan-out's instances by state, those never opened included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<BTreeMap<&'static str, u32>>,
    pub kind: &'static str,
    pub status: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The number of its current attempt; of a fan-out, the highest that an instance has used.
    pub attempt: u32,
    pub tries: u32,
    pub tries_max: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub losses: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Hold>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopping: Option<Stopping>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// The child run of its current or last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<RunId>,
    /// What it waits for, while it is waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub awaits: Option<Awaits>,
    /// What lands its work, from the end of that on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalizer: Option<FinalizerView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Its static values, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Instead of `output`, when it is too large to be shown with everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_blob: Option<BlobView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
}

/// An output in the blob store.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlobView {
    pub bytes: u64,
    pub sha256: String,
}

impl BlobView {
    fn of(output: &Output) -> Option<Self> {
        match output {
            Output::Inline(_) => None,
            Output::Blob(blob) => Some(Self { bytes: blob.bytes, sha256: blob.hex() }),
        }
    }
}

/// One attempt of a task's history, in the order of their numbers.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct AttemptView {
    pub attempt: u32,
    pub id: String,
    /// `work`, or `finalize` for an attempt at landing it. Numbers are counted over both.
    pub role: &'static str,
    pub status: &'static str,
    pub dispatched_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    /// Instead of `output`, when it is too large to be shown with everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_blob: Option<BlobView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A run with all its tasks, as its owner would show it.
pub fn show(
    definition: &Definition,
    (head, progress): (&RunHead, &RunProgress),
    rows: &Rows,
    now: Timestamp,
) -> (RunView, Vec<TaskView>) {
    let graph = Graph::new(definition);
    let shown = words(Shape { definition, graph: &graph }, progress, rows, now);
    let tasks: Vec<TaskView> = graph
        .tasks()
        .map(|no| task_view(definition, no, shown[no.position()], rows.get(no)))
        .collect();
    let mut run = run_view(head, progress);
    run.output = progress.output.as_ref().and_then(|output| output.inline().cloned());
    run.output_blob = progress.output.as_ref().and_then(BlobView::of);
    run.tasks = BTreeMap::from([("total", progress.counts.total)]);
    for shown in &shown {
        *run.tasks.entry(shown.word.text()).or_default() += 1;
    }
    (run, tasks)
}

/// A run for a list or an event: of what it was given only what is small.
pub fn run_listed(head: &RunHead, progress: &RunProgress) -> RunView {
    let mut run = run_view(head, progress);
    run.input = run.input.filter(|input| input.as_str().len() <= INPUT_LISTED_BYTES_MAX);
    run
}

/// A run by its row alone: counts of stored facts only, and no output, which may be large.
pub fn run_view(head: &RunHead, progress: &RunProgress) -> RunView {
    let counts = &progress.counts;
    let stored = [
        ("running", counts.live),
        ("waiting", counts.waiting),
        ("worker_done", counts.worker_done),
        ("success", counts.success),
        ("failed", counts.failed),
        ("cancelled", counts.cancelled),
        ("skipped", counts.skipped),
    ];
    let mut tasks: BTreeMap<_, _> = stored.into_iter().filter(|(_, n)| *n > 0).collect();
    tasks.insert("total", counts.total);
    RunView {
        id: head.id,
        workflow: head.workflow.to_string(),
        version: head.version,
        status: progress.status,
        paused_reason: PausedReason::of(head, progress),
        held: progress.hold.clone(),
        attention: Attention::of(progress),
        input: Some(head.input.clone()).filter(|input| !input.is_unread()),
        labels: head.labels.clone(),
        priority: head.priority,
        triggered_by: head.triggered_by.clone(),
        kind: head.kind,
        parent: head.parent.as_deref().map(ParentView::of),
        retry_of: head.retry_of,
        created_at: head.created_at,
        started_at: progress.started_at,
        finished_at: progress.finished_at,
        error: progress.error.clone(),
        output: None,
        output_blob: None,
        tasks,
    }
}

/// One instance of a group: its own row, and its group's.
pub fn instance(
    definition: &Definition,
    (group, row): (&TaskRow, &TaskRow),
    now: Timestamp,
) -> TaskView {
    let shown = instance_word(group, row, now);
    TaskView {
        index: row.task.index,
        count: group.group.as_ref().map(|group| group.count),
        ..task_view(definition, row.task.no, shown, Some(row))
    }
}

fn task_view(definition: &Definition, no: TaskNo, shown: Shown, row: Option<&TaskRow>) -> TaskView {
    let task = definition.task(no);
    let group = row.and_then(|row| group_of(task, row));
    let attempt = row.and_then(|row| row.attempt.as_ref());
    TaskView {
        name: task.name.to_string(),
        index: None,
        kind: kind(&task.action),
        status: shown.word,
        reason: shown
            .reason
            .map(|reason| reason_text(definition, reason))
            .or_else(|| row.and_then(refusal))
            .or_else(|| row.and_then(finalizer::reason)),
        attempt: row.map_or(0, |row| row.group.as_ref().map_or(row.attempts, |it| it.attempts)),
        tries: row.map_or(0, |row| row.tries),
        tries_max: task.retries.max + 1,
        losses: row.map_or(0, |row| row.losses),
        tier: task.tier.as_ref().map(ToString::to_string),
        held: row.and_then(|row| row.hold.as_deref().cloned()),
        stopping: row.and_then(|row| row.stopping),
        retry_at: row.filter(|row| row.fact == Fact::Delayed).and_then(|row| row.until),
        child: row.and_then(|row| row.wait.as_ref()?.child),
        awaits: row.and_then(|row| Awaits::of(task, row)),
        finalizer: row.and_then(|row| FinalizerView::of(task, row)),
        started_at: match &group {
            Some(group) => group.opened_at,
            None => attempt.and_then(|attempt| attempt.started_at),
        },
        finished_at: row.and_then(|row| row.settled_at),
        input: Some(task.input.written()).filter(|input| *input != Json::empty_object()),
        output: row.and_then(|row| row.output.as_ref()?.inline().cloned()),
        output_blob: row.and_then(|row| row.output.as_ref()).and_then(BlobView::of),
        count: group.as_ref().map(|group| group.count),
        instances: group.as_ref().map(|group| instance_counts(group, row)),
        error: row.filter(|row| shows_error(row)).and_then(TaskRow::failure).cloned(),
    }
}

/// How far a fan-out is, once that is known. One without items never opens; one that went back is
/// as unknown as before it opened.
fn group_of(task: &Task, row: &TaskRow) -> Option<Group> {
    let is_empty = || {
        let is_group = task.fan_out.is_some() && row.task.index.is_none();
        (is_group && row.fact == Fact::Success).then(Group::default)
    };
    row.group.as_deref().copied().filter(|group| group.count > 0).or_else(is_empty)
}

/// `total`, then instances by state; only states that occur. Those whose time for another try has
/// come are told from those that wait for it only one by one.
pub fn instance_counts(group: &Group, row: Option<&TaskRow>) -> BTreeMap<&'static str, u32> {
    let is_closed = group.closed.is_some();
    let is_held = row.is_some_and(|row| row.hold.is_some());
    let (delayed, paused) = match is_held {
        true => (0, group.delayed + group.held),
        false => (group.delayed, group.held),
    };
    let counted = [
        ("success", group.success),
        ("failed", group.failed),
        ("cancelled", group.cancelled + if is_closed { group.unopened() } else { 0 }),
        (
            "running",
            group.unsettled() - group.delayed - group.held - group.waiting - group.worker_done,
        ),
        ("waiting", group.waiting),
        ("worker_done", group.worker_done),
        ("paused", paused),
        ("pending", delayed + if is_closed { 0 } else { group.unopened() }),
    ];
    let mut shown: BTreeMap<_, _> = counted.into_iter().filter(|(_, n)| *n > 0).collect();
    shown.insert("total", group.count);
    shown
}

/// The last attempt's error belongs to the task until another attempt takes its place.
fn shows_error(row: &TaskRow) -> bool {
    matches!(row.fact, Fact::Failed | Fact::Delayed)
}

fn reason_text(definition: &Definition, reason: Reason) -> String {
    match reason {
        Reason::UpstreamFailed(no) => {
            format!("{}: {}", reason.text(), definition.task(no).name)
        }
        reason => reason.text().to_owned(),
    }
}

/// What carries a task out, in a word.
pub fn kind(action: &Action) -> &'static str {
    match action {
        Action::Control(control) => control.word(),
        action => action.executor().map_or("noop", ExecutorKind::word),
    }
}

/// Why the last start was refused, while the task waits for another.
fn refusal(row: &TaskRow) -> Option<String> {
    match &row.attempt.as_ref()?.end {
        Some(AttemptEnd::Refused(why)) if row.fact == Fact::Delayed => {
            Some(format!("start_refused: {why}"))
        }
        _ => None,
    }
}

fn error(attempt: &Attempt) -> Option<TaskError> {
    match attempt.end.as_ref()? {
        AttemptEnd::Failed(error) => Some((**error).clone()),
        AttemptEnd::Success
        | AttemptEnd::Cached
        | AttemptEnd::Copied
        | AttemptEnd::Cancelled
        | AttemptEnd::Abandoned
        | AttemptEnd::Refused(_) => None,
    }
}

/// The last attempt of a task, be it at its work or at landing that. The history is asked for only
/// by those who have a finalizer.
pub fn latest(history: &[AttemptRow], row: &TaskRow) -> Option<Attempt> {
    let landing = row.finalizing().and_then(|finalizer| finalizer.attempt);
    let past = history.iter().map(|past| &past.attempt).chain(row.attempt.as_ref());
    landing.map(|live| live.shown()).or_else(|| past.max_by_key(|it| it.number).cloned())
}

/// A task's attempts, in the order of their numbers: those that are over, the current one at its
/// work, and the live one at landing that.
pub fn attempts(history: &[AttemptRow], row: &TaskRow) -> Vec<AttemptView> {
    let over = history.iter().map(|past| {
        let AttemptRow { step, attempt, output, .. } = past;
        attempt_view(*step, attempt, output.as_ref())
    });
    let current = row.attempt.iter().map(|now| AttemptView {
        status: if row.fact == Fact::Waiting { "waiting" } else { attempt_status(now) },
        ..attempt_view(Step::Work, now, row.output.as_ref())
    });
    let landing = row.finalizing().and_then(|finalizer| finalizer.attempt);
    let landing = landing.map(|now| attempt_view(Step::Finalize, &now.shown(), None));
    let mut all: Vec<AttemptView> = over.chain(current).chain(landing).collect();
    all.sort_by_key(|it| it.attempt);
    all
}

fn attempt_status(attempt: &Attempt) -> &'static str {
    match &attempt.end {
        None if attempt.started_at.is_some() => "running",
        None => "dispatched",
        Some(AttemptEnd::Success) => "success",
        Some(AttemptEnd::Cached) => "cached",
        Some(AttemptEnd::Copied) => "copied",
        Some(AttemptEnd::Failed(_)) => "failed",
        Some(AttemptEnd::Cancelled) => "cancelled",
        Some(AttemptEnd::Abandoned) => "abandoned",
        Some(AttemptEnd::Refused(_)) => "refused",
    }
}

fn attempt_view(step: Step, attempt: &Attempt, output: Option<&Output>) -> AttemptView {
    AttemptView {
        attempt: attempt.number,
        id: attempt.id.to_string(),
        role: step.word(),
        status: attempt_status(attempt),
        dispatched_at: attempt.dispatched_at,
        started_at: attempt.started_at,
        finished_at: attempt.finished_at,
        output: output.and_then(|output| output.inline().cloned()),
        output_blob: output.and_then(BlobView::of),
        error: error(attempt),
    }
}
