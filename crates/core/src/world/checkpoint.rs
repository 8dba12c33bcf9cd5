//! Checkpoints: after the success of such a task its run is paused until somebody resumes it.

use crate::ids::{RunKey, TaskNo};
use crate::kernel::fact::Fact;
use crate::kernel::row::{Hold, RunStatus, TaskRow};
use crate::time::Timestamp;
use crate::world::run::Run;
use crate::world::state::World;

impl World {
    /// A task as a whole has its outcome. A run that is paused already stays as it is, by whom it
    /// is, until it is resumed; one that is being cancelled goes on with that.
    pub(super) fn pass_checkpoint(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let run = self.run_mut(key);
        let task = run.blueprint.definition.task(no);
        let is_reached = task.checkpoint && run.rows.fact(no) == Fact::Success;
        if is_reached && run.progress.status == RunStatus::Running {
            let hold = Hold::checkpoint(&task.name, now);
            self.hold_run(now, key, hold);
        }
    }
}

impl Run {
    /// The first checkpoint that was reached under the hold that the run has. Nothing else is
    /// stored of it than its success: a hold stands for everything up to its own moment.
    pub(super) fn next_checkpoint(&self) -> Option<Hold> {
        let hold = self.progress.hold.as_ref()?;
        let is_new = |at: &Timestamp| match hold.by_checkpoint() {
            Some(_) => *at > hold.at,
            None => *at >= hold.at,
        };
        let task = |row: &TaskRow| self.blueprint.definition.task(row.task.no);
        let rows = self.rows.iter().filter(|row| task(row).checkpoint && row.fact == Fact::Success);
        let reached = rows.filter_map(|row| Some((row.settled_at.filter(is_new)?, row.task.no)));
        let (at, no) = reached.min()?;
        Some(Hold::checkpoint(&self.blueprint.definition.task(no).name, at))
    }
}
