//! How often each thing happened, so that a simulation that no longer reaches something is
//! noticed.

use crate::sim::trouble::Trouble;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::transition::Event;
use mainspring_core::spec::definition::When;
use std::collections::{BTreeMap, BTreeSet};

/// Group, name, and a second name where the thing is a pair.
pub type Thing = (&'static str, &'static str, &'static str);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Thing, u64>);

impl Tally {
    pub fn count(&mut self, thing: Thing) {
        self.count_all(thing, 1);
    }

    pub fn count_all(&mut self, thing: Thing, times: u64) {
        *self.0.entry(thing).or_default() += times;
    }

    pub fn add(&mut self, other: &Self) {
        for (thing, count) in &other.0 {
            self.count_all(*thing, *count);
        }
    }

    /// All of one group, summed.
    pub fn sum(&self, group: &str) -> u64 {
        self.0.iter().filter(|((of, ..), _)| *of == group).map(|(_, count)| count).sum()
    }

    pub fn get(&self, thing: Thing) -> u64 {
        self.0.get(&thing).copied().unwrap_or(0)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Thing, u64)> {
        self.0.iter().map(|(thing, count)| (*thing, *count))
    }

    /// What can happen in the product as it is and did not happen here.
    pub fn missing(&self) -> Vec<Thing> {
        possible().into_iter().filter(|thing| !self.0.contains_key(thing)).collect()
    }
}

/// Everything that ten thousand worlds have to reach.
fn possible() -> BTreeSet<Thing> {
    let mut possible = BTreeSet::new();
    for trouble in Trouble::ALL {
        possible.insert(("trouble", trouble.name(), ""));
    }
    for (fact, event) in TRANSITIONS {
        possible.insert(("transition", fact.word(), event.word()));
    }
    for code in REFUSALS {
        possible.insert(("refusal", *code, ""));
    }
    for when in When::ALL {
        for upstream in ["open", "running", "success", "failed", "cancelled", "skipped", "blocked"]
        {
            possible.insert(("edge", when.word(), upstream));
        }
    }
    for (fact, event) in FINALIZERS {
        possible.insert(("finalizer", fact.word(), event.word()));
    }
    for (fact, event) in INSTANCES {
        possible.insert(("instance", fact.word(), event.word()));
    }
    for what in ["pause", "resume", "cancel", "force cancel", "retry"] {
        possible.insert(("run order", what, "done"));
        possible.insert(("task order", what, "done"));
        possible.insert(("instance order", what, "done"));
    }
    for what in ["skipped", "nonsense", "no list", "none", "opened", "worked"] {
        possible.insert(("fan-out", what, ""));
    }
    possible.insert(("task order", "retry several", "done"));
    possible.insert(("run order", "signal", "done"));
    possible.insert(("run order", "add", "done"));
    for what in ["approve", "reject"] {
        possible.insert(("task order", what, "done"));
        possible.insert(("instance order", what, "done"));
    }
    for what in ["anew", "anew from a task", "anew with another version"] {
        possible.insert(("run", what, ""));
    }
    for what in ["waits", "landed", "cancelled"] {
        possible.insert(("hindered", what, ""));
    }
    for what in ["waits", "waits again", "let in"] {
        possible.insert(("gate", what, ""));
    }
    for what in ["set", "configured", "closed"] {
        possible.insert(("limit", what, ""));
    }
    for what in MOMENTS {
        possible.insert(("moment", *what, ""));
    }
    possible
}

/// Transitions that tasks and groups can make.
const TRANSITIONS: &[(Fact, Event)] = &[
    (Fact::None, Event::Parked),
    (Fact::Delayed, Event::Parked),
    (Fact::Waiting, Event::PutOff),
    (Fact::Dispatched, Event::WorkDone),
    (Fact::Running, Event::WorkDone),
    (Fact::WorkerDone, Event::Succeeded),
    (Fact::WorkerDone, Event::FailedForGood),
    (Fact::WorkerDone, Event::Cancelled),
    (Fact::Waiting, Event::Succeeded),
    (Fact::Waiting, Event::FailedForGood),
    (Fact::Waiting, Event::Cancelled),
    (Fact::None, Event::Dispatched),
    (Fact::None, Event::DecidedSuccess),
    (Fact::None, Event::DecidedFailure),
    (Fact::None, Event::ConditionFalse),
    (Fact::None, Event::Copied),
    (Fact::None, Event::GroupOpened),
    (Fact::Open, Event::Succeeded),
    (Fact::Open, Event::FailedForGood),
    (Fact::Open, Event::Cancelled),
    (Fact::Failed, Event::GroupReopened),
    (Fact::Cancelled, Event::GroupReopened),
    (Fact::Skipped, Event::SentBack),
    (Fact::None, Event::Cancelled),
    (Fact::Delayed, Event::Dispatched),
    (Fact::Delayed, Event::Cancelled),
    (Fact::Dispatched, Event::Started),
    (Fact::Dispatched, Event::StartRefused),
    (Fact::Dispatched, Event::Succeeded),
    (Fact::Dispatched, Event::FailedForGood),
    (Fact::Dispatched, Event::PutOff),
    (Fact::Dispatched, Event::Cancelled),
    (Fact::Running, Event::Succeeded),
    (Fact::Running, Event::FailedForGood),
    (Fact::Running, Event::PutOff),
    (Fact::Running, Event::Cancelled),
    (Fact::Success, Event::SentBack),
    (Fact::Failed, Event::Retried),
    (Fact::Failed, Event::SentBack),
    (Fact::Cancelled, Event::Retried),
];

/// Those of what lands work.
const FINALIZERS: &[(Fact, Event)] = &[
    (Fact::None, Event::Dispatched),
    (Fact::None, Event::Cancelled),
    (Fact::Delayed, Event::Dispatched),
    (Fact::Delayed, Event::Cancelled),
    (Fact::Dispatched, Event::Started),
    (Fact::Dispatched, Event::StartRefused),
    (Fact::Dispatched, Event::PutOff),
    (Fact::Dispatched, Event::Succeeded),
    (Fact::Dispatched, Event::FailedForGood),
    (Fact::Dispatched, Event::Cancelled),
    (Fact::Running, Event::PutOff),
    (Fact::Running, Event::Succeeded),
    (Fact::Running, Event::FailedForGood),
    (Fact::Running, Event::Cancelled),
];

/// Those that instances can make.
const INSTANCES: &[(Fact, Event)] = &[
    (Fact::Waiting, Event::PutOff),
    (Fact::Dispatched, Event::WorkDone),
    (Fact::Running, Event::WorkDone),
    (Fact::WorkerDone, Event::Succeeded),
    (Fact::WorkerDone, Event::FailedForGood),
    (Fact::WorkerDone, Event::Cancelled),
    (Fact::None, Event::Parked),
    (Fact::Delayed, Event::Parked),
    (Fact::Waiting, Event::Succeeded),
    (Fact::Waiting, Event::FailedForGood),
    (Fact::Waiting, Event::Cancelled),
    (Fact::None, Event::Dispatched),
    (Fact::None, Event::DecidedSuccess),
    (Fact::None, Event::DecidedFailure),
    (Fact::Delayed, Event::Dispatched),
    (Fact::Delayed, Event::Cancelled),
    (Fact::Dispatched, Event::Started),
    (Fact::Dispatched, Event::StartRefused),
    (Fact::Dispatched, Event::Succeeded),
    (Fact::Dispatched, Event::FailedForGood),
    (Fact::Dispatched, Event::PutOff),
    (Fact::Dispatched, Event::Cancelled),
    (Fact::Running, Event::Succeeded),
    (Fact::Running, Event::FailedForGood),
    (Fact::Running, Event::PutOff),
    (Fact::Running, Event::Cancelled),
    (Fact::Failed, Event::InstanceRetried),
    (Fact::Cancelled, Event::InstanceRetried),
    (Fact::Failed, Event::SentBack),
];

const MOMENTS: &[&str] = &[
    "roused by its timer",
    "full",
    "batch cut",
    "gathered while committing",
    "handed over behind another",
    "stop before start",
    "end while stopping",
    "kill unconfirmed",
];

/// Every code but `not_owned`, `workflow_active`, `too_many_signals`, `child_run` and `held_by_parent`:
/// one scheduler owns everything here, nobody deletes a workflow, nobody has that much to say, and
/// hardly anybody asks a child for what only its parent can do.
const REFUSALS: &[&str] = &[
    "group_held",
    "tier_of_workflow",
    "tier_not_found",
    "workflow_not_found",
    "run_not_found",
    "task_not_found",
    "not_a_group",
    "instance_not_found",
    "not_started",
    "stale",
    "outdated",
    "run_state",
    "task_settled",
    "task_held",
    "task_not_held",
    "task_stopping",
    "task_not_failed",
    "dependent_running",
    "not_an_approval",
    "not_waiting",
    "decided",
    "added_meanwhile",
    "not_allowed",
];
