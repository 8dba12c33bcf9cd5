//! The entrance: which input goes where, and what it needs to be given first.

use crate::ids::{RunKey, TaskNo};
use crate::kernel::fact::Fact;
use crate::time::Timestamp;
use crate::work::ReportKind;
use crate::world::input::{Command, Input, Need, Prefetched, Refusal, Reply, Verb};
use crate::world::snapshot::RunSnapshot;
use crate::world::state::World;
use crate::world::timers::Timer;

impl World {
    /// What has to be read before this input can be applied.
    pub fn needs(&self, input: &Input) -> Vec<Need> {
        match input {
            Input::Report(_) => Vec::new(),
            Input::Deploy(deploy) if self.latest.contains_key(&deploy.definition.name) => {
                Vec::new()
            }
            Input::Deploy(deploy) => vec![Need::LatestVersion(deploy.definition.name.clone())],
            Input::Trigger(trigger) => {
                let number = trigger
                    .version
                    .or_else(|| self.latest.get(&trigger.workflow).map(|(number, _)| *number));
                match number {
                    None => vec![Need::LatestVersion(trigger.workflow.clone())],
                    Some(number) => {
                        let key = (trigger.workflow.clone(), number);
                        if self.blueprints.contains_key(&key) {
                            Vec::new()
                        } else {
                            vec![Need::Version(key.0, number)]
                        }
                    }
                }
            }
            Input::Command(command) if self.by_id.contains_key(&command.run) => Vec::new(),
            Input::Command(command) => vec![Need::Run(command.run)],
        }
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
            Input::Deploy(deploy) => self.deploy(now, deploy, found.version),
            Input::Trigger(trigger) => self.trigger(now, trigger, found.version),
            Input::Report(report) => self.report(now, report),
            Input::Command(command) => self.command(now, &command, found.run),
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
        match command.task {
            None => match command.verb {
                Verb::Pause => self.pause_run(now, key, &command.by),
                Verb::Resume => self.resume_run(now, key),
                Verb::Cancel => self.cancel_run(now, key, &command.by),
                Verb::Retry => self.retry(now, key, None),
            },
            Some(no) => {
                if no.position() >= self.run_mut(key).blueprint.definition.tasks.len() {
                    return Err(Refusal::TaskNotFound);
                }
                match command.verb {
                    Verb::Pause => self.pause_task(now, key, no, &command.by),
                    Verb::Resume => self.resume_task(now, key, no),
                    Verb::Cancel => self.cancel_task(now, key, no),
                    Verb::Retry => self.retry(now, key, Some(no)),
                }
            }
        }
    }

    /// A final run is taken back into memory for a retry, and for nothing else.
    fn command_on_departed(
        &mut self,
        now: Timestamp,
        command: &Command,
        found: Option<RunSnapshot>,
    ) -> Result<Reply, Refusal> {
        let snapshot = found.ok_or(Refusal::RunNotFound)?;
        let last_stamp = self.departed.get(&command.run);
        if last_stamp.is_some_and(|stamp| snapshot.progress.stamp < *stamp) {
            return Err(Refusal::Outdated);
        }
        let status = snapshot.progress.status;
        if !status.is_final() {
            return Err(Refusal::NotOwned);
        }
        if command.verb != Verb::Retry {
            return Err(Refusal::RunIs(status));
        }
        if command.task.is_some_and(|no| no.position() >= snapshot.definition.tasks.len()) {
            return Err(Refusal::TaskNotFound);
        }
        let key = self.take_in(snapshot);
        let answer = self.retry(now, key, command.task);
        if answer.is_err() {
            self.let_go(key);
        }
        answer
    }

    /// Carries out what has come due.
    pub fn wake(&mut self, now: Timestamp) {
        while !self.is_full() {
            let Some(timer) = self.timers.pop_due(now) else { return };
            self.gather.hurry();
            match timer {
                Timer { run, task: None, .. } => self.run_timed_out(now, run),
                Timer { run, task: Some(task), .. } => self.task_due(now, run, task.no),
            }
        }
    }

    fn task_due(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let run = self.runs.get(&key).expect("timers are disarmed with their run");
        match run.rows.fact(no) {
            // If it is held, or its run is, a resume looks again.
            Fact::Delayed if run.is_startable(no, now) => self.enqueue(key, no),
            Fact::Dispatched | Fact::Running => self.attempt_timed_out(key, no),
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
                ReportKind::Started => Self::Ride,
                ReportKind::Refused(_) | ReportKind::Reattached(..) => Self::None,
            },
            Input::Deploy(_) | Input::Trigger(_) | Input::Command(_) => Self::None,
        }
    }
}
