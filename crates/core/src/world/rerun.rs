//! A run that runs another one anew: what it takes over is settled from the beginning.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::row::TaskRow;
use crate::output::Output;
use crate::world::batch::Change;
use crate::world::input::{Again, Inherited, Refusal};
use crate::world::instances::Instances;
use crate::world::state::World;

impl World {
    /// The former run is over, and still as it was read.
    pub(super) fn check_former(&self, again: &Again) -> Result<(), Refusal> {
        if let Some(run) = self.run(again.of) {
            return Err(Refusal::RunIs(run.progress.status));
        }
        let departed = self.departed.get(&again.of);
        match departed.is_some_and(|it| it.stamp > again.stamp) {
            true => Err(Refusal::Outdated),
            false => Ok(()),
        }
    }

    /// Written with the run itself: there is no moment at which one of these could start.
    pub(super) fn take_over(&mut self, key: RunKey, kept: Vec<TaskRow>, added: Option<Inherited>) {
        for row in added.into_iter().flat_map(|added| added.rows) {
            self.draft.weigh(row.text.len());
            self.draft.add(Change::NewAddition(key, row));
        }
        if kept.is_empty() {
            return;
        }
        for copy in kept {
            let task = TaskRef::plain(copy.task.no);
            self.draft.weigh(copy.output.as_ref().map_or(0, Output::weight));
            if copy.group.is_some() {
                self.run_mut(key).groups.insert(task.no, Instances::default());
            }
            self.change(key, task, |row| *row = copy);
            self.draft.task(key, task);
        }
        self.run_mut(key).replan();
        // The task that it begins from may be below one that was skipped: then nothing runs.
        self.ending.insert(key);
    }
}
