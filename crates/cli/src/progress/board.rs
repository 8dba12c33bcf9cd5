//! What is known of a run while it goes on: its rows, as they become durable.

use super::standing::{Live, Standing, Tally};
use super::step::{Step, What};
use crate::client::wire::{Awaits, Error};
use crate::fan::{Fan, NAMED_MAX};
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::Finalizer;
use mainspring_core::kernel::row::{AttemptEnd, RunProgress, RunStatus, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::{Definition, Task};
use mainspring_core::time::Timestamp;
use mainspring_core::view::awaits as shown;
use mainspring_engine::events::Event;
use mainspring_store::StoredRun;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug)]
pub struct Board {
    definition: Arc<Definition>,
    /// What each task is called.
    names: Vec<Arc<str>>,
    rows: Rows,
    run: Option<RunProgress>,
    /// Tasks with a live attempt and open fan-outs, and since when.
    live: BTreeMap<TaskNo, Timestamp>,
    /// Failed instances that were named, a few of each fan-out: nothing else is kept of instances.
    named: BTreeMap<TaskNo, BTreeSet<u32>>,
}

impl Board {
    pub fn new(definition: Arc<Definition>) -> Self {
        let names = definition.tasks.iter().map(|task| Arc::clone(&task.name)).collect();
        let rows = Rows::new(definition.tasks.len());
        Self { definition, names, rows, run: None, live: BTreeMap::new(), named: BTreeMap::new() }
    }

    /// Of a child run, whose tasks are named after where it was begun.
    pub fn below(prefix: &str, definition: Arc<Definition>) -> Self {
        let named = |task: &Task| format!("{prefix}{}", task.name).into();
        let names = definition.tasks.iter().map(named).collect();
        Self { names, ..Self::new(definition) }
    }

    /// Of a run that was known before: what it did until now is no news.
    pub fn of(definition: Arc<Definition>, stored: &StoredRun) -> Self {
        let mut board = Self::new(definition);
        board.catch_up(stored.clone());
        board
    }

    pub fn definition(&self) -> &Arc<Definition> {
        &self.definition
    }

    /// Takes over what became durable; says what a person wants to know of it.
    pub fn apply(&mut self, event: Event) -> Vec<Step> {
        match event {
            Event::Run(_, progress) => {
                self.run = Some(progress);
                Vec::new()
            }
            Event::Task(_, row) => self.put(row),
        }
    }

    /// Takes over everything that is stored, after events may have been missed.
    pub fn catch_up(&mut self, stored: StoredRun) -> Vec<Step> {
        self.run = Some(stored.progress);
        stored.tasks.into_iter().flat_map(|row| self.put(row)).collect()
    }

    fn put(&mut self, row: TaskRow) -> Vec<Step> {
        let no = row.task.no;
        if let Some(index) = row.task.index {
            return self.put_instance(index, &row).into_iter().collect();
        }
        if row.is_live() || row.fact == Fact::Open {
            let landing = row.finalizing().and_then(|finalizer| finalizer.attempt);
            let landing = landing.map(|now| now.started_at.unwrap_or(now.dispatched_at));
            let attempt = row.attempt.as_ref();
            let attempt = attempt.map(|now| now.started_at.unwrap_or(now.dispatched_at));
            let since = landing.or(attempt).or_else(|| row.group.as_ref()?.opened_at);
            self.live.insert(no, since.unwrap_or_else(mainspring_exec::now));
        } else {
            self.live.remove(&no);
        }
        let before = self.rows.get(no);
        let whats: Vec<What> = match (before, row.group.as_deref()) {
            (before, None) => news(self.definition.task(no), before, &row).into_iter().collect(),
            (before, Some(_)) => {
                let named = self.named.get(&no).map_or(0, BTreeSet::len);
                group_news(self.definition.task(no), before, &row, named)
            }
        };
        let steps = whats.into_iter().map(|what| self.step(&row, what)).collect();
        self.rows.put(row);
        steps
    }

    /// Only failures are worth a line of their own, and only some of them.
    fn put_instance(&mut self, index: u32, row: &TaskRow) -> Option<Step> {
        let named = self.named.entry(row.task.no).or_default();
        if row.fact != Fact::Failed {
            named.remove(&index);
            return None;
        }
        if named.len() >= NAMED_MAX || !named.insert(index) {
            return None;
        }
        let what = failure(row)?;
        let task = format!("{}[{index}]", self.names[row.task.no.position()]);
        Some(Step { task: task.into(), ..self.step(row, what) })
    }

    fn step(&self, row: &TaskRow, what: What) -> Step {
        let task = self.definition.task(row.task.no);
        Step {
            task: Arc::clone(&self.names[row.task.no.position()]),
            attempts: row.attempts,
            tries: tries(task, row),
            what,
        }
    }

    /// None before anything is known.
    pub fn status(&self) -> Option<RunStatus> {
        self.run.as_ref().map(|run| run.status)
    }
}

impl Standing for Board {
    fn tally(&self) -> Tally {
        let counts = self.run.as_ref().map(|run| run.counts).unwrap_or_default();
        let done = counts.success + counts.failed + counts.cancelled + counts.skipped;
        Tally { total: counts.total, done, failed: counts.failed }
    }

