//! One active run in memory: its rows and the indexes over them.

use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::row::{Counts, RunHead, RunProgress, RunStatus};
use crate::kernel::rows::Rows;
use crate::plan::dag::plan::Plan;
use crate::time::Timestamp;
use crate::world::blueprint::Blueprint;
use crate::world::input::Refusal;
use crate::world::ready::Priority;
use std::sync::Arc;

#[derive(Debug)]
pub struct Run {
    pub head: Arc<RunHead>,
    pub workdir: Arc<str>,
    pub progress: RunProgress,
    pub blueprint: Arc<Blueprint>,
    pub rows: Rows,
    pub plan: Plan,
    /// Tasks without an outcome, stored or derived.
    pub unsettled: u32,
}

impl Run {
    pub fn new(
        head: Arc<RunHead>,
        progress: RunProgress,
        blueprint: Arc<Blueprint>,
        rows: Rows,
    ) -> Self {
        let plan = Plan::new(blueprint.shape(), &rows);
        let workdir = head.workdir.as_str().into();
        let mut run = Self { head, workdir, progress, blueprint, rows, plan, unsettled: 0 };
        run.unsettled = run.count_unsettled();
        run
    }

    /// Everything that can be computed from the rows, computed again.
    pub fn replan(&mut self) {
        self.plan = Plan::new(self.blueprint.shape(), &self.rows);
        self.unsettled = self.count_unsettled();
    }

    pub fn count_unsettled(&self) -> u32 {
        let tasks = self.blueprint.graph.tasks();
        let open = tasks.filter(|no| !self.plan.is_settled(&self.rows, *no)).count();
        u32::try_from(open).expect("task counts fit u32")
    }

    pub fn task_no(&self, name: &Arc<str>) -> Result<TaskNo, Refusal> {
        let no = self.blueprint.definition.task_no(name);
        no.ok_or_else(|| Refusal::TaskNotFound(Arc::clone(name)))
    }

    pub fn priority(&self, no: TaskNo) -> Priority {
        (self.head.priority, self.blueprint.definition.task(no).priority)
    }

    /// Nothing but a permit is missing.
    pub fn is_startable(&self, no: TaskNo, now: Timestamp) -> bool {
        self.progress.status == RunStatus::Running
            && !self.rows.is_held(no)
            && match self.rows.get(no) {
                Some(row) if row.fact == Fact::Delayed => {
                    row.until.is_some_and(|until| until <= now)
                }
                _ => {
                    self.rows.fact(no) == Fact::None
                        && self.plan.is_open(no)
                        && self.plan.doom(no).is_none()
                }
            }
    }

    /// Nothing more can happen to it.
    pub fn is_over(&self) -> bool {
        match self.progress.status {
            RunStatus::Running => self.unsettled == 0,
            RunStatus::Cancelling => self.progress.counts.live == 0,
            RunStatus::Pending
            | RunStatus::Paused
            | RunStatus::Success
            | RunStatus::Failed
            | RunStatus::Cancelled => false,
        }
    }
}

/// The place on its run where a task with this fact is counted.
pub fn count(counts: &mut Counts, fact: Fact) -> Option<&mut u32> {
    match fact {
        Fact::Dispatched | Fact::Running => Some(&mut counts.live),
        Fact::Success => Some(&mut counts.success),
        Fact::Failed => Some(&mut counts.failed),
        Fact::Cancelled => Some(&mut counts.cancelled),
        Fact::Skipped => Some(&mut counts.skipped),
        Fact::None | Fact::Delayed | Fact::Waiting | Fact::WorkerDone => None,
    }
}
