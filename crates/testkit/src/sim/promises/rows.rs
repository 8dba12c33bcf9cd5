//! Task rows before and after a commit: numbers, delays, what stopping makes of an end.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, Stopping, TaskRow};
use mainspring_core::spec::definition::{OnLost, Task};
use mainspring_core::time::Span;
use mainspring_core::world::input::Verb;

/// A task survives this many losses.
const LOSSES: u32 = 3;

pub fn check(turn: &Turn<'_>) -> Check {
    for row in &turn.after.tasks {
        if turn.row_before(row.task.no) == Some(row) {
            continue;
        }
        check_shape(turn, row)?;
        check_numbers(turn, row)?;
        check_tries(turn, row)?;
        check_delay(turn, row)?;
        check_refused(turn, row)?;
        check_stopping(turn, row)?;
        check_patience(turn, row)?;
        let before = turn.row_before(row.task.no);
        let forgot = before.is_some_and(|before| before.ever_started) && !row.ever_started;
        Promise::EverStarted.ensure(!forgot, || turn.name(row.task.no))?;
    }
    let before = turn.before.into_iter().flat_map(|past| past.rows.keys());
    let mut lost = before.filter(|no| turn.after.tasks.iter().all(|row| row.task.no != **no));
    Promise::Rows.ensure(lost.next().is_none(), || "a row is gone".to_owned())
}

fn check_shape(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let ensure = |holds: bool, what: &str| {
        Promise::Rows.ensure(holds, || format!("{}: {what}", turn.name(row.task.no)))
    };
    let settled = row.fact.is_settled();
    ensure((row.fact == Fact::Delayed) == row.until.is_some(), "delayed without a time")?;
    ensure(settled == row.settled_at.is_some(), "settled without a time")?;
    ensure(!settled || row.hold.is_none(), "settled and held")?;
    ensure(row.fact.is_live() || row.stopping.is_none(), "nothing is there to be stopped")?;
    let live = row.attempt.as_ref().is_some_and(|attempt| attempt.end.is_none());
    ensure(live == row.fact.is_live(), "live and ended at once")?;
    ensure(row.output.is_none() || row.fact == Fact::Success, "an output without a success")
}

/// Each dispatch that was not refused takes the next number.
fn check_numbers(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let past = turn.history.iter().filter(|past| past.task == row.task);
    let mut seen: Vec<u32> = past.map(|past| past.attempt.number).collect();
    let refused = |attempt: &Attempt| matches!(attempt.end, Some(AttemptEnd::Refused(_)));
    let current = row.attempt.as_ref().filter(|attempt| !refused(attempt));
    seen.extend(current.map(|attempt| attempt.number));
    seen.sort_unstable();
    let gapless: Vec<u32> = (1..=row.attempts).collect();
    Promise::Numbers
        .ensure(seen == gapless, || format!("{}: attempts {seen:?}", turn.name(row.task.no)))
}

fn is_loss(attempt: &Attempt) -> bool {
    matches!(&attempt.end, Some(AttemptEnd::Failed(e)) if e.class == ErrorClass::WorkerLost)
}

fn is_failure(attempt: &Attempt) -> bool {
    matches!(attempt.end, Some(AttemptEnd::Failed(_))) && !is_loss(attempt)
}

fn check_tries(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let no = row.task.no;
    let task = turn.definition.task(no);
    let new = |counts: fn(&Attempt) -> bool| {
        let ended = turn.ended.iter().filter(|(of, attempt)| *of == no && counts(attempt));
        u32::try_from(ended.count()).expect("few")
    };
    let (failures, losses) = (new(is_failure), new(is_loss));
    let before = turn.row_before(no).map_or((0, 0), |row| (row.tries, row.losses));
    let counted = (row.tries, row.losses) == (before.0 + failures, before.1 + losses);
    let reset = turn.was_asked(Verb::Retry) && row.tries <= failures && row.losses <= losses;
    let name = || format!("{}: {} tries, {} losses", turn.name(no), row.tries, row.losses);
    Promise::Tries.ensure(counted || reset, || format!("{}, before {before:?}", name()))?;
    Promise::Tries.ensure(row.tries <= task.retries.max + 1 && row.losses <= LOSSES + 1, name)?;
    let Some(attempt) = &row.attempt else { return Ok(()) };
    if row.fact == Fact::Failed && is_failure(attempt) {
        Promise::Tries.ensure(row.tries == task.retries.max + 1, name)?;
    }
    if row.fact == Fact::Delayed && is_failure(attempt) {
        Promise::Tries.ensure(row.tries <= task.retries.max, name)?;
    }
    check_losses(row, attempt, task, &name)
}

fn check_losses(row: &TaskRow, attempt: &Attempt, task: &Task, name: &dyn Fn() -> String) -> Check {
    let last = task.on_lost == OnLost::Fail || row.losses > LOSSES;
    if row.fact == Fact::Failed && is_loss(attempt) {
        Promise::Tries.ensure(last, name)?;
    }
    if row.fact == Fact::Delayed && is_loss(attempt) {
        Promise::Tries.ensure(row.losses <= LOSSES, name)?;
        return Promise::LostOnce.ensure(task.on_lost == OnLost::Retry, name);
    }
    Ok(())
}

