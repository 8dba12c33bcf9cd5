//! The states of a task as shown, and why.

use crate::ids::TaskNo;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! words {
    ($($variant:ident = $word:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum Word { $($variant,)* }

        impl Word {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
    };
}

words! {
    Pending = "pending",
    Ready = "ready",
    Dispatched = "dispatched",
    Running = "running",
    Waiting = "waiting",
    WorkerDone = "worker_done",
    Success = "success",
    Failed = "failed",
    Cancelled = "cancelled",
    Skipped = "skipped",
    Blocked = "blocked",
    Paused = "paused",
}

impl Word {
    pub const fn is_settled(self) -> bool {
        matches!(
            self,
            Self::Success | Self::Failed | Self::Cancelled | Self::Skipped | Self::Blocked
        )
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// Why a task has its word, when the word alone does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The task whose failure blocks this one.
    UpstreamFailed(TaskNo),
    UpstreamCancelled,
    UpstreamSkipped,
    RunCancelled,
    RunTimeout,
    /// Its own condition was false.
    Condition,
    /// Another instance of its group failed.
    FailFast,
    /// It was not through within its `grace`.
    GraceOver,
    /// Its child run was cancelled by itself.
    ChildCancelled,
    /// Its success is that of an earlier run.
    Cached,
    /// Its success was taken over from the run that this one runs anew.
    Copied,
}

impl Reason {
    pub const fn text(self) -> &'static str {
        match self {
            Self::UpstreamFailed(_) => "upstream_failed",
            Self::UpstreamCancelled => "upstream_cancelled",
            Self::UpstreamSkipped => "upstream_skipped",
            Self::RunCancelled => "run_cancelled",
            Self::RunTimeout => "run_timeout",
            Self::Condition => "condition",
            Self::FailFast => "fail_fast",
            Self::GraceOver => "grace_over",
            Self::ChildCancelled => "child_cancelled",
            Self::Cached => "cached",
            Self::Copied => "copied",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    pub word: Word,
    pub reason: Option<Reason>,
}
