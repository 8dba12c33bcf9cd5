//! The reasons, as data. Each has a sentence beside it.

use crate::error::ErrorClass;
use crate::ids::RunId;
use crate::kernel::row::Stopping;
use crate::time::Timestamp;
use crate::view::tiers::Holder;
use crate::view::word::Word;
use serde::Serialize;
use std::collections::BTreeMap;

/// Why something does not go on, or that it does.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// Nobody is at work on what is stored: nothing goes on before a server is started.
    Unattended,
    /// As many runs of the workflow are active as may be.
    MaxActiveRuns(Behind),
    /// As many runs of its concurrency group are active as may be.
    ConcurrencyGroup(Behind),
    /// A run that was accepted begins as soon as it is looked at.
    LetIn,
    /// Its run is pending: what that waits for is said there.
    RunPending,
    /// The run is held: no new attempt starts.
    RunPaused {
        by: String,
        since: Timestamp,
        /// The task whose success did it, if that was a checkpoint.
        #[serde(skip_serializing_if = "Option::is_none")]
        checkpoint: Option<String>,
    },
    /// The run is being cancelled: nothing starts but `always` tasks.
    RunCancelling {
        /// Who asked; none: its timeout.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// It runs always, and is stopped then.
    Grace { until: Timestamp },
    /// Everything has its outcome: the run is about to end.
    Ending,
    /// A task that comes first.
    Dependency { task: String, when: &'static str, state: Word },
    /// Somebody holds the task, or its fan-out.
    Held { by: String, since: Timestamp },
    /// Something that it counts against is used up.
    Limit(FullLimit),
    /// Another try, at its time.
    Retry {
        at: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        class: Option<ErrorClass>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Its executor could not take it, and says what is missing.
    StartRefused { at: Timestamp, missing: String },
    /// Parked until then.
    Time { until: Timestamp },
    /// Parked until somebody sends it.
    Signal {
        key: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Parked until somebody decides.
    Approval {
        message: String,
        /// Who may; empty: everybody who may steer runs.
        by: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// What happens then.
        #[serde(skip_serializing_if = "Option::is_none")]
        on_timeout: Option<&'static str>,
        /// It takes effect when the hold is lifted.
        #[serde(skip_serializing_if = "Option::is_none")]
        decided: Option<&'static str>,
    },
    /// Something has to be worked out from what others put out. If that is in the blob store, and
    /// the blob store does not answer, it waits for it.
    Evaluation { what: Evaluated },
    /// Of a fan-out, by state.
    Instances { counts: BTreeMap<&'static str, u32> },
    /// So many instances of the fan-out may be at work at once.
    Concurrency { limit: u32, at_work: u32 },
    /// Too many instances wait for another try, or to land: no more are opened.
    Backlog { delayed: u32 },
    /// Nothing is in the way: it is about to be handed over.
    Starting,
    /// Handed to its executor, which has not said that it started.
    Dispatched { attempt: u32, since: Timestamp },
    /// It runs.
    Running { attempt: u32, since: Timestamp },
    /// Its work is being ended. It counts against its limits until that is gone.
    Stopping {
        why: Stopping,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
        /// Of a pause, of a timeout, and of the end of a grace.
        #[serde(skip_serializing_if = "Option::is_none")]
        since: Option<Timestamp>,
    },
    /// Parked until this run is final.
    Child {
        run: RunId,
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Its work is done, and what lands it has not begun.
    Finalizer {
        /// `queued` or `delayed`.
        state: &'static str,
        /// Since when the work is done.
        since: Timestamp,
        #[serde(skip_serializing_if = "Option::is_none")]
        queue: Option<String>,
        /// When it is tried again.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
        /// What went wrong, or what is missing.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Its work is done, and is being landed.
    Landing { attempt: u32, since: Timestamp },
}

macro_rules! kinds {
    ($($variant:ident = $kind:literal,)*) => {
        impl Reason {
            /// The word that each is told apart by.
            pub const KINDS: &[&str] = &[$($kind),*];

            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $kind,)* }
            }
        }
    };
}

kinds! {
    Unattended = "unattended",
    MaxActiveRuns = "max_active_runs",
    ConcurrencyGroup = "concurrency_group",
    LetIn = "let_in",
    RunPending = "run_pending",
    RunPaused = "run_paused",
    RunCancelling = "run_cancelling",
    Grace = "grace",
    Ending = "ending",
    Dependency = "dependency",
    Held = "held",
    Limit = "limit",
    Retry = "retry",
    StartRefused = "start_refused",
    Time = "time",
    Signal = "signal",
    Approval = "approval",
    Evaluation = "evaluation",
    Instances = "instances",
    Concurrency = "concurrency",
    Backlog = "backlog",
    Starting = "starting",
    Dispatched = "dispatched",
    Running = "running",
    Stopping = "stopping",
    Child = "child",
    Finalizer = "finalizer",
    Landing = "landing",
}

/// What is worked out.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evaluated {
    /// Whether and how it starts.
    Opening,
    /// What its next instances are.
    Instances,
    /// The list of what its instances put out.
    List,
    /// What the run puts out.
    Outputs,
}

/// Runs that are active in a place that a pending run waits for.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Behind {
    /// The workflow, or the key of the group.
    pub name: String,
    pub limit: u32,
    pub active: u32,
    /// At most 20 of them, oldest first.
    pub runs: Vec<RunId>,
}

/// A limit that is used up.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FullLimit {
    pub name: String,
    pub limit: u32,
    pub in_use: u32,
    /// Starts in any time of this length: `100/1m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// When the rate lets the next one in, if that is what is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frees_at: Option<Timestamp>,
    /// At most 20, of the oldest runs first.
    pub holders: Vec<Holder>,
}