fn check_delay(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let (Some(until), Some(attempt)) = (row.until, &row.attempt) else { return Ok(()) };
    let ended = attempt.finished_at.expect("what is delayed has ended");
    let policy = &turn.definition.task(row.task.no).retries;
    let holds = match &attempt.end {
        Some(AttemptEnd::Refused(_)) => until > ended && until <= ended + Span::from_secs(30),
        Some(AttemptEnd::Failed(_)) if is_loss(attempt) => {
            until == ended + Span::from_secs(4_u64.pow(row.losses - 1))
        }
        Some(AttemptEnd::Failed(_)) => {
            let grown = policy.delay.0.saturating_mul(2_u64.pow(row.tries - 1));
            until == ended + Span(grown.min(policy.max_delay.0))
        }
        Some(AttemptEnd::Cancelled) => until == ended,
        Some(AttemptEnd::Success | AttemptEnd::Abandoned) | None => false,
    };
    let before = turn.row_before(row.task.no).filter(|before| {
        before.until.is_some() && before.attempt.as_ref().map(|a| a.id) == Some(attempt.id)
    });
    let same = before.is_none_or(|before| before.until == Some(until));
    Promise::Delays.ensure(holds && same, || {
        format!("{} is put off from {ended} to {until}", turn.name(row.task.no))
    })
}

/// The time that refused starts take adds up, delays included.
fn check_refused(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let (Some(until), Some(attempt)) = (row.until, &row.attempt) else { return Ok(()) };
    let before = turn.row_before(row.task.no).filter(|before| is_current(before, attempt));
    let (Some(before), Some(AttemptEnd::Refused(_))) = (before, &attempt.end) else {
        return Ok(());
    };
    let took = until.since(attempt.dispatched_at).0;
    let holds = !before.fact.is_live() || row.refused_for == Span(before.refused_for.0 + took);
    Promise::Delays.ensure(holds, || {
        format!("{} was refused for {} so far", turn.name(row.task.no), row.refused_for)
    })
}

/// The end of the attempt that the row had before, if that was live.
fn check_stopping(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let no = row.task.no;
    let Some(before) = turn.row_before(no).filter(|before| before.fact.is_live()) else {
        return Ok(());
    };
    let Some(attempt) = &before.attempt else { return Ok(()) };
    let now = turn.ended.iter().find(|(_, ended)| ended.id == attempt.id);
    let cancelled = turn.cancel_was_asked() || turn.after.progress.cancel.is_some();
    let holds = match (before.stopping, now.and_then(|(_, ended)| ended.end.as_ref())) {
        (Some(_), None) if is_current(row, attempt) => row.stopping.is_some(),
        (_, Some(AttemptEnd::Abandoned)) => turn.was_asked(Verb::ForceCancel),
        (Some(Stopping::Cancel), Some(end)) => *end == AttemptEnd::Cancelled,
        (Some(Stopping::Timeout | Stopping::StartTimeout), Some(AttemptEnd::Cancelled)) => {
            cancelled
        }
        (Some(Stopping::Timeout), Some(end)) => is_failed(end, ErrorClass::Timeout),
        (Some(Stopping::StartTimeout), Some(end)) => is_failed(end, ErrorClass::StartTimeout),
        (None, Some(AttemptEnd::Cancelled)) => cancelled || turn.was_asked(Verb::Pause),
        _ => true,
    };
    let cancels = row.fact == Fact::Cancelled || turn.was_asked(Verb::Retry);
    let gone = before.stopping == Some(Stopping::Cancel) && now.is_some();
    Promise::Stopping.ensure(holds && (!gone || cancels), || {
        let now = now.map(|(_, ended)| &ended.end);
        format!("{} was stopping for {:?} and ended {now:?}", turn.name(no), before.stopping)
    })
}

/// Nothing is stopped before its time is up.
fn check_patience(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let before = turn.row_before(row.task.no);
    let (Some(why), Some(attempt)) = (row.stopping, &row.attempt) else { return Ok(()) };
    let task = turn.definition.task(row.task.no);
    let due = match why {
        Stopping::Timeout => attempt.started_at.map(|at| at + task.timeout),
        Stopping::StartTimeout => {
            let refused_for = before.map_or(Span::ZERO, |before| before.refused_for);
            let left = task.start_timeout.0.saturating_sub(refused_for.0);
            Some(attempt.dispatched_at + Span(left))
        }
        Stopping::Pause | Stopping::Cancel => return Ok(()),
    };
    let new = before.is_none_or(|before| before.stopping != row.stopping);
    Promise::Timeouts.ensure(!new || due.is_some_and(|due| due <= turn.now), || {
        format!("{} was stopped for {why:?}, which was due at {due:?}", turn.name(row.task.no))
    })
}

fn is_failed(end: &AttemptEnd, class: ErrorClass) -> bool {
    matches!(end, AttemptEnd::Failed(error) if error.class == class)
}

fn is_current(row: &TaskRow, attempt: &Attempt) -> bool {
    row.attempt.as_ref().is_some_and(|current| current.id == attempt.id)
}

/// Where a check needs the row of a task that may have none.
pub fn row_of(rows: &[TaskRow], no: TaskNo) -> Option<&TaskRow> {
    rows.iter().find(|row| row.task.no == no)
}
