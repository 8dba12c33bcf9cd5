//! The shapes of a server's answers, as far as they are shown in tables and lines. More fields
//! may come and words may be added: states are text here, so that a newer server can be read.

use crate::fan::Fan;
use crate::out::tame;
use crate::time_text;
use mainspring_core::error::TaskError;
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::time::Timestamp;
use mainspring_core::view::awaits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run needs a person for.
#[derive(Clone, Debug, Deserialize)]
pub struct Attention {
    pub why: String,
    pub since: Timestamp,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    pub id: String,
    pub workflow: String,
    pub version: u32,
    pub status: String,
    pub held: Option<Hold>,
    pub attention: Option<Attention>,
    /// Of a list or an event only if it is small.
    pub input: Option<Json>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub priority: i32,
    pub triggered_by: String,
    pub parent: Option<Parent>,
    pub retry_of: Option<String>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub error: Option<Error>,
    pub output: Option<Json>,
    pub output_blob: Option<Blob>,
    /// `total`, then tasks by state.
    pub tasks: BTreeMap<String, u32>,
}

impl Run {
    pub fn is_final(&self) -> bool {
        matches!(self.status.as_str(), "success" | "failed" | "cancelled")
    }

    pub fn count(&self, word: &str) -> u32 {
        self.tasks.get(word).copied().unwrap_or(0)
    }

    /// Tasks with an outcome of their own.
    pub fn done(&self) -> u32 {
        ["success", "failed", "cancelled", "skipped"].map(|word| self.count(word)).iter().sum()
    }
}

/// Which attempt of which task a child run is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Parent {
    pub run: String,
    pub task: String,
    pub index: Option<u32>,
    pub attempt: u32,
}

impl Parent {
    /// `task[3] of run …`
    pub fn text(&self) -> String {
        format!("{} of run {}", self.title(), tame(&self.run))
    }

    pub fn title(&self) -> String {
        let index = self.index.map(|index| format!("[{index}]")).unwrap_or_default();
        format!("{}{index}", tame(&self.task))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hold {
    pub by: String,
    pub at: Timestamp,
}

/// Tasks of a run that have changed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SomeTasks {
    pub tasks: Vec<Task>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Task {
    pub name: String,
    /// Of an instance.
    pub index: Option<u32>,
    /// Of a fan-out: `total`, then instances by state.
    pub instances: Option<BTreeMap<String, u32>>,
    pub kind: Option<String>,
    pub status: String,
    pub reason: Option<String>,
    pub attempt: u32,
    pub tries: u32,
    pub tries_max: u32,
    pub held: Option<Hold>,
    pub stopping: Option<String>,
    pub retry_at: Option<Timestamp>,
    pub child: Option<String>,
    pub awaits: Option<Awaits>,
    pub finalizer: Option<Finalizer>,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub error: Option<Error>,
    pub output: Option<Json>,
    pub output_blob: Option<Blob>,
    #[serde(default)]
    pub attempts: Vec<Attempt>,
}

/// What lands the work of a task.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Finalizer {
    pub state: String,
    pub queue: Option<String>,
    pub attempt: Option<u32>,
    pub started_at: Option<Timestamp>,
    pub tries: u32,
    pub tries_max: u32,
    #[serde(default)]
    pub losses: u32,
    pub retry_at: Option<Timestamp>,
    pub error: Option<Error>,
}

impl Finalizer {
    pub fn is_live(&self) -> bool {
        matches!(self.state.as_str(), "dispatched" | "running")
    }

    /// In a few words.
    pub fn text(&self) -> String {
        let queue = self.queue.as_deref().map(|queue| format!(" in queue {}", tame(queue)));
        let mut text = format!("{}{}", self.state, queue.unwrap_or_default());
        if self.tries > 0 {
            text.push_str(&format!(", {} of {} tries failed", self.tries, self.tries_max));
        }
        text
    }
}

/// An output that is too large to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Blob {
    pub bytes: u64,
}

impl Task {
    /// As it is called where there are several of its name.
    pub fn title(&self) -> String {
        let name = tame(&self.name);
        self.index.map_or_else(|| name.clone(), |index| format!("{name}[{index}]"))
    }

    /// How far a fan-out is.
    pub fn fan(&self) -> Option<Fan> {
        self.instances.as_ref().map(Fan::of)
    }

    pub fn is_live(&self) -> bool {
        matches!(self.status.as_str(), "dispatched" | "running")
    }

    /// What lands its work is at work.
    pub fn is_landing(&self) -> bool {
        let finalizer = self.finalizer.as_ref();
        self.status == "worker_done" && finalizer.is_some_and(Finalizer::is_live)
    }

