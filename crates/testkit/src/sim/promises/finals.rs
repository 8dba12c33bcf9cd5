//! Finalizers before and after a commit: when they start, how they count, and what their end makes
//! of their task.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::limits::queue_of;
use crate::sim::promises::record::Turn;
use crate::sim::promises::rows::{LOSSES, is_failure, is_hopeless, is_loss};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::Finalizer;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, RunStatus, Stopping, TaskRow};
use mainspring_core::spec::definition::{Finalize, OnLost, Task};
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>) -> Check {
    for row in &turn.after.tasks {
        check_work(turn, row)?;
        if turn.row_before(row.task) == Some(row) {
            continue;
        }
        let finalize = turn.definition.task(row.task.no).finalize.as_deref();
        match (row.finalizer.as_deref(), finalize) {
            (Some(finalizer), Some(finalize)) => {
                check_shape(turn, row, finalizer)?;
                check_start(turn, row, finalizer)?;
                check_counts(turn, row, (finalizer, finalize))?;
                check_end(turn, row, (finalizer, finalize))?;
            }
            (Some(_), None) => return Err(broken(turn, row, "has a finalizer that nobody wrote")),
            (None, finalize) => {
                let end = row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref());
                let is_passed = row.fact == Fact::Success && end == Some(&AttemptEnd::Success);
                let is_done = row.fact == Fact::WorkerDone || is_passed && finalize.is_some();
                ensure(turn, row, !is_done, "is done and nothing lands it")?;
            }
        }
    }
    Ok(())
}

fn broken(turn: &Turn<'_>, row: &TaskRow, what: &str) -> crate::sim::promise::Broken {
    Promise::Landing.broken(format!("{} {what}: {row:?}", turn.name(row.task)))
}

fn ensure(turn: &Turn<'_>, row: &TaskRow, holds: bool, what: &str) -> Check {
    if holds { Ok(()) } else { Err(broken(turn, row, what)) }
}

/// Work that is done is not done again, whatever becomes of what lands it.
fn check_work(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let was_done = turn.row_before(row.task).is_some_and(|it| it.fact == Fact::WorkerDone);
    let is_new = row.attempt.as_ref().is_some_and(|attempt| turn.new.contains(&attempt.id));
    let again = was_done && is_new && !turn.was_asked(Verb::Retry);
    ensure(turn, row, !again, "was done, and is done again")
}

fn check_shape(turn: &Turn<'_>, row: &TaskRow, finalizer: &Finalizer) -> Check {
    let is_live = row.fact == Fact::WorkerDone && finalizer.fact.is_live();
    ensure(turn, row, finalizer.attempt.is_some() == is_live, "has an attempt and is not live")?;
    let stands = match row.fact {
        Fact::WorkerDone => {
            matches!(finalizer.fact, Fact::None | Fact::Delayed) || finalizer.fact.is_live()
        }
        fact => fact == finalizer.fact,
    };
    ensure(turn, row, stands, "stands otherwise than what lands it")?;
    let work = row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref());
    ensure(turn, row, work == Some(&AttemptEnd::Success), "is finalized and not done")
}

/// Not held, its run at work, its time come, and nobody before it.
fn check_start(turn: &Turn<'_>, row: &TaskRow, finalizer: &Finalizer) -> Check {
    let Some(attempt) = finalizer.attempt.filter(|it| turn.new.contains(&it.id)) else {
        return Ok(());
    };
    let status = turn.after.progress.status;
    Promise::PausedRests.ensure(status != RunStatus::Paused && !is_held(turn, row), || {
        format!("{} lands", turn.name(row.task))
    })?;
    let always = turn.definition.task(row.task.no).is_always() && status == RunStatus::Cancelling;
    let goes_on = status == RunStatus::Running || always;
    ensure(turn, row, goes_on, "lands though its run does not go on")?;
    let before = turn.row_before(row.task);
    let cancelled = before
        .is_some_and(|it| it.fact == Fact::Cancelled || it.stopping == Some(Stopping::Cancel));
    let cancelled = cancelled && !turn.was_asked(Verb::Retry);
    ensure(turn, row, !cancelled, "lands after a cancel")?;
    let until = before.filter(|it| is_put_off(it)).and_then(|it| it.until);
    let waited = until.is_none_or(|until| attempt.dispatched_at >= until);
    ensure(turn, row, waited, "lands before its time")?;
    let passed = turn.after.tasks.iter().find(|other| is_passed(turn, row, other));
    ensure(turn, row, passed.is_none(), "lands before one that was there first")
}

