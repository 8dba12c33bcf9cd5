//! The batch in the making: which rows have changed since the last one, and what to do
//! once they are durable. A row that changed five times is written once.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::permits::LimitId;
use crate::limits::{BATCH_BYTES_MAX, BATCH_CHANGES_MAX, STARTED_RIDES};
use crate::time::Timestamp;
use crate::world::batch::{Change, Effect};
use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Draft {
    pub new_runs: BTreeSet<RunKey>,
    pub runs: BTreeSet<RunKey>,
    pub tasks: BTreeSet<(RunKey, TaskRef)>,
    /// Limits whose rates have counted something.
    pub ledgers: BTreeSet<LimitId>,
    /// Rows that are only ever added.
    pub added: Vec<Change>,
    pub effects: Vec<Effect>,
    bytes: usize,
    /// Something here may not wait.
    urgent: bool,
    /// Since when a start waits for another commit to ride on.
    riding_since: Option<Timestamp>,
}

impl Draft {
    pub fn task(&mut self, run: RunKey, task: TaskRef) {
        self.insert(run, task);
        self.run(run);
    }

    /// An instance's change moves its group's row too.
    fn insert(&mut self, run: RunKey, task: TaskRef) {
        if task.index.is_some() {
            self.tasks.insert((run, TaskRef::plain(task.no)));
        }
        self.tasks.insert((run, task));
    }

    pub fn run(&mut self, run: RunKey) {
        self.runs.insert(run);
        self.urgent = true;
    }

    /// A change that rides on the next commit instead of causing one.
    pub fn riding(&mut self, run: RunKey, task: TaskRef, now: Timestamp) {
        self.insert(run, task);
        self.runs.insert(run);
        self.riding_since.get_or_insert(now);
    }

    pub fn add(&mut self, change: Change) {
        self.added.push(change);
        self.urgent = true;
    }

    pub fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
        self.urgent = true;
    }

    pub fn weigh(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    pub fn is_full(&self) -> bool {
        self.rows() >= BATCH_CHANGES_MAX || self.bytes >= BATCH_BYTES_MAX
    }

    pub fn rows(&self) -> usize {
        self.tasks.len() + self.runs.len() + self.added.len()
    }

    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// When it has to be committed even if nothing in it is urgent.
    pub fn rides_until(&self) -> Option<Timestamp> {
        self.riding_since.map(|since| since + STARTED_RIDES)
    }
}
