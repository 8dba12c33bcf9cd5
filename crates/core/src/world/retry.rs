//! Retry, of a run and of one task.

use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::group::{Closed, Group};
use crate::kernel::row::{RunStatus, TaskRow};
use crate::kernel::transition::Event;
use crate::plan::dag::back::{AtWork, Back, Footing, Ground, what_goes_back};
use crate::time::{Span, Timestamp};
use crate::world::advance::supersede;
use crate::world::batch::Change;
use crate::world::input::{Refusal, Reply};
use crate::world::instances::Instances;
use crate::world::report::step;
use crate::world::run::Run;
use crate::world::state::World;

impl World {
    pub(super) fn retry(
        &mut self,
        now: Timestamp,
        key: RunKey,
        named: Option<&[TaskRef]>,
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        check_state(run, named)?;
        if let Some([task]) = named
            && run.group(task.no).is_some()
        {
            let failed = run.failed_of(*task);
            return self.retry_among_others(now, key, *task, &failed);
        }
        let only = named.and_then(|tasks| tasks.iter().find(|task| task.index.is_some())).copied();
        let roots: Vec<TaskNo> = match named {
            Some(tasks) => tasks.iter().map(|task| task.no).collect(),
            None => failed_or_cancelled(run),
        };
        let ground = Ground { shape: run.blueprint.shape(), plan: &run.plan, rows: &run.rows };
        let back = what_goes_back(ground, &roots).map_err(|AtWork(no)| {
            Refusal::DependentRunning(run.blueprint.definition.task(no).name.clone())
        })?;
        for Back { no, event, footing } in back {
            let has_instances = self.run_mut(key).has_instances(no);
            match footing {
                Footing::Stays if has_instances && event == Event::Retried => {
                    self.reopen_group(now, key, no, only.filter(|only| only.no == no));
                }
                _ if has_instances => self.dissolve_group(key, no, event),
                _ => self.send_back(key, no, event),
            }
        }
        self.reopen(now, key);
        Ok(Reply::Done)
    }

