//! Runs and tasks as they are shown to programs. Fields that do not apply are absent.

use crate::error::TaskError;
use crate::ids::{RunId, TaskNo};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::kernel::row::{
    Attempt, AttemptEnd, AttemptRow, Hold, RunError, RunHead, RunKind, RunProgress, RunStatus,
    Stopping, TaskRow,
};
use crate::kernel::rows::Rows;
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::spec::definition::{Action, Definition};
use crate::time::Timestamp;
use crate::view::word::{Reason, Shown, Word};
use crate::view::words::words;
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
    pub input: Json,
    pub labels: BTreeMap<String, String>,
    pub priority: i32,
    pub triggered_by: String,
    pub kind: RunKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// `total`, then tasks by state; only states that occur.
    pub tasks: BTreeMap<&'static str, u32>,
}

/// Why a run is paused.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PausedReason {
    /// Somebody holds it: `held` says who, and since when.
    Person,
}

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct TaskView {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    pub kind: &'static str,
    pub status: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// Its static values, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
}

/// One attempt of a task's history, the current one last.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct AttemptView {
    pub attempt: u32,
    pub id: String,
    pub status: &'static str,
    pub dispatched_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Json>,
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
    run.tasks = BTreeMap::from([("total", progress.counts.total)]);
    for shown in &shown {
        *run.tasks.entry(shown.word.text()).or_default() += 1;
    }
    (run, tasks)
}

/// A run for a list: counts of stored facts only, from the run's row alone.
pub fn run_view(head: &RunHead, progress: &RunProgress) -> RunView {
    let counts = &progress.counts;
    let stored = [
        ("running", counts.live),
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
        paused_reason: (progress.status == RunStatus::Paused).then_some(PausedReason::Person),
        held: progress.hold.clone(),
        input: head.input.clone(),
        labels: head.labels.clone(),
        priority: head.priority,
        triggered_by: head.triggered_by.clone(),
        kind: head.kind,
        parent: head.parent,
        created_at: head.created_at,
        started_at: progress.started_at,
        finished_at: progress.finished_at,
        error: progress.error.clone(),
        tasks,
    }
}

fn task_view(definition: &Definition, no: TaskNo, shown: Shown, row: Option<&TaskRow>) -> TaskView {
    let task = definition.task(no);
    let attempt = row.and_then(|row| row.attempt.as_ref());
    TaskView {
        name: task.name.to_string(),
        index: None,
        kind: kind(&task.action),
        status: shown.word,
        reason: shown
            .reason
            .map(|reason| reason_text(definition, reason))
            .or_else(|| row.and_then(refusal)),
        attempt: row.map_or(0, |row| row.attempts),
        tries: row.map_or(0, |row| row.tries),
        tries_max: task.retries.max + 1,
        losses: row.map_or(0, |row| row.losses),
        tier: task.tier.as_ref().map(ToString::to_string),
        held: row.and_then(|row| row.hold.as_deref().cloned()),
        stopping: row.and_then(|row| row.stopping),
        retry_at: row.and_then(|row| row.until),
        started_at: attempt.and_then(|attempt| attempt.started_at),
        finished_at: row.and_then(|row| row.settled_at),
        input: Some(&task.input).filter(|input| **input != Json::empty_object()).cloned(),
        output: row.and_then(|row| row.output.clone()),
        error: attempt.filter(|_| shows_error(row)).and_then(error),
    }
}

/// The last attempt's error belongs to the task until another attempt takes its place.
fn shows_error(row: Option<&TaskRow>) -> bool {
    row.is_some_and(|row| matches!(row.fact, Fact::Failed | Fact::Delayed))
}

fn reason_text(definition: &Definition, reason: Reason) -> String {
    match reason {
        Reason::UpstreamFailed(no) => {
            format!("{}: {}", reason.text(), definition.task(no).name)
        }
        reason => reason.text().to_owned(),
    }
}

fn kind(action: &Action) -> &'static str {
    action.executor().map_or("noop", ExecutorKind::word)
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
        | AttemptEnd::Cancelled
        | AttemptEnd::Abandoned
        | AttemptEnd::Refused(_) => None,
    }
}

/// A task's attempts: those superseded, then the current one.
pub fn attempts(history: &[AttemptRow], row: &TaskRow) -> Vec<AttemptView> {
    let superseded = history.iter().map(|past| attempt_view(&past.attempt, past.output.as_ref()));
    let current = row.attempt.iter().map(|now| attempt_view(now, row.output.as_ref()));
    superseded.chain(current).collect()
}

fn attempt_view(attempt: &Attempt, output: Option<&Json>) -> AttemptView {
    AttemptView {
        attempt: attempt.number,
        id: attempt.id.to_string(),
        status: match &attempt.end {
            None if attempt.started_at.is_some() => "running",
            None => "dispatched",
            Some(AttemptEnd::Success) => "success",
            Some(AttemptEnd::Failed(_)) => "failed",
            Some(AttemptEnd::Cancelled) => "cancelled",
            Some(AttemptEnd::Abandoned) => "abandoned",
            Some(AttemptEnd::Refused(_)) => "refused",
        },
        dispatched_at: attempt.dispatched_at,
        started_at: attempt.started_at,
        finished_at: attempt.finished_at,
        output: output.cloned(),
        error: error(attempt),
    }
}