    pub fn is_settled(&self) -> bool {
        matches!(self.status.as_str(), "success" | "failed" | "cancelled" | "skipped" | "blocked")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Attempt {
    pub attempt: u32,
    /// `work` or `finalize`.
    #[serde(default)]
    pub role: String,
    pub status: String,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub error: Option<Error>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Error {
    pub class: String,
    pub message: String,
}

impl From<&TaskError> for Error {
    fn from(error: &TaskError) -> Self {
        Self { class: error.class.to_string(), message: error.message.clone() }
    }
}

/// Why a run does not go on, as far as people are told.
#[derive(Clone, Debug, Deserialize)]
pub struct Explanation {
    pub run: String,
    pub workflow: String,
    pub status: String,
    pub reasons: Vec<Told>,
    pub tasks: Vec<Explained>,
    pub next: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Explained {
    pub name: String,
    pub index: Option<u32>,
    pub status: String,
    pub reasons: Vec<Told>,
    #[serde(default)]
    pub instances: Vec<Explained>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Told {
    pub text: String,
}

/// What would be done to many runs.
#[derive(Clone, Debug, Deserialize)]
pub struct Preview {
    pub matched: u64,
    pub first: Vec<Run>,
    /// Up to when it looked.
    pub until: Timestamp,
}

/// How far a request on many runs has come.
#[derive(Clone, Debug, Deserialize)]
pub struct BulkProgress {
    pub id: String,
    pub matched: u64,
    pub done: u64,
    pub refused: u64,
    pub failed: u64,
    pub problems: Vec<BulkProblem>,
    pub finished_at: Option<Timestamp>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct BulkProblem {
    pub run: String,
    pub detail: String,
}

impl BulkProgress {
    pub fn line(&self) -> String {
        let Self { matched, done, refused, failed, .. } = self;
        format!("{done} of {matched} done, {refused} refused, {failed} failed")
    }

    /// What was not done, as far as it is told.
    pub fn told(&self) -> String {
        let line = |it: &BulkProblem| format!("run {}: {}\n", tame(&it.run), tame(&it.detail));
        let more = (self.refused + self.failed).saturating_sub(self.problems.len() as u64);
        let more = (more > 0).then(|| format!("… and {more} more\n"));
        self.problems.iter().map(line).chain(more).collect()
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct Workflow {
    pub name: String,
    pub description: Option<String>,
    pub version: u32,
    pub tasks: u64,
    pub input: Option<Json>,
    pub updated_at: Timestamp,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Deployed {
    pub name: String,
    pub version: u32,
    pub is_new: bool,
    /// It had been deleted.
    #[serde(default)]
    pub is_back: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Version {
    pub text: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Token {
    pub id: String,
    pub name: String,
    pub role: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Only of one that was just made.
    pub secret: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Tier {
    pub name: String,
    pub limit: u32,
    pub rate: Option<String>,
    pub in_use: u32,
    pub waiting: u64,
    pub source: String,
    #[serde(default)]
    pub holders: Vec<Holder>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Holder {
    pub run: RunId,
    pub workflow: String,
    /// None: the run as a whole.
    pub task: Option<String>,
    pub index: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Audited {
    pub at: Timestamp,
    pub by: String,
    pub from: String,
    pub action: String,
    pub target: String,
}

/// Something that waits for a person.
#[derive(Clone, Debug, Deserialize)]
pub struct Approval {
    pub run: String,
    pub workflow: String,
    pub task: String,
    pub index: Option<u32>,
    pub message: String,
    pub by: Option<Vec<String>>,
    pub since: Timestamp,
    pub until: Option<Timestamp>,
}

impl Approval {
    pub fn title(&self) -> String {
        let name = tame(&self.task);
        self.index.map_or_else(|| name.clone(), |index| format!("{name}[{index}]"))
    }
}

/// What a parked task waits for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Awaits {
    pub until: Option<Timestamp>,
    pub signal: Option<String>,
    pub run: Option<String>,
    pub message: Option<String>,
    pub by: Option<Vec<String>>,
}

impl From<awaits::Awaits> for Awaits {
    fn from(shown: awaits::Awaits) -> Self {
        let awaits::Awaits { until, signal, run, message, by, .. } = shown;
        Self { until, signal, run: run.map(|run| run.to_string()), message, by }
    }
}

impl Awaits {
    /// `for the signal 'paid', until 12:00:00Z`
    pub fn text(&self) -> String {
        let Self { until, signal, run, message, by } = self;
        let mut text = match (signal, message) {
            _ if run.is_some() => {
                format!("for run {}", tame(run.as_deref().unwrap_or_default()))
            }
            (Some(key), _) => format!("for the signal '{}'", tame(key)),
            (None, Some(message)) => format!("for an approval: {}", tame(message)),
            (None, None) => String::new(),
        };
        if let Some(by) = by {
            text.push_str(&format!(" (by {})", tame(&by.join(", "))));
        }
        if let Some(until) = until {
            let joint = if text.is_empty() { "" } else { ", " };
            text.push_str(&format!("{joint}until {} UTC", time_text::moment(*until)));
        }
        text
    }
}

#[derive(Clone, Debug, Deserialize)]
pub struct Session {
    pub name: String,
    pub role: String,
}

/// One line of a log that is followed.
#[derive(Clone, Debug, Deserialize)]
pub struct LogLine {
    pub attempt: u32,
    pub at: Timestamp,
    pub stream: String,
    pub text: String,
    #[serde(default)]
    pub unended: bool,
}

/// What a run is started with.
#[derive(Clone, Debug, Serialize)]
pub struct NewRun<'a> {
    pub input: &'a Json,
    pub labels: &'a BTreeMap<String, String>,
    pub priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
pub struct NewTier<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// None: as it is. Some of none: no rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Option<&'a str>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct NewToken<'a> {
    pub name: &'a str,
    pub role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_seconds: Option<u32>,
}
