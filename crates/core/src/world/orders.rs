//! Pause, resume and cancel, of a run and of one task.

use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::{CancelCause, Cancelled, Hold, RunStatus, Stopping, TaskRow};
use crate::kernel::transition::Event;
use crate::plan::dag::below::{Falls, below};
use crate::time::Timestamp;
use crate::world::child::Stop;
use crate::world::input::{Refusal, Reply};
use crate::world::park::withdraw;
use crate::world::report::step;
use crate::world::state::World;

impl World {
    /// No new attempt starts; those that run go on.
    pub(super) fn pause_run(
        &mut self,
        now: Timestamp,
        key: RunKey,
        by: &str,
    ) -> Result<Reply, Refusal> {
        let status = self.run_mut(key).progress.status;
        if status != RunStatus::Running {
            return Err(Refusal::RunIs(status));
        }
        self.hold_run(now, key, Hold { by: by.to_owned(), at: now });
        Ok(Reply::Done)
    }

    /// Whoever says so: nothing of it starts before it is resumed.
    pub(super) fn hold_run(&mut self, now: Timestamp, key: RunKey, hold: Hold) {
        self.run_mut(key).progress.hold = Some(hold);
        self.set_status(key, RunStatus::Paused);
        self.ready.remove_run(key);
        self.line.remove_run(key);
        self.align_children(now, key, None);
    }

    pub(super) fn resume_run(&mut self, now: Timestamp, key: RunKey) -> Result<Reply, Refusal> {
        let progress = &mut self.run_mut(key).progress;
        if progress.status != RunStatus::Paused {
            return Err(Refusal::RunIs(progress.status));
        }
        self.go_on(now, key);
        Ok(Reply::Done)
    }

    /// A checkpoint that was reached meanwhile wants to be resumed by itself.
    pub(super) fn go_on(&mut self, now: Timestamp, key: RunKey) {
        if let Some(hold) = self.run_mut(key).next_checkpoint() {
            return self.hold_run(now, key, hold);
        }
        self.run_mut(key).progress.hold = None;
        self.set_status(key, RunStatus::Running);
        self.refill(key, now);
        self.ending.insert(key);
        self.align_children(now, key, None);
    }

    pub(super) fn cancel_run(
        &mut self,
        now: Timestamp,
        key: RunKey,
        by: &str,
    ) -> Result<Reply, Refusal> {
        let status = self.run_mut(key).progress.status;
        if !matches!(status, RunStatus::Pending | RunStatus::Running | RunStatus::Paused) {
            return Err(Refusal::RunIs(status));
        }
        self.wind_down(now, key, CancelCause::Asked(by.to_owned()));
        Ok(Reply::Done)
    }

    /// Stops what is live, cancels what has a row, and lets `view` derive the rest: a run of
    /// 100,000 tasks is cancelled with a handful of rows. What runs always goes on, unless the run
    /// had not begun: then there is nothing to clean up.
    pub(super) fn wind_down(&mut self, now: Timestamp, key: RunKey, cause: CancelCause) {
        self.disarm_run(key);
        self.ready.remove_run(key);
        self.line.remove_run(key);
        let why = cause.of_tasks();
        let had_begun = self.run_mut(key).progress.status != RunStatus::Pending;
        self.set_status(key, RunStatus::Cancelling);
        let run = self.run_mut(key);
        run.progress.hold = None;
        run.progress.cancel = Some(cause);
        let unsettled = run.rows.iter().filter(|row| !run.plan.is_settled(&run.rows, row.task.no));
        let ends = unsettled.filter(|row| row.fact != Fact::None || row.hold.is_some());
        let rows: Vec<TaskNo> = ends.map(|row| row.task.no).collect();
        let is_always = |world: &Self, no: &TaskNo| {
            let definition = &world.runs[&key].blueprint.definition;
            had_begun && definition.task(*no).is_always()
        };
        let (always, others): (Vec<TaskNo>, Vec<TaskNo>) =
            rows.into_iter().partition(|no| is_always(self, no));
        for no in others {
            self.end_task(now, key, no, why);
        }
        if !had_begun {
            self.end_always(now, key, why);
        }
        self.run_mut(key).plan_anew();
        self.go_on_always(now, key, &always);
        // Holds are lifted, and so are those that were handed down.
        self.align_children(now, key, None);
        self.ending.insert(key);
    }

    /// Ends a task that has no outcome, whatever it is doing.
    pub(super) fn end_task(&mut self, now: Timestamp, key: RunKey, no: TaskNo, why: Cancelled) {
        let run = self.run_mut(key);
        let is_live = run.rows.get(no).is_some_and(TaskRow::is_live);
        match run.rows.fact(no) {
            _ if is_live => self.stop_to_cancel(now, (key, TaskRef::plain(no)), why),
            Fact::Open => self.close_group(now, key, no, why),
            Fact::None | Fact::Delayed | Fact::Waiting | Fact::WorkerDone => {
                self.cancel_now(now, key, no, why);
            }
            Fact::Dispatched
            | Fact::Running
            | Fact::Success
            | Fact::Failed
            | Fact::Cancelled
            | Fact::Skipped => {}
        }
    }

    /// A task with no live attempt gets its outcome at once.
    fn cancel_now(&mut self, now: Timestamp, key: RunKey, no: TaskNo, why: Cancelled) {
        // One whose work is a child run gets it when that is gone.
        if self.child_of(key, TaskRef::plain(no)).is_some() {
            return self.stop_child(now, key, TaskRef::plain(no), Stop::Cancel(why));
        }
        self.dequeue(key, no);
        self.line.remove_task(key, no);
        self.change(key, TaskRef::plain(no), |row| {
            withdraw(row, now);
            step(row, Event::Cancelled);
            row.hold = None;
            row.cancelled = Some(why);
            row.settled_at = Some(now);
        });
        self.draft.task(key, TaskRef::plain(no));
        self.follow(key, no);
        self.ending.insert(key);
    }

