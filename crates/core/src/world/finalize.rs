//! Finalizers: a task whose work is done stands in a line until what lands it has its permits, and
//! has its outcome when that has ended.
//!
//! ```text
//!  work done ─► line ─► dispatched ─► running ─► ended ─┬─► the task's outcome
//!                ▲                                      │
//!                └──── delayed: another try, a loss, ◄──┘
//!                      a refused start, a hold
//! ```
//! What has landed has landed: a success counts whatever was asked meanwhile. The work is never
//! done again because of what happened to its finalizer.

use crate::error::{ErrorClass, TaskError};
use crate::evaluate::{Surroundings, Upstream};
use crate::ids::{AttemptId, RunKey, TaskRef, Ticket};
use crate::kernel::again::{self, Again};
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::{Finalizer, LiveAttempt, Step};
use crate::kernel::limit::queue_name;
use crate::kernel::permits::{Limits, PermitSet};
use crate::kernel::row::{AttemptEnd, AttemptRow, Log, Stopping, TaskRow};
use crate::kernel::transition::Event;
use crate::output::Output;
use crate::spec::definition::{FinalAction, Finalize};
use crate::time::{Span, Timestamp};
use crate::view::word::Word;
use crate::work::{CacheNote, Ended, Outcome};
use crate::work_git::{Lands, queue_of};
use crate::world::batch::{Change, Effect};
use crate::world::line::Place;
use crate::world::report::{step, timeout_error};
use crate::world::run::Run;
use crate::world::state::World;
use std::cmp::Reverse;
use std::sync::Arc;

impl World {
    /// Its permits are free from here on. Whoever holds the task holds what lands its work.
    pub(super) fn work_done(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        output: Option<Output>,
        (cache, lands): (Option<CacheNote>, Option<Box<Lands>>),
    ) {
        self.draft.weigh(output.as_ref().map_or(0, Output::weight));
        let queue = self.queue_of_merge(ticket, lands.as_deref());
        if let Some(queue) = &queue {
            self.limits.named(&queue_name(queue));
        }
        self.finish(now, ticket, AttemptEnd::Success, |row| {
            step(row, Event::WorkDone);
            row.output = output;
            row.finalizer = Some(Box::new(Finalizer { queue, ..Finalizer::queued(now, cache) }));
        });
        self.line_up(now, ticket.run, ticket.task);
    }

    /// Where a merge waits its turn whose definition does not say. An executor that does not say
    /// either which repository it is leaves what the definition calls it from its directory.
    fn queue_of_merge(&self, ticket: Ticket, lands: Option<&Lands>) -> Option<Box<str>> {
        let run = self.runs.get(&ticket.run).expect("the ticket was checked");
        let task = run.blueprint.definition.task(ticket.task.no);
        let (finalize, workspace) = (task.finalize.as_deref()?, task.workspace.as_ref()?);
        let FinalAction::GitMerge(landing) = &finalize.action else { return None };
        if finalize.queue.is_some() {
            return None;
        }
        let into = lands.and_then(|lands| lands.into.as_deref());
        let into = into.unwrap_or(landing.into.source());
        Some(match lands {
            Some(lands) => queue_of(&lands.repository, into),
            None => queue_of(&format!("{}/{}", run.workdir, workspace.repo.source()), into),
        })
    }

    /// Lets a finalizer wait for its permits, if nothing else keeps it.
    pub(super) fn line_up(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let Some(run) = self.runs.get(&key).filter(|run| run.may_land(task, now)) else { return };
        let since = run.row(task).and_then(TaskRow::finalizing).map(|finalizer| finalizer.since);
        let set = run.final_permits(task, &self.limits);
        let (Some(since), Some(set)) = (since, set) else { return };
        let priority = Reverse(run.priority(task.no));
        self.line.insert(&set, Place { priority, since, run: key, task });
    }

