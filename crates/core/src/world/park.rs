//! Waits: a control task is parked, and its wait is over when what it waits for has come and
//! nobody holds it.
//!
//! ```text
//!  answer ─► park ─┬─► fire ─► over? ─► end of the wait ─► outcome
//!                  │    ▲
//!  timer, signal, decision, resume
//! ```
//! A wait is an attempt that nobody carries out: it has a number, a beginning and an end.

use crate::error::{ErrorClass, TaskError};
use crate::evaluate::Parking;
use crate::ids::{AttemptId, RunKey, TaskRef, Ticket};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::kernel::row::{Attempt, AttemptEnd, TaskRow};
use crate::kernel::transition::Event;
use crate::kernel::wait::{Awaited, Decision, InTime, SignalRow, Verdict};
use crate::output::Output;
use crate::spec::control::{Approval, Control, OnReject, OnSilence, OnTimeout, WaitFor};
use crate::time::{Span, Timestamp};
use crate::world::advance::supersede;
use crate::world::batch::Change;
use crate::world::child::Stop;
use crate::world::finalize;
use crate::world::report::step;
use crate::world::run::Run;
use crate::world::state::World;
use serde_json::json;
use std::sync::Arc;

/// What a wait comes to.
type Outcome = Result<Option<Output>, TaskError>;

/// Why a wait is over.
#[derive(Debug)]
enum Over {
    /// Its moment has come.
    Time,
    Signal(u32, Json),
    Decision(Decision),
    /// Nothing came in time.
    Silence,
}

impl World {
    /// A control task begins to wait. Callers look afterwards whether that is over already. An
    /// error is its outcome: it does not begin.
    pub(super) fn park(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        parking: Parking,
    ) -> Result<(), TaskError> {
        let (on, until) = self.awaited(now, (key, task), parking)?;
        let (ms, chance) = self.chance.id_parts(now);
        let id = AttemptId::from_parts(ms, chance);
        let child = match on {
            Awaited::Child { run } => Some(run),
            _ => None,
        };
        let mut superseded = None;
        self.change(key, task, |row| {
            superseded = supersede(row);
            row.attempts += 1;
            row.attempt = Some(Attempt {
                number: row.attempts,
                id,
                dispatched_at: now,
                started_at: Some(now),
                finished_at: None,
                end: None,
            });
            step(row, Event::Parked);
            row.ever_started = true;
            row.until = until;
            let wait = row.wait.get_or_insert_default();
            (wait.on, wait.in_time) = (Some(on), None);
            wait.child = child.or(wait.child);
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, task);
        self.follow_start(Ticket { run: key, task, attempt: id });
        Ok(())
    }

    /// What is stored, and until when.
    fn awaited(
        &mut self,
        now: Timestamp,
        (key, task): (RunKey, TaskRef),
        parking: Parking,
    ) -> Result<(Awaited, Option<Timestamp>), TaskError> {
        let bound = self.run_mut(key).control(task).and_then(bound);
        let until = bound.map(|bound| now + bound);
        Ok(match parking {
            Parking::For(span) => (Awaited::Time, Some(now + span)),
            Parking::Until(moment) => (Awaited::Time, Some(moment)),
            Parking::Signal(key) => (Awaited::Signal { key }, until),
            Parking::Approval(message) => (Awaited::Approval { message, decision: None }, until),
            Parking::Child(begin) => {
                let run = self.begin_child(now, key, task, *begin)?;
                (Awaited::Child { run }, until)
            }
        })
    }

    /// Ends a wait that is over.
    pub(super) fn fire(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let Some(over) = run.wait_over(task, now) else { return };
        if run.row(task).is_some_and(|row| row.child().is_some()) {
            return self.stop_child(now, key, task, Stop::Timeout);
        }
        let control = run.control(task).expect("only a control task waits");
        let taken = match &over {
            Over::Signal(number, _) => Some(*number),
            _ => None,
        };
        let outcome = outcome(control, over, now);
        self.wait_ended(now, key, task, (outcome, taken));
    }

    /// With what came of it, and the number of the signal that was taken, if it was one.
    fn wait_ended(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        (outcome, taken): (Outcome, Option<u32>),
    ) {
        let row = self.run_mut(key).row(task).expect("one that waits has a row");
        let attempt = row.attempt.as_ref().expect("a wait is an attempt").id;
        let ticket = Ticket { run: key, task, attempt };
        let end = match &outcome {
            Ok(_) => AttemptEnd::Success,
            Err(error) => AttemptEnd::Failed(Box::new(error.clone())),
        };
        if let Ok(Some(output)) = &outcome {
            self.draft.weigh(output.weight());
        }
        self.close_attempt(now, ticket, end, |row| {
            row.hold = None;
            let wait = row.wait.as_mut().expect("one that waits says for what");
            (wait.on, wait.in_time) = (None, None);
            wait.taken = taken.unwrap_or(wait.taken);
            match outcome {
                Ok(output) => {
                    step(row, Event::Succeeded);
                    row.output = output;
                }
                Err(_) => {
                    step(row, Event::FailedForGood);
                    row.tries += 1;
                }
            }
        });
    }

    /// Looks at every wait of a group again: nobody holds it any more.
    pub(super) fn fire_group(&mut self, now: Timestamp, key: RunKey, group: TaskRef) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let rows = run.groups.get(&group.no).into_iter().flat_map(|it| it.iter());
        let over: Vec<TaskRef> = rows
            .filter(|row| row.fact == Fact::Waiting)
            .map(|row| row.task)
            .filter(|task| run.wait_over(*task, now).is_some())
            .collect();
        for task in over {
            self.fire(now, key, task);
        }
    }
}

