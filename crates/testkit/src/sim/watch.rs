//! Watches the rows in memory from step to step. One step makes at most one transition of a
//! task, so what changed tells which event it was.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::anew::is_copied;
use crate::sim::tally::Tally;
use mainspring_core::ids::{RunKey, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::Finalizer;
use mainspring_core::kernel::row::{AttemptEnd, TaskRow};
use mainspring_core::kernel::transition::Event;
use mainspring_core::world::World;
use mainspring_core::world::run::Run;
use mainspring_store::Model;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Watch {
    facts: BTreeMap<RunKey, BTreeMap<TaskRef, Fact>>,
    /// The same of what lands work.
    finals: BTreeMap<(RunKey, TaskRef), Fact>,
    /// The tasks that the last retry named; none: it was of the whole run.
    retried: Option<Vec<TaskRef>>,
}

impl Watch {
    pub fn retry(&mut self, named: Option<Vec<TaskRef>>) {
        self.retried = named;
    }

    /// Another world: what is durable is where it begins.
    pub fn forget(&mut self) {
        self.facts.clear();
        self.finals.clear();
    }

    pub fn look(&mut self, world: &World, model: &Model, tally: &mut Tally) -> Check {
        self.facts.retain(|key, _| world.runs().any(|run| run.head.key == *key));
        for run in world.runs() {
            Promise::Departed.ensure(!run.progress.status.is_final(), || {
                format!("run {} is {:?}", run.head.key.0, run.progress.status)
            })?;
            let before = self.facts.entry(run.head.key).or_insert_with(|| stored(run, model));
            let named = self.retried.as_deref();
            check_gone(run, before, tally)?;
            for row in run.all_rows() {
                let was = before.entry(row.task).or_insert(Fact::None);
                if *was != row.fact {
                    count(*was, row, named, tally)?;
                    *was = row.fact;
                }
            }
        }
        self.look_at_finals(world, model, tally)
    }

    fn look_at_finals(&mut self, world: &World, model: &Model, tally: &mut Tally) -> Check {
        let mut now = BTreeMap::new();
        for run in world.runs() {
            for row in run.all_rows() {
                let Some(finalizer) = row.finalizer.as_deref() else { continue };
                let place = (run.head.key, row.task);
                let known = self.finals.get(&place).copied();
                let was = known.unwrap_or_else(|| stored_final(run, row.task, model));
                if was != finalizer.fact {
                    let Some(event) = final_event(was, finalizer) else {
                        let (was, is) = (was.word(), finalizer.word());
                        let what = format!("the finalizer of {:?}: {was} became {is}", row.task);
                        return Err(Promise::Transitions.broken(what));
                    };
                    tally.count(("finalizer", was.word(), event.word()));
                }
                now.insert(place, finalizer.fact);
            }
        }
        self.finals = now;
        Ok(())
    }
}

fn count(was: Fact, row: &TaskRow, named: Option<&[TaskRef]>, tally: &mut Tally) -> Check {
    let meant = named.is_none_or(|named| named.iter().any(|task| task.no == row.task.no));
    let named = if meant { Named::Yes } else { Named::No };
    let Some(event) = event(was, row, named) else {
        let what = format!("{:?}: {} became {}", row.task, was.word(), row.fact.word());
        return Err(Promise::Transitions.broken(what));
    };
    let group = if row.task.index.is_some() { "instance" } else { "transition" };
    tally.count((group, was.word(), event.word()));
    Ok(())
}

/// An instance leaves memory when its success is on its way into the store, and with all others
/// when its group goes back.
fn check_gone(run: &Run, before: &mut BTreeMap<TaskRef, Fact>, tally: &mut Tally) -> Check {
    let here = |task: &TaskRef| run.row(*task).is_some();
    let gone: Vec<(TaskRef, Fact)> =
        before.iter().filter(|(task, _)| !here(task)).map(|(task, fact)| (*task, *fact)).collect();
    for (task, fact) in gone {
        let group = run.rows.fact(task.no);
        let sent_back = group == Fact::None && fact.is_settled();
        // A wait that is over with the batch that says so was not seen in between.
        let was_through = matches!(fact, Fact::Success | Fact::Waiting);
        Promise::Transitions.ensure(was_through || sent_back, || {
            format!("{task:?} was {} and is gone", fact.word())
        })?;
        if sent_back {
            tally.count(("instance", fact.word(), Event::SentBack.word()));
        }
        before.remove(&task);
    }
    Ok(())
}

/// The facts of a run that was not in memory before.
fn stored(run: &Run, model: &Model) -> BTreeMap<TaskRef, Fact> {
    let rows = model.run(run.head.id).into_iter().flat_map(|run| run.tasks);
    rows.map(|row| (row.task, row.fact)).collect()
}

/// Of a finalizer that was not in memory before: it is durable, or it is new and queued.
fn stored_final(run: &Run, task: TaskRef, model: &Model) -> Fact {
    let rows = model.run(run.head.id).into_iter().flat_map(|run| run.tasks);
    let row = rows.into_iter().find(|row| row.task == task);
    let finalizer = row.and_then(|row| row.finalizer);
    finalizer.map_or(Fact::None, |finalizer| finalizer.fact)
}

/// What happened to what lands the work of a task, if it could.
fn final_event(was: Fact, finalizer: &Finalizer) -> Option<Event> {
    match (was, finalizer.fact) {
        (Fact::None | Fact::Delayed, Fact::Dispatched) => Some(Event::Dispatched),
        (Fact::Dispatched, Fact::Running) => Some(Event::Started),
        (Fact::Dispatched, Fact::Delayed) if finalizer.refused.is_some() => {
            Some(Event::StartRefused)
        }
        (Fact::Dispatched | Fact::Running, Fact::Delayed) => Some(Event::PutOff),
        (Fact::Dispatched | Fact::Running, Fact::Success) => Some(Event::Succeeded),
        (Fact::Dispatched | Fact::Running, Fact::Failed) => Some(Event::FailedForGood),
        (was, Fact::Cancelled) if !was.is_settled() => Some(Event::Cancelled),
        // Taken back and done once more between two looks.
        (was, Fact::None) if was.is_settled() => Some(Event::Retried),
        _ => None,
    }
}

/// What happened to a task, if it could.
fn event(was: Fact, row: &TaskRow, named: Named) -> Option<Event> {
    let is = row.fact;
    let end = row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref());
    let live = was.is_live() || matches!(was, Fact::Open | Fact::Waiting | Fact::WorkerDone);
    let is_unattempted = row.task.index.is_some() && row.attempt.is_none();
    match (was, is) {
        (Fact::None | Fact::Delayed, Fact::Dispatched) => Some(Event::Dispatched),
        (Fact::None | Fact::Delayed, Fact::Waiting) => Some(Event::Parked),
        // What it waited for was there already.
        (Fact::None | Fact::Delayed, Fact::Success | Fact::Failed)
            if row.wait.is_some() && end.is_some() =>
        {
            Some(Event::Parked)
        }
        (Fact::None, Fact::Success) if is_copied(row) => Some(Event::Copied),
        (Fact::None, Fact::Success) => Some(Event::DecidedSuccess),
        (Fact::None, Fact::Failed) => Some(Event::DecidedFailure),
        // An instance without an attempt that was asked for again.
        (Fact::Delayed, Fact::Success) if is_unattempted => Some(Event::DecidedSuccess),
        (Fact::Delayed, Fact::Failed) if is_unattempted => Some(Event::DecidedFailure),
        // No other child of it could begin.
        (Fact::Delayed, Fact::Failed) if row.error.is_some() => Some(Event::DecidedFailure),
        (Fact::None, Fact::Skipped) => Some(Event::ConditionFalse),
        (Fact::None, Fact::Open) => Some(Event::GroupOpened),
        (Fact::Failed | Fact::Cancelled, Fact::Open) => Some(Event::GroupReopened),
        (Fact::Failed | Fact::Cancelled, Fact::Delayed) => Some(Event::InstanceRetried),
        (Fact::Dispatched, Fact::Running) => Some(Event::Started),
        (Fact::Dispatched, Fact::Delayed) if matches!(end, Some(AttemptEnd::Refused(_))) => {
            Some(Event::StartRefused)
        }
        (Fact::Dispatched | Fact::Running | Fact::Waiting, Fact::Delayed) => Some(Event::PutOff),
        (Fact::Dispatched | Fact::Running, Fact::WorkerDone) => Some(Event::WorkDone),
        (_, Fact::Success) if live => Some(Event::Succeeded),
        (_, Fact::Failed) if live => Some(Event::FailedForGood),
        (_, Fact::Cancelled) if !was.is_settled() => Some(Event::Cancelled),
        (Fact::Failed, Fact::None) if named == Named::No => Some(Event::SentBack),
        (Fact::Failed | Fact::Cancelled, Fact::None) => Some(Event::Retried),
        (Fact::Success | Fact::Skipped, Fact::None) => Some(Event::SentBack),
        _ => None,
    }
}

/// Whether a retry was asked for this task, by name or with its whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Yes,
    No,
}
