//! Waits that are over: whether what they waited for had come, and what they made of it.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use crate::sim::promises::rows::row_of;
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::TaskRef;
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, TaskRow};
use mainspring_core::kernel::wait::{ApprovalPlace, Awaited, Verdict};
use mainspring_core::output::Output;
use mainspring_core::spec::control::{
    Approval, Control, OnReject, OnSilence, OnTimeout, Sleep, WaitFor,
};
use mainspring_core::time::Span;
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>) -> Check {
    for (task, attempt) in &turn.ended {
        if let Some(control) = turn.definition.task(task.no).control() {
            // What a child means to its task is looked at with both.
            if matches!(control, Control::Child(_)) {
                continue;
            }
            check_end(turn, *task, attempt, control)?;
            check_held(turn, *task, attempt)?;
        }
    }
    turn.after.tasks.iter().try_for_each(|row| check_taken(turn, row))?;
    turn.after.tasks.iter().try_for_each(|row| check_once(turn, row))?;
    check_listed(turn)
}

fn check_end(turn: &Turn<'_>, task: TaskRef, attempt: &Attempt, control: &Control) -> Check {
    let took = attempt.finished_at.map_or(Span::ZERO, |at| at.since(attempt.dispatched_at));
    let is_late = |timeout: Option<Span>| timeout.is_some_and(|timeout| took >= timeout);
    let output = put_out(turn, task, attempt);
    let end = attempt.end.as_ref().expect("it has ended");
    let holds = match (control, end) {
        (_, AttemptEnd::Cancelled) => true,
        (Control::Sleep(Sleep::For(text)), AttemptEnd::Success) => {
            let span = mainspring_core::spec::duration(text.source()).expect("checked");
            took >= span && output.is_none()
        }
        (Control::Wait(wait), AttemptEnd::Success) => {
            is_signal(turn, wait, output.as_ref())
                || is_late(wait.timeout)
                    && wait.on_timeout == OnTimeout::Continue
                    && output == Some(Json::null())
                    && !came_in_time(turn, task, attempt, wait)
        }
        (Control::Wait(wait), AttemptEnd::Failed(error)) => {
            is_late(wait.timeout)
                && wait.on_timeout == OnTimeout::Fail
                && error.class == ErrorClass::Timeout
                && !came_in_time(turn, task, attempt, wait)
        }
        (Control::Approval(approval), end) => {
            let late = is_late(approval.timeout);
            is_decided(turn, task, (approval, late), (end, output.as_ref()))
        }
        (_, _) => false,
    };
    Promise::Waits
        .ensure(holds, || format!("{} ended {end:?} with {output:?} after {took}", turn.name(task)))
}

fn put_out(turn: &Turn<'_>, task: TaskRef, attempt: &Attempt) -> Option<Json> {
    let current = row_of(&turn.after.tasks, task)
        .filter(|row| row.attempt.as_ref().is_some_and(|now| now.id == attempt.id))
        .and_then(|row| row.output.clone());
    let mut history = turn.history.iter();
    let past = || history.find(|past| past.attempt.id == attempt.id)?.output.clone();
    match current.or_else(past)? {
        Output::Inline(json) => Some(json),
        Output::Blob(_) => None,
    }
}

fn is_signal(turn: &Turn<'_>, wait: &WaitFor, output: Option<&Json>) -> bool {
    let mut signals = turn.signals.iter();
    signals.any(|row| *row.key == *wait.signal.source() && Some(&row.value) == output)
}

/// A signal that the wait had not taken came before its end.
fn came_in_time(turn: &Turn<'_>, task: TaskRef, attempt: &Attempt, wait: &WaitFor) -> bool {
    let row = row_of(&turn.after.tasks, task)
        .filter(|row| row.attempt.as_ref().is_some_and(|now| now.id == attempt.id));
    let (Some(row), Some(timeout)) = (row, wait.timeout) else { return false };
    let taken = row.wait.as_ref().map_or(0, |wait| wait.taken);
    let until = attempt.dispatched_at + timeout;
    let mut own = turn.signals.iter().filter(|row| *row.key == *wait.signal.source());
    own.any(|row| row.number > taken && row.at < until)
}

