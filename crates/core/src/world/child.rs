//! Child runs: a task that runs another workflow begins a run of it, and waits until that is over.
//!
//! ```text
//!  answer ─► begin ─► the child is accepted, its parent parked      one batch
//!  child ends ─► child_ended ─► outcome, or another try             one batch
//!  hold, cancel, timeout of the parent ─► the child ─► its children …
//! ```
//! A task that waits for a child waits for a run that is in memory and not final, and such a run
//! has a task that waits for it: there is no other link between the two than these rows.

use crate::error::{ErrorClass, TaskError};
use crate::evaluate::{Begin, KnownChild, unknown_workflow};
use crate::ids::{RunId, RunKey, TaskNo, TaskRef, Ticket};
use crate::kernel::again;
use crate::kernel::row::{
    AttemptEnd, Cancelled, Parent, RunHead, RunKind, RunStatus, Stopping, TaskRow,
};
use crate::kernel::transition::Event;
use crate::limits::CHILD_DEPTH_MAX;
use crate::output::Output;
use crate::spec::control::{ChildOf, Control};
use crate::time::Timestamp;
use crate::world::input::{Order, Refusal, Verb};
use crate::world::report::{put_off_or_fail, step};
use crate::world::run::Run;
use crate::world::state::World;
use std::sync::Arc;

/// Why a child is stopped.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    Cancel(Cancelled),
    /// It took longer than its task lets it.
    Timeout,
}

/// How a child ended.
enum End {
    Success(Option<Output>),
    Failed(TaskError),
    Cancelled,
}

impl World {
    /// Accepts the child of a task's next attempt. Nothing has changed when it is refused.
    pub(super) fn begin_child(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        begin: Begin,
    ) -> Result<RunId, TaskError> {
        let Begin { workflow, version: KnownChild { number, definition }, input, group } = begin;
        let above = Arc::clone(&self.run_mut(key).head);
        if self.depth(key) >= CHILD_DEPTH_MAX {
            let message = format!(
                "it would be a child run {} levels deep, and at most {CHILD_DEPTH_MAX} are allowed: \
                 does '{}' run itself?",
                CHILD_DEPTH_MAX + 1,
                definition.name
            );
            return Err(TaskError::new(ErrorClass::Logic, message));
        }
        self.note_workflow(workflow);
        let name = &definition.name;
        if self.latest.get(name).is_some_and(|(row, _)| row.deleted_at.is_some()) {
            return Err(TaskError::new(ErrorClass::Logic, unknown_workflow(name)));
        }
        let place = (group.as_ref(), Some(above.id));
        self.meet_group(now, place, definition.concurrency_group.as_ref()).map_err(|refusal| {
            let message = format!("the workflow '{name}' could not begin: {refusal}");
            TaskError::new(ErrorClass::Logic, message)
        })?;
        let blueprint = self.blueprint(name, number, &definition);
        let parent = self.run_mut(key).parent_of_next(task);
        let (child, id) = self.new_names(now);
        let head = RunHead {
            key: child,
            id,
            workflow: Arc::clone(name),
            version: number,
            kind: RunKind::Dag,
            input,
            labels: above.labels.clone(),
            priority: above.priority,
            triggered_by: parent.word(),
            workdir: above.workdir.clone(),
            parent: Some(Box::new(parent)),
            retry_of: None,
            group,
            created_at: now,
        };
        self.accept(now, Arc::new(head), blueprint, 0);
        self.refill(child, now);
        Ok(id)
    }

    /// How many runs are above this one.
    fn depth(&self, key: RunKey) -> usize {
        let parent = |run: &&Run| self.run(run.head.parent_run()?);
        let first = self.runs.get(&key).map(|run| &**run);
        std::iter::successors(first, parent).count().saturating_sub(1)
    }

    /// What a child of a task would be a run of, if that is in memory.
    pub(super) fn known_child(&self, key: RunKey, no: TaskNo) -> Option<KnownChild> {
        let task = self.runs.get(&key)?.blueprint.definition.task(no);
        let Some(Control::Child(ChildOf { workflow, version, .. })) = task.control() else {
            return None;
        };
        let (row, _) = self.latest.get(workflow).filter(|(row, _)| row.deleted_at.is_none())?;
        let number = version.unwrap_or(row.latest);
        let blueprint = self.blueprints.get(&(Arc::clone(workflow), number))?;
        Some(KnownChild { number, definition: Arc::clone(&blueprint.definition) })
    }

