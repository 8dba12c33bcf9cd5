//! Kills that are not confirmed in time: a run needs somebody, and says so.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use mainspring_core::ids::AttemptId;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::limits::KILL_CONFIRMED_WITHIN;
use mainspring_core::time::Timestamp;
use mainspring_store::StoredRun;

pub fn check(turn: &Turn<'_>) -> Check {
    for row in turn.after.tasks.iter().filter(|row| is_being_stopped(row)) {
        let name = || turn.name(row.task);
        let before = turn.row_before(row.task);
        let before = before.filter(|it| is_being_stopped(it) && attempt(it) == attempt(row));
        let is_kept = before.is_none_or(|before| before.until == row.until);
        Promise::Overdue.ensure(is_kept, || format!("{}: its time began anew", name()))?;
        let in_time = row.until.is_some_and(|until| until <= turn.now + KILL_CONFIRMED_WITHIN);
        Promise::Overdue
            .ensure(before.is_some() || in_time, || format!("{} has longer", name()))?;
    }
    let needs = turn.after.progress.unconfirmed_since.is_some();
    let stops = turn.after.tasks.iter().any(is_being_stopped);
    Promise::Overdue.ensure(!needs || stops, || "nobody is needed any more".to_owned())
}

/// When everything due has been looked at, of a run that is not over.
pub fn check_told(run: &StoredRun, now: Timestamp) -> Check {
    let late =
        |row: &&TaskRow| is_being_stopped(row) && row.until.is_some_and(|until| until <= now);
    let late = run.tasks.iter().find(late);
    let is_told = late.is_none() || run.progress.unconfirmed_since.is_some();
    Promise::Overdue.ensure(is_told, || {
        format!("run {} does not say that {:?} is late", run.head.key.0, late.map(|row| row.task))
    })
}

fn is_being_stopped(row: &TaskRow) -> bool {
    row.is_live() && row.stopping.is_some()
}

fn attempt(row: &TaskRow) -> Option<AttemptId> {
    row.live_attempt().map(|(id, _)| id)
}