fn is_put_off(row: &TaskRow) -> bool {
    row.fact == Fact::WorkerDone && row.acting() == Fact::Delayed
}

fn is_held(turn: &Turn<'_>, row: &TaskRow) -> bool {
    let group = turn.reading.row(row.task.no).filter(|_| row.task.index.is_some());
    row.hold.is_some() || group.is_some_and(|group| group.hold.is_some())
}

/// Another one of the same run, which stood in the same line before it and stands there still.
fn is_passed(turn: &Turn<'_>, row: &TaskRow, other: &TaskRow) -> bool {
    let place = |row: &TaskRow| {
        let task = turn.definition.task(row.task.no);
        let queue = task.finalize.as_deref().map(|finalize| queue_of(row, finalize));
        Some((queue?, -task.priority, row.finalizing()?.since))
    };
    let (Some(own), Some(its)) = (place(row), place(other)) else { return false };
    let waits = |row: &TaskRow| row.finalizing().is_some_and(|it| it.fact == Fact::None);
    let waited = turn.row_before(other.task).is_some_and(waits);
    waits(other) && waited && !is_held(turn, other) && own.0 == its.0 && its < own
}

/// Ends of attempts at landing that this commit records.
fn ended<'a>(turn: &'a Turn<'_>, row: &TaskRow) -> impl Iterator<Item = &'a Attempt> {
    let task = row.task;
    let own = turn.ended.iter().filter(move |(of, _)| *of == task);
    own.map(|(_, attempt)| *attempt).filter(|attempt| turn.landings.contains(&attempt.id))
}

fn check_counts(
    turn: &Turn<'_>,
    row: &TaskRow,
    (finalizer, finalize): (&Finalizer, &Finalize),
) -> Check {
    let task = turn.definition.task(row.task.no);
    let count = |counts: fn(&Task, &Attempt) -> bool| {
        let counted = ended(turn, row).filter(|attempt| counts(task, attempt));
        u32::try_from(counted.count()).expect("few")
    };
    let (failures, losses) = (count(is_failure), count(is_loss));
    let before = turn.row_before(row.task).and_then(|before| before.finalizer.as_deref());
    let (tries, lost) = before.map_or((0, 0), |before| (before.tries, before.losses));
    let counted = (finalizer.tries, finalizer.losses) == (tries + failures, lost + losses);
    ensure(turn, row, counted || turn.was_asked(Verb::Retry), "counts what did not happen")?;
    let most = finalizer.tries <= finalize.retries.max + 1 && finalizer.losses <= LOSSES + 1;
    ensure(turn, row, most, "was tried too often")
}

/// What came of it is what came of its task.
fn check_end(
    turn: &Turn<'_>,
    row: &TaskRow,
    (finalizer, finalize): (&Finalizer, &Finalize),
) -> Check {
    let was = turn.row_before(row.task).filter(|before| before.fact == Fact::WorkerDone);
    let last = ended(turn, row).last();
    match row.fact {
        Fact::Success => {
            let landed = last.is_some_and(|it| it.end == Some(AttemptEnd::Success));
            ensure(turn, row, landed || was.is_none(), "succeeded and has not landed")
        }
        Fact::Failed => {
            let given_up = finalizer.tries > finalize.retries.max
                || finalizer.losses > LOSSES
                || finalize.on_lost == OnLost::Fail && finalizer.losses > 0
                || last.is_none_or(is_hopeless);
            ensure(turn, row, given_up, "failed and had tries left")
        }
        Fact::WorkerDone => {
            let once = finalize.on_lost == OnLost::Retry || finalizer.losses == 0;
            Promise::LostOnce.ensure(once, || turn.name(row.task))?;
            let over = last.is_some_and(|it| {
                let stopped = was.is_some_and(|was| was.stopping == Some(Stopping::Cancel));
                it.end == Some(AttemptEnd::Success) || stopped
            });
            ensure(turn, row, !over, "has landed or was stopped, and goes on")
        }
        Fact::Cancelled => {
            let landed = last.is_some_and(|it| it.end == Some(AttemptEnd::Success));
            ensure(turn, row, !landed, "has landed, and is cancelled")
        }
        _ => Ok(()),
    }
}
