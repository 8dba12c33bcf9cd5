//! One task's row: its fields say the same as its fact.

use super::violation::{Promise, Violation};
use crate::kernel::fact::Fact;
use crate::kernel::row::{AttemptEnd, Stopping, TaskRow};
use crate::spec::definition::Task;

pub(super) fn check(task: &Task, row: &TaskRow) -> Vec<Violation> {
    let contradictions = contradictions(task, row).into_iter();
    contradictions
        .filter(|(is_wrong, _)| *is_wrong)
        .map(|(_, what)| {
            let what = format!("task '{}' is {}, {what}", task.name, row.fact.word());
            Violation::new(Promise::Tasks, what)
        })
        .collect()
}

/// Each with what would have to be said of it.
fn contradictions(task: &Task, row: &TaskRow) -> [(bool, &'static str); 12] {
    let attempt = row.attempt.as_ref();
    let is_parked = row.fact == Fact::Waiting;
    let is_live = row.fact.is_live() || is_parked;
    let is_at_work = attempt.is_some_and(|attempt| attempt.end.is_none());
    let good = [AttemptEnd::Success, AttemptEnd::Cached, AttemptEnd::Copied];
    let end = attempt.and_then(|attempt| attempt.end.as_ref());
    let is_success = end.is_some_and(|end| good.contains(end));
    let started = attempt.is_some_and(|attempt| attempt.started_at.is_some());
    let finished = attempt.is_some_and(|attempt| attempt.finished_at.is_some());
    let has_executor = task.action.executor().is_some() || task.control().is_some();
    [
        (
            (row.task.index.is_some() || row.group.is_some()) && task.fan_out.is_none(),
            "and has an index, but the task is no group",
        ),
        (is_live && !is_at_work, "and has no attempt at work"),
        (!is_live && is_at_work, "and has an attempt at work"),
        (attempt.is_some() && !has_executor, "and has an attempt, but nobody to carry it out"),
        (row.fact == Fact::Running && !started, "and its attempt has not started"),
        (
            attempt.is_some() && is_at_work == finished,
            "and its attempt's end has no moment, or its moment no end",
        ),
        (
            row.until.is_some() != (row.fact == Fact::Delayed)
                && !(is_parked && row.until.is_some()),
            "and the moment it waits for belongs to a delayed or parked task, and to no other",
        ),
        (
            row.awaited().is_some() != is_parked || is_parked && task.control().is_none(),
            "and what it waits for belongs to a parked control task, and to no other",
        ),
        (
            row.settled_at.is_some() != row.fact.is_settled(),
            "and the moment of its outcome belongs to a settled task, and to no other",
        ),
        (row.stopping.is_some() && !is_live, "and is being stopped, but is not at work"),
        (
            row.cancelled.is_some()
                != (row.fact == Fact::Cancelled || row.stopping == Some(Stopping::Cancel)),
            "and why it is cancelled belongs to a task that is, and to no other",
        ),
        (
            (row.output.is_some() && row.fact != Fact::Success && row.group.is_none())
                || (row.fact == Fact::Success && attempt.is_some() && !is_success),
            "and its output or its last attempt says otherwise",
        ),
    ]
}
