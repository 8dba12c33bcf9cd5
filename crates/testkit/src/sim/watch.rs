//! Watches the rows in memory from step to step. One step makes at most one transition of a
//! task, so what changed tells which event it was.

use crate::sim::promise::{Check, Promise};
use crate::sim::tally::Tally;
use mainspring_core::ids::{RunKey, TaskNo};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{AttemptEnd, TaskRow};
use mainspring_core::kernel::transition::Event;
use mainspring_core::world::World;
use mainspring_core::world::run::Run;
use mainspring_store::Model;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Watch {
    facts: BTreeMap<RunKey, Vec<Fact>>,
    /// The tasks that the last retry named; none: it was of the whole run.
    retried: Option<Vec<TaskNo>>,
}

impl Watch {
    pub fn retry(&mut self, named: Option<Vec<TaskNo>>) {
        self.retried = named;
    }

    /// Another world: what is durable is where it begins.
    pub fn forget(&mut self) {
        self.facts.clear();
    }

    pub fn look(&mut self, world: &World, model: &Model, tally: &mut Tally) -> Check {
        self.facts.retain(|key, _| world.runs().any(|run| run.head.key == *key));
        for run in world.runs() {
            Promise::Departed.ensure(!run.progress.status.is_final(), || {
                format!("run {} is {:?}", run.head.key.0, run.progress.status)
            })?;
            let count = run.blueprint.definition.tasks.len();
            let before = self.facts.entry(run.head.key).or_insert_with(|| stored(run, model));
            for (position, was) in before.iter_mut().enumerate().take(count) {
                let no = TaskNo::from_position(position);
                let is = run.rows.fact(no);
                if *was != is {
                    let meant = self.retried.as_ref().is_none_or(|named| named.contains(&no));
                    let named = if meant { Named::Yes } else { Named::No };
                    let event = event(*was, run.rows.get(no), named);
                    let Some(event) = event else {
                        let what = format!("{} became {}", was.word(), is.word());
                        return Err(Promise::Transitions.broken(what));
                    };
                    tally.count(("transition", was.word(), event.word()));
                    *was = is;
                }
            }
        }
        Ok(())
    }
}

/// The facts of a run that was not in memory before.
fn stored(run: &Run, model: &Model) -> Vec<Fact> {
    let mut facts = vec![Fact::None; run.blueprint.definition.tasks.len()];
    for row in model.run(run.head.id).into_iter().flat_map(|run| run.tasks) {
        facts[row.task.no.position()] = row.fact;
    }
    facts
}

/// What happened to a task, if it could.
fn event(was: Fact, row: Option<&TaskRow>, named: Named) -> Option<Event> {
    let is = row.map_or(Fact::None, |row| row.fact);
    let end = row.and_then(|row| row.attempt.as_ref()?.end.as_ref());
    let live = was.is_live();
    match (was, is) {
        (Fact::None | Fact::Delayed, Fact::Dispatched) => Some(Event::Dispatched),
        (Fact::None, Fact::Success) => Some(Event::DecidedSuccess),
        (Fact::Dispatched, Fact::Running) => Some(Event::Started),
        (Fact::Dispatched, Fact::Delayed) if matches!(end, Some(AttemptEnd::Refused(_))) => {
            Some(Event::StartRefused)
        }
        (_, Fact::Delayed) if live => Some(Event::PutOff),
        (_, Fact::Success) if live => Some(Event::Succeeded),
        (_, Fact::Failed) if live => Some(Event::FailedForGood),
        (_, Fact::Cancelled) if !was.is_settled() => Some(Event::Cancelled),
        (Fact::Failed, Fact::None) if named == Named::No => Some(Event::SentBack),
        (Fact::Failed | Fact::Cancelled, Fact::None) => Some(Event::Retried),
        (Fact::Success, Fact::None) => Some(Event::SentBack),
        _ => None,
    }
}

/// Whether a retry was asked for this task, by name or with its whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Yes,
    No,
}
