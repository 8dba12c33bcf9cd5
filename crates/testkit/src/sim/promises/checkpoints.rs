//! Checkpoints: after the success of one, nothing starts before somebody resumes the run.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::anew::is_copied;
use crate::sim::promises::record::Turn;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Hold, RunStatus, TaskRow};
use mainspring_core::world::input::Verb;

/// The run is held by a task that is a checkpoint and has succeeded. A retry in the same commit may
/// have taken it back since: the run stays paused, as it does when that comes later.
pub fn is_held(turn: &Turn<'_>) -> bool {
    let name = turn.after.progress.hold.as_ref().and_then(Hold::by_checkpoint);
    let task = name.and_then(|name| turn.definition.task_no(name));
    task.is_some_and(|no| {
        let is_passed = turn.reading.fact(no) == Fact::Success || turn.was_asked(Verb::Retry);
        turn.definition.task(no).checkpoint && is_passed
    })
}

pub fn check(turn: &Turn<'_>) -> Check {
    check_resumed(turn)?;
    let progress = &turn.after.progress;
    let rests = progress.status == RunStatus::Paused || progress.cancel.is_some();
    if rests || turn.run_was_asked(Verb::Resume) {
        return Ok(());
    }
    let is_new = |row: &&TaskRow| {
        let was = turn.row_before(row.task).map(|row| row.fact);
        let is_checkpoint =
            row.task.index.is_none() && turn.definition.task(row.task.no).checkpoint;
        is_checkpoint && row.fact == Fact::Success && was != Some(Fact::Success) && !is_copied(row)
    };
    let passed = turn.after.tasks.iter().find(is_new);
    Promise::Checkpoint.ensure(passed.is_none(), || {
        let name = passed.map(|row| turn.name(row.task));
        format!("{name:?} was passed, and the run is {:?}", progress.status)
    })
}

/// A run goes on when everything that was reached under its hold has been resumed: a hold stands for
/// what came before it, and that of a checkpoint for its own moment too.
fn check_resumed(turn: &Turn<'_>) -> Check {
    let hold = turn.before.and_then(|past| past.progress.hold.as_ref());
    let progress = &turn.after.progress;
    let goes_on = progress.status != RunStatus::Paused && progress.cancel.is_none();
    let Some(hold) = hold.filter(|_| goes_on) else { return Ok(()) };
    // Several resumes in one commit are each for one.
    let resumes = turn.orders.iter().filter(|order| order.verb == Verb::Resume).count();
    let is_missed = |row: &&TaskRow| {
        let is_checkpoint =
            row.task.index.is_none() && turn.definition.task(row.task.no).checkpoint;
        let had_succeeded = turn.row_before(row.task).is_some_and(|row| row.fact == Fact::Success);
        let is_later = row.settled_at.is_some_and(|at| match hold.by_checkpoint() {
            Some(_) => at > hold.at,
            None => at >= hold.at,
        });
        is_checkpoint && row.fact == Fact::Success && had_succeeded && is_later
    };
    let missed = turn.after.tasks.iter().find(is_missed);
    Promise::Checkpoint.ensure(missed.is_none() || resumes > 1, || {
        let name = missed.map(|row| turn.name(row.task));
        format!("{name:?} was reached under the hold of {}, and is not asked for", hold.by)
    })
}
