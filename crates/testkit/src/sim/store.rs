//! A store that fails: the model of the store room, and a commit that may be durable and
//! reported so, durable and reported failed, or not durable at all.

use crate::sim::promise::{Broken, Promise};
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::world::batch::Change;
use mainspring_store::{Fence, InstancesQuery, Model, StoredRun};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub struct FaultyStore {
    pub model: Model,
    /// Handed over and not ended, oldest first.
    pending: VecDeque<(Fence, Vec<Change>)>,
}

/// What becomes of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Durable,
    DurableButReportedFailed,
    Lost,
}

/// What the cycle is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    Durable,
    Failed,
}

impl Fate {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Durable => "durable",
            Self::DurableButReportedFailed => "durable, reported failed",
            Self::Lost => "lost",
        }
    }
}

impl FaultyStore {
    pub fn begin(&mut self, fence: Fence, changes: Vec<Change>) {
        self.pending.push_back((fence, changes));
    }

    /// How many changes the commit has that was handed over last.
    pub fn last_pending(&self) -> usize {
        self.pending.back().map_or(0, |(_, changes)| changes.len())
    }

    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// How many commits are pending.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Whatever is pending never comes to be: what it builds on failed, or there was no time.
    pub fn drop_pending(&mut self) {
        self.pending.clear();
    }

    /// Ends the oldest pending commit; what it says is what the cycle hears.
    pub fn finish(&mut self, fate: Fate) -> Result<Heard, Broken> {
        let (fence, changes) = self.pending.pop_front().expect("a commit is pending");
        if fate != Fate::Lost {
            let applied = self.model.apply(fence, &changes);
            applied.map_err(|refused| Promise::Storable.broken(refused.to_string()))?;
        }
        Ok(if fate == Fate::Durable { Heard::Durable } else { Heard::Failed })
    }
}

/// A run with every row, those of instances that succeeded included.
pub fn whole(model: &Model, id: RunId) -> Option<StoredRun> {
    let mut run = model.run(id)?;
    let own = run.tasks.iter().filter(|row| row.group.is_some());
    let groups: Vec<TaskNo> = own.map(|row| row.task.no).collect();
    if groups.is_empty() {
        return Some(run);
    }
    run.tasks.retain(|row| row.task.index.is_none());
    for no in groups {
        let all = InstancesQuery { from: 0, limit: usize::MAX, facts: Vec::new() };
        run.tasks.extend(model.instances(run.head.key, no, &all));
    }
    run.tasks.sort_by_key(|row| row.task);
    Some(run)
}
