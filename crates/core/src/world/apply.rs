//! The entrance: which input goes where, and what it needs to be given first.

use crate::ids::{RunId, RunKey, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::TaskRow;
use crate::time::Timestamp;
use crate::work::ReportKind;
use crate::world::input::{
    ActiveRuns, Command, Input, Need, Order, Prefetched, Refusal, Reply, Trigger, Verb,
};
use crate::world::snapshot::RunSnapshot;
use crate::world::state::World;
use crate::world::timers::Timer;
use std::sync::Arc;

impl World {
    /// What has to be read before this input can be applied.
    pub fn needs(&self, input: &Input) -> Vec<Need> {
        match input {
            Input::Report(_)
            | Input::Answer(_)
            | Input::Forget(_)
            | Input::Admin(_)
            | Input::SetTier(_)
            | Input::Tiers
            | Input::RunLimits => Vec::new(),
            Input::Deploy(deploy) => self.needs_workflow(&deploy.definition.name),
            Input::DeleteWorkflow(delete) => {
                let mut needs = self.needs_workflow(&delete.name);
                let asleep = self.asleep_of(&delete.name);
                if delete.active == ActiveRuns::Cancel && !asleep.is_empty() {
                    needs.push(Need::Asleep(asleep));
                }
                needs
            }
            Input::Rouse(run) => {
                let is_awake = self.by_id.contains_key(run);
                if is_awake { Vec::new() } else { vec![Need::Run(*run)] }
            }
            Input::Trigger(trigger) => self.needs_version(trigger),
            Input::Command(command) => match self.by_id.get(&command.run) {
                Some(key) if !self.lacks_outputs(*key, &command.order) => Vec::new(),
                _ => vec![Need::Run(command.run)],
            },
            Input::Recorded(_, input) => self.needs(input),
        }
    }

    fn needs_workflow(&self, name: &Arc<str>) -> Vec<Need> {
        if self.latest.contains_key(name) { Vec::new() } else { vec![Need::Workflow(name.clone())] }
    }

    fn needs_version(&self, trigger: &Trigger) -> Vec<Need> {
        let mut needs = self.needs_workflow(&trigger.workflow);
        let latest = self.latest.get(&trigger.workflow).map(|(row, _)| row.latest);
        if let Some(number) = trigger.version.or(latest) {
            let key = (trigger.workflow.clone(), number);
            if !self.blueprints.contains_key(&key) {
                needs.push(Need::Version(key.0, number));
            }
        }
        needs
    }

    /// Decides one input. A refusal changes nothing.
    pub fn apply(
        &mut self,
        now: Timestamp,
        input: Input,
        found: Prefetched,
    ) -> Result<Reply, Refusal> {
        let patience = Patience::of(&input);
        let answer = match input {
            Input::Deploy(deploy) => self.deploy(now, deploy, found.workflow),
            Input::DeleteWorkflow(delete) => self.delete_workflow(now, &delete, found),
            Input::Trigger(trigger) => self.trigger(now, trigger, found),
            Input::Report(report) => self.report(now, report),
            Input::Answer(answer) => self.answer(now, answer),
            Input::Command(command) => {
                self.note_workflow(found.workflow);
                self.command(now, &command, found.run)
            }
            Input::Rouse(_) => {
                self.note_workflow(found.workflow);
                self.rouse(found.run)
            }
            Input::Forget(forget) => Ok(self.forget(&forget)),
            Input::Admin(admin) => Ok(self.administer(admin)),
            Input::SetTier(tier) => self.set_tier(now, &tier),
            Input::Tiers => Ok(Reply::Tiers(self.tiers())),
            Input::RunLimits => Ok(Reply::Tiers(self.run_limits())),
            Input::Recorded(record, input) => {
                let reply = self.apply(now, *input, found)?;
                self.record(now, *record, &reply);
                return Ok(reply);
            }
        };
        // Whatever else is said, be it that a report was stale, may follow from what is not
        // durable yet, and somebody waits for it.
        match (patience, &answer) {
            (Patience::Gather, Ok(_)) => self.gather.end(now),
            (Patience::Ride, Ok(_)) => {}
            _ => self.gather.hurry(),
        }
        answer
    }

    fn command(
        &mut self,
        now: Timestamp,
        command: &Command,
        found: Option<RunSnapshot>,
    ) -> Result<Reply, Refusal> {
        let Some(key) = self.by_id.get(&command.run).copied() else {
            return self.command_on_departed(now, command, found);
        };
        if self.lacks_outputs(key, &command.order) {
            self.restore_outputs(key, found.as_ref())?;
        }
        self.check_kin(key, &command.order)?;
        match &command.order {
            Order::Run(Verb::Pause) => self.pause_run(now, key, &command.by),
            Order::Run(Verb::Resume) => self.resume_run(now, key),
            Order::Run(Verb::Cancel) => self.cancel_run(now, key, &command.by),
            Order::Run(Verb::ForceCancel) => self.abandon_run(now, key, &command.by),
            Order::Run(Verb::Retry) => self.retry(now, key, None),
            Order::Task(named, verb) => {
                let task = self.run_mut(key).named(named)?;
                match verb {
                    Verb::Pause => self.pause_task(now, key, task, &command.by),
                    Verb::Resume => self.resume_task(now, key, task),
                    Verb::Cancel => self.cancel_task(now, key, task),
                    Verb::ForceCancel => self.abandon_task(now, key, task),
                    Verb::Retry => self.retry(now, key, Some(&[task])),
                }
            }
            Order::Signal(signal) => self.signal(now, key, signal, &command.by),
            Order::Add(addition) => self.add_tasks(now, key, addition, &command.by),
            Order::Rule(named, ruling) => {
                let task = self.run_mut(key).named(named)?;
                self.rule(now, key, task, (ruling, &command.by))
            }
            Order::RetryTasks(names) if names.is_empty() => Err(Refusal::TaskNotFailed),
            Order::RetryTasks(names) => {
                let run = self.run_mut(key);
                let plain = |name| run.task_no(name).map(TaskRef::plain);
                let tasks: Vec<TaskRef> = names.iter().map(plain).collect::<Result<_, _>>()?;
                self.retry(now, key, Some(&tasks))
            }
        }
    }

    /// Something has been read of a run that left memory: not from before that.
    pub(super) fn check_newest(&self, run: RunId, stamp: u64) -> Result<(), Refusal> {
        let departed = self.departed.get(&run);
        if departed.is_some_and(|it| stamp < it.stamp) { Err(Refusal::Outdated) } else { Ok(()) }
    }

    /// A final run is taken back into memory for a retry, and for nothing else; one that sleeps,
    /// for whatever it is told.
    fn command_on_departed(
        &mut self,
        now: Timestamp,
        command: &Command,
        found: Option<RunSnapshot>,
    ) -> Result<Reply, Refusal> {
        let mut snapshot = found.ok_or(Refusal::RunNotFound)?;
        self.check_newest(command.run, snapshot.progress.stamp)?;
        let status = snapshot.progress.status;
        if !status.is_final() {
            let key = self.awaken(snapshot)?.ok_or(Refusal::NotOwned)?;
            let answer = self.command(now, command, None);
            if answer.is_err() {
                self.lay_down(key);
            }
            self.grow_drowsy(key);
            return answer;
        }
        if !matches!(
            command.order,
            Order::Run(Verb::Retry) | Order::Task(_, Verb::Retry) | Order::RetryTasks(_)
        ) {
            return Err(Refusal::RunIs(status));
        }
        if let Some(parent) = &snapshot.head.parent {
            return Err(Refusal::ChildRun(parent.run));
        }
        // One that ended under another scheduler is carried on by this one.
        snapshot.progress.owner = self.scheduler;
        let key = self.take_in(snapshot);
        let answer = self.command(now, command, None);
        if answer.is_err() {
            self.let_go(key);
        }
        answer
    }

    /// Carries out what has come due.
    pub fn wake(&mut self, now: Timestamp) {
        self.limits.look_at(now);
        while !self.is_full() {
            let Some(timer) = self.timers.pop_due(now) else { return };
            self.gather.hurry();
            match timer {
                Timer { run, .. } if self.asleep.contains_key(&run) => self.stir(run),
                Timer { run, task: None, .. } => self.run_due(now, run),
                Timer { run, task: Some(task), .. } => self.task_due(now, run, task),
            }
        }
    }

    fn task_due(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let run = self.runs.get(&key).expect("timers are disarmed with their run");
        let row = run.row(task);
        let fact = row.map_or(Fact::None, |row| row.fact);
        let is_live = row.is_some_and(TaskRow::is_live);
        let is_being_stopped = row.is_some_and(|row| row.stopping.is_some());
        match (fact, task.index) {
            _ if is_live && is_being_stopped => self.kill_overdue(now, key, task),
            (Fact::Dispatched | Fact::Running, _) => self.attempt_timed_out(now, key, task),
            (Fact::Waiting, _) => self.fire(now, key, task),
            (Fact::WorkerDone, _) if is_live => self.attempt_timed_out(now, key, task),
            (Fact::WorkerDone, _) => self.line_up(now, key, task),
            (Fact::Delayed, Some(index)) => {
                self.instance_due(now, key, (task.no, index));
                self.after_instance(now, key, task.no);
            }
            // If it is held, or its run is, a resume looks again.
            (Fact::Delayed, None) if run.is_startable(task.no, now) => {
                self.begin_again(now, key, task.no);
            }
            _ => {}
        }
    }
}

/// What the commit of an input may wait for.
#[derive(Clone, Copy)]
enum Patience {
    None,
    /// Another commit.
    Ride,
    /// Others of its kind.
    Gather,
}

impl Patience {
    fn of(input: &Input) -> Self {
        match input {
            Input::Report(report) => match report.what {
                ReportKind::Ended(_) => Self::Gather,
                ReportKind::Started | ReportKind::Over => Self::Ride,
                ReportKind::Refused(_) | ReportKind::Reattached(..) => Self::None,
            },
            Input::Deploy(_)
            | Input::DeleteWorkflow(_)
            | Input::Trigger(_)
            | Input::Command(_)
            | Input::Rouse(_)
            | Input::Answer(_)
            | Input::Forget(_)
            | Input::Admin(_)
            | Input::SetTier(_)
            | Input::Tiers
            | Input::RunLimits
            | Input::Recorded(..) => Self::None,
        }
    }
}
