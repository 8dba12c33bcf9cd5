//! Task rows before and after a commit: numbers, delays, what stopping makes of an end.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Group;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, Stopping, TaskRow};
use mainspring_core::spec::control::Control;
use mainspring_core::spec::definition::{OnLost, Task};
use mainspring_core::time::Span;
use mainspring_core::world::input::Verb;
use std::collections::BTreeSet;

/// A task survives this many losses.
pub const LOSSES: u32 = 3;

pub fn check(turn: &Turn<'_>) -> Check {
    for row in &turn.after.tasks {
        if turn.row_before(row.task) == Some(row) {
            continue;
        }
        check_shape(turn, row)?;
        check_numbers(turn, row)?;
        check_tries(turn, row)?;
        check_delay(turn, row)?;
        check_refused(turn, row)?;
        check_stopping(turn, row)?;
        check_patience(turn, row)?;
        let before = turn.row_before(row.task).filter(|_| is_same_opening(turn, row.task));
        let forgot = before.is_some_and(|before| before.ever_started) && !row.ever_started;
        Promise::EverStarted.ensure(!forgot, || turn.name(row.task))?;
    }
    let after: BTreeSet<TaskRef> = turn.after.tasks.iter().map(|row| row.task).collect();
    let before = turn.before.into_iter().flat_map(|past| past.rows.keys());
    // Instances go with their group when that goes back.
    let stays = |task: &&TaskRef| task.index.is_none() || !turn.was_asked(Verb::Retry);
    let lost = before.filter(stays).find(|task| !after.contains(task));
    Promise::Rows.ensure(lost.is_none(), || {
        format!("a row is gone: {:?}", lost.map(|task| turn.name(*task)))
    })
}

/// An instance of a group that has gone back and opened again begins anew.
fn is_same_opening(turn: &Turn<'_>, task: TaskRef) -> bool {
    let numbered_from = |group: &Group| group.numbered_from;
    let now = turn.group(task.no).map(numbered_from);
    task.index.is_none() || now == turn.group_before(task.no).map(numbered_from)
}

fn check_shape(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let ensure = |holds: bool, what: &str| {
        Promise::Rows.ensure(holds, || format!("{}: {what}", turn.name(row.task)))
    };
    let settled = row.fact.is_settled();
    let is_parked = row.fact == Fact::Waiting;
    let times = row.until.is_some();
    let is_timed = row.acting() == Fact::Delayed || row.is_live() && row.stopping.is_some();
    ensure(is_parked || is_timed == times, "delayed or being stopped without a time")?;
    ensure(is_parked == row.awaited().is_some(), "parked for nothing")?;
    ensure(settled == row.settled_at.is_some(), "settled without a time")?;
    ensure(!settled || row.hold.is_none(), "settled and held")?;
    let is_at_work = row.is_live() || row.child().is_some();
    ensure(is_at_work || row.stopping.is_none(), "nothing is there to be stopped")?;
    let live = row.attempt.as_ref().is_some_and(|attempt| attempt.end.is_none());
    ensure(live == (row.fact.is_live() || is_parked), "live and ended at once")?;
    let is_group = row.group.is_some();
    let puts_out = row.fact == Fact::Success
        || (is_group && row.fact == Fact::Failed)
        || row.group.as_ref().is_some_and(|group| group.worked)
        || row.finalizer.is_some();
    ensure(row.output.is_none() || puts_out, "an output without a success")?;
    ensure(row.error.is_none() || row.fact == Fact::Failed, "an error without a failure")?;
    ensure(row.task.index.is_none() || row.fact != Fact::None, "an instance of nothing")?;
    let fans_out = turn.definition.task(row.task.no).fan_out.is_some();
    ensure(
        !is_group || (fans_out && row.task.index.is_none()),
        "no group, and has the row of one",
    )?;
    ensure(row.fact != Fact::Open || is_group, "open, and no group")
}

/// Each dispatch that was not refused takes the next number.
fn check_numbers(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let past = turn.history.iter().filter(|past| past.task == row.task);
    let landing = row.finalizing().and_then(|finalizer| finalizer.attempt);
    let past = past.map(|past| past.attempt.number).chain(landing.map(|it| it.number));
    let mut seen: Vec<u32> = past.collect();
    let refused = |attempt: &Attempt| matches!(attempt.end, Some(AttemptEnd::Refused(_)));
    let current = row.attempt.as_ref().filter(|attempt| !refused(attempt));
    seen.extend(current.map(|attempt| attempt.number));
    seen.sort_unstable();
    // What an instance used before its group went back is followed by what others used.
    let first = if row.task.index.is_none() { 0 } else { numbered_from(turn, row.task.no) };
    let (former, current): (Vec<u32>, Vec<u32>) = seen.iter().partition(|number| **number <= first);
    let gapless: Vec<u32> = (first + 1..=row.attempts).collect();
    let once = former.windows(2).all(|pair| pair[0] < pair[1]);
    Promise::Numbers.ensure(once && current == gapless, || {
        format!("{}: attempts {seen:?}, from {first} on", turn.name(row.task))
    })
}

