//! Limits as they are shown to programs: what each allows, who holds it and who waits for it.

use crate::ids::RunId;
use crate::kernel::limit::{Bound, Source, active_name, group_name};
use crate::time::Timestamp;
use serde::Serialize;

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TierView {
    /// `gpu`, `total`, `executor:process`, `queue:main`; of a workflow's own, `etl/gpu`; on runs,
    /// `max_active_runs:etl` and `concurrency_group:` with a key.
    pub name: String,
    pub counts: Counted,
    /// Of a concurrency group whose runs differ in it, what counts for the one that is next.
    pub limit: u32,
    /// Starts in any time of this length: `100/1m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    pub in_use: u32,
    /// When the rate lets the next one start, while it is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frees_at: Option<Timestamp>,
    /// Tasks and finalizers that are ready and that this limit keeps from starting, instances one by
    /// one; or runs that are pending and that it keeps from being active.
    pub waiting: u64,
    pub source: SourceWord,
    /// Whose own it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// At most 100, of the oldest runs first.
    pub holders: Vec<Holder>,
    /// At most 100. Of a fan-out, the instance that is next; of runs, those that come first.
    pub waiters: Vec<Waiter>,
}

/// What counts against a limit.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Attempts that are dispatched or run.
    Tasks,
    /// Runs that are running, paused or cancelling.
    Runs,
}

/// Who said what it is. What the API was told wins over the configuration.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceWord {
    /// Nobody. A tier of which nobody says what it is lets nothing through; a queue, one at a time.
    Default,
    Config,
    Api,
    /// The latest version of the workflow.
    Workflow,
}

/// A live attempt, or an active run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    pub run: RunId,
    pub workflow: String,
    /// None: the run as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// When it was dispatched; of a run, when it was opened last.
    pub since: Timestamp,
}

/// A task that is ready, or a run that is pending.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waiter {
    pub run: RunId,
    pub workflow: String,
    /// None: the run as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
}

impl TierView {
    /// Nothing that counts against it starts now.
    pub fn is_full(&self) -> bool {
        self.in_use >= self.limit || self.frees_at.is_some()
    }

    /// One that nothing counts against.
    pub fn idle(name: &str, bound: Bound, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            counts: Counted::Tasks,
            limit: bound.limit,
            rate: bound.rate.map(|rate| rate.to_string()),
            in_use: 0,
            frees_at: None,
            waiting: 0,
            source: match source {
                Source::Default => SourceWord::Default,
                Source::Config => SourceWord::Config,
                Source::Api => SourceWord::Api,
                Source::Workflow(_) => SourceWord::Workflow,
            },
            workflow: name.split_once('/').map(|(workflow, _)| workflow.to_owned()),
            holders: Vec::new(),
            waiters: Vec::new(),
        }
    }

    /// On the runs of a workflow that are active at once, while there are none.
    pub fn idle_active(workflow: &str, limit: u32) -> Self {
        let workflow_name = Some(workflow.to_owned());
        Self { workflow: workflow_name, ..Self::idle_runs(active_name(workflow), limit) }
    }

    /// On the runs of a concurrency group, which may be of several workflows.
    pub fn idle_group(key: &str, limit: u32) -> Self {
        Self::idle_runs(group_name(key), limit)
    }

    fn idle_runs(name: String, limit: u32) -> Self {
        Self {
            name,
            counts: Counted::Runs,
            limit,
            rate: None,
            in_use: 0,
            frees_at: None,
            waiting: 0,
            source: SourceWord::Workflow,
            workflow: None,
            holders: Vec::new(),
            waiters: Vec::new(),
        }
    }
}
