//! What executors say. A report for an attempt that is not the task's current one is
//! refused and changes nothing.

use crate::error::{ErrorClass, TaskError};
use crate::ids::{RunKey, TaskNo, TaskRef, Ticket};
use crate::kernel::again::{self, Again};
use crate::kernel::cache::{CacheKey, CacheRow};
use crate::kernel::fact::Fact;
use crate::kernel::row::{AttemptEnd, Log, Stopping, TaskRow};
use crate::kernel::transition::{Event, transition};
use crate::limits::KILL_CONFIRMED_WITHIN;
use crate::output::Output;
use crate::spec::definition::Task;
use crate::time::{Span, Timestamp};
use crate::work::{CacheNote, Ended, ExecutorKind, Outcome, Reattached, Report, ReportKind, Stop};
use crate::world::batch::{Change, Effect};
use crate::world::input::{Refusal, Reply};
use crate::world::state::World;
use std::sync::Arc;

impl World {
    pub(super) fn report(&mut self, now: Timestamp, report: Report) -> Result<Reply, Refusal> {
        let ticket = report.ticket;
        let row = self.current_row(ticket).ok_or(Refusal::Stale)?;
        let fact = row.acting();
        match report.what {
            ReportKind::Started if fact == Fact::Running => return Err(Refusal::Stale),
            ReportKind::Started => {
                self.started(now, ticket);
                self.stop_what_was_asked_after(ticket);
            }
            ReportKind::Refused(_) if fact == Fact::Running => return Err(Refusal::Stale),
            ReportKind::Refused(why) => self.start_refused(now, ticket, why),
            ReportKind::Over => drop(self.over.insert(ticket.attempt)),
            ReportKind::Ended(ended) => self.ended(now, ticket, ended),
            ReportKind::Reattached(number, answer) => {
                return self.reattached(now, ticket, number, answer);
            }
        }
        Ok(Reply::Done)
    }

