//! The one stored fact of a task. Words people see are derived from it by `view`.

use serde::{Deserialize, Serialize};

macro_rules! facts {
    ($($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        /// What is stored of a task: one byte, few values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Fact { $($(#[$doc])* $variant,)* }

        impl Fact {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

facts! {
    /// No row, or a row kept for its numbers or its hold.
    None = "none",
    /// A retry or a refused start waits for its time.
    Delayed = "delayed",
    /// The attempt is durable and handed to its executor.
    Dispatched = "dispatched",
    /// The executor said it started.
    Running = "running",
    /// Parked: timer, signal, approval, child run.
    Waiting = "waiting",
    /// The work is done, its finalizer has not landed.
    WorkerDone = "worker_done",
    /// A group whose instances are at work.
    Open = "open",
    Success = "success",
    Failed = "failed",
    Cancelled = "cancelled",
    /// Skipped by its own condition.
    Skipped = "skipped",
}

impl Fact {
    /// An executor holds an attempt of it.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Dispatched | Self::Running)
    }

    /// It has an outcome of its own.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Cancelled | Self::Skipped)
    }
}
