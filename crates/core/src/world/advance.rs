//! From what is open to what is dispatched, and from the last outcome to the end of a run.

use crate::error::{ErrorClass, TaskError};
use crate::evaluate::{Asked, Instance, Surroundings};
use crate::ids::{AttemptId, RunKey, TaskNo, TaskRef, Ticket};
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::Step;
use crate::kernel::permits::PermitSet;
use crate::kernel::row::{
    Attempt, AttemptEnd, AttemptRow, CancelCause, RunError, RunStatus, TaskRow,
};
use crate::kernel::transition::Event;
use crate::launch::StartAttempt;
use crate::output::Output;
use crate::plan::dag::outcome::{Verdict, outcome, verdict};
use crate::spec::definition::Action;
use crate::time::Timestamp;
use crate::world::batch::{Change, Effect};
use crate::world::report::step;
use crate::world::run::Run;
use crate::world::state::World;
use std::sync::Arc;

impl World {
    /// Opens what it can, until there is nothing more or the batch is full.
    pub(super) fn open_all(&mut self, now: Timestamp) {
        self.admit(now);
        while !self.is_full() {
            let Some((key, no)) = self.agenda.pop_front() else { break };
            self.open(now, key, no);
        }
    }

    /// The same for what has its permits.
    pub(super) fn dispatch_all(&mut self, now: Timestamp) {
        while !self.is_full() && self.start_next(now) {}
    }

    /// Starts whatever is next: of the same priority, what lands work goes before more of it.
    fn start_next(&mut self, now: Timestamp) -> bool {
        if let Some(place) = self.line.next(&self.limits) {
            let ready = self.ready.next_priority(&self.limits);
            if ready.is_none_or(|ready| place.priority.0 >= ready) {
                self.dispatch_finalizer(now, place.run, place.task);
                return true;
            }
        }
        let Some((key, task)) = self.ready.pop(&self.limits) else { return false };
        self.dispatch(now, key, task.no);
        true
    }

    /// An entry may be outdated by what came after it: a pause, a hold, a cancel.
    fn open(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let Some(run) = self.runs.get(&key) else { return };
        if !run.is_startable(no, now) {
            return;
        }
        let task = run.blueprint.definition.task(no);
        if run.rows.fact(no) == Fact::Delayed {
            // It has been decided that it runs, once and for all its attempts.
            return self.begin_again(now, key, no);
        }
        if task.needs_answer() && !run.passed.contains(&no) {
            return self.ask(now, key, Asked::Opening(no));
        }
        if let Some(fan_out) = &task.fan_out {
            let count = fan_out.fixed_count().expect("any other is asked for");
            return self.open_group(now, (key, no), count, None);
        }
        if !matches!(task.action, Action::Noop) {
            return self.enqueue(key, no);
        }
        let output = task.fixed_output().expect("any other is asked for");
        let output = Output::Inline(output.clone());
        self.decide(now, TaskRef::plain(no), key, Ok(output));
    }

    /// One that waited for another try: for a permit, or for what it waits for this time.
    pub(super) fn begin_again(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        match self.run_mut(key).blueprint.definition.task(no).control() {
            Some(_) => self.ask(now, key, Asked::Parking(no)),
            None => self.enqueue(key, no),
        }
    }

    /// The task whose turn it is; of a group, the instance.
    fn dispatch(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let is_group = self.run_mut(key).blueprint.definition.task(no).fan_out.is_some();
        if !is_group {
            return self.dispatch_one(now, key, TaskRef::plain(no));
        }
        if let Some(task) = self.take_turn(key, no) {
            self.dispatch_one(now, key, task);
            self.turn(now, key, no);
        }
    }