    /// A live one gets its outcome when it is gone.
    pub(super) fn stop_to_cancel(
        &mut self,
        now: Timestamp,
        task: (RunKey, TaskRef),
        why: Cancelled,
    ) {
        self.stop(now, task, Stopping::Cancel, |row| {
            row.cancelled = Some(why);
            // A cancel lifts holds.
            row.hold = None;
        });
    }

    /// What the orders about one task have in common.
    fn check_task(&mut self, key: RunKey, task: TaskRef) -> Result<Fact, Refusal> {
        let run = self.run_mut(key);
        let status = run.progress.status;
        if status == RunStatus::Cancelling {
            return Err(Refusal::RunIs(status));
        }
        if run.is_settled(task) {
            return Err(Refusal::TaskSettled);
        }
        Ok(run.row(task).map_or(Fact::None, |row| row.fact))
    }

    /// Holds one task; a live attempt of it is killed, uncounted.
    pub(super) fn pause_task(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        by: &str,
    ) -> Result<Reply, Refusal> {
        self.check_task(key, task)?;
        let run = self.run_mut(key);
        if run.row(task).is_some_and(|row| row.hold.is_some()) {
            return Err(Refusal::TaskHeld);
        }
        if run.is_being_cancelled(task) {
            return Err(Refusal::TaskStopping);
        }
        let hold = Box::new(Hold { by: by.to_owned(), at: now });
        self.change(key, task, |row| row.hold = Some(hold));
        self.draft.task(key, task);
        match task.index {
            None => {
                self.dequeue(key, task.no);
                self.line.remove_task(key, task.no);
            }
            Some(index) => {
                self.line.remove(key, task);
                let group = self.run_mut(key).groups.get_mut(&task.no);
                group.expect("an instance has its group").due.remove(&index);
                self.turn(now, key, task.no);
            }
        }
        for task in self.run_mut(key).at_work(task) {
            self.stop(now, (key, task), Stopping::Pause, |_| {});
        }
        self.align_children(now, key, Some(task));
        Ok(Reply::Done)
    }

    pub(super) fn resume_task(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
    ) -> Result<Reply, Refusal> {
        let fact = self.check_task(key, task)?;
        if self.run_mut(key).is_being_cancelled(task) {
            return Err(Refusal::TaskStopping);
        }
        let held = self.run_mut(key).held(task);
        if held.is_empty() {
            return Err(Refusal::TaskNotHeld);
        }
        for task in held {
            self.change(key, task, |row| row.hold = None);
            self.draft.task(key, task);
        }
        self.line_up(now, key, task);
        self.align_children(now, key, Some(task));
        match task.index {
            Some(_) if fact == Fact::Waiting => self.fire(now, key, task),
            Some(index) => {
                self.instance_due(now, key, (task.no, index));
                self.after_instance(now, key, task.no);
            }
            None if fact == Fact::Open => {
                self.fire_group(now, key, task);
                if self.run_mut(key).group(task.no).is_some() {
                    self.refill_group(now, key, task.no);
                }
            }
            None if fact == Fact::Waiting => self.fire(now, key, task),
            None => {
                if self.run_mut(key).is_startable(task.no, now) {
                    self.agenda.push_back((key, task.no));
                }
            }
        }
        Ok(Reply::Done)
    }

    /// Cancels a task and those below it that have not begun, except through edges that
    /// are satisfied by any end.
    pub(super) fn cancel_task(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
    ) -> Result<Reply, Refusal> {
        let fact = self.check_task(key, task)?;
        let run = self.run_mut(key);
        if run.is_being_cancelled(task) {
            return Err(Refusal::TaskStopping);
        }
        let is_live = run.row(task).is_some_and(TaskRow::is_live);
        if task.index.is_some() {
            // What that means for those below is said when its group is through.
            if is_live {
                self.stop_to_cancel(now, (key, task), Cancelled::ByName);
            } else {
                self.cancel_instance(now, key, task, Cancelled::ByName);
                self.after_instance(now, key, task.no);
            }
            return Ok(Reply::Done);
        }
        // Looked up before the first change: afterwards the planner has drawn conclusions.
        let no = task.no;
        let run = self.run_mut(key);
        let below = below(run.blueprint.shape(), &run.plan, &run.rows, no);
        match fact {
            Fact::Open => self.close_group(now, key, no, Cancelled::ByName),
            _ if is_live => self.stop_to_cancel(now, (key, task), Cancelled::ByName),
            _ => self.cancel_now(now, key, no, Cancelled::ByName),
        }
        for (no, falls) in below {
            // Those the planner settled meanwhile are derived.
            let unsettled = self.check_task(key, TaskRef::plain(no)).is_ok();
            if unsettled && (falls == Falls::ByRow || self.has_row_to_settle(key, no)) {
                self.cancel_now(now, key, no, Cancelled::UpstreamCancelled);
            }
        }
        Ok(Reply::Done)
    }

    /// Delayed, parked or held: what is stored has to say that it is over.
    fn has_row_to_settle(&mut self, key: RunKey, no: TaskNo) -> bool {
        let rows = &self.run_mut(key).rows;
        match rows.fact(no) {
            Fact::Delayed | Fact::Waiting => true,
            Fact::None => rows.is_held(no),
            _ => false,
        }
    }
}
