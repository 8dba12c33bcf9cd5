//! In which order those that wait for permits are served: higher priority first, and of the same
//! priority no run twice while another one waits. What lands work has no turns: whose work was done
//! first is first.
//!
//! Of two that need the same permits both could have had those that one of them got. So whoever
//! waits before a commit and after it was passed by everything that this commit started with the
//! same permits.

use crate::sim::library::Library;
use crate::sim::oracle::{Met, Reading};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::limits::{names, queue_of};
use crate::sim::promises::record::everything;
use crate::sim::store::whole;
use mainspring_core::ids::{AttemptId, RunKey, TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::Finalizer;
use mainspring_core::kernel::row::{RunStatus, TaskRow};
use mainspring_core::spec::definition::Definition;
use mainspring_core::time::Timestamp;
use mainspring_store::{Model, StoredRun};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Priority of the run, then of the task.
type Priority = (i32, i32);

/// What is needed, and how urgently.
type Place = (Vec<String>, Priority);

/// Who waited after the last commit, and which attempts there have been.
#[derive(Debug, Default)]
pub struct Served {
    waiting: BTreeMap<(RunKey, TaskNo), Place>,
    /// Finalizers that waited.
    queued: BTreeMap<(RunKey, TaskRef), Queued>,
    seen: BTreeSet<AttemptId>,
}

/// Its queue, and where it stands there.
type Queued = (Option<String>, (Reverse<Priority>, Timestamp));

impl Served {
    pub fn check(&mut self, model: &Model, library: &Library) -> Check {
        let mut waiting = BTreeMap::new();
        let mut started: BTreeMap<RunKey, Vec<Place>> = BTreeMap::new();
        let (mut queued, mut landing) = (BTreeMap::new(), Vec::new());
        for (head, _) in model.runs(&everything()).iter().filter(|(_, it)| !it.status.is_final()) {
            let run = whole(model, head.id).expect("listed runs exist");
            let definition = library.of(model, head);
            for row in run.tasks.iter().filter(|row| row.fact.is_live()) {
                let attempt = row.attempt.as_ref().filter(|it| self.seen.insert(it.id));
                let place = attempt.map(|_| place(&run, &definition, row.task.no));
                started.entry(head.key).or_default().extend(place);
            }
            for (row, finalizer) in
                run.tasks.iter().filter_map(|row| Some((row, row.finalizing()?)))
            {
                let place = queued_at(&run, &definition, row, finalizer);
                match finalizer.attempt {
                    Some(attempt) if self.seen.insert(attempt.id) => landing.push(place),
                    None if may_land(&run, row, finalizer) => {
                        queued.insert((head.key, row.task), place);
                    }
                    _ => {}
                }
            }
            let ready = ready(&run, &definition);
            waiting.extend(ready.map(|no| ((head.key, no), place(&run, &definition, no))));
        }
        let mut still = waiting.iter().filter(|(who, it)| self.waiting.get(who) == Some(it));
        let checked = still.try_for_each(|(who, place)| check_passed(*who, place, &started));
        let mut still = queued.iter().filter(|(who, it)| self.queued.get(who) == Some(it));
        let landed = still.try_for_each(|(who, place)| check_queue(*who, place, &landing));
        (self.waiting, self.queued) = (waiting, queued);
        checked.and(landed)
    }
}

fn place(run: &StoredRun, definition: &Definition, no: TaskNo) -> Place {
    let task = definition.task(no);
    (names(&run.head, definition, task), (run.head.priority, task.priority))
}

fn queued_at(
    run: &StoredRun,
    definition: &Definition,
    row: &TaskRow,
    finalizer: &Finalizer,
) -> Queued {
    let task = definition.task(row.task.no);
    let queue = task.finalize.as_deref().and_then(|finalize| queue_of(row, finalize));
    (queue, (Reverse((run.head.priority, task.priority)), finalizer.since))
}

/// Nothing is missing to it but permits.
fn may_land(run: &StoredRun, row: &TaskRow, finalizer: &Finalizer) -> bool {
    let whole = run.tasks.iter().find(|whole| whole.task == TaskRef::plain(row.task.no));
    let is_held = row.hold.is_some() || whole.is_some_and(|whole| whole.hold.is_some());
    run.progress.status == RunStatus::Running && finalizer.fact == Fact::None && !is_held
}

fn check_queue(
    (key, task): (RunKey, TaskRef),
    (queue, place): &Queued,
    landing: &[Queued],
) -> Check {
    let passed = landing.iter().find(|(other, its)| other == queue && its > place);
    Promise::Served.ensure(passed.is_none(), || {
        format!("{task:?} of run {} waits to land, and {passed:?} does", key.0)
    })
}

/// Tasks of which nothing is missing but permits, and nothing has to be worked out.
fn ready(run: &StoredRun, definition: &Definition) -> impl Iterator<Item = TaskNo> {
    let reading = Reading::of(definition, run.tasks.iter(), &run.progress);
    let goes_on = run.progress.status == RunStatus::Running;
    let is_ready = |no: &TaskNo| {
        let task = definition.task(*no);
        let is_held = reading.row(*no).is_some_and(|row: &TaskRow| row.hold.is_some());
        let is_plain = task.fan_out.is_none() && !task.needs_answer();
        let is_open = reading.dependencies(*no).all(|(_, met)| met == Met::Yes);
        let is_new = reading.fact(*no) == Fact::None && is_open;
        goes_on && task.action.executor().is_some() && is_plain && is_new && !is_held
    };
    let tasks = (0..definition.tasks.len()).map(TaskNo::from_position);
    tasks.filter(is_ready).collect::<Vec<_>>().into_iter()
}

fn check_passed(
    (key, no): (RunKey, TaskNo),
    (names, priority): &Place,
    started: &BTreeMap<RunKey, Vec<Place>>,
) -> Check {
    let own = started.get(&key).is_some_and(|own| !own.is_empty());
    for (other, places) in started {
        let alike: Vec<Priority> =
            places.iter().filter(|(needs, _)| needs == names).map(|(_, it)| *it).collect();
        let lower = alike.iter().find(|it| *it < priority);
        Promise::Served.ensure(lower.is_none(), || {
            format!(
                "{no:?} of run {} waits with {priority:?}, run {} got {lower:?}",
                key.0, other.0
            )
        })?;
        let twice = alike.iter().filter(|it| *it == priority).count() > 1;
        Promise::Served.ensure(own || *other == key || !twice, || {
            format!("{no:?} of run {} waits, run {} was served twice", key.0, other.0)
        })?;
    }
    Ok(())
}