/// A wait that somebody cut short, or a finalizer that was not at work.
pub(super) fn withdraw(row: &mut TaskRow, now: Timestamp) {
    finalize::withdraw(row);
    if row.fact != Fact::Waiting {
        return;
    }
    let attempt = row.attempt.as_mut().expect("a wait is an attempt");
    attempt.finished_at = Some(now);
    attempt.end = Some(AttemptEnd::Cancelled);
    let wait = row.wait.as_mut().expect("one that waits says for what");
    (wait.on, wait.in_time) = (None, None);
}

impl Over {
    fn signal(InTime { number, value }: InTime) -> Self {
        Self::Signal(number, value)
    }
}

impl Run {
    fn control(&self, task: TaskRef) -> Option<&Control> {
        self.blueprint.definition.task(task.no).control()
    }

    /// A group's hold is its instances' too.
    pub fn is_held(&self, task: TaskRef) -> bool {
        self.rows.is_held(task.no) || self.row(task).is_some_and(|row| row.hold.is_some())
    }

    /// The newest signal that a wait has not taken and that came before its end, however many came
    /// after that.
    pub fn in_time(&self, row: &TaskRow, key: &Arc<str>) -> Option<InTime> {
        let wait = row.wait.as_deref();
        let is_new = |signal: &&SignalRow| signal.number > wait.map_or(0, |wait| wait.taken);
        let is_in_time = |signal: &&SignalRow| row.until.is_none_or(|until| signal.at <= until);
        let newest = self.signals.get(key).filter(is_new).filter(is_in_time);
        let newest = newest.map(|it| InTime { number: it.number, value: it.value.clone() });
        newest.or_else(|| wait.and_then(|wait| wait.in_time.as_deref()).cloned())
    }

    fn wait_over(&self, task: TaskRef, now: Timestamp) -> Option<Over> {
        let row = self.row(task).filter(|row| row.fact == Fact::Waiting)?;
        // A child is held itself, and its time goes on. What ends it is its own end.
        if row.child().is_some() {
            let is_late = row.until.is_some_and(|until| until <= now);
            return (is_late && row.stopping.is_none()).then_some(Over::Silence);
        }
        if self.is_held(task) {
            return None;
        }
        let is_late = row.until.is_some_and(|until| until <= now);
        let silence = is_late.then_some(Over::Silence);
        match row.awaited()? {
            Awaited::Time => is_late.then_some(Over::Time),
            // While somebody held it, both may have come: the first counts.
            Awaited::Signal { key } => self.in_time(row, key).map(Over::signal).or(silence),
            Awaited::Approval { decision, .. } => {
                let decision = decision.as_deref().cloned().map(Over::Decision);
                decision.or(silence)
            }
            Awaited::Child { .. } => None,
        }
    }
}

/// How long it waits at most.
fn bound(control: &Control) -> Option<Span> {
    match control {
        Control::Sleep(_) => None,
        Control::Wait(wait) => wait.timeout,
        Control::Approval(approval) => approval.timeout,
        Control::Child(child) => child.timeout,
    }
}

/// What the end of a wait means.
fn outcome(control: &Control, over: Over, now: Timestamp) -> Outcome {
    match (control, over) {
        (_, Over::Time) => Ok(None),
        (_, Over::Signal(_, value)) => Ok(Some(Output::Inline(value))),
        (Control::Approval(approval), Over::Decision(decision)) => decided(approval, &decision),
        (Control::Approval(approval), _) => unanswered(approval, now),
        (Control::Wait(WaitFor { on_timeout: OnTimeout::Continue, .. }), _) => {
            Ok(Some(Output::null()))
        }
        (control, _) => {
            let bound = bound(control).unwrap_or_default();
            let message = format!("nothing came within its timeout of {bound}");
            Err(TaskError::new(ErrorClass::Timeout, message))
        }
    }
}

fn decided(approval: &Approval, decision: &Decision) -> Outcome {
    let Decision { verdict, by, at, comment } = decision;
    let said = comment.as_ref().map(|comment| format!(": {comment}")).unwrap_or_default();
    if *verdict == Verdict::Rejected && approval.on_reject == OnReject::Fail {
        let message = format!("rejected by {by}{said}");
        return Err(TaskError::new(ErrorClass::Rejected, message));
    }
    let approved = *verdict == Verdict::Approved;
    // All fields at all times: an expression that reads one must not fail for want of it.
    let output = json!({ "approved": approved, "by": by, "at": at, "comment": comment });
    Ok(Some(Output::Inline(Json::from_value(&output))))
}

/// Nobody decided in time.
fn unanswered(approval: &Approval, at: Timestamp) -> Outcome {
    let bound = approval.timeout.unwrap_or_default();
    let comment = format!("nobody decided within {bound}");
    let output = |approved: bool| {
        let output = json!({ "approved": approved, "by": null, "at": at, "comment": comment });
        Ok(Some(Output::Inline(Json::from_value(&output))))
    };
    match (approval.on_timeout, approval.on_reject) {
        (OnSilence::Fail, _) => Err(TaskError::new(ErrorClass::Timeout, comment)),
        (OnSilence::Approve, _) => output(true),
        (OnSilence::Reject, OnReject::Continue) => output(false),
        (OnSilence::Reject, OnReject::Fail) => {
            let message = format!("rejected: {comment}");
            Err(TaskError::new(ErrorClass::Rejected, message))
        }
    }
}
