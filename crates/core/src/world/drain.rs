//! A planned end: no new attempt starts, and what does not end by itself in time is stopped as
//! for a pause, uncounted, so that it starts again in the next life.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::row::Stopping;
use crate::time::Timestamp;
use crate::world::state::World;

impl World {
    /// No permit is to be had any more, so that no attempt starts. This is not stored, and nothing
    /// brings it back but another life.
    pub fn start_nothing_more(&mut self) {
        self.limits.close();
    }

    /// Stops every live attempt that is not being stopped already.
    pub fn stop_all(&mut self, now: Timestamp) {
        let live: Vec<(RunKey, TaskRef)> = self
            .runs
            .iter()
            .flat_map(|(key, run)| {
                let rows = run.all_rows();
                let live = rows.filter(|row| row.is_live() && row.stopping.is_none());
                live.map(|row| (*key, row.task))
            })
            .collect();
        for (key, task) in live {
            self.stop(now, (key, task), Stopping::Pause, |_| {});
        }
        self.gather.hurry();
    }
}
