//! What core and executors say to each other: an attempt to carry out, and reports about it.

use crate::error::TaskError;
use crate::ids::{RunId, Ticket};
use crate::json::Json;
use crate::kernel::row::{Log, Stopping};
use crate::spec::definition::{OutputFrom, Program};
use crate::time::Span;
use std::sync::Arc;

/// Everything an executor needs to carry out one attempt of a process task.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub ticket: Ticket,
    pub run: RunId,
    pub workflow: Arc<str>,
    pub task: Arc<str>,
    pub attempt: u32,
    pub work: Work,
    /// What the attempt sees: upstream outputs by task name, overlaid with its static input.
    pub input: Json,
    /// The run's own input.
    pub run_input: Json,
}

/// Who carries out an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExecutorKind {
    Process,
    #[cfg(feature = "bench")]
    Echo,
}

impl ExecutorKind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Process => "process",
            #[cfg(feature = "bench")]
            Self::Echo => "echo",
        }
    }
}

/// One variant for each kind of executor.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    Process(ProcessWork),
    #[cfg(feature = "bench")]
    Echo,
}

impl Work {
    pub const fn executor(&self) -> ExecutorKind {
        match self {
            Self::Process(_) => ExecutorKind::Process,
            #[cfg(feature = "bench")]
            Self::Echo => ExecutorKind::Echo,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProcessWork {
    pub program: Program,
    /// From the definition; the executor adds its own variables.
    pub env: Vec<(String, String)>,
    /// Absolute.
    pub workdir: String,
    pub output: OutputFrom,
    pub kill_grace: Span,
    pub log_bytes_max: u64,
}

/// An executor's word on one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub ticket: Ticket,
    pub what: ReportKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ReportKind {
    Started,
    /// It could not be taken now (no worker, no process to be had); nothing was started.
    Refused(Box<str>),
    /// The work is over and its outcome certain, though its end is told only later, with its log:
    /// it cannot run too long any more.
    Over,
    Ended(Ended),
    /// The answer to a question, by its number.
    Reattached(u64, Reattached),
}

/// The end of an attempt: whatever was started for it is gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub outcome: Outcome,
    /// It had started, whether or not that was reported.
    pub started: bool,
    /// None when it wrote nothing.
    pub log: Option<Log>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Success(Option<Json>),
    Failed(TaskError),
    /// It was stopped, as asked, before it reached an outcome.
    Stopped,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Reattached {
    /// Counts as the start report.
    Running,
    Ended(Ended),
    /// Only an executor that was alive at the dispatch may say so: start it now, same attempt.
    NeverStarted,
    /// Nothing is known: the attempt is lost. Carries the log a former life left, if any.
    Unknown {
        log: Option<Log>,
    },
}

/// Asks what became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub ticket: Ticket,
    /// Tells it from earlier ones: an answer to an earlier question may have been overtaken
    /// by what was ordered since.
    pub number: u64,
}

/// Which life of the server dispatched an attempt that is being reattached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    This,
    Former,
}

/// An order to end a live attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    pub ticket: Ticket,
    pub why: Stopping,
}
