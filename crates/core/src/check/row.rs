//! One task's row: its fields say the same as its fact.

use super::violation::{Promise, Violation};
use crate::kernel::fact::Fact;
use crate::kernel::row::{AttemptEnd, Stopping, TaskRow};
use crate::spec::definition::Task;

pub(super) fn check(task: &Task, row: &TaskRow) -> Vec<Violation> {
    let contradictions = contradictions(task, row).into_iter();
    contradictions
        .chain(finalizer(task, row))
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
    let is_delayed = row.acting() == Fact::Delayed;
    let may_have_end = is_parked || row.is_live() && row.stopping.is_some();
    let is_at_work = attempt.is_some_and(|attempt| attempt.end.is_none());
    let good = [AttemptEnd::Success, AttemptEnd::Cached, AttemptEnd::Copied];
    let end = attempt.and_then(|attempt| attempt.end.as_ref());
    let is_success = end.is_some_and(|end| good.contains(end));
    let started = attempt.is_some_and(|attempt| attempt.started_at.is_some());
    let finished = attempt.is_some_and(|attempt| attempt.finished_at.is_some());
    // What was done and did not land is kept.
    let may_put_out = row.fact == Fact::Success || row.finalizer.is_some();
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
            row.until.is_some() != is_delayed && !(may_have_end && row.until.is_some()),
            "and the moment it waits for belongs to a delayed or parked task, or to a stop, and to no other",
        ),
        (
            row.awaited().is_some() != is_parked || is_parked && task.control().is_none(),
            "and what it waits for belongs to a parked control task, and to no other",
        ),
        (
            row.settled_at.is_some() != row.fact.is_settled(),
            "and the moment of its outcome belongs to a settled task, and to no other",
        ),
        (
            row.stopping.is_some() && !row.is_live() && !is_parked,
            "and is being stopped, but is not at work",
        ),
        (
            row.cancelled.is_some()
                != (row.fact == Fact::Cancelled || row.stopping == Some(Stopping::Cancel)),
            "and why it is cancelled belongs to a task that is, and to no other",
        ),
        (
            (row.output.is_some() && !may_put_out && row.group.is_none())
                || (row.fact == Fact::Success && attempt.is_some() && !is_success),
            "and its output or its last attempt says otherwise",
        ),
    ]
}

/// The same for what lands its work.
fn finalizer(task: &Task, row: &TaskRow) -> [(bool, &'static str); 4] {
    let is_done = row.fact == Fact::WorkerDone;
    let Some(finalizer) = row.finalizer.as_deref() else {
        let none = (false, "");
        return [(is_done, "and nothing lands its work"), none, none, none];
    };
    let is_open = !finalizer.fact.is_settled()
        && !matches!(finalizer.fact, Fact::Waiting | Fact::WorkerDone | Fact::Open);
    let work = row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref());
    [
        (task.finalize.is_none(), "and has a finalizer, but the task has none"),
        (work != Some(&AttemptEnd::Success), "and has a finalizer, but its work is not done"),
        (
            if is_done { !is_open } else { finalizer.fact != row.fact },
            "and its finalizer stands otherwise",
        ),
        (
            finalizer.attempt.is_some() != (is_done && finalizer.fact.is_live()),
            "and its finalizer has an attempt and is not at work, or the other way round",
        ),
    ]
}
