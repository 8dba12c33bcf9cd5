//! Turning a draft into a batch: each changed row once, as it is now.

use crate::ids::RunKey;
use crate::kernel::fact::Fact;
use crate::kernel::row::TaskRow;
use crate::time::Timestamp;
use crate::world::batch::{Batch, Change};
use crate::world::draft::Draft;
use crate::world::state::World;
use std::sync::Arc;

impl World {
    /// Everything decided since the last batch, and what follows from it.
    pub fn take_batch(&mut self, now: Timestamp) -> Batch {
        self.gather.taken(self.live);
        self.limits.look_at(now);
        self.open_all(now);
        let mut closed = self.close(now);
        // The end of a child is that of a task: what follows from it is in the same batch, however
        // full that is. What may be opened beside it is not.
        while !self.ending.is_empty() || !(self.agenda.is_empty() || self.is_full()) {
            self.open_all(now);
            closed.extend(self.close(now));
        }
        // Last, so that nothing is started that is stopped in the same batch.
        self.dispatch_all(now);
        let mut draft = std::mem::take(&mut self.draft);
        self.stamp(draft.runs.iter().copied());

        let count = draft.runs.len() + draft.tasks.len() + draft.added.len();
        let mut changes = Vec::with_capacity(count);
        let mut heads = Vec::with_capacity(draft.runs.len());
        let (versions, added): (Vec<Change>, Vec<Change>) =
            draft.added.drain(..).partition(|change| matches!(change, Change::NewVersion(_)));
        changes.extend(versions);
        for key in &draft.runs {
            let run = &self.runs[key];
            heads.push(Arc::clone(&run.head));
            changes.push(if draft.new_runs.contains(key) {
                Change::NewRun((*run.head).clone(), run.progress.clone())
            } else {
                Change::PutRun(*key, run.progress.clone())
            });
        }
        for (key, task) in &draft.tasks {
            // What a group was before it went back is in its history.
            let Some(row) = self.runs[key].row(*task) else { continue };
            changes.push(Change::PutTask(*key, row.clone()));
        }
        self.forget_successes(&draft);
        for key in &draft.runs {
            self.run_mut(*key).forget_unread();
        }
        changes.extend(added);
        changes.extend(draft.ledgers.iter().map(|id| Change::PutLedger(self.limits.ledger(*id))));
        for key in closed {
            self.let_go(key);
        }
        for key in &draft.runs {
            self.grow_drowsy(*key);
        }
        self.lay_down_drowsy();
        self.hurry_what_is_left();
        let number = self.next_batch;
        self.next_batch += 1;
        Batch { number, changes, heads, effects: draft.effects }
    }

    /// Instances that succeeded take no memory from here on.
    fn forget_successes(&mut self, draft: &Draft) {
        for (key, task) in &draft.tasks {
            let Some(index) = task.index else { continue };
            let group = self.run_mut(*key).groups.get_mut(&task.no);
            let succeeded = |row: &TaskRow| row.fact == Fact::Success;
            if let Some(group) = group.filter(|group| group.get(index).is_some_and(succeeded)) {
                group.forget(index);
            }
        }
    }

    /// Stamps what this commit touches, so that readers can tell what is newer.
    fn stamp(&mut self, runs: impl Iterator<Item = RunKey>) {
        let stamp = self.next_stamp;
        let mut touched = false;
        for key in runs {
            self.run_mut(key).progress.stamp = stamp;
            touched = true;
        }
        self.next_stamp += u64::from(touched);
    }
}