    /// The run that a task waits for.
    pub(super) fn child_of(&self, key: RunKey, task: TaskRef) -> Option<RunKey> {
        let child = self.runs.get(&key)?.row(task)?.child()?;
        self.by_id.get(&child).copied()
    }

    /// The runs that a run waits for; those of one task, or of one instance, if one is named.
    pub(super) fn children(&self, key: RunKey, task: Option<TaskRef>) -> Vec<RunKey> {
        let Some(run) = self.runs.get(&key) else { return Vec::new() };
        let is_meant = |row: &&TaskRow| {
            task.is_none_or(|task| {
                row.task.no == task.no && (task.index.is_none() || row.task.index == task.index)
            })
        };
        let rows = run.all_rows().filter(is_meant);
        rows.filter_map(|row| self.by_id.get(&row.child()?).copied()).collect()
    }

    /// Orders the end of a child. Its task has its outcome when it is gone.
    pub(super) fn stop_child(&mut self, now: Timestamp, key: RunKey, task: TaskRef, why: Stop) {
        let Some(child) = self.child_of(key, task) else { return };
        self.change(key, task, |row| match why {
            Stop::Cancel(why) => {
                row.stopping = Some(Stopping::Cancel);
                row.cancelled = Some(why);
                // A cancel lifts holds.
                row.hold = None;
            }
            Stop::Timeout => row.stopping = Some(Stopping::Timeout),
        });
        self.draft.task(key, task);
        let head = Arc::clone(&self.run_mut(child).head);
        let by = head.parent.as_deref().map(Parent::word).unwrap_or_default();
        // One that is being cancelled already needs no other order.
        let _ = self.cancel_run(now, child, &by);
    }

    /// A run is final: the task that waits for it has its outcome, or another try.
    pub(super) fn child_ended(&mut self, now: Timestamp, child: RunKey) {
        let run = self.runs.get(&child).expect("callers hold keys of active runs");
        let Some(parent) = &run.head.parent else { return };
        let (id, end) = (run.head.id, End::of(run));
        let Some(key) = self.by_id.get(&parent.run).copied() else { return };
        let task = parent.task;
        let row = self.runs.get(&key).and_then(|run| run.row(task));
        let Some(row) = row.filter(|row| row.child() == Some(id)) else { return };
        let attempt = row.attempt.as_ref().expect("a wait is an attempt").id;
        let ticket = Ticket { run: key, task, attempt };
        match (row.stopping, end) {
            (Some(Stopping::Cancel), _) => self.child_cancelled(now, ticket, None),
            (Some(_), _) => {
                let error = self.child_timeout(ticket);
                self.child_failed(now, ticket, error);
            }
            (None, End::Success(output)) => {
                self.draft.weigh(output.as_ref().map_or(0, Output::weight));
                self.close_attempt(now, ticket, AttemptEnd::Success, |row| {
                    waits_no_more(row);
                    step(row, Event::Succeeded);
                    row.hold = None;
                    row.output = output;
                });
            }
            (None, End::Failed(error)) => self.child_failed(now, ticket, error),
            (None, End::Cancelled) => {
                self.child_cancelled(now, ticket, Some(Cancelled::ChildCancelled));
            }
        }
    }

    fn child_cancelled(&mut self, now: Timestamp, ticket: Ticket, why: Option<Cancelled>) {
        self.close_attempt(now, ticket, AttemptEnd::Cancelled, |row| {
            waits_no_more(row);
            step(row, Event::Cancelled);
            row.hold = None;
            row.cancelled = why.or(row.cancelled);
        });
    }

    /// A counted failure, as of any attempt.
    fn child_failed(&mut self, now: Timestamp, ticket: Ticket, error: TaskError) {
        let chance = self.chance.fraction();
        let run = self.runs.get(&ticket.run).expect("callers looked for it");
        let retries = &run.blueprint.definition.task(ticket.task.no).retries;
        let tries = run.row(ticket.task).map_or(0, |row| row.tries) + 1;
        let again = again::after_failure(retries, error.class, tries, chance);
        self.close_attempt(now, ticket, AttemptEnd::Failed(Box::new(error)), |row| {
            waits_no_more(row);
            row.tries = tries;
            put_off_or_fail(row, again, now);
        });
    }

    fn child_timeout(&self, ticket: Ticket) -> TaskError {
        let run = self.runs.get(&ticket.run).expect("callers looked for it");
        let child = run.row(ticket.task).and_then(TaskRow::child);
        let told = match (child, run.blueprint.definition.task(ticket.task.no).control()) {
            (Some(id), Some(Control::Child(ChildOf { timeout: Some(timeout), .. }))) => {
                format!("run {id} took longer than the task's timeout of {timeout}")
            }
            _ => "its child run took too long".to_owned(),
        };
        TaskError::new(ErrorClass::Timeout, told)
    }

