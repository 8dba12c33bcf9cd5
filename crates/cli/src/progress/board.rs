//! What is known of a run while it goes on: its rows, as they become durable.

use super::standing::{Standing, Tally};
use super::step::{Step, What};
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{AttemptEnd, RunProgress, RunStatus, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::Definition;
use mainspring_core::time::Timestamp;
use mainspring_engine::events::Event;
use mainspring_store::StoredRun;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
pub struct Board {
    definition: Arc<Definition>,
    rows: Rows,
    run: Option<RunProgress>,
    /// Tasks with a live attempt, and since when.
    live: BTreeMap<TaskNo, Timestamp>,
}

impl Board {
    pub fn new(definition: Arc<Definition>) -> Self {
        let rows = Rows::new(definition.tasks.len());
        Self { definition, rows, run: None, live: BTreeMap::new() }
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
    pub fn apply(&mut self, event: Event) -> Option<Step> {
        match event {
            Event::Run(_, progress) => {
                self.run = Some(progress);
                None
            }
            Event::Task(_, row) => self.put(row),
        }
    }

    /// Takes over everything that is stored, after events may have been missed.
    pub fn catch_up(&mut self, stored: StoredRun) -> Vec<Step> {
        self.run = Some(stored.progress);
        stored.tasks.into_iter().filter_map(|row| self.put(row)).collect()
    }

    fn put(&mut self, row: TaskRow) -> Option<Step> {
        let no = row.task.no;
        let what = news(self.rows.get(no), &row);
        if row.fact.is_live() {
            let attempt = row.attempt.as_ref();
            let since = attempt.map(|now| now.started_at.unwrap_or(now.dispatched_at));
            self.live.insert(no, since.unwrap_or_else(mainspring_exec::now));
        } else {
            self.live.remove(&no);
        }
        let tries_max = self.definition.task(no).retries.max + 1;
        let step = what.map(|what| Step {
            task: Arc::clone(&self.definition.task(no).name),
            attempts: row.attempts,
            tries: (row.tries, tries_max),
            what,
        });
        self.rows.put(row);
        step
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

    fn live(&self) -> Vec<(&str, Timestamp)> {
        let name = |no: &TaskNo| &*self.definition.task(*no).name;
        let mut live: Vec<_> = self.live.iter().map(|(no, since)| (name(no), *since)).collect();
        live.sort_by_key(|(_, since)| *since);
        live
    }
}

/// What changed from one row to the next, if a person cares.
fn news(before: Option<&TaskRow>, now: &TaskRow) -> Option<What> {
    let fact_before = before.map_or(Fact::None, |row| row.fact);
    let attempt = now.attempt.as_ref();
    let attempt_before = before.and_then(|row| row.attempt.as_ref());
    if now.fact.is_live() {
        let same = attempt.map(|now| now.id) == attempt_before.map(|before| before.id);
        return (!same || !fact_before.is_live()).then_some(What::Started);
    }
    if now.fact == fact_before && now.until == before.and_then(|row| row.until) {
        return None;
    }
    let took = attempt.and_then(|now| Some(now.finished_at?.since(now.started_at?)));
    let end = attempt.and_then(|now| now.end.as_ref());
    match (now.fact, end) {
        (Fact::Success, _) => Some(What::Success(took)),
        (Fact::Failed, Some(AttemptEnd::Failed(error))) => Some(What::Failed((&**error).into())),
        (Fact::Failed, Some(AttemptEnd::Refused(why))) => Some(What::NeverStarted(why.to_string())),
        (Fact::Cancelled, _) => Some(What::Cancelled),
        (Fact::Skipped, _) => Some(What::Skipped),
        (Fact::Delayed, Some(AttemptEnd::Failed(error))) => {
            Some(What::Retrying((&**error).into(), now.until?))
        }
        (Fact::Delayed, Some(AttemptEnd::Refused(why))) => {
            Some(What::Refused(why.to_string(), now.until?))
        }
        _ => None,
    }
}