    fn live(&self) -> Vec<Live<'_>> {
        let shown = |(no, since): (&TaskNo, &Timestamp)| {
            let group = self.rows.get(*no).and_then(|row| row.group.as_deref());
            let name = &*self.names[no.position()];
            Live { name, since: *since, fan: group.map(Fan::of_group) }
        };
        let mut live: Vec<_> = self.live.iter().map(shown).collect();
        live.sort_by_key(|task| task.since);
        live
    }
}

/// What changed about a fan-out, of whose failed instances so many were named.
fn group_news(task: &Task, before: Option<&TaskRow>, now: &TaskRow, named: usize) -> Vec<What> {
    let fact_before = before.map_or(Fact::None, |row| row.fact);
    let fan = |row: &TaskRow| row.group.as_deref().map(Fan::of_group).unwrap_or_default();
    let (then, now_fan) = (before.map(fan).unwrap_or_default(), fan(now));
    if now.fact == Fact::Open {
        return match fact_before {
            Fact::Open if now_fan.has_news_since(then) => {
                vec![What::Advanced(now_fan)]
            }
            Fact::Open => Vec::new(),
            _ => vec![What::Opened(now_fan.total)],
        };
    }
    let opened_at = now.group.as_ref().and_then(|group| group.opened_at);
    let took = now.settled_at.zip(opened_at).map(|(end, since)| end.since(since));
    let is_copied = now.group.as_ref().is_some_and(|group| group.copied);
    let what = match now.fact {
        Fact::Success if fact_before != Fact::Success && is_copied => Some(What::Copied),
        Fact::Success if fact_before != Fact::Success => Some(What::Gathered(now_fan, took)),
        _ => news(task, before, now),
    };
    let more = now_fan.failed.saturating_sub(u32::try_from(named).unwrap_or(u32::MAX));
    let has_ended = now.fact.is_settled() && !fact_before.is_settled();
    let more = (has_ended && more > 0).then_some(What::MoreFailed(more));
    more.into_iter().chain(what).collect()
}

/// Counted failures of the step that it is at, and how many there may be.
fn tries(task: &Task, row: &TaskRow) -> (u32, u32) {
    match (row.finalizing(), &task.finalize) {
        (Some(finalizer), Some(finalize)) => (finalizer.tries, finalize.retries.max + 1),
        _ => (row.tries, task.retries.max + 1),
    }
}

/// What changed about a task whose work is done.
fn landing_news(before: Option<&TaskRow>, now: &TaskRow) -> Option<What> {
    let finalizer = now.finalizing()?;
    let Some(known) = before.and_then(TaskRow::finalizing) else {
        let attempt = now.attempt.as_ref();
        let took = attempt.and_then(|it| Some(it.finished_at?.since(it.started_at?)));
        return Some(What::WorkDone(took));
    };
    let id = |it: &Finalizer| it.attempt.map(|attempt| attempt.id);
    if finalizer.fact.is_live() {
        return (id(finalizer) != id(known)).then_some(What::Landing);
    }
    let tried = |it: &Finalizer| (it.tries, it.losses, it.refusals);
    if tried(finalizer) == tried(known) {
        return None;
    }
    match (&finalizer.refused, &finalizer.error) {
        (Some(why), _) => Some(What::Refused(why.to_string(), now.until?)),
        (None, Some(error)) => {
            let Error { class, message } = (&**error).into();
            let error = Error { class, message: format!("its finalizer: {message}") };
            Some(What::Retrying(error, now.until?))
        }
        (None, None) => None,
    }
}

/// Why it failed.
fn failure(row: &TaskRow) -> Option<What> {
    let end = row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref());
    match (row.failure(), end) {
        (Some(error), _) => Some(What::Failed(error.into())),
        (None, Some(AttemptEnd::Refused(why))) => Some(What::NeverStarted(why.to_string())),
        (None, _) => None,
    }
}

/// What changed from one row to the next, if a person cares.
fn news(task: &Task, before: Option<&TaskRow>, now: &TaskRow) -> Option<What> {
    let fact_before = before.map_or(Fact::None, |row| row.fact);
    let attempt = now.attempt.as_ref();
    let attempt_before = before.and_then(|row| row.attempt.as_ref());
    if now.fact.is_live() {
        let same = attempt.map(|now| now.id) == attempt_before.map(|before| before.id);
        return (!same || !fact_before.is_live()).then_some(What::Started);
    }
    if now.fact == Fact::WorkerDone {
        return landing_news(before, now);
    }
    if now.fact == fact_before && now.until == before.and_then(|row| row.until) {
        return None;
    }
    let took = attempt.and_then(|now| Some(now.finished_at?.since(now.started_at?)));
    let end = attempt.and_then(|now| now.end.as_ref());
    match (now.fact, end) {
        (Fact::Success, Some(AttemptEnd::Cached)) => Some(What::Cached),
        (Fact::Success, Some(AttemptEnd::Copied)) => Some(What::Copied),
        (Fact::Success, _) => Some(What::Success(took)),
        (Fact::Failed, _) => failure(now),
        (Fact::Cancelled, _) => Some(What::Cancelled),
        (Fact::Skipped, _) => Some(What::Skipped),
        (Fact::Waiting, _) => {
            let awaits = shown::Awaits::of(task, now)?;
            Some(What::Waiting(Awaits::from(awaits).text()))
        }
        (Fact::Delayed, Some(AttemptEnd::Failed(error))) => {
            Some(What::Retrying((&**error).into(), now.until?))
        }
        (Fact::Delayed, Some(AttemptEnd::Refused(why))) => {
            Some(What::Refused(why.to_string(), now.until?))
        }
        _ => None,
    }
}