    fn dispatch_one(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let (ms, chance) = self.chance.id_parts(now);
        let id = AttemptId::from_parts(ms, chance);
        let mut superseded = None;
        self.change(key, task, |row| {
            superseded = supersede(row);
            row.attempts += 1;
            row.attempt = Some(Attempt {
                number: row.attempts,
                id,
                dispatched_at: now,
                started_at: None,
                finished_at: None,
                end: None,
            });
            step(row, Event::Dispatched);
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, task);
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let set = PermitSet::clone(run.blueprint.permits(task.no));
        self.count_start(now, &set);
        self.start_again(now, Ticket { run: key, task, attempt: id });
    }

    /// Hands the current attempt to its executor.
    pub(super) fn start_again(&mut self, now: Timestamp, ticket: Ticket) {
        let start = self.run_mut(ticket.run).start_attempt(ticket, now);
        self.effect(Effect::Start(start));
    }

    /// Ends what is over. Runs leave memory with the batch that says so.
    pub(super) fn close(&mut self, now: Timestamp) -> Vec<RunKey> {
        let mut closed = Vec::new();
        for key in std::mem::take(&mut self.ending) {
            let Some(run) = self.runs.get(&key) else { continue };
            if !run.is_over() {
                self.note_alone(now, key);
                continue;
            }
            if self.run_mut(key).lacks_output() {
                self.ask(now, key, Asked::RunOutput);
                continue;
            }
            self.end_run(now, key);
            closed.push(key);
        }
        closed
    }

    fn end_run(&mut self, now: Timestamp, key: RunKey) {
        self.disarm_run(key);
        let run = self.run_mut(key);
        let (mut status, mut error) = ending(run);
        run.progress.output = match run.output.take().filter(|_| status == RunStatus::Success) {
            None => None,
            Some(Ok(output)) => Some(output),
            Some(Err(TaskError { class, message, .. })) => {
                status = RunStatus::Failed;
                let message = format!("the outputs of the run: {message}");
                error = Some(RunError { class, message });
                None
            }
        };
        run.progress.error = error;
        run.progress.finished_at = Some(now);
        let id = run.head.id;
        self.set_status(key, status);
        self.effect(Effect::RunEnded(id));
        self.child_ended(now, key);
    }
}

/// What goes into the history when an attempt gives way to another. A refused one leaves
/// nothing: its number is used again.
pub(super) fn supersede(row: &mut TaskRow) -> Option<AttemptRow> {
    let output = row.output.take();
    let attempt = row.attempt.take()?;
    let refused = matches!(attempt.end, Some(AttemptEnd::Refused(_)));
    (!refused).then_some(AttemptRow { task: row.task, step: Step::Work, attempt, output })
}

impl Run {
    fn start_attempt(&mut self, ticket: Ticket, now: Timestamp) -> StartAttempt {
        let TaskRef { no, index } = ticket.task;
        let row = self.row(ticket.task).expect("a dispatched task has a row");
        let attempt = row.attempts;
        let count = self.group(no).map_or(0, |group| group.count);
        let instance = index.map(|index| Instance {
            index,
            count,
            items: self.groups.get(&no).and_then(|instances| instances.items.clone()),
        });
        let work = row.attempt.as_ref().filter(|_| row.fact == Fact::WorkerDone);
        let finalizes = work.map(|attempt| attempt.id);
        let around = match finalizes {
            Some(_) => self.final_surroundings(ticket.task, now),
            None => self.shared_surroundings(no, now),
        };
        StartAttempt { ticket, attempt, workdir: self.workdir.clone(), around, instance, finalizes }
    }

    /// Made once for all instances of a group, unless something above it may still change.
    fn shared_surroundings(&mut self, no: TaskNo, now: Timestamp) -> Arc<Surroundings> {
        if let Some(around) = self.groups.get(&no).and_then(|group| group.around.clone()) {
            return around;
        }
        let around = Arc::new(self.surroundings(Some(no), now));
        let is_fixed = around.upstream.iter().all(|upstream| upstream.word.is_settled());
        if let Some(group) = self.groups.get_mut(&no).filter(|_| is_fixed) {
            group.around = Some(Arc::clone(&around));
        }
        around
    }
}

/// The first that applies: cancelled, timed out, a failure nobody handled, a task cancelled
/// by itself, success.
fn ending(run: &Run) -> (RunStatus, Option<RunError>) {
    let (shape, cancel) = (run.blueprint.shape(), run.progress.cancel.as_ref());
    let status = outcome(cancel, shape, &run.rows);
    let error = match cancel {
        Some(CancelCause::Asked(by)) => Some(cancelled(format!("cancelled by {by}"))),
        Some(CancelCause::RunTimeout) => {
            let timeout = shape.definition.timeout.expect("only a run with a timeout times out");
            let message = format!("the run took longer than its timeout of {timeout}");
            Some(RunError { class: ErrorClass::Timeout, message })
        }
        None => match verdict(shape, &run.rows) {
            Verdict::Success => None,
            Verdict::Failed(no) => Some(task_error(run, no)),
            Verdict::Cancelled(no) => {
                let name = &shape.definition.task(no).name;
                Some(cancelled(format!("task '{name}' was cancelled")))
            }
        },
    };
    (status, error)
}

fn cancelled(message: String) -> RunError {
    RunError { class: ErrorClass::Cancelled, message }
}

fn task_error(run: &Run, no: TaskNo) -> RunError {
    let name = &run.blueprint.definition.task(no).name;
    match run.rows.get(no).and_then(TaskRow::failure) {
        Some(error) => RunError {
            class: error.class,
            message: format!("task '{name}' failed: {}", error.message),
        },
        None => RunError { class: ErrorClass::Internal, message: format!("task '{name}' failed") },
    }
}
