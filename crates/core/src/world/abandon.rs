//! Cancel by force: for work that does not die, or whose executor does not answer. The record
//! says that it was abandoned; whoever holds the attempt goes on trying to end it.

use crate::ids::{RunKey, TaskRef, Ticket};
use crate::kernel::fact::Fact;
use crate::kernel::row::{
    AttemptEnd, CancelCause, Cancelled, Parent, RunStatus, Stopping, TaskRow,
};
use crate::kernel::transition::Event;
use crate::time::Timestamp;
use crate::world::input::{Refusal, Reply};
use crate::world::report::step;
use crate::world::run::Run;
use crate::world::state::World;
use std::collections::BTreeSet;

impl World {
    /// Cancels the run, unless that has begun, and waits for nobody: what runs always does not
    /// begin any more.
    pub(super) fn abandon_run(
        &mut self,
        now: Timestamp,
        key: RunKey,
        by: &str,
    ) -> Result<Reply, Refusal> {
        let told = self.run_mut(key).told_to_stop();
        if self.run_mut(key).progress.status != RunStatus::Cancelling {
            self.cancel_run(now, key, by)?;
        }
        let cause = self.run_mut(key).progress.cancel.as_ref();
        let why = cause.map_or(Cancelled::RunCancelled, CancelCause::of_tasks);
        self.end_always(now, key, why);
        let live = live_among(self.run_mut(key).all_rows());
        self.abandon_all(now, key, &live, &told);
        self.abandon_children(now, key, None);
        Ok(Reply::Done)
    }

    /// Cancels one task, unless that has begun, and does not wait for its work to be gone.
    pub(super) fn abandon_task(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
    ) -> Result<Reply, Refusal> {
        if self.run_mut(key).is_settled(task) {
            return Err(Refusal::TaskSettled);
        }
        let told = self.run_mut(key).told_to_stop();
        if !self.run_mut(key).is_being_cancelled(task) {
            self.cancel_task(now, key, task)?;
        }
        let rows = self.run_mut(key).all_rows();
        let is_meant = |row: &&TaskRow| {
            row.task.no == task.no && (task.index.is_none() || row.task.index == task.index)
        };
        let live = live_among(rows.filter(is_meant));
        self.abandon_all(now, key, &live, &told);
        self.abandon_children(now, key, Some(task));
        Ok(Reply::Done)
    }

    /// Their parent was told to stop them: nobody waits for them either.
    fn abandon_children(&mut self, now: Timestamp, key: RunKey, task: Option<TaskRef>) {
        for child in self.children(key, task) {
            let by = self.run_mut(child).head.parent.as_deref().map(Parent::word);
            let _ = self.abandon_run(now, child, &by.unwrap_or_default());
        }
    }

    /// `told`: those that had been told to stop before.
    fn abandon_all(
        &mut self,
        now: Timestamp,
        key: RunKey,
        live: &[TaskRef],
        told: &BTreeSet<TaskRef>,
    ) {
        for task in live {
            // The first order may have been lost with the world that gave it. Whatever else is
            // heard of the attempt comes too late: this is the last word that its executor gets.
            if told.contains(task) {
                self.stop(now, (key, *task), Stopping::Cancel, |_| {});
            }
            self.abandon(now, key, *task);
        }
    }

    fn abandon(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let row = self.run_mut(key).row(task).expect("a live task has a row");
        let lands = row.fact == Fact::WorkerDone;
        let (attempt, _) = row.live_attempt().expect("a live task has an attempt");
        let ticket = Ticket { run: key, task, attempt };
        if lands {
            return self.abandon_finalizer(now, ticket);
        }
        self.close_attempt(now, ticket, AttemptEnd::Abandoned, |row| {
            step(row, Event::Cancelled);
            row.hold = None;
        });
    }
}

impl Run {
    fn told_to_stop(&self) -> BTreeSet<TaskRef> {
        self.all_rows().filter(|row| row.stopping.is_some()).map(|row| row.task).collect()
    }
}

fn live_among<'a>(rows: impl Iterator<Item = &'a TaskRow>) -> Vec<TaskRef> {
    rows.filter(|row| row.is_live()).map(|row| row.task).collect()
}