/// Somebody said so, or nobody did for too long.
fn is_decided(
    turn: &Turn<'_>,
    task: TaskRef,
    (approval, late): (&Approval, bool),
    (end, output): (&AttemptEnd, Option<&Json>),
) -> bool {
    let said = |verdict| {
        let whole = TaskRef::plain(task.no);
        turn.rulings.iter().any(|(of, ruled)| *ruled == verdict && (*of == task || *of == whole))
    };
    let silence = |what| late && approval.on_timeout == what;
    let approved = output.map(|json| json.to_value()["approved"].clone());
    let rejected = said(Verdict::Rejected) || silence(OnSilence::Reject);
    match (end, approved) {
        (AttemptEnd::Success, Some(serde_json::Value::Bool(true))) => {
            said(Verdict::Approved) || silence(OnSilence::Approve)
        }
        (AttemptEnd::Success, Some(serde_json::Value::Bool(false))) => {
            approval.on_reject == OnReject::Continue && rejected
        }
        (AttemptEnd::Failed(error), None) => match error.class {
            ErrorClass::Rejected => approval.on_reject == OnReject::Fail && rejected,
            ErrorClass::Timeout => silence(OnSilence::Fail),
            _ => false,
        },
        _ => false,
    }
}

/// What comes while somebody holds a task is kept until that is over.
fn check_held(turn: &Turn<'_>, task: TaskRef, attempt: &Attempt) -> Check {
    let whole = TaskRef::plain(task.no);
    let before = turn
        .row_before(task)
        .filter(|before| before.attempt.as_ref().is_some_and(|known| known.id == attempt.id));
    let is_held = |row: Option<&TaskRow>| row.is_some_and(|row| row.hold.is_some());
    let held = is_held(before) || before.is_some() && is_held(turn.row_before(whole));
    // A cancel lifts holds, also of what it leaves running.
    let lifted = turn.was_asked(Verb::Resume) || turn.after.progress.cancel.is_some();
    let by_itself = held && attempt.end != Some(AttemptEnd::Cancelled) && !lifted;
    Promise::PausedRests.ensure(!by_itself, || format!("{} was held", turn.name(task)))
}

/// No signal is taken twice by one task.
fn check_taken(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let taken = |row: &TaskRow| row.wait.as_ref().map_or(0, |wait| wait.taken);
    let Some(before) = turn.row_before(row.task) else { return Ok(()) };
    let is_later = taken(row) >= taken(before);
    let number = |row: &TaskRow| row.attempt.as_ref().map(|attempt| attempt.id);
    let fired = row.fact == Fact::Success
        && number(row) == number(before)
        && before.fact == Fact::Waiting
        && matches!(before.awaited(), Some(Awaited::Signal { .. }));
    let null = row.output == Some(Output::null());
    let is_new = !fired || null || taken(row) > taken(before);
    Promise::Waits.ensure(is_later && is_new, || {
        format!("{} took signal {} after {}", turn.name(row.task), taken(row), taken(before))
    })
}

/// A decision that was made while somebody held the task stays as it is.
fn check_once(turn: &Turn<'_>, row: &TaskRow) -> Check {
    let decision = |row: &TaskRow| match row.awaited() {
        Some(Awaited::Approval { decision, .. }) => decision.clone(),
        _ => None,
    };
    let before = turn.row_before(row.task).filter(|before| before.fact == Fact::Waiting);
    let Some(made) = before.and_then(decision) else { return Ok(()) };
    let number = |row: &TaskRow| row.attempt.as_ref().map(|attempt| attempt.id);
    let is_same = row.fact == Fact::Waiting && before.and_then(number) == number(row);
    let stays = !is_same || decision(row).is_some_and(|now| now.at == made.at);
    Promise::Waits.ensure(stays, || {
        format!("{} was {} and has been decided again", turn.name(row.task), made.verdict.word())
    })
}

/// What waits for a person is listed, and nothing else.
fn check_listed(turn: &Turn<'_>) -> Check {
    let run = turn.after.head.key;
    let waiting = turn.after.tasks.iter().filter(|row| {
        row.fact == Fact::Waiting && matches!(row.awaited(), Some(Awaited::Approval { .. }))
    });
    let place = |row: &TaskRow| {
        let since = row.attempt.as_ref().map(|attempt| attempt.dispatched_at)?;
        Some(ApprovalPlace { since, run, task: row.task })
    };
    let expected: Vec<ApprovalPlace> = waiting.filter_map(place).collect();
    Promise::Listed.ensure(turn.listed == expected, || {
        format!("run {}: {:?} is listed, {expected:?} waits", run.0, turn.listed)
    })
}
