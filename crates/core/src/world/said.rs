//! What people and programs say to a run: signals, and decisions on approvals.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::wait::{Awaited, Decision, SignalRow};
use crate::limits::SIGNALS_MAX;
use crate::spec::control::{Approval, Control, Decider};
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::input::{Refusal, Reply, Ruling, Signal};
use crate::world::run::Run;
use crate::world::state::World;
use std::sync::Arc;

impl World {
    /// Kept whether or not anything waits for it: one signal is enough for every wait on its key
    /// that has not taken it yet.
    pub(super) fn signal(
        &mut self,
        now: Timestamp,
        key: RunKey,
        signal: &Signal,
        by: &str,
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        if run.progress.signals >= SIGNALS_MAX {
            return Err(Refusal::TooManySignals);
        }
        self.keep_in_time(now, key, &signal.key);
        let run = self.run_mut(key);
        run.progress.signals += 1;
        let row = SignalRow {
            number: run.progress.signals,
            key: Arc::clone(&signal.key),
            value: signal.value.clone(),
            by: by.to_owned(),
            at: now,
        };
        run.signals.insert(Arc::clone(&row.key), row.clone());
        let waiting: Vec<TaskRef> = run.waiting_for(&signal.key).collect();
        self.draft.weigh(row.value.as_str().len());
        self.draft.add(Change::NewSignal(key, row));
        self.draft.run(key);
        for task in waiting {
            self.fire(now, key, task);
        }
        Ok(Reply::Done)
    }

    /// A signal is about to come that is too late for a wait that somebody holds. One that was in
    /// time counts, and would be forgotten for the newer one.
    fn keep_in_time(&mut self, now: Timestamp, key: RunKey, signal: &Arc<str>) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let late = run.waiting_for(signal).filter_map(|task| {
            let row = run.row(task).filter(|row| row.until.is_some_and(|until| until < now))?;
            Some((task, run.in_time(row, signal)?))
        });
        for (task, kept) in late.collect::<Vec<_>>() {
            self.draft.weigh(kept.value.as_str().len());
            self.change(key, task, |row| {
                row.wait.as_mut().expect("it waits").in_time = Some(Box::new(kept));
            });
            self.draft.task(key, task);
        }
    }

    /// On the approval that is named; on a group, on every instance that waits for one.
    pub(super) fn rule(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        (ruling, by): (&Ruling, &str),
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        let definition = run.blueprint.definition.task(task.no);
        let Some(Control::Approval(approval)) = definition.control() else {
            return Err(Refusal::NotAnApproval(Arc::clone(&definition.name)));
        };
        let asked = run.asked_about(task, now)?;
        if !approval.may_decide(by, ruling.role) {
            return Err(Refusal::NotAllowed(deciders(approval)));
        }
        for task in asked {
            let decision = Decision {
                verdict: ruling.verdict,
                by: by.to_owned(),
                at: now,
                comment: ruling.comment.clone(),
            };
            self.change(key, task, |row| {
                let wait = row.wait.as_mut().and_then(|wait| wait.on.as_mut());
                if let Some(Awaited::Approval { decision: made, .. }) = wait {
                    *made = Some(Box::new(decision));
                }
            });
            self.draft.task(key, task);
            self.fire(now, key, task);
        }
        Ok(Reply::Done)
    }
}

fn deciders(approval: &Approval) -> String {
    approval.by.iter().map(Decider::word).collect::<Vec<_>>().join(", ")
}

impl Run {
    fn waiting_for(&self, key: &Arc<str>) -> impl Iterator<Item = TaskRef> {
        let from = (Arc::clone(key), TaskRef::FIRST);
        let all = self.awaiting.range(from..).take_while(move |(known, _)| known == key);
        all.map(|(_, task)| *task)
    }

    /// Those that wait for a decision: of a group, all of them.
    fn asked_about(&self, task: TaskRef, now: Timestamp) -> Result<Vec<TaskRef>, Refusal> {
        let mut asked = Vec::new();
        let mut decided = false;
        let group = self.groups.get(&task.no).filter(|_| task.index.is_none());
        let instances = group.into_iter().flat_map(|group| group.iter());
        for row in self.row(task).into_iter().chain(instances) {
            let is_late = row.until.is_some_and(|until| until <= now);
            match row.awaited() {
                Some(Awaited::Approval { decision: None, .. })
                    if row.fact == Fact::Waiting && !is_late =>
                {
                    asked.push(row.task);
                }
                Some(Awaited::Approval { decision: Some(_), .. }) => decided = true,
                _ => {}
            }
        }
        match asked.is_empty() {
            false => Ok(asked),
            true if decided => Err(Refusal::Decided),
            true if self.is_settled(task) => Err(Refusal::TaskSettled),
            true => Err(Refusal::NotWaiting),
        }
    }
}
