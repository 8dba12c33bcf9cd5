//! What a parked task waits for, and what was said to it. A wait is in its task's row and in a few
//! indexes over rows, and nowhere else: it costs nothing while it lasts.

use crate::ids::{RunId, RunKey, TaskRef};
use crate::json::Json;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What the row of a control task says beyond its fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Set exactly while the fact is `Waiting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Awaited>,
    /// The number of the signal that it took last: another visit takes only a newer one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub taken: u32,
    /// A signal that came in time while somebody held the task, and that was followed by one that
    /// came too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_time: Option<Box<InTime>>,
    /// The child run that it began last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<RunId>,
}

/// What a wait takes when it is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InTime {
    pub number: u32,
    pub value: Json,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum Awaited {
    /// A moment, which is the row's `until`.
    Time,
    Signal {
        key: Arc<str>,
    },
    Approval {
        message: Box<str>,
        /// Made while somebody held the task: it takes effect when that is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<Box<Decision>>,
    },
    /// A run of another workflow, which is not final.
    Child {
        run: RunId,
    },
}

/// What somebody said to an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub verdict: Verdict,
    pub by: String,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approved,
    Rejected,
}

impl Verdict {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
        }
    }
}

/// A signal as it is stored, append-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalRow {
    /// From 1, in the order in which the run got them.
    pub number: u32,
    pub key: Arc<str>,
    pub value: Json,
    pub by: String,
    pub at: Timestamp,
}

/// Where an approval that waits for somebody is listed: oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApprovalPlace {
    pub since: Timestamp,
    pub run: RunKey,
    pub task: TaskRef,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
