//! Attempts that became durable with a commit: whether they were allowed to.

use crate::sim::oracle::Met;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::checkpoints;
use crate::sim::promises::record::Turn;
use crate::sim::promises::runs::is_held_from_above;
use mainspring_core::ids::TaskRef;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{RunStatus, TaskRow};
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>) -> Check {
    for row in &turn.after.tasks {
        let new = row.attempt.as_ref().filter(|attempt| turn.new.contains(&attempt.id));
        match new.map(|_| turn.definition.task(row.task.no).control().is_some()) {
            None => {}
            Some(false) => check_new(turn, row)?,
            Some(true) => check_parked(turn, row)?,
        }
    }
    Ok(())
}

/// What is parked is so as soon as it is known for what: an order, a checkpoint or a hold of the
/// parent in the same commit may have come after that.
fn check_parked(turn: &Turn<'_>, row: &TaskRow) -> Check {
    // And its wait may be over, and its run with it.
    let is_over = row.fact != Fact::Waiting;
    let before = turn.before.map(|past| past.progress.status);
    let by_parent = before != Some(RunStatus::Paused) && is_held_from_above(turn);
    let was_paused = checkpoints::is_held(turn) || by_parent;
    if is_over || was_paused || !turn.orders.is_empty() || turn.after.progress.cancel.is_some() {
        return Ok(());
    }
    check_new(turn, row)
}

/// A batch dispatches after everything else it does, so the rows beside the new attempt are
/// those that it was decided on.
fn check_new(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let name = || turn.name(row.task);
    let status = turn.after.progress.status;
    let group = turn.reading.row(row.task.no).filter(|_| row.task.index.is_some());
    let held = row.hold.is_some() || group.is_some_and(|group| group.hold.is_some());
    Promise::PausedRests.ensure(status != RunStatus::Paused && !held, name)?;
    let is_always = turn.definition.task(row.task.no).always.is_some();
    let goes_on = status == RunStatus::Cancelling && is_always;
    Promise::CancelledRests.ensure(status == RunStatus::Running || goes_on, name)?;
    let open = group.is_none_or(|group| group.fact == Fact::Open);
    Promise::Group.ensure(open, || format!("{} was started and its group is not open", name()))?;
    let unmet = turn.reading.dependencies(row.task.no).find(|(_, met)| *met != Met::Yes);
    // What is put off was allowed to start once, and goes on whatever became of that; so does a
    // group that was open.
    let was_open = turn.row_before(TaskRef::plain(row.task.no));
    let put_off = turn.row_before(row.task).filter(|before| before.fact == Fact::Delayed);
    let again = put_off.is_some()
        || row.task.index.is_some() && was_open.is_some_and(|group| group.fact == Fact::Open);
    Promise::Dependencies.ensure(again || unmet.is_none() || is_again(turn, row), || {
        format!("{} was started while {unmet:?}", name())
    })?;
    let until = put_off.and_then(|before| before.until);
    let at = row.attempt.as_ref().map(|attempt| attempt.dispatched_at);
    let waited = until.is_none() || at >= until || turn.was_asked(Verb::Retry);
    Promise::Delays.ensure(waited, || {
        format!("{} was to wait until {until:?} and was started at {at:?}", name())
    })
}

/// Its last attempt was live before this commit, so the end and the next start are in one.
fn is_again(turn: &Turn<'_>, row: &TaskRow) -> bool {
    turn.row_before(row.task).is_some_and(|before| before.fact.is_live())
}