    /// What is done to a child by itself, and what is not.
    pub(super) fn check_kin(&self, key: RunKey, order: &Order) -> Result<(), Refusal> {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        match (&run.head.parent, order) {
            (Some(parent), Order::Run(Verb::Retry)) => Err(Refusal::ChildRun(parent.run)),
            (Some(parent), Order::Run(Verb::Resume)) if self.is_held_from_above(run) => {
                Err(Refusal::HeldByParent(parent.run))
            }
            _ => Ok(()),
        }
    }

    /// Its parent is paused, or the task that waits for it is held.
    fn is_held_from_above(&self, run: &Run) -> bool {
        let Some(parent) = &run.head.parent else { return false };
        let above = self.run(parent.run);
        above.is_some_and(|above| {
            above.progress.status == RunStatus::Paused || above.is_held(parent.task)
        })
    }

    /// Hands a hold down, or its end.
    pub(super) fn align_children(&mut self, now: Timestamp, key: RunKey, task: Option<TaskRef>) {
        for child in self.children(key, task) {
            self.align_hold(now, child);
        }
    }

    /// A child is paused while it is held from above. What a person paused stays so afterwards.
    pub(super) fn align_hold(&mut self, now: Timestamp, key: RunKey) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let Some(by) = run.head.parent.as_deref().map(Parent::word) else { return };
        let is_held = self.is_held_from_above(run);
        let is_its = run.progress.hold.as_ref().is_some_and(|hold| hold.by == by);
        match run.progress.status {
            RunStatus::Running if is_held => drop(self.pause_run(now, key, &by)),
            RunStatus::Paused if !is_held && is_its => self.go_on(now, key),
            _ => {}
        }
    }

    /// Whoever waits for a child has one that is not final, and a child has somebody who waits.
    pub(super) fn verify_kin(&self, run: &Run) -> Result<(), String> {
        for row in run.all_rows().filter(|row| row.child().is_some()) {
            let child = row.child().and_then(|id| self.run(id));
            let child = child.ok_or(format!("{:?} waits for a run that is gone", row.task))?;
            let parent = child.head.parent.as_deref();
            let number = row.attempt.as_ref().map(|attempt| attempt.number);
            let is_its = |parent: &Parent| {
                (parent.run, parent.task) == (run.head.id, row.task)
                    && Some(parent.attempt) == number
            };
            if child.progress.status.is_final() || !parent.is_some_and(is_its) {
                return Err(format!("{:?} waits for a run that is not its child", row.task));
            }
        }
        let Some(parent) = &run.head.parent else { return Ok(()) };
        let above = self.run(parent.run).ok_or("its parent is gone")?;
        if above.row(parent.task).and_then(TaskRow::child) != Some(run.head.id) {
            return Err("nobody waits for it".to_owned());
        }
        if run.progress.status == RunStatus::Running && self.is_held_from_above(run) {
            return Err("it goes on although its parent is held".to_owned());
        }
        let is_its = run.progress.hold.as_ref().is_some_and(|hold| hold.by == parent.word());
        if is_its && !self.is_held_from_above(run) {
            return Err("it is held by its parent, which is not held".to_owned());
        }
        match run.holds == self.group_held(run.head.group.as_ref(), Some(parent.run)) {
            true => Ok(()),
            false => Err("it is counted in a group that an ancestor holds".to_owned()),
        }
    }
}

fn waits_no_more(row: &mut TaskRow) {
    row.wait.as_mut().expect("one that waits says for what").on = None;
}

impl Run {
    /// What a child of the next attempt is told of where it comes from.
    fn parent_of_next(&self, task: TaskRef) -> Parent {
        Parent {
            run: self.head.id,
            task,
            name: Arc::clone(&self.blueprint.definition.task(task.no).name),
            attempt: self.row(task).map_or(0, |row| row.attempts) + 1,
        }
    }
}

impl End {
    fn of(run: &Run) -> Self {
        match run.progress.status {
            RunStatus::Success => Self::Success(run.progress.output.clone()),
            RunStatus::Cancelled => Self::Cancelled,
            _ => {
                let (class, told) = match &run.progress.error {
                    Some(error) => (error.class, format!(": {}", error.message)),
                    None => (ErrorClass::Internal, String::new()),
                };
                Self::Failed(TaskError::new(class, format!("run {} failed{told}", run.head.id)))
            }
        }
    }
}
