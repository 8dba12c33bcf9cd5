//! Retry, of a run and of one task.

use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::RunStatus;
use crate::kernel::transition::Event;
use crate::plan::dag::back::{AtWork, Ground, what_goes_back};
use crate::time::{Span, Timestamp};
use crate::world::advance::supersede;
use crate::world::batch::Change;
use crate::world::input::{Refusal, Reply};
use crate::world::report::step;
use crate::world::run::Run;
use crate::world::state::World;

impl World {
    pub(super) fn retry(
        &mut self,
        now: Timestamp,
        key: RunKey,
        named: Option<&[TaskNo]>,
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        check_state(run, named)?;
        let roots: Vec<TaskNo> = match named {
            Some(tasks) => tasks.to_vec(),
            None => failed_or_cancelled(run),
        };
        let ground = Ground { shape: run.blueprint.shape(), plan: &run.plan, rows: &run.rows };
        let back = what_goes_back(ground, &roots).map_err(|AtWork(no)| {
            Refusal::DependentRunning(run.blueprint.definition.task(no).name.clone())
        })?;
        for (no, event) in back {
            self.send_back(key, no, event);
        }
        self.reopen(now, key);
        Ok(Reply::Done)
    }

    fn send_back(&mut self, key: RunKey, no: TaskNo, event: Event) {
        let mut superseded = None;
        self.change(key, no, |row| {
            superseded = supersede(row);
            step(row, event);
            row.tries = 0;
            row.losses = 0;
            row.refusals = 0;
            row.refused_for = Span::ZERO;
            row.cancelled = None;
            row.settled_at = None;
            row.output = None;
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, TaskRef::plain(no));
    }

    /// A final run opens again; its timeout counts from now.
    fn reopen(&mut self, now: Timestamp, key: RunKey) {
        // What waited for a permit may have to wait for its dependencies again.
        self.ready.remove_run(key);
        let run = self.run_mut(key);
        run.replan();
        if run.progress.status.is_final() {
            run.progress.status = RunStatus::Running;
            run.progress.cancel = None;
            run.progress.error = None;
            run.progress.finished_at = None;
            run.progress.opened_at = Some(now);
            self.arm_run(key);
        }
        self.draft.run(key);
        self.refill(key, now);
        self.ending.insert(key);
    }
}

fn check_state(run: &Run, named: Option<&[TaskNo]>) -> Result<(), Refusal> {
    let status = run.progress.status;
    let allowed = match status {
        RunStatus::Failed | RunStatus::Cancelled => true,
        RunStatus::Running | RunStatus::Paused => named.is_some(),
        RunStatus::Pending | RunStatus::Cancelling | RunStatus::Success => false,
    };
    if !allowed {
        return Err(Refusal::RunIs(status));
    }
    let retriable = |no: &TaskNo| matches!(run.rows.fact(*no), Fact::Failed | Fact::Cancelled);
    match named.is_none_or(|tasks| tasks.iter().all(retriable)) {
        true => Ok(()),
        false => Err(Refusal::TaskNotFailed),
    }
}

fn failed_or_cancelled(run: &Run) -> Vec<TaskNo> {
    let rows = run.rows.iter();
    rows.filter(|row| matches!(row.fact, Fact::Failed | Fact::Cancelled))
        .map(|row| row.task.no)
        .collect()
}