    fn send_back(&mut self, key: RunKey, no: TaskNo, event: Event) {
        let mut superseded = None;
        self.change(key, TaskRef::plain(no), |row| {
            superseded = supersede(row);
            step(row, event);
            begin_anew(row);
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, TaskRef::plain(no));
    }

    /// Instances of a group that is still open: nobody has drawn conclusions from them, but for
    /// those that go on when its work is done.
    fn retry_among_others(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        failed: &[TaskRef],
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        if run.is_being_cancelled(task) {
            return Err(Refusal::TaskStopping);
        }
        if let Some(no) = run.made_of(task.no) {
            let name = run.blueprint.definition.task(no).name.clone();
            return Err(Refusal::DependentRunning(name));
        }
        for task in failed {
            self.retry_instance(now, key, *task);
        }
        self.run_mut(key).forget_questions(task.no);
        self.refill_group(now, key, task.no);
        Ok(Reply::Done)
    }

    /// What failed or was cancelled of a group is tried again, and what was never opened is opened;
    /// or only one that was asked for.
    fn reopen_group(&mut self, now: Timestamp, key: RunKey, no: TaskNo, only: Option<TaskRef>) {
        self.change(key, TaskRef::plain(no), |row| {
            step(row, Event::GroupReopened);
            begin_anew(row);
            if let Some(group) = &mut row.group {
                let stay_closed = only.is_some() && group.unopened() > 0;
                group.closed = stay_closed.then_some(Closed::Chosen);
            }
        });
        self.draft.task(key, TaskRef::plain(no));
        let back = self.run_mut(key).failed_of(only.unwrap_or(TaskRef::plain(no)));
        for task in back {
            self.retry_instance(now, key, task);
        }
    }

    fn retry_instance(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let mut superseded = None;
        self.change(key, task, |row| {
            // Work that was done and did not land is kept with what it put out.
            if row.finalizer.is_some() {
                superseded = supersede(row);
            }
            step(row, Event::InstanceRetried);
            begin_anew(row);
            row.until = Some(now);
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, task);
    }

    /// What is above it has changed: there may be other instances now, or none.
    fn dissolve_group(&mut self, key: RunKey, no: TaskNo, event: Event) {
        let instances = self.run_mut(key).groups.remove(&no).expect("callers looked for it");
        // What this batch has not written of them yet is written into the history.
        for row in instances.iter() {
            let history = supersede(&mut row.clone());
            if let Some(attempt) = history {
                self.draft.add(Change::NewAttempt(key, attempt));
            }
        }
        self.draft.add(Change::SendBackInstances(key, no));
        self.change(key, TaskRef::plain(no), |row| {
            step(row, event);
            begin_anew(row);
            if let Some(group) = &mut row.group {
                let Group { attempts, taken, .. } = **group;
                **group = Group {
                    attempts,
                    numbered_from: attempts,
                    taken,
                    taken_from: taken,
                    ..Group::default()
                };
            }
        });
        self.draft.task(key, TaskRef::plain(no));
    }

    /// A final run opens again; its timeout counts from now.
    fn reopen(&mut self, now: Timestamp, key: RunKey) {
        // What waited for a permit may have to wait for its dependencies again.
        self.ready.remove_run(key);
        let run = self.run_mut(key);
        let was_final = run.progress.status.is_final();
        if was_final {
            run.progress.cancel = None;
            run.progress.alone_since = None;
            run.progress.error = None;
            run.progress.finished_at = None;
        }
        run.replan();
        if was_final {
            self.open_again(now, key);
        }
        self.draft.run(key);
        self.refill(key, now);
        self.ending.insert(key);
    }
}

/// As if nothing had happened to it, but for its numbers.
fn begin_anew(row: &mut TaskRow) {
    row.tries = 0;
    row.losses = 0;
    row.refusals = 0;
    row.refused_for = Span::ZERO;
    row.cancelled = None;
    row.settled_at = None;
    row.output = None;
    row.error = None;
    row.finalizer = None;
}

fn check_state(run: &Run, named: Option<&[TaskRef]>) -> Result<(), Refusal> {
    let status = run.progress.status;
    let allowed = match status {
        RunStatus::Failed | RunStatus::Cancelled => true,
        RunStatus::Running | RunStatus::Paused => named.is_some(),
        RunStatus::Pending | RunStatus::Cancelling | RunStatus::Success => false,
    };
    if !allowed {
        return Err(Refusal::RunIs(status));
    }
    let has_failed = |task| {
        let fact = run.row(task).map(|row| row.fact);
        matches!(fact, Some(Fact::Failed | Fact::Cancelled))
    };
    // A group that was told to ignore failures has succeeded with them.
    let retriable = |task: &TaskRef| {
        let whole = TaskRef::plain(task.no);
        match (run.group(task.no), task.index) {
            // By itself: with others it would be one walk over what goes back.
            (Some(_), None) => {
                named.is_some_and(|tasks| tasks.len() == 1) && !run.failed_of(*task).is_empty()
            }
            (Some(_), Some(_)) => has_failed(*task),
            (None, _) => has_failed(*task) && has_failed(whole),
        }
    };
    match named.is_none_or(|tasks| tasks.iter().all(retriable)) {
        true => Ok(()),
        false => Err(Refusal::TaskNotFailed),
    }
}

impl Run {
    /// The instances of a task, or the one that is named, that failed or were cancelled.
    fn failed_of(&self, task: TaskRef) -> Vec<TaskRef> {
        let rows = self.groups.get(&task.no).into_iter().flat_map(Instances::iter);
        let failed = rows.filter(|row| matches!(row.fact, Fact::Failed | Fact::Cancelled));
        failed.map(|row| row.task).filter(|it| task.index.is_none() || *it == task).collect()
    }

    /// It opened, with at least one. A row that was a group's before may be kept for its numbers.
    fn has_instances(&self, no: TaskNo) -> bool {
        let group = self.rows.get(no).and_then(|row| row.group.as_ref());
        group.is_some_and(|group| group.count > 0)
    }
}

fn failed_or_cancelled(run: &Run) -> Vec<TaskNo> {
    let rows = run.rows.iter();
    rows.filter(|row| matches!(row.fact, Fact::Failed | Fact::Cancelled))
        .map(|row| row.task.no)
        .collect()
}