    /// That it runs or has ended is true whoever asked. That nothing is known of it is an
    /// answer to one question only, and only once: anything else could start work twice.
    fn reattached(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        number: u64,
        answer: Reattached,
    ) -> Result<Reply, Refusal> {
        let row = self.current_row(ticket).ok_or(Refusal::Stale)?;
        let (fact, stopping) = (row.acting(), row.stopping);
        match answer {
            Reattached::Running => {
                if fact == Fact::Dispatched {
                    self.started(now, ticket);
                }
                if let Some(why) = stopping {
                    self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));
                }
            }
            Reattached::Ended(ended) => self.ended(now, ticket, ended),
            Reattached::NeverStarted | Reattached::Unknown { .. }
                if number != self.epoch || !self.asked_after.remove(&ticket.attempt) =>
            {
                return Err(Refusal::Stale);
            }
            Reattached::NeverStarted => match stopping {
                Some(_) => self.ended(now, ticket, gone(None)),
                None => self.start_again(now, ticket),
            },
            Reattached::Unknown { log } => match stopping {
                Some(_) => self.ended(now, ticket, gone(log)),
                None => self.lost(now, ticket, log),
            },
        }
        Ok(Reply::Done)
    }

    /// A start that was on its way may be all the answer there is to a question, and the order
    /// to stop it may have been lost with the world that gave it.
    fn stop_what_was_asked_after(&mut self, ticket: Ticket) {
        let stopping = self.current_row(ticket).and_then(|row| row.stopping);
        if let Some(why) = stopping.filter(|_| self.asked_after.contains(&ticket.attempt)) {
            self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));
        }
    }

    /// The row of a ticket's task, if the ticket names its live attempt.
    pub(super) fn current_row(&self, ticket: Ticket) -> Option<&TaskRow> {
        let row = self.runs.get(&ticket.run)?.row(ticket.task)?;
        row.live_attempt().filter(|(id, _)| *id == ticket.attempt).map(|_| row)
    }

    /// Whether it is about what lands the work of its task.
    fn lands(&self, ticket: Ticket) -> bool {
        self.current_row(ticket).is_some_and(|row| row.fact == Fact::WorkerDone)
    }

    fn task(&self, ticket: Ticket) -> &Task {
        let run = self.runs.get(&ticket.run).expect("the ticket was checked");
        run.blueprint.definition.task(ticket.task.no)
    }

    pub(super) fn executor(&self, ticket: Ticket) -> ExecutorKind {
        let run = self.runs.get(&ticket.run).expect("the ticket was checked");
        run.executor(ticket.task)
    }

    fn started(&mut self, now: Timestamp, ticket: Ticket) {
        if self.lands(ticket) {
            return self.finalizer_started(now, ticket);
        }
        self.change(ticket.run, ticket.task, |row| {
            step(row, Event::Started);
            mark_started(row, now);
        });
        self.draft.riding(ticket.run, ticket.task, now);
        self.follow_start(ticket);
    }

    /// A `started` edge may open a task, and that cannot wait for another commit. A group has
    /// started with its first instance.
    pub(super) fn follow_start(&mut self, ticket: Ticket) {
        let (key, no) = (ticket.run, ticket.task.no);
        if ticket.task.index.is_some() {
            if self.run_mut(key).rows.ever_started(no) {
                return;
            }
            self.change(key, TaskRef::plain(no), |row| row.ever_started = true);
        }
        self.follow(key, no);
    }

    fn start_refused(&mut self, now: Timestamp, ticket: Ticket, why: Box<str>) {
        if self.lands(ticket) {
            return self.finalizer_refused(now, ticket, why);
        }
        let row = self.current_row(ticket).expect("the ticket was checked");
        if row.stopping.is_some() {
            return self.ended(now, ticket, gone(None));
        }
        let dispatched_at = row.attempt.as_ref().map_or(now, |attempt| attempt.dispatched_at);
        let so_far = Span(row.refused_for.0 + now.since(dispatched_at).0);
        let start_timeout = self.task(ticket).start_timeout;
        let Again::After(pause) = again::after_refusal(start_timeout, row.refusals + 1, so_far)
        else {
            let message = format!("could not be started within its start_timeout: {why}");
            return self.failed(now, ticket, TaskError::new(ErrorClass::StartTimeout, message));
        };
        self.finish(now, ticket, AttemptEnd::Refused(why), |row| {
            step(row, Event::StartRefused);
            row.until = Some(now + pause);
            row.refusals += 1;
            row.refused_for = Span(so_far.0 + pause.0);
            row.attempts -= 1;
        });
    }

    /// The attempt is gone. What that means depends on whether it was being stopped, and why.
    fn ended(&mut self, now: Timestamp, ticket: Ticket, ended: Ended) {
        if self.lands(ticket) {
            return self.finalizer_ended(now, ticket, ended);
        }
        let stopping = self.current_row(ticket).expect("the ticket was checked").stopping;
        if ended.started {
            self.change(ticket.run, ticket.task, |row| mark_started(row, now));
            self.follow_start(ticket);
        }
        if let Some(log) = ended.log {
            self.keep_log(ticket, log);
        }
        match (stopping, ended.outcome) {
            (Some(Stopping::Cancel), _) => {
                self.finish(now, ticket, AttemptEnd::Cancelled, |row| {
                    step(row, Event::Cancelled);
                    row.hold = None;
                });
            }
            (Some(why @ (Stopping::Timeout | Stopping::StartTimeout)), _) => {
                let task = self.task(ticket);
                let error = timeout_error((task.timeout, task.start_timeout), why);
                self.failed(now, ticket, error);
            }
            (Some(Stopping::Pause), Outcome::Stopped) => {
                self.finish(now, ticket, AttemptEnd::Cancelled, |row| {
                    step(row, Event::PutOff);
                    row.until = Some(now);
                });
            }
            (None, Outcome::Stopped) => self.lost(now, ticket, None),
            (_, Outcome::Success(output)) if self.task(ticket).finalize.is_some() => {
                self.work_done(now, ticket, output, (ended.cache, ended.lands));
            }
            (_, Outcome::Success(output)) => {
                if let Some(note) = ended.cache {
                    self.remember(now, ticket, note, output.clone());
                }
                self.succeeded(now, ticket, AttemptEnd::Success, output);
            }
            // It had landed when it was kept.
            (_, Outcome::Cached(output)) => {
                self.succeeded(now, ticket, AttemptEnd::Cached, output);
            }
            (_, Outcome::Failed(error)) if error.class == ErrorClass::WorkerLost => {
                self.lost(now, ticket, None);
            }
            (_, Outcome::Failed(error)) => self.failed(now, ticket, error),
            // Only said of what lands work.
            (_, Outcome::Hindered(what)) => {
                self.failed(now, ticket, TaskError::new(ErrorClass::Transient, what));
            }
        }
    }

    fn succeeded(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        end: AttemptEnd,
        output: Option<Output>,
    ) {
        self.draft.weigh(output.as_ref().map_or(0, Output::weight));
        self.finish(now, ticket, end, |row| {
            step(row, Event::Succeeded);
            row.output = output;
            row.hold = None;
        });
    }

    /// A success that others may take instead of running.
    pub(super) fn remember(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        note: CacheNote,
        output: Option<Output>,
    ) {
        let run = self.runs.get(&ticket.run).expect("the ticket was checked");
        let key = CacheKey {
            workflow: Arc::clone(&run.head.workflow),
            task: Arc::clone(&run.blueprint.definition.task(ticket.task.no).name),
            hash: note.hash,
        };
        let row = CacheRow { key, run: run.head.id, output, expires_at: now + note.ttl };
        self.draft.weigh(row.output.as_ref().map_or(0, Output::weight));
        self.draft.add(Change::PutCache(row));
    }

    /// A counted failure: another try if the policy has one left.
    fn failed(&mut self, now: Timestamp, ticket: Ticket, error: TaskError) {
        let row = self.current_row(ticket).expect("the ticket was checked");
        let tries = row.tries + 1;
        let never_ran = row.attempt.as_ref().is_some_and(|attempt| attempt.started_at.is_none());
        let chance = self.chance.fraction();
        let again = match error.class {
            // Its definition or its values are at fault: they are the same the next time.
            ErrorClass::Logic if never_ran => Again::Never,
            class => again::after_failure(&self.task(ticket).retries, class, tries, chance),
        };
        self.finish(now, ticket, AttemptEnd::Failed(Box::new(error)), |row| {
            row.tries = tries;
            forget_refusals(row);
            put_off_or_fail(row, again, now);
        });
    }

    /// Nothing is known to be wrong with the task: a loss, not a try.
    fn lost(&mut self, now: Timestamp, ticket: Ticket, log: Option<Log>) {
        if self.lands(ticket) {
            return self.finalizer_lost(now, ticket, log);
        }
        let losses = self.current_row(ticket).expect("the ticket was checked").losses + 1;
        let again = again::after_loss(self.task(ticket).on_lost, losses);
        let message = match again {
            Again::After(_) => "whoever ran it died".to_owned(),
            Again::Never => format!("whoever ran it died; that was loss number {losses}"),
        };
        if let Some(log) = log {
            self.keep_log(ticket, log);
        }
        let error = TaskError::new(ErrorClass::WorkerLost, message);
        self.finish(now, ticket, AttemptEnd::Failed(Box::new(error)), |row| {
            row.losses = losses;
            // Nobody can say that it did not start, so whoever waits for that need not any longer.
            row.ever_started = true;
            forget_refusals(row);
            put_off_or_fail(row, again, now);
        });
        self.follow_start(ticket);
    }

    pub(super) fn keep_log(&mut self, ticket: Ticket, log: Log) {
        if let Log::Inline(bytes) = &log {
            self.draft.weigh(bytes.len());
        }
        self.draft.add(Change::NewLog(ticket.run, ticket.attempt, log));
    }

    /// Its executor said how it ended.
    pub(super) fn finish(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        end: AttemptEnd,
        edit: impl FnOnce(&mut TaskRow),
    ) {
        self.effect(Effect::Settle(self.executor(ticket), ticket));
        self.close_attempt(now, ticket, end, edit);
    }

    /// Common to every end of an attempt, whoever decided it.
    pub(super) fn close_attempt(
        &mut self,
        now: Timestamp,
        ticket: Ticket,
        end: AttemptEnd,
        edit: impl FnOnce(&mut TaskRow),
    ) {
        let (key, task) = (ticket.run, ticket.task);
        self.change(key, task, |row| {
            let attempt = row.attempt.as_mut().expect("a live task has an attempt");
            attempt.finished_at = Some(now);
            attempt.end = Some(end);
            row.stopping = None;
            row.until = None;
            edit(row);
            row.settled_at = row.fact.is_settled().then_some(now);
        });
        self.draft.task(key, task);
        self.forget_attempt(now, ticket);
        if task.index.is_some() {
            return self.instance_ended(now, key, task);
        }
        self.follow(key, task.no);
        self.pass_checkpoint(now, key, task.no);
        self.ending.insert(key);
        self.restart_if_due(now, key, task.no);
    }

    /// Nothing is expected of it any more.
    pub(super) fn forget_attempt(&mut self, now: Timestamp, ticket: Ticket) {
        self.asked_after.remove(&ticket.attempt);
        self.over.remove(&ticket.attempt);
        self.kill_confirmed(now, ticket.run, ticket.task);
    }

    /// A delay of nothing needs no timer.
    fn restart_if_due(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        if run.rows.fact(no) == Fact::Delayed && run.is_startable(no, now) {
            self.begin_again(now, key, no);
        }
    }

    /// Its time is up: it keeps its permits until it is gone. Unless it was over before.
    pub(super) fn attempt_timed_out(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let row = self.runs.get(&key).and_then(|run| run.row(task));
        let attempt = row.and_then(TaskRow::live_attempt);
        if attempt.is_some_and(|(id, _)| self.over.contains(&id)) {
            return;
        }
        let started = row.is_some_and(|row| row.acting() == Fact::Running);
        let why = if started { Stopping::Timeout } else { Stopping::StartTimeout };
        self.stop(now, (key, task), why, |_| {});
    }

    /// Orders the end of a live attempt, and notes with it whatever the caller has to say.
    pub(super) fn stop(
        &mut self,
        now: Timestamp,
        (key, task): (RunKey, TaskRef),
        why: Stopping,
        note: impl FnOnce(&mut TaskRow),
    ) {
        let mut ticket = None;
        self.change(key, task, |row| {
            row.stopping = Some(why);
            // It counts from the first order, whatever another one was given for.
            row.until.get_or_insert(now + KILL_CONFIRMED_WITHIN);
            note(row);
            let (attempt, _) = row.live_attempt().expect("a live task has an attempt");
            ticket = Some(Ticket { run: key, task: row.task, attempt });
        });
        let ticket = ticket.expect("set above");
        self.draft.task(key, ticket.task);
        self.effect(Effect::Stop(self.executor(ticket), Stop { ticket, why }));
    }
}

