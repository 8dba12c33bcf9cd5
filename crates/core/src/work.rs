//! What core and executors say to each other: an attempt to carry out, and reports about it.

use crate::error::TaskError;
use crate::ids::{AttemptId, RunId, TaskNo, Ticket};
use crate::json::Json;
use crate::kernel::cache::CacheKey;
use crate::kernel::finalizer::Step;
use crate::kernel::row::{Log, Stopping};
use crate::output::Output;
use crate::spec::definition::{Definition, OutputFrom};
use crate::time::Span;
use crate::work_git::{GitMerge, GitWorkspace, Lands};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Everything an executor needs to carry out one attempt of a process task.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub ticket: Ticket,
    pub run: RunId,
    pub workflow: Arc<str>,
    pub task: Arc<str>,
    pub attempt: u32,
    /// For a finalizer: the attempt whose work it finalizes, and whose workspace it works in.
    pub finalizes: Option<AttemptId>,
    pub work: Work,
    /// What the attempt sees: upstream outputs by task name, overlaid with its static input.
    pub input: Json,
    /// The run's own input.
    pub run_input: Json,
    /// Its success is looked for, and kept, under this.
    pub cache: Option<CacheNote>,
    /// Index and count, for an instance of a group.
    pub instance: Option<(u32, u32)>,
}

impl Launch {
    pub const fn step(&self) -> Step {
        match self.finalizes {
            None => Step::Work,
            Some(_) => Step::Finalize,
        }
    }
}

/// Who carries out an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExecutorKind {
    Process,
    #[cfg(feature = "bench")]
    Echo,
}

impl ExecutorKind {
    pub const ALL: &[Self] = &[
        Self::Process,
        #[cfg(feature = "bench")]
        Self::Echo,
    ];

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
    /// Only ever a finalizer.
    GitMerge(GitMerge),
    #[cfg(feature = "bench")]
    Echo,
}

impl Work {
    pub const fn executor(&self) -> ExecutorKind {
        match self {
            Self::Process(_) | Self::GitMerge(_) => ExecutorKind::Process,
            #[cfg(feature = "bench")]
            Self::Echo => ExecutorKind::Echo,
        }
    }

    /// Files that a success has to leave.
    pub fn leaves(&self) -> &[String] {
        match self {
            Self::Process(work) => &work.artifacts_out,
            Self::GitMerge(_) => &[],
            #[cfg(feature = "bench")]
            Self::Echo => &[],
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProcessWork {
    pub program: Program,
    /// From the definition; the executor adds its own variables.
    pub env: Vec<(String, EnvValue)>,
    /// Absolute. With a workspace: relative to its worktree, or absolute.
    pub workdir: String,
    /// Where it works instead of the run's directory.
    pub workspace: Option<GitWorkspace>,
    pub output: OutputFrom,
    pub kill_grace: Span,
    pub log_bytes_max: u64,
    /// Files that are put into the workdir before the start.
    pub artifacts_in: Vec<ArtifactIn>,
    /// Where those come from. Nothing for an executor: whoever hands it the work has fetched them.
    pub artifacts_wanted: Vec<ArtifactWanted>,
    /// Files that a success has to leave, by their paths below the workdir.
    pub artifacts_out: Vec<String>,
}

/// What is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A line for `/bin/sh -c`.
    Shell(Arc<str>),
    /// Program and arguments, no shell. Never empty.
    Argv(Arc<[String]>),
}

/// The value of an environment variable. Secrets are names until the process is started, so that
/// their values are in no order, no row and no log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvValue {
    Text(String),
    /// Put together at the start.
    Parts(Vec<EnvPart>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvPart {
    Text(String),
    /// The name of a secret.
    Secret(String),
}

/// Files of a task above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactWanted {
    pub task: TaskNo,
    /// Only this one of them.
    pub path: Option<String>,
}

/// A file for the workdir.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactIn {
    /// Below the workdir.
    pub path: String,
    /// Where it is copied from: absolute, on the executor's machine.
    pub source: String,
    pub executable: bool,
}

/// A file that a success left, as it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactOut {
    /// Below the workdir, as the definition says it.
    pub path: String,
    /// A copy nobody else writes: absolute, on the executor's machine, there until the attempt
    /// is settled.
    pub file: String,
    pub bytes: u64,
    /// By anybody.
    pub executable: bool,
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
    /// Where its success is to be found again, and how long.
    pub cache: Option<CacheNote>,
    /// Files of a success, in the order of its `artifacts_out`; stored before the end is told.
    pub artifacts: Vec<ArtifactOut>,
    /// Of what worked in a git workspace.
    pub lands: Option<Box<Lands>>,
}

impl Ended {
    /// Of an attempt that ran, and wrote nothing.
    pub fn of(outcome: Outcome) -> Self {
        let artifacts = Vec::new();
        Self { outcome, started: true, log: None, cache: None, artifacts, lands: None }
    }

    /// Of one that never began.
    pub fn unstarted(outcome: Outcome) -> Self {
        Self { started: false, ..Self::of(outcome) }
    }
}

/// What a success is remembered under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheNote {
    pub hash: [u8; 32],
    pub ttl: Span,
}

impl CacheNote {
    /// Under which it is found again, whichever version of the definition looks for it.
    pub fn key(&self, definition: &Definition, task: TaskNo) -> CacheKey {
        CacheKey {
            workflow: Arc::clone(&definition.name),
            task: Arc::clone(&definition.task(task).name),
            hash: self.hash,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Success(Option<Output>),
    /// A former success was taken; nothing ran.
    Cached(Option<Output>),
    Failed(TaskError),
    /// It was stopped, as asked, before it reached an outcome.
    Stopped,
    /// A merge that somebody's checkout is in the way of; nothing has landed. It is tried again for
    /// as long as it takes them to see to it.
    Hindered(Box<str>),
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
