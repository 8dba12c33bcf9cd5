//! What memory lets go of: an output that no task can read any more stays in its row only. A retry,
//! or a task that is added, may need it again, and asks for what is stored first.

use crate::ids::{RunKey, TaskNo};
use crate::output::Output;
use crate::world::input::{Order, Refusal, Verb};
use crate::world::run::Run;
use crate::world::snapshot::RunSnapshot;
use crate::world::state::World;
use std::collections::BTreeSet;

/// Smaller ones are not worth a reading.
const WORTH_BYTES: usize = 256;

/// Who reads whose output, and how many of them have not settled.
#[derive(Debug, Default)]
pub struct Unread {
    /// For each task, readers that may still ask for its output.
    readers: Vec<u32>,
    /// Settled since the last batch.
    pub settled: Vec<TaskNo>,
    /// Readers were counted anew since then: everything is looked at again.
    pub recounted: bool,
    /// Tasks whose outputs are in their rows only.
    pub gone: BTreeSet<TaskNo>,
}

impl Run {
    /// Tasks whose outputs a task sees.
    fn reads(&self, no: TaskNo) -> impl Iterator<Item = TaskNo> + '_ {
        let task = self.blueprint.definition.task(no);
        let direct = task.depends_on.iter().map(|edge| edge.upstream);
        direct.chain(task.reads.iter().copied())
    }

    /// Counts readers anew. Nothing is let go of by that: a retry of a run that was not in memory
    /// is about to look at it.
    pub fn count_readers(&mut self) {
        let mut readers = vec![0; self.blueprint.definition.tasks.len()];
        for no in self.blueprint.definition.output_reads() {
            readers[no.position()] += 1;
        }
        for no in self.blueprint.graph.tasks() {
            if !self.rows.fact(no).is_settled() {
                self.reads(no).for_each(|read| readers[read.position()] += 1);
            }
        }
        self.unread.readers = readers;
    }

    /// Lets go of everything that nobody reads.
    pub fn forget_all_unread(&mut self) {
        let settled = self.blueprint.graph.tasks().filter(|no| self.rows.fact(*no).is_settled());
        // Their readers are counted as settled already: only their own outputs are looked at.
        let settled: Vec<TaskNo> = settled.collect();
        settled.into_iter().for_each(|no| self.let_go_of(no));
    }

    /// What was settled is on its way into the store.
    pub fn forget_unread(&mut self) {
        for no in std::mem::take(&mut self.unread.settled) {
            let read: Vec<TaskNo> = self.reads(no).collect();
            for no in read {
                let left = &mut self.unread.readers[no.position()];
                *left = left.saturating_sub(1);
                self.let_go_of(no);
            }
            self.let_go_of(no);
        }
        if std::mem::take(&mut self.unread.recounted) {
            self.forget_all_unread();
        }
    }

    fn let_go_of(&mut self, no: TaskNo) {
        let is_worth = |output: &Output| output.weight() >= WORTH_BYTES;
        let is_settled = self.rows.fact(no).is_settled();
        if self.unread.readers[no.position()] > 0 || !is_settled {
            return;
        }
        let row = self.rows.entry(no);
        if row.output.as_ref().is_some_and(is_worth) {
            row.output = None;
            self.unread.gone.insert(no);
        }
    }

    /// Takes outputs back from what was read. The store may not have them all yet.
    fn restore(&mut self, found: &RunSnapshot) -> Result<(), Refusal> {
        if found.progress.stamp < self.progress.stamp {
            return Err(Refusal::Outdated);
        }
        for row in found.tasks.iter().filter(|row| row.task.index.is_none()) {
            if self.unread.gone.remove(&row.task.no) {
                self.rows.entry(row.task.no).output.clone_from(&row.output);
            }
        }
        Ok(())
    }
}

impl World {
    /// Whether an order about an active run needs outputs that memory has let go of.
    pub(super) fn lacks_outputs(&self, key: RunKey, order: &Order) -> bool {
        let may_read = matches!(
            order,
            Order::Run(Verb::Retry)
                | Order::Task(_, Verb::Retry)
                | Order::RetryTasks(_)
                | Order::Add(_)
        );
        may_read && self.runs.get(&key).is_some_and(|run| !run.unread.gone.is_empty())
    }

    pub(super) fn restore_outputs(
        &mut self,
        key: RunKey,
        found: Option<&RunSnapshot>,
    ) -> Result<(), Refusal> {
        let found = found.ok_or(Refusal::Outdated)?;
        self.run_mut(key).restore(found)
    }
}