fn numbered_from(turn: &Turn<'_>, no: TaskNo) -> u32 {
    turn.group(no).map_or(0, |group| group.numbered_from)
}

/// A child's loss is its own: to its task it is a failure like any other.
pub fn is_loss(task: &Task, attempt: &Attempt) -> bool {
    !is_child(task)
        && matches!(&attempt.end, Some(AttemptEnd::Failed(e)) if e.class == ErrorClass::WorkerLost)
}

fn is_child(task: &Task) -> bool {
    matches!(task.control(), Some(Control::Child(_)))
}

pub fn is_failure(task: &Task, attempt: &Attempt) -> bool {
    matches!(attempt.end, Some(AttemptEnd::Failed(_))) && !is_loss(task, attempt)
}

/// It never ran, for a fault of its own: another try would meet with the same.
pub fn is_hopeless(attempt: &Attempt) -> bool {
    attempt.started_at.is_none()
        && matches!(&attempt.end, Some(AttemptEnd::Failed(e)) if e.class == ErrorClass::Logic)
}

fn check_tries(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let task = turn.definition.task(row.task.no);
    let new = |counts: fn(&Task, &Attempt) -> bool| {
        let ended = turn.ended.iter().filter(|(of, attempt)| {
            *of == row.task && counts(task, attempt) && !turn.landings.contains(&attempt.id)
        });
        u32::try_from(ended.count()).expect("few")
    };
    let (failures, losses) = (new(is_failure), new(is_loss));
    let before = turn.row_before(row.task).map_or((0, 0), |row| (row.tries, row.losses));
    let counted = (row.tries, row.losses) == (before.0 + failures, before.1 + losses);
    let reset = turn.was_asked(Verb::Retry) && row.tries <= failures && row.losses <= losses;
    let name = || format!("{}: {} tries, {} losses", turn.name(row.task), row.tries, row.losses);
    Promise::Tries.ensure(counted || reset, || format!("{}, before {before:?}", name()))?;
    Promise::Tries.ensure(row.tries <= task.retries.max + 1 && row.losses <= LOSSES + 1, name)?;
    let Some(attempt) = &row.attempt else { return Ok(()) };
    if row.fact == Fact::Failed && is_failure(task, attempt) {
        // What a wait came to is what it came to.
        let last =
            row.tries == task.retries.max + 1 || is_hopeless(attempt) || task.control().is_some();
        Promise::Tries.ensure(last, name)?;
    }
    if row.fact == Fact::Delayed && is_failure(task, attempt) {
        // One that a person asked for again has no tries.
        let again = !is_hopeless(attempt) || row.tries == 0;
        Promise::Tries.ensure(row.tries <= task.retries.max && again, name)?;
    }
    check_losses(row, attempt, task, &name)
}

fn check_losses(row: &TaskRow, attempt: &Attempt, task: &Task, name: &dyn Fn() -> String) -> Check {
    let last = task.on_lost == OnLost::Fail || row.losses > LOSSES;
    if row.fact == Fact::Failed && is_loss(task, attempt) {
        Promise::Tries.ensure(last, name)?;
    }
    // An instance that a person asked for again has no losses.
    if row.fact == Fact::Delayed && is_loss(task, attempt) && row.losses > 0 {
        Promise::Tries.ensure(row.losses <= LOSSES, name)?;
        return Promise::LostOnce.ensure(task.on_lost == OnLost::Retry, name);
    }
    Ok(())
}

fn check_delay(turn: &Turn<'_>, row: &TaskRow) -> Check {
    if row.fact != Fact::Delayed {
        return Ok(());
    }
    let (Some(until), Some(attempt)) = (row.until, &row.attempt) else { return Ok(()) };
    let ended = attempt.finished_at.expect("what is delayed has ended");
    let before = turn.row_before(row.task).filter(|before| {
        before.fact == Fact::Delayed && before.attempt.as_ref().map(|a| a.id) == Some(attempt.id)
    });
    let holds = match before {
        Some(before) => before.until == Some(until) || is_asked_again(turn, row),
        None => is_delay(turn, row, attempt) || is_asked_again(turn, row),
    };
    Promise::Delays
        .ensure(holds, || format!("{} is put off from {ended} to {until}", turn.name(row.task)))
}