/// An end that says nothing but that the work is gone.
fn gone(log: Option<Log>) -> Ended {
    Ended { log, ..Ended::unstarted(Outcome::Stopped) }
}

pub(super) fn step(row: &mut TaskRow, event: Event) {
    row.fact = transition(row.fact, event).expect("callers looked at the fact first");
    let is_being_stopped = row.stopping.is_some_and(|_| row.fact.is_live());
    if row.fact != Fact::Delayed && !is_being_stopped {
        row.until = None;
    }
}

fn mark_started(row: &mut TaskRow, now: Timestamp) {
    row.ever_started = true;
    forget_refusals(row);
    let attempt = row.attempt.as_mut().expect("a live task has an attempt");
    attempt.started_at.get_or_insert(now);
}

/// An attempt that took its number ends the row of refused starts before it.
fn forget_refusals(row: &mut TaskRow) {
    row.refusals = 0;
    row.refused_for = Span::ZERO;
}

pub(super) fn timeout_error((timeout, start_timeout): (Span, Span), why: Stopping) -> TaskError {
    if why == Stopping::StartTimeout {
        let message = format!("did not start within its start_timeout of {start_timeout}");
        return TaskError::new(ErrorClass::StartTimeout, message);
    }
    let message = format!("ran longer than its timeout of {timeout}");
    TaskError::new(ErrorClass::Timeout, message)
}

pub(super) fn put_off_or_fail(row: &mut TaskRow, again: Again, now: Timestamp) {
    match again {
        Again::After(pause) => {
            step(row, Event::PutOff);
            row.until = Some(now + pause);
        }
        Again::Never => {
            step(row, Event::FailedForGood);
            row.hold = None;
        }
    }
}
