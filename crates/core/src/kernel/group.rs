//! A fan-out task: one row of its own that says how far its instances have come. Instances are
//! rows from their dispatch on; one below the cursor that is not in memory has succeeded.

use crate::kernel::row::Cancelled;
use crate::spec::definition::FailureStrategy;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What a group's row says beyond its fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub count: u32,
    /// When it opened; a retry that takes back some of its instances changes nothing about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// The first instance that was never opened.
    pub next: u32,
    pub success: u32,
    pub failed: u32,
    pub cancelled: u32,
    /// Instances that wait for another try, due or not; those that somebody holds are apart.
    #[serde(default)]
    pub delayed: u32,
    #[serde(default)]
    pub held: u32,
    /// Parked, held or not.
    #[serde(default)]
    pub waiting: u32,
    /// Their work is done, and what lands it has not.
    #[serde(default)]
    pub worker_done: u32,
    /// The highest attempt number that an instance has used.
    pub attempts: u32,
    /// Numbers up to this one were used before the group was sent back: instances go on after it.
    pub numbered_from: u32,
    /// The same for signals: the newest that an instance took, and the newest that was taken
    /// before the group was sent back.
    #[serde(default)]
    pub taken: u32,
    #[serde(default)]
    pub taken_from: u32,
    /// No more instances are opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<Closed>,
    /// All its work is done and has not all landed, and the list of it is the row's output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worked: bool,
    /// Taken over from another run, in which the rows of its instances are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
}

/// Why a group opens no more instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closed {
    /// One failed, and its strategy is `fail_fast`.
    FailFast,
    Cancel(Cancelled),
    /// Only instances that were asked for by their index are tried again.
    Chosen,
}

impl Group {
    pub fn of(count: u32) -> Self {
        Self { count, ..Self::default() }
    }

    /// Instances that were opened and have no outcome yet.
    pub fn unsettled(&self) -> u32 {
        self.next - self.settled()
    }

    pub fn settled(&self) -> u32 {
        self.success + self.failed + self.cancelled
    }

    /// Instances that were never opened.
    pub fn unopened(&self) -> u32 {
        self.count - self.next
    }

    /// What is at work is being stopped as well.
    pub fn is_stopping(&self) -> bool {
        matches!(self.closed, Some(Closed::FailFast | Closed::Cancel(_)))
    }

    /// Another instance may be opened.
    pub fn has_more(&self) -> bool {
        self.closed.is_none() && self.next < self.count
    }

    /// Every instance has done its work, be it that some of it has not landed, and nothing but a
    /// finalizer can keep the group from succeeding.
    pub fn is_work_done(&self, strategy: FailureStrategy) -> bool {
        let failed = if strategy == FailureStrategy::IgnoreErrors { self.failed } else { 0 };
        self.closed.is_none()
            && self.success + self.worker_done + failed == self.count
            && self.cancelled == 0
    }

    /// Every instance that will ever run has its outcome.
    pub fn is_through(&self) -> bool {
        !self.has_more() && self.unsettled() == 0
    }
}
