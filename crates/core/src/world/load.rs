//! Taking runs in and letting them go. Recovery after a crash is this and nothing else.

use crate::ids::{RunKey, TaskNo, TaskRef, Ticket};
use crate::kernel::limit::queue_name;
use crate::kernel::row::{Counts, TaskRow};
use crate::kernel::rows::Rows;
use crate::time::Timestamp;
use crate::work::Question;
use crate::world::batch::Effect;
use crate::world::instances::{Instances, Standing};
use crate::world::run::{Run, count};
use crate::world::snapshot::RunSnapshot;
use crate::world::state::{Departed, World};
use crate::world::timers::{Timer, due};
use std::collections::BTreeMap;
use std::sync::Arc;

impl World {
    /// Takes in a run that is not final: its timers are armed again, its live attempts are
    /// offered to their executors again. Of those that only wait the last ones stay in memory: the
    /// next ones take the places of the others, and not of all of them at once.
    pub fn load(&mut self, now: Timestamp, snapshot: RunSnapshot) {
        assert!(!snapshot.progress.status.is_final(), "only unfinished runs are loaded");
        let key = self.take_in(snapshot);
        self.run_mut(key).forget_all_unread();
        let live: Vec<TaskRow> =
            self.run_mut(key).all_rows().filter(|row| row.is_live()).cloned().collect();
        for row in live {
            let (attempt, _) = row.live_attempt().expect("a live task has an attempt");
            let ticket = Ticket { run: key, task: row.task, attempt };
            // One that is being stopped is stopped again when it turns out to run.
            let executor = self.run_mut(key).executor(row.task);
            self.asked_after.insert(ticket.attempt);
            let question = Question { ticket, number: self.epoch };
            self.effect(Effect::Reattach(executor, question));
        }
        self.refill(key, now);
        let run = self.run_mut(key);
        let is_waiting = run.progress.counts.waiting > 0 && run.only_waits();
        if !is_waiting {
            self.ending.insert(key);
        }
        self.grow_drowsy(key);
        self.lay_down_drowsy();
        // Nothing has changed yet, so no reading can be older than what was left to the store.
        self.departed.clear();
    }

    /// Every attempt that an executor should hold.
    pub fn live(&self) -> impl Iterator<Item = Ticket> {
        self.runs.iter().flat_map(|(key, run)| {
            run.all_rows().filter_map(|row| {
                let (attempt, _) = row.live_attempt()?;
                Some(Ticket { run: *key, task: row.task, attempt })
            })
        })
    }

    /// Makes a stored run active.
    pub(super) fn take_in(&mut self, snapshot: RunSnapshot) -> RunKey {
        let key = snapshot.head.key;
        let run = self.revive(snapshot);
        self.put_run(run);
        key
    }

    /// Builds every index over the rows of a stored run.
    pub(super) fn revive(&mut self, snapshot: RunSnapshot) -> Run {
        let RunSnapshot { head, mut progress, definition, tasks, signals } = snapshot;
        let key = head.key;
        let blueprint = self.blueprint_of(&head, progress.additions, &definition);
        let mut rows = Rows::new(definition.tasks.len());
        progress.counts = Counts { total: progress.counts.total, ..Counts::default() };
        let mut groups: BTreeMap<TaskNo, Instances> = BTreeMap::new();
        for row in tasks {
            let TaskRef { no, index } = row.task;
            if let Some(at) = due(&row, definition.task(no)) {
                self.timers.arm(Timer { at, run: key, task: Some(row.task) });
            }
            if let Some(queue) = row.finalizer.as_ref().and_then(|it| it.queue.as_deref()) {
                self.limits.named(&queue_name(queue));
            }
            if row.is_live() {
                self.live += 1;
                let set = blueprint.permits_of(&row, Standing::of(&row).step(), &self.limits);
                self.limits.take(&set);
            }
            if let Some(index) = index {
                groups.entry(no).or_default().put(index, row);
                continue;
            }
            count(&mut progress.counts, row.fact).into_iter().for_each(|n| *n += 1);
            if row.group.is_some() {
                groups.entry(no).or_default();
            }
            rows.put(row);
        }
        let run = Run::new(Arc::new(head), progress, blueprint, rows);
        let signals = signals.into_iter().map(|row| (Arc::clone(&row.key), row)).collect();
        let mut run = Run { groups, signals, ..run };
        run.awaiting = run.count_awaiting().collect();
        run
    }

    /// Takes a run out of memory. A reading of it that is older than this is noticed.
    pub(super) fn depart(&mut self, key: RunKey) -> Option<Box<Run>> {
        let run = self.runs.remove(&key)?;
        self.by_id.remove(&run.head.id);
        self.ready.remove_run(key);
        self.line.remove_run(key);
        let departed = Departed { stamp: run.progress.stamp, with: self.next_batch };
        self.departed.insert(run.head.id, departed);
        Some(run)
    }

    /// Removes a run from memory. None of its tasks is live.
    pub(super) fn let_go(&mut self, key: RunKey) {
        let Some(run) = self.depart(key) else { return };
        let Counts { live, worker_done, .. } = run.progress.counts;
        assert_eq!(live + worker_done, 0, "a run with live attempts stays in memory");
        for row in run.all_rows() {
            if let Some(at) = due(row, run.blueprint.definition.task(row.task.no)) {
                self.timers.disarm(&Timer { at, run: key, task: Some(row.task) });
            }
        }
    }
}
