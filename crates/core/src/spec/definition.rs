//! What a workflow's text means once it has been checked: plain data, names resolved to
//! numbers, every default filled in.

use crate::error::ErrorClass;
use crate::ids::TaskNo;
use crate::json::Json;
use crate::time::Span;
use crate::work::ExecutorKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One version of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub name: Arc<str>,
    pub description: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// JSON Schema of the run's input, as written.
    pub input_schema: Option<Json>,
    /// Of the whole run, from its last opening.
    pub timeout: Option<Span>,
    /// The workflow's own tiers: they bound all its runs together.
    pub tiers: BTreeMap<Arc<str>, u32>,
    /// In the order of the text; a task's number is its position.
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub name: Arc<str>,
    pub description: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub action: Action,
    pub depends_on: Vec<Edge>,
    pub on_failure: OnFailure,
    pub allow_failure: bool,
    /// Static values, a JSON object.
    pub input: Json,
    pub retries: Retries,
    pub on_lost: OnLost,
    /// Of one attempt, from its start.
    pub timeout: Span,
    /// From dispatched to started, refused starts included.
    pub start_timeout: Span,
    pub tier: Option<Arc<str>>,
    pub priority: i32,
}

/// What a task does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Process(Process),
    /// Settled where it is decided; its output is its input.
    Noop,
    /// Goes through dispatch, executor and report, and does nothing: what benchmarks measure.
    #[cfg(feature = "bench")]
    Echo,
}

impl Action {
    /// Who carries it out; None for what is settled where it is decided.
    pub const fn executor(&self) -> Option<ExecutorKind> {
        match self {
            Self::Process(_) => Some(ExecutorKind::Process),
            Self::Noop => None,
            #[cfg(feature = "bench")]
            Self::Echo => Some(ExecutorKind::Echo),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub program: Program,
    pub env: BTreeMap<String, String>,
    /// Relative to the run's directory.
    pub workdir: Option<String>,
    pub output: OutputFrom,
    pub kill_grace: Span,
    pub log_bytes_max: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Program {
    /// A line for `/bin/sh -c`.
    Shell(Arc<str>),
    /// Program and arguments, no shell. Never empty.
    Argv(Arc<[String]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFrom {
    /// What was written to `$MAINSPRING_OUTPUT`; nothing when nothing was.
    File,
    /// That, else stdout parsed as JSON.
    Stdout,
}

/// A dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub upstream: TaskNo,
    pub when: When,
}

/// When a dependency is satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    Merged,
    Completed,
    Started,
    Failed,
    Finished,
}

impl When {
    pub const ALL: &[Self] =
        &[Self::Merged, Self::Completed, Self::Started, Self::Failed, Self::Finished];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Completed => "completed",
            Self::Started => "started",
            Self::Failed => "failed",
            Self::Finished => "finished",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Needs every dependency satisfied.
    Skip,
    /// A *finally*: every edge is `finished`.
    Run,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLost {
    Retry,
    /// The first loss is final, for work that must not run twice.
    Fail,
}

/// When a failed attempt is followed by another.
#[derive(Clone, Debug, PartialEq)]
pub struct Retries {
    pub max: u32,
    pub delay: Span,
    pub factor: f64,
    pub max_delay: Span,
    pub jitter: bool,
    pub classes: RetryClasses,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetryClasses {
    /// Every class that may be retried at all.
    All,
    Only(Vec<ErrorClass>),
    AllBut(Vec<ErrorClass>),
}

impl Definition {
    pub fn task(&self, no: TaskNo) -> &Task {
        &self.tasks[no.position()]
    }

    pub fn task_no(&self, name: &str) -> Option<TaskNo> {
        self.tasks.iter().position(|task| &*task.name == name).map(TaskNo::from_position)
    }
}
