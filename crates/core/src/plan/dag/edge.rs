//! One edge: what an upstream task's standing means for a dependent.

use crate::kernel::fact::Fact;
use crate::spec::definition::When;

/// How a task looks to those that depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub outcome: Standpoint,
    /// Some attempt of it has started, for good.
    pub started: bool,
    pub allow_failure: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standpoint {
    Open,
    WorkerDone,
    Success,
    Failed,
    /// Cancelled or skipped by itself, or doomed by what is above it.
    Without(Doom),
}

/// Why a task will not run. The order is the order of strength: with several causes the
/// greatest is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doom {
    Skipped,
    /// Its run was cancelled or has timed out before it began.
    RunOver,
    Cancelled,
    Blocked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeState {
    Unmet,
    Satisfied,
    Never(Doom),
}

impl Standing {
    /// From the stored fact and what is derived for a task without one. A failure is not
    /// allowed unless the caller says so.
    pub fn of(fact: Fact, ever_started: bool, doom: Option<Doom>) -> Self {
        let outcome = match fact {
            Fact::Success => Standpoint::Success,
            Fact::Failed => Standpoint::Failed,
            Fact::Cancelled => Standpoint::Without(Doom::Cancelled),
            Fact::Skipped => Standpoint::Without(Doom::Skipped),
            Fact::WorkerDone => Standpoint::WorkerDone,
            Fact::None => doom.map_or(Standpoint::Open, Standpoint::Without),
            Fact::Delayed | Fact::Dispatched | Fact::Running | Fact::Waiting | Fact::Open => {
                Standpoint::Open
            }
        };
        let started = ever_started
            || matches!(fact, Fact::Running | Fact::Waiting | Fact::WorkerDone | Fact::Success);
        Self { outcome, started, allow_failure: false }
    }
}

/// What an edge is, given its upstream. Total: every pair has an answer.
pub fn edge_state(when: When, upstream: Standing) -> EdgeState {
    use EdgeState::{Never, Satisfied, Unmet};
    match (when, upstream.outcome) {
        (When::Started, _) if upstream.started => Satisfied,
        (_, Standpoint::Open) => Unmet,

        (When::Finished, Standpoint::WorkerDone) => Unmet,
        (When::Finished, _) => Satisfied,

        (When::Failed, Standpoint::Failed) => Satisfied,
        (When::Failed, Standpoint::Success) => Never(Doom::Skipped),
        (When::Failed, Standpoint::WorkerDone) => Unmet,

        (When::Completed, Standpoint::WorkerDone) => Satisfied,
        (When::Merged | When::Started, Standpoint::WorkerDone) => Unmet,
        (When::Merged | When::Completed | When::Started, Standpoint::Success) => Satisfied,
        (When::Merged | When::Completed, Standpoint::Failed) if upstream.allow_failure => Satisfied,
        (When::Merged | When::Completed | When::Started, Standpoint::Failed) => {
            Never(Doom::Blocked)
        }

        (_, Standpoint::Without(doom)) => Never(doom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line for each standing, one word for each `when`.
    fn table() -> String {
        let standings = [
            ("open", Fact::None, None),
            ("running", Fact::Running, None),
            ("waiting", Fact::Waiting, None),
            ("worker_done", Fact::WorkerDone, None),
            ("success", Fact::Success, None),
            ("failed", Fact::Failed, None),
            ("cancelled", Fact::Cancelled, None),
            ("skipped", Fact::Skipped, None),
            ("blocked", Fact::None, Some(Doom::Blocked)),
        ];
        let mut text = String::new();
        for (name, fact, doom) in standings {
            let standing = Standing::of(fact, false, doom);
            let row: Vec<String> = When::ALL
                .iter()
                .map(|when| format!("{}={:?}", when.word(), edge_state(*when, standing)))
                .collect();
            text += &format!("{name}: {}\n", row.join(" "));
        }
        text
    }

    #[test]
    fn every_pair_of_condition_and_standing() {
        insta::assert_snapshot!("edges", table());
    }

    #[test]
    fn an_allowed_failure_satisfies_merged_and_completed_but_also_failed() {
        let failed = Standing { allow_failure: true, ..Standing::of(Fact::Failed, false, None) };
        assert_eq!(edge_state(When::Merged, failed), EdgeState::Satisfied);
        assert_eq!(edge_state(When::Completed, failed), EdgeState::Satisfied);
        assert_eq!(edge_state(When::Failed, failed), EdgeState::Satisfied);
        assert_eq!(edge_state(When::Started, failed), EdgeState::Never(Doom::Blocked));
    }

    #[test]
    fn started_is_for_good() {
        for fact in Fact::ALL {
            let standing = Standing::of(*fact, true, None);
            assert_eq!(edge_state(When::Started, standing), EdgeState::Satisfied);
        }
    }
}