/// As the policy says.
fn is_delay(turn: &Turn<'_>, row: &TaskRow, attempt: &Attempt) -> bool {
    let (Some(until), Some(ended)) = (row.until, attempt.finished_at) else { return false };
    let task = turn.definition.task(row.task.no);
    let policy = &task.retries;
    match &attempt.end {
        Some(AttemptEnd::Refused(_)) => until > ended && until <= ended + Span::from_secs(30),
        Some(AttemptEnd::Failed(_)) if is_loss(task, attempt) => {
            let earlier = row.losses.checked_sub(1);
            earlier.is_some_and(|earlier| until == ended + Span::from_secs(4_u64.pow(earlier)))
        }
        Some(AttemptEnd::Failed(_)) => row.tries.checked_sub(1).is_some_and(|earlier| {
            let grown = policy.delay.0.saturating_mul(2_u64.pow(earlier));
            until == ended + Span(grown.min(policy.max_delay.0))
        }),
        Some(AttemptEnd::Cancelled) => until == ended,
        Some(
            AttemptEnd::Success | AttemptEnd::Cached | AttemptEnd::Copied | AttemptEnd::Abandoned,
        )
        | None => false,
    }
}

/// An instance that a person asks for again is due at once.
fn is_asked_again(turn: &Turn<'_>, row: &TaskRow) -> bool {
    let anew = row.tries == 0 && row.losses == 0 && row.refusals == 0;
    turn.was_asked(Verb::Retry)
        && row.task.index.is_some()
        && anew
        && row.until.is_some_and(|until| until <= turn.now)
}

/// The time that refused starts take adds up, delays included.
fn check_refused(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let (Some(until), Some(attempt)) = (row.until, &row.attempt) else { return Ok(()) };
    let before = turn.row_before(row.task).filter(|before| is_current(before, attempt));
    let (Some(before), Some(AttemptEnd::Refused(_))) = (before, &attempt.end) else {
        return Ok(());
    };
    let took = until.since(attempt.dispatched_at).0;
    let holds = !before.fact.is_live() || row.refused_for == Span(before.refused_for.0 + took);
    Promise::Delays.ensure(holds, || {
        format!("{} was refused for {} so far", turn.name(row.task), row.refused_for)
    })
}

/// The end of the attempt that the row had before, if that was live.
fn check_stopping(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let Some(before) = turn.row_before(row.task).filter(|before| before.fact.is_live()) else {
        return Ok(());
    };
    let Some(attempt) = &before.attempt else { return Ok(()) };
    let now = turn.ended.iter().find(|(_, ended)| ended.id == attempt.id);
    let cancelled = turn.cancel_was_asked()
        || turn.after.progress.cancel.is_some()
        || turn.failed_fast(row.task);
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
        format!("{} was stopping for {:?} and ended {now:?}", turn.name(row.task), before.stopping)
    })
}

/// Nothing is stopped before its time is up.
fn check_patience(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let before = turn.row_before(row.task);
    if row.fact == Fact::WorkerDone {
        return Ok(());
    }
    let (Some(why), Some(attempt)) = (row.stopping, &row.attempt) else { return Ok(()) };
    let task = turn.definition.task(row.task.no);
    let due = match why {
        Stopping::Timeout => {
            let timeout = match task.control() {
                Some(Control::Child(child)) => child.timeout.unwrap_or(task.timeout),
                _ => task.timeout,
            };
            attempt.started_at.map(|at| at + timeout)
        }
        Stopping::StartTimeout => {
            let refused_for = before.map_or(Span::ZERO, |before| before.refused_for);
            let left = task.start_timeout.0.saturating_sub(refused_for.0);
            Some(attempt.dispatched_at + Span(left))
        }
        Stopping::Pause | Stopping::Cancel => return Ok(()),
    };
    let new = before.is_none_or(|before| before.stopping != row.stopping);
    Promise::Timeouts.ensure(!new || due.is_some_and(|due| due <= turn.now), || {
        format!("{} was stopped for {why:?}, which was due at {due:?}", turn.name(row.task))
    })
}

fn is_failed(end: &AttemptEnd, class: ErrorClass) -> bool {
    matches!(end, AttemptEnd::Failed(error) if error.class == class)
}

fn is_current(row: &TaskRow, attempt: &Attempt) -> bool {
    row.attempt.as_ref().is_some_and(|current| current.id == attempt.id)
}

/// Where a check needs the row of a task that may have none.
pub fn row_of(rows: &[TaskRow], task: TaskRef) -> Option<&TaskRow> {
    rows.iter().find(|row| row.task == task)
}