    /// Every finalizer of a run that may start.
    pub(super) fn line_up_all(&mut self, now: Timestamp, key: RunKey) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let done = run.rows.iter().filter(|row| row.fact == Fact::WorkerDone);
        let done: Vec<TaskRef> = done.map(|row| row.task).collect();
        done.into_iter().for_each(|task| self.line_up(now, key, task));
    }

    pub(super) fn dispatch_finalizer(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        self.line.remove(key, task);
        let (ms, chance) = self.chance.id_parts(now);
        let id = AttemptId::from_parts(ms, chance);
        self.change(key, task, |row| {
            row.attempts += 1;
            row.until = None;
            let number = row.attempts;
            let finalizer = row.finalizer.as_mut().expect("what stands in line has one");
            finalizer.step(Event::Dispatched);
            let attempt = LiveAttempt { number, id, dispatched_at: now, started_at: None };
            finalizer.attempt = Some(attempt);
        });
        self.draft.task(key, task);
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let set = run.final_permits(task, &self.limits);
        let set = set.expect("what stands in line needs permits");
        self.count_start(now, &set);
        self.start_again(now, Ticket { run: key, task, attempt: id });
    }

    pub(super) fn finalizer_started(&mut self, now: Timestamp, ticket: Ticket) {
        self.change(ticket.run, ticket.task, |row| {
            let finalizer = row.finalizer.as_mut().expect("the ticket was checked");
            finalizer.step(Event::Started);
            mark_started(finalizer, now);
        });
        self.draft.riding(ticket.run, ticket.task, now);
    }

    pub(super) fn finalizer_refused(&mut self, now: Timestamp, ticket: Ticket, why: Box<str>) {
        let row = self.current_row(ticket).expect("the ticket was checked");
        if row.stopping.is_some() {
            let gone = Ended::unstarted(Outcome::Stopped);
            return self.finalizer_ended(now, ticket, gone);
        }
        let finalizer = row.finalizing().expect("the ticket was checked");
        let at = finalizer.attempt.map_or(now, |attempt| attempt.dispatched_at);
        let so_far = Span(finalizer.refused_for.0 + now.since(at).0);
        let refusals = finalizer.refusals + 1;
        let start_timeout = self.finalize(ticket).start_timeout;
        let Again::After(pause) = again::after_refusal(start_timeout, refusals, so_far) else {
            let message = format!("could not be started within its start_timeout: {why}");
            let error = TaskError::new(ErrorClass::StartTimeout, message);
            return self.finalizer_failed(now, ticket, error);
        };
        self.finish_finalizer(now, ticket, (AttemptEnd::Refused(why.clone()), None), |row| {
            row.until = Some(now + pause);
            row.attempts -= 1;
            let finalizer = row.finalizer.as_mut().expect("the ticket was checked");
            finalizer.step(Event::StartRefused);
            finalizer.refusals = refusals;
            finalizer.refused_for = Span(so_far.0 + pause.0);
            finalizer.refused = Some(why);
        });
    }

    /// The attempt is gone. That it landed counts before anything that was asked of it.
    pub(super) fn finalizer_ended(&mut self, now: Timestamp, ticket: Ticket, ended: Ended) {
        let stopping = self.current_row(ticket).expect("the ticket was checked").stopping;
        if ended.started {
            self.change(ticket.run, ticket.task, |row| {
                mark_started(row.finalizer.as_mut().expect("the ticket was checked"), now);
            });
        }
        if let Some(log) = ended.log {
            self.keep_log(ticket, log);
        }
        match (stopping, ended.outcome) {
            (_, Outcome::Success(output) | Outcome::Cached(output)) => {
                self.landed(now, ticket, output);
            }
            (Some(Stopping::Cancel), _) => {
                self.finish_finalizer(now, ticket, (AttemptEnd::Cancelled, None), cancel);
            }
            (Some(why @ (Stopping::Timeout | Stopping::StartTimeout)), _) => {
                let Finalize { timeout, start_timeout, .. } = *self.finalize(ticket);
                self.finalizer_failed(now, ticket, timeout_error((timeout, start_timeout), why));
            }
            (Some(Stopping::Pause), Outcome::Stopped | Outcome::Hindered(_)) => {
                self.finish_finalizer(now, ticket, (AttemptEnd::Cancelled, None), |row| {
                    row.until = Some(now);
                    row.finalizer.as_mut().expect("the ticket was checked").step(Event::PutOff);
                });
            }
            (None, Outcome::Stopped) => self.finalizer_lost(now, ticket, None),
            (_, Outcome::Failed(error)) if error.class == ErrorClass::WorkerLost => {
                self.finalizer_lost(now, ticket, None);
            }
            (_, Outcome::Failed(error)) => self.finalizer_failed(now, ticket, error),
            (None, Outcome::Hindered(what)) => self.finalizer_hindered(now, ticket, what),
        }
    }

    /// What is in its way is a person's: no limit of time is set to them. One that had started
    /// keeps its number, and is in the history.
    fn finalizer_hindered(&mut self, now: Timestamp, ticket: Ticket, what: Box<str>) {
        let row = self.current_row(ticket).expect("the ticket was checked");
        let finalizer = row.finalizing().expect("the ticket was checked");
        let hindrances = finalizer.hindrances + 1;
        let started = finalizer.attempt.is_some_and(|attempt| attempt.started_at.is_some());
        let end = (AttemptEnd::Refused(what.clone()), None);
        self.finish_finalizer(now, ticket, end, |row| {
            row.until = Some(now + again::after_hindrance(hindrances));
            row.attempts -= u32::from(!started);
            let finalizer = row.finalizer.as_mut().expect("the ticket was checked");
            finalizer.step(if started { Event::PutOff } else { Event::StartRefused });
            // Whoever refused it before has let it in.
            finalizer.forget_refusals();
            (finalizer.hindrances, finalizer.refused) = (hindrances, Some(what));
        });
    }

    /// The task has succeeded as a whole. What it puts out is what its work did.
    fn landed(&mut self, now: Timestamp, ticket: Ticket, output: Option<Output>) {
        let row = self.current_row(ticket).expect("the ticket was checked");
        let cache = row.finalizing().and_then(|finalizer| finalizer.cache);
        let whole = row.output.clone();
        if let Some(note) = cache {
            self.remember(now, ticket, note, whole);
        }
        self.draft.weigh(output.as_ref().map_or(0, Output::weight));
        self.finish_finalizer(now, ticket, (AttemptEnd::Success, output), |row| {
            step(row, Event::Succeeded);
            (row.hold, row.cancelled) = (None, None);
            let finalizer = row.finalizer.as_mut().expect("the ticket was checked");
            finalizer.step(Event::Succeeded);
            (finalizer.error, finalizer.refused) = (None, None);
        });
    }

    /// A counted failure: another try if the finalizer's policy has one left.
    fn finalizer_failed(&mut self, now: Timestamp, ticket: Ticket, error: TaskError) {
        let row = self.current_row(ticket).expect("the ticket was checked");
        let finalizer = row.finalizing().expect("the ticket was checked");
        let tries = finalizer.tries + 1;
        let never_ran = finalizer.attempt.is_some_and(|attempt| attempt.started_at.is_none());
        let chance = self.chance.fraction();
        let again = match error.class {
            // Its definition or its values are at fault: they are the same the next time.
            ErrorClass::Logic if never_ran => Again::Never,
            class => again::after_failure(&self.finalize(ticket).retries, class, tries, chance),
        };
        let end = AttemptEnd::Failed(Box::new(error.clone()));
        self.finish_finalizer(now, ticket, (end, None), |row| {
            row.finalizer.as_mut().expect("the ticket was checked").tries = tries;
            put_off_or_fail(row, again, error, now);
        });
    }

    /// A loss, not a try. Its work stays done.
    pub(super) fn finalizer_lost(&mut self, now: Timestamp, ticket: Ticket, log: Option<Log>) {
        let row = self.current_row(ticket).expect("the ticket was checked");
        let losses = row.finalizing().expect("the ticket was checked").losses + 1;
        let again = again::after_loss(self.finalize(ticket).on_lost, losses);
        let message = match again {
            Again::After(_) => "whoever ran it died".to_owned(),
            Again::Never => format!("whoever ran it died; that was loss number {losses}"),
        };
        if let Some(log) = log {
            self.keep_log(ticket, log);
        }
        let error = TaskError::new(ErrorClass::WorkerLost, message);
        let end = AttemptEnd::Failed(Box::new(error.clone()));
        self.finish_finalizer(now, ticket, (end, None), |row| {
            row.finalizer.as_mut().expect("the ticket was checked").losses = losses;
            put_off_or_fail(row, again, error, now);
        });
    }

    /// Given up by force.
    pub(super) fn abandon_finalizer(&mut self, now: Timestamp, ticket: Ticket) {
        self.close_finalizer(now, ticket, (AttemptEnd::Abandoned, None), cancel);
    }

    /// Its executor said how it ended.
    fn finish_finalizer(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        end: (AttemptEnd, Option<Output>),
        edit: impl FnOnce(&mut TaskRow),
    ) {
        self.effect(Effect::Settle(self.executor(ticket), ticket));
        self.close_finalizer(now, ticket, end, edit);
    }

    /// Common to every end of an attempt at landing. It goes into the history at once; one that was
    /// not started leaves nothing: its number is used again.
    fn close_finalizer(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        (end, output): (AttemptEnd, Option<Output>),
        edit: impl FnOnce(&mut TaskRow),
    ) {
        let (key, task) = (ticket.run, ticket.task);
        let refused = matches!(end, AttemptEnd::Refused(_));
        let mut past = None;
        self.change(key, task, |row| {
            row.stopping = None;
            row.until = None;
            let finalizer = row.finalizer.as_mut().expect("the ticket was checked");
            past = finalizer.attempt.take().map(|attempt| attempt.ended(now, end));
            edit(row);
            row.settled_at = row.fact.is_settled().then_some(now);
        });
        if let Some(attempt) = past.filter(|it| !refused || it.started_at.is_some()) {
            let past = AttemptRow { task, step: Step::Finalize, attempt, output };
            self.draft.add(Change::NewAttempt(key, past));
        }
        self.draft.task(key, task);
        self.forget_attempt(now, ticket);
        match task.index {
            Some(_) => self.instance_ended(now, key, task),
            None => {
                self.follow(key, task.no);
                self.pass_checkpoint(now, key, task.no);
                self.ending.insert(key);
            }
        }
        self.line_up(now, key, task);
    }

    fn finalize(&self, ticket: Ticket) -> &Finalize {
        let run = self.runs.get(&ticket.run).expect("the ticket was checked");
        let finalize = run.blueprint.definition.task(ticket.task.no).finalize.as_deref();
        finalize.expect("only tasks with a finalizer come here")
    }
}

