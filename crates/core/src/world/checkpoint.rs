//! Checkpoints: after the success of such a task its run is paused until somebody resumes it.

use crate::ids::{RunKey, TaskNo};
use crate::kernel::fact::Fact;
use crate::kernel::row::{Hold, RunStatus};
use crate::time::Timestamp;
use crate::world::state::World;

impl World {
    /// A task as a whole has its outcome. A run that is paused already stays as it is, by whom it
    /// is; one that is being cancelled goes on with that.
    pub(super) fn pass_checkpoint(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let run = self.run_mut(key);
        let task = run.blueprint.definition.task(no);
        let is_reached = task.checkpoint && run.rows.fact(no) == Fact::Success;
        if is_reached && run.progress.status == RunStatus::Running {
            let hold = Hold::checkpoint(&task.name, now);
            self.hold_run(key, hold);
        }
    }
}
