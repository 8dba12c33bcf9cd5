//! Tasks that run always: what is left of a run that was cancelled or has timed out. They begin
//! when what they depend on is settled, and each has its `grace` from the moment at which nothing
//! else is left.
//!
//! ```text
//!  cancel, timeout ─► others end ─► alone ─┬─► all settled ─► the run ends
//!                                          └─► grace over ─► stopped ─► the run ends
//! ```

use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::{CancelCause, Cancelled, RunStatus};
use crate::time::Timestamp;
use crate::world::run::Run;
use crate::world::state::World;

impl World {
    /// The run's own time has come: its timeout, or the end of a grace.
    pub(super) fn run_due(&mut self, now: Timestamp, key: RunKey) {
        match self.run_mut(key).progress.status {
            RunStatus::Cancelling => self.grace_over(now, key),
            _ => self.wind_down(now, key, CancelCause::RunTimeout),
        }
    }

    /// A cancel lifts holds, also of those that it leaves running.
    pub(super) fn go_on_always(&mut self, now: Timestamp, key: RunKey, begun: &[TaskNo]) {
        let held = |world: &mut Self, no: &TaskNo| world.run_mut(key).held(TaskRef::plain(*no));
        let held: Vec<TaskRef> = begun.iter().flat_map(|no| held(self, no)).collect();
        for task in held {
            self.change(key, task, |row| row.hold = None);
            self.draft.task(key, task);
        }
        for task in begun.iter().map(|no| TaskRef::plain(*no)) {
            match self.run_mut(key).rows.fact(task.no) {
                Fact::Waiting => self.fire(now, key, task),
                Fact::Open => self.fire_group(now, key, task),
                _ => {}
            }
        }
        self.refill(key, now);
    }

    /// Notes the moment from which on nothing but what runs always is left.
    pub(super) fn note_alone(&mut self, now: Timestamp, key: RunKey) {
        let run = self.run_mut(key);
        if run.is_alone() && run.progress.alone_since.is_none() {
            run.progress.alone_since = Some(now);
            self.draft.run(key);
            self.arm_run(key);
        }
    }

    /// Ends what runs always and has used up its grace.
    fn grace_over(&mut self, now: Timestamp, key: RunKey) {
        let run = self.run_mut(key);
        let is_late = |no: &TaskNo| run.grace_over_at(*no).is_some_and(|at| at <= now);
        let late: Vec<TaskNo> = run.always_left().filter(is_late).collect();
        self.end_those(now, key, &late, Cancelled::GraceOver);
    }

    /// Ends all that runs always, whether or not it has begun.
    pub(super) fn end_always(&mut self, now: Timestamp, key: RunKey, why: Cancelled) {
        let left: Vec<TaskNo> = self.run_mut(key).always_left().collect();
        self.end_those(now, key, &left, why);
    }

    fn end_those(&mut self, now: Timestamp, key: RunKey, tasks: &[TaskNo], why: Cancelled) {
        for no in tasks {
            if !self.run_mut(key).is_being_cancelled(TaskRef::plain(*no)) {
                self.end_task(now, key, *no, why);
            }
        }
        self.ending.insert(key);
    }
}

impl Run {
    /// It was cancelled or has timed out, and nothing is left but what runs always.
    fn is_alone(&self) -> bool {
        let left = u32::try_from(self.always_left().count()).unwrap_or(u32::MAX);
        self.progress.status == RunStatus::Cancelling && self.unsettled == left
    }

    /// When a task that runs always has to be through. None as long as others are at work.
    pub fn grace_over_at(&self, no: TaskNo) -> Option<Timestamp> {
        let always = self.blueprint.definition.task(no).always?;
        Some(self.progress.alone_since? + always.grace)
    }
}