impl Run {
    /// Nothing but permits is missing to what lands the work of this task.
    pub fn may_land(&self, task: TaskRef, now: Timestamp) -> bool {
        let Some(row) = self.row(task) else { return false };
        let is_due = match row.finalizing().map(|finalizer| finalizer.fact) {
            Some(Fact::None) => true,
            Some(Fact::Delayed) => row.until.is_some_and(|until| until <= now),
            _ => false,
        };
        is_due && self.lets_start(task.no) && !self.is_held(task)
    }

    fn final_permits(&self, task: TaskRef, limits: &Limits) -> Option<PermitSet> {
        self.blueprint.final_permits(self.row(task)?, limits)
    }

    /// What the expressions of a finalizer can see: what its task does, and its own task.
    pub fn final_surroundings(&self, task: TaskRef, now: Timestamp) -> Arc<Surroundings> {
        let mut around = self.surroundings(Some(task.no), now);
        let row = self.row(task);
        around.upstream.push(Upstream {
            no: task.no,
            word: Word::WorkerDone,
            output: row.and_then(|row| row.output.clone()),
            attempt: row.and_then(|row| Some(row.attempt.as_ref()?.id)),
            work: None,
        });
        Arc::new(around)
    }
}

/// A finalizer that is not wanted any more.
pub(super) fn withdraw(row: &mut TaskRow) {
    if let Some(finalizer) = row.finalizer.as_mut().filter(|_| row.fact == Fact::WorkerDone) {
        finalizer.step(Event::Cancelled);
        finalizer.refused = None;
    }
}

fn cancel(row: &mut TaskRow) {
    withdraw(row);
    step(row, Event::Cancelled);
    row.hold = None;
}

fn mark_started(finalizer: &mut Finalizer, now: Timestamp) {
    finalizer.forget_refusals();
    if let Some(attempt) = &mut finalizer.attempt {
        attempt.started_at.get_or_insert(now);
    }
}

/// The task fails with what its finalizer did, and says so.
fn put_off_or_fail(row: &mut TaskRow, again: Again, error: TaskError, now: Timestamp) {
    let finalizer = row.finalizer.as_mut().expect("callers looked at it");
    finalizer.forget_refusals();
    finalizer.hindrances = 0;
    match again {
        Again::After(pause) => {
            finalizer.step(Event::PutOff);
            finalizer.error = Some(Box::new(error));
            row.until = Some(now + pause);
        }
        Again::Never => {
            finalizer.step(Event::FailedForGood);
            let TaskError { class, message, exit_code, signal } = error;
            let told = TaskError::new(class, format!("its finalizer failed: {message}"));
            finalizer.error = Some(Box::new(TaskError { exit_code, signal, ..told }));
            step(row, Event::FailedForGood);
            row.hold = None;
        }
    }
}
