//! What a retry took back: everything that failed or was cancelled with what it names, and
//! nothing that was cancelled for itself.

use crate::sim::oracle::{Reading, Standing};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::{Past, Turn};
use crate::sim::promises::rows::row_of;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Group;
use mainspring_core::kernel::row::{Stopping, TaskRow};
use mainspring_core::spec::definition::{Action, When};
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>) -> Check {
    let Some(before) = turn.before else { return Ok(()) };
    if turn.after.progress.cancel.is_some() || !turn.was_asked(Verb::Retry) {
        return Ok(());
    }
    // Of several the later ones may have undone the earlier, and what was cancelled and taken
    // back in one commit is not to be seen here.
    match named(turn).as_slice() {
        [_] if turn.was_asked(Verb::Cancel) || turn.was_asked(Verb::ForceCancel) => Ok(()),
        [None] => check_run(turn, before),
        [Some(task)] => {
            check_whole(turn, before, task.no)?;
            check_no_more(turn, before, task.no)
        }
        _ => Ok(()),
    }
}

/// What retries were asked for, each once; none: the whole run.
fn named(turn: &Turn<'_>) -> Vec<Option<TaskRef>> {
    let retries = turn.orders.iter().filter(|order| order.verb == Verb::Retry);
    let mut named: Vec<Option<TaskRef>> = retries.map(|order| order.task).collect();
    named.sort_unstable();
    named.dedup();
    named
}

/// A run that opens again takes back everything that failed or was cancelled.
fn check_run(turn: &Turn<'_>, before: &Past) -> Check {
    let opened = before.progress.status.is_final() && !turn.after.progress.status.is_final();
    let left = before.rows.keys().find(|task| opened && is_left(turn, before, **task));
    Promise::RetryReach
        .ensure(left.is_none(), || format!("{:?} was left", left.map(|task| turn.name(*task))))
}

/// What was cancelled with a cancelled task goes back with it.
fn check_whole(turn: &Turn<'_>, before: &Past, named: TaskNo) -> Check {
    let is_left = |no| is_left(turn, before, TaskRef::plain(no));
    if before.fact(named) != Fact::Cancelled || is_left(named) {
        return Ok(());
    }
    let mut cancelled = dependents(turn, named).filter(|no| before.fact(*no) == Fact::Cancelled);
    let left = cancelled.find(|no| is_left(*no));
    Promise::RetryReach
        .ensure(left.is_none(), || format!("{:?} was left", left.map(|no| turn.name(no))))
}

fn is_left(turn: &Turn<'_>, before: &Past, task: TaskRef) -> bool {
    let bad = |row: Option<&TaskRow>| {
        row.is_some_and(|row| matches!(row.fact, Fact::Failed | Fact::Cancelled))
    };
    // Failures that a group was told to ignore are nothing to be retried.
    let group = before.fact(task.no);
    let ignored = task.index.is_some() && group == Fact::Success;
    !ignored && bad(before.rows.get(&task)) && bad(row_of(&turn.after.tasks, task))
}

fn dependents(turn: &Turn<'_>, named: TaskNo) -> impl Iterator<Item = TaskNo> {
    let tasks = turn.definition.tasks.iter().enumerate();
    let below =
        tasks.filter(move |(_, task)| task.depends_on.iter().any(|edge| edge.upstream == named));
    below.map(|(position, _)| TaskNo::from_position(position))
}

/// What is not cancelled any more was named, or was cancelled with what is above it, or stood
/// on something that has gone back.
fn check_no_more(turn: &Turn<'_>, before: &Past, named: TaskNo) -> Check {
    let reading = Reading::new(turn.definition, before.rows.values());
    let was_cancelled = |no: TaskNo| {
        let row = before.rows.get(&TaskRef::plain(no));
        let stopping = row.and_then(|row| row.stopping);
        // It may have ended in the very commit that takes it back.
        let closing = row.and_then(|row| row.group.as_deref()).is_some_and(Group::is_stopping);
        let stops = stopping == Some(Stopping::Cancel) || closing;
        reading.standing(no) == Standing::Cancelled || stops
    };
    // A noop that has gone back may have come to its end again.
    let may_have_gone_back = |no: TaskNo| {
        let task = turn.definition.task(no);
        let none = task.fan_out.as_ref().is_some_and(|fan_out| fan_out.fixed_count() == Some(0));
        let noop = none || matches!(task.action, Action::Noop);
        no != named && (noop || !turn.reading.standing(no).is_settled())
    };
    let plain = before.rows.values().filter(|row| row.task.index.is_none());
    for no in plain.filter(|row| row.fact == Fact::Cancelled).map(|row| &row.task.no) {
        let mut edges = turn.definition.task(*no).depends_on.iter();
        let reached = edges.any(|edge| {
            matches!(edge.when, When::Failed | When::Finished)
                || was_cancelled(edge.upstream)
                || may_have_gone_back(edge.upstream)
        });
        let stays = turn.reading.fact(*no) == Fact::Cancelled;
        Promise::RetryReach.ensure(stays || *no == named || reached, || {
            format!("{} was cancelled for itself and is back by {:?}", turn.name(*no), turn.orders)
        })?;
    }
    Ok(())
}
