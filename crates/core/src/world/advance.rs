//! From what is open to what is dispatched, and from the last outcome to the end of a run.

use crate::error::ErrorClass;
use crate::ids::{AttemptId, RunKey, TaskNo, TaskRef, Ticket};
use crate::kernel::row::{
    Attempt, AttemptEnd, AttemptRow, CancelCause, RunError, RunStatus, TaskRow,
};
use crate::kernel::transition::Event;
use crate::launch::StartAttempt;
use crate::plan::dag::outcome::{Verdict, outcome, verdict};
use crate::spec::definition::Action;
use crate::time::Timestamp;
use crate::world::batch::{Change, Effect};
use crate::world::report::step;
use crate::world::run::Run;
use crate::world::state::World;

impl World {
    /// Opens and dispatches what it can, until there is nothing more or the batch is full.
    pub(super) fn advance(&mut self, now: Timestamp) {
        while !self.is_full() {
            let Some((key, no)) = self.agenda.pop_front() else { break };
            self.open(now, key, no);
        }
        while !self.is_full() {
            let Some((key, task)) = self.ready.pop(&self.limits) else { break };
            self.dispatch(now, key, task.no);
        }
    }

    /// An entry may be outdated by what came after it: a pause, a hold, a cancel.
    fn open(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let Some(run) = self.runs.get(&key) else { return };
        if !run.is_startable(no, now) {
            return;
        }
        let task = run.blueprint.definition.task(no);
        if !matches!(task.action, Action::Noop) {
            return self.enqueue(key, no);
        }
        let output = task.input.clone();
        self.draft.weigh(output.as_str().len());
        self.change(key, no, |row| {
            step(row, Event::DecidedSuccess);
            row.settled_at = Some(now);
            row.output = Some(output);
        });
        self.draft.task(key, TaskRef::plain(no));
        self.follow(key, no);
        self.ending.insert(key);
    }

    fn dispatch(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let (ms, chance) = self.chance.id_parts(now);
        let id = AttemptId::from_parts(ms, chance);
        let mut superseded = None;
        self.change(key, no, |row| {
            step(row, Event::Dispatched);
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
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, TaskRef::plain(no));
        self.start_again(Ticket { run: key, task: TaskRef::plain(no), attempt: id });
    }

    /// Hands the current attempt to its executor.
    pub(super) fn start_again(&mut self, ticket: Ticket) {
        let run = self.runs.get(&ticket.run).expect("callers hold keys of active runs");
        let start = start_attempt(run, ticket);
        self.effect(Effect::Start(start));
    }

    /// Ends what is over. Runs leave memory with the batch that says so.
    pub(super) fn close(&mut self, now: Timestamp) -> Vec<RunKey> {
        let mut closed = Vec::new();
        for key in std::mem::take(&mut self.ending) {
            if self.runs.get(&key).is_some_and(Run::is_over) {
                self.end_run(now, key);
                closed.push(key);
            }
        }
        closed
    }

    fn end_run(&mut self, now: Timestamp, key: RunKey) {
        self.disarm_run(key);
        let run = self.run_mut(key);
        let (status, error) = ending(run);
        run.progress.status = status;
        run.progress.error = error;
        run.progress.finished_at = Some(now);
        let id = run.head.id;
        self.draft.run(key);
        self.effect(Effect::RunEnded(id));
    }
}

/// What goes into the history when an attempt gives way to another. A refused one leaves
/// nothing: its number is used again.
pub(super) fn supersede(row: &mut TaskRow) -> Option<AttemptRow> {
    let attempt = row.attempt.take()?;
    let output = row.output.take();
    let refused = matches!(attempt.end, Some(AttemptEnd::Refused(_)));
    (!refused).then_some(AttemptRow { task: row.task, attempt, output })
}

fn start_attempt(run: &Run, ticket: Ticket) -> StartAttempt {
    let no = ticket.task.no;
    let row = run.rows.get(no).expect("a dispatched task has a row");
    let edges = run.blueprint.graph.upstream(no).iter();
    StartAttempt {
        ticket,
        run: run.head.id,
        attempt: row.attempts,
        definition: run.blueprint.definition.clone(),
        run_input: run.head.input.clone(),
        workdir: run.workdir.clone(),
        upstream: edges
            .map(|edge| {
                let output = run.rows.get(edge.upstream).and_then(|row| row.output.clone());
                (edge.upstream, output)
            })
            .collect(),
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
    let end = run.rows.get(no).and_then(|row| row.attempt.as_ref()?.end.as_ref());
    match end {
        Some(AttemptEnd::Failed(error)) => RunError {
            class: error.class,
            message: format!("task '{name}' failed: {}", error.message),
        },
        _ => RunError { class: ErrorClass::Internal, message: format!("task '{name}' failed") },
    }
}
