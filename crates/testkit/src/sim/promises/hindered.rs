//! Merges that somebody's checkout is in the way of: they wait for as long as that takes, hold up
//! nobody else, and nothing of it is counted.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::limits::queue_of;
use crate::sim::promises::record::Turn;
use crate::sim::promises::rows::is_loss;
use crate::sim::tally::Tally;
use mainspring_core::error::ErrorClass;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::Finalizer;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, Stopping, TaskRow};
use mainspring_core::spec::definition::Finalize;
use mainspring_core::time::Span;

/// No wait is longer.
const WAIT_MAX: Span = Span::from_secs(30);

pub fn check(turn: &Turn<'_>, tally: &mut Tally) -> Check {
    for row in &turn.after.tasks {
        let finalize = turn.definition.task(row.task.no).finalize.as_deref();
        let (Some(finalizer), Some(finalize)) = (row.finalizer.as_deref(), finalize) else {
            continue;
        };
        if turn.row_before(row.task) == Some(row) {
            continue;
        }
        check_wait(turn, row, finalizer)?;
        check_ends(turn, row, finalize)?;
        count(turn, row, (finalizer, finalize), tally);
    }
    Ok(())
}

fn ensure(turn: &Turn<'_>, row: &TaskRow, holds: bool, what: &str) -> Check {
    Promise::Hindered.ensure(holds, || format!("{} {what}: {row:?}", turn.name(row.task)))
}

/// Of the same work.
fn before<'a>(turn: &'a Turn<'_>, row: &TaskRow, now: &Finalizer) -> Option<&'a Finalizer> {
    let before = turn.row_before(row.task).filter(|before| before.fact == Fact::WorkerDone)?;
    before.finalizer.as_deref().filter(|before| before.since == now.since)
}

fn waits(row: &TaskRow) -> bool {
    row.finalizing().is_some_and(|it| it.fact == Fact::Delayed && it.hindrances > 0)
}

/// No start timeout counts it, and it is looked at again before long.
fn check_wait(turn: &Turn<'_>, row: &TaskRow, finalizer: &Finalizer) -> Check {
    let was = before(turn, row, finalizer);
    let times = was.map_or(0, |was| was.hindrances);
    if waits(row) && finalizer.hindrances > times {
        ensure(turn, row, finalizer.refused.is_some(), "does not say what is in its way")?;
        let soon = row.until.is_some_and(|until| until <= turn.now + WAIT_MAX);
        ensure(turn, row, soon, "waits too long")?;
        // It may have been refused since; then that has begun anew.
        let refused = finalizer.refused_for.0 > 0;
        ensure(turn, row, refused == (finalizer.refusals > 0), "has its hindrance counted")?;
    }
    let Some(was) = was else { return Ok(()) };
    let live = was.attempt.filter(|live| turn.outside.executors.hindered.contains(&live.id));
    let Some(live) = live.filter(|_| finalizer.fact == Fact::Delayed) else { return Ok(()) };
    let told = finalizer.hindrances > was.hindrances
        || finalizer.losses > was.losses
        || finalizer.tries > was.tries
        || turn.ended.iter().any(|(_, ended)| ended.id == live.id && is_cancelled(ended));
    ensure(turn, row, told, "was hindered, and that is called something else")
}

fn is_late(row: &TaskRow) -> bool {
    matches!(row.stopping, Some(Stopping::Timeout | Stopping::StartTimeout))
}

fn is_cancelled(attempt: &Attempt) -> bool {
    attempt.end == Some(AttemptEnd::Cancelled)
}

/// A hindrance is no failure. It may come too late: when its time is up, or nobody heard of it.
fn check_ends(turn: &Turn<'_>, row: &TaskRow, finalize: &Finalize) -> Check {
    let task = turn.definition.task(row.task.no);
    let own = turn.ended.iter().filter(|(of, _)| *of == row.task).map(|(_, ended)| *ended);
    let hindered = own.filter(|ended| turn.outside.executors.hindered.contains(&ended.id));
    for ended in hindered {
        let fair = match &ended.end {
            Some(AttemptEnd::Success) => false,
            Some(AttemptEnd::Failed(_)) if is_loss(task, ended) => true,
            Some(AttemptEnd::Failed(error)) => {
                let due = match error.class {
                    ErrorClass::Timeout => ended.started_at.map(|at| at + finalize.timeout),
                    ErrorClass::StartTimeout => Some(ended.dispatched_at + finalize.start_timeout),
                    _ => None,
                };
                // The clock may have gone back since: then the row knows that its time was up.
                let was_late = turn.row_before(row.task).is_some_and(is_late);
                was_late || due.is_some_and(|due| due <= turn.now)
            }
            _ => true,
        };
        ensure(turn, row, fair, "was hindered, and that counts as an outcome")?;
    }
    Ok(())
}

fn count(
    turn: &Turn<'_>,
    row: &TaskRow,
    (finalizer, finalize): (&Finalizer, &Finalize),
    tally: &mut Tally,
) {
    let was = turn.row_before(row.task).filter(|before| waits(before));
    let what = match row.fact {
        Fact::WorkerDone if waits(row) => match finalizer.hindrances {
            _ if row.hold.is_some() => "held",
            1 => "waits",
            _ => "waits again",
        },
        Fact::Cancelled if was.is_some() => "cancelled",
        Fact::Success if finalizer.hindrances > 0 => "landed",
        Fact::WorkerDone if finalizer.attempt.is_some_and(|it| turn.new.contains(&it.id)) => {
            let is_passed = |other: &&TaskRow| {
                let its = turn.definition.task(other.task.no).finalize.as_deref();
                let its = its.and_then(|finalize| queue_of(other, finalize));
                waits(other) && its.is_some() && its == queue_of(row, finalize)
            };
            if !turn.after.tasks.iter().any(|other| is_passed(&other)) {
                return;
            }
            "passed"
        }
        _ => return,
    };
    tally.count(("hindered", what, ""));
}
