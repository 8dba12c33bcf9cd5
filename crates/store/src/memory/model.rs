//! All rows in ordered maps. No threads, no locks: a copy is a snapshot.

use crate::contract::{CommitError, Fence, Registration, RunsQuery, StoredRun};
use crate::grouped::Grouped;
use crate::refused::Refused;
use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId, TaskRef};
use mainspring_core::kernel::row::{AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow};
use mainspring_core::world::batch::Change;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    schedulers: BTreeMap<SchedulerId, Scheduler>,
    versions: BTreeMap<(Arc<str>, u32), VersionRow>,
    runs: BTreeMap<RunKey, (RunHead, RunProgress)>,
    keys: BTreeMap<RunId, RunKey>,
    tasks: BTreeMap<RunKey, BTreeMap<TaskRef, TaskRow>>,
    attempts: BTreeMap<RunKey, BTreeMap<(TaskRef, u32, AttemptId), AttemptRow>>,
    logs: BTreeMap<(RunKey, AttemptId), Log>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scheduler {
    ordinal: u32,
    epoch: u64,
}

/// Writing.
impl Model {
    pub fn register(&mut self, scheduler: SchedulerId) -> Registration {
        let ordinal = 1 + u32::try_from(self.schedulers.len()).expect("fewer than 2^22 schedulers");
        let entry =
            self.schedulers.entry(scheduler).or_insert_with(|| Scheduler { ordinal, epoch: 0 });
        entry.epoch += 1;
        let Scheduler { ordinal, epoch } = *entry;
        let last_run = self.runs.range(RunKey::range(ordinal)).next_back();
        let owned = self.runs.values().filter(|(_, progress)| progress.owner == scheduler);
        Registration {
            fence: Fence { scheduler, epoch },
            ordinal,
            next_run: last_run.map_or(0, |(key, _)| key.sequence()) + 1,
            next_stamp: owned.map(|(_, progress)| progress.stamp).max().unwrap_or(0) + 1,
        }
    }

    /// Writes all changes or none.
    pub fn apply(&mut self, fence: Fence, changes: &[Change]) -> Result<(), CommitError> {
        if self.schedulers.get(&fence.scheduler).map(|known| known.epoch) != Some(fence.epoch) {
            return Err(CommitError::Fenced);
        }
        let grouped = Grouped::of(changes);
        self.check(&grouped)?;
        self.write(&grouped);
        Ok(())
    }

    fn check(&self, grouped: &Grouped<'_>) -> Result<(), Refused> {
        let mut new_keys = BTreeSet::new();
        let mut new_ids = BTreeSet::new();
        for (head, progress) in &grouped.new_runs {
            let is_new = new_keys.insert(head.key) && new_ids.insert(head.id);
            if !is_new || self.runs.contains_key(&head.key) || self.keys.contains_key(&head.id) {
                return Err(Refused::RunExists { key: head.key, id: head.id });
            }
            self.check_owner(progress)?;
        }
        for (run, progress) in &grouped.runs {
            if !new_keys.contains(run) && !self.runs.contains_key(run) {
                return Err(Refused::RunUnknown(*run));
            }
            self.check_owner(progress)?;
        }
        match grouped.runs_taken_for_granted().iter().find(|run| !self.runs.contains_key(run)) {
            Some(run) => Err(Refused::RunUnknown(*run)),
            None => Ok(()),
        }
    }

    fn check_owner(&self, progress: &RunProgress) -> Result<(), Refused> {
        match self.schedulers.contains_key(&progress.owner) {
            true => Ok(()),
            false => Err(Refused::OwnerUnknown(progress.owner)),
        }
    }

    fn write(&mut self, grouped: &Grouped<'_>) {
        for version in &grouped.versions {
            let key = (Arc::clone(&version.workflow), version.number);
            self.versions.entry(key).or_insert_with(|| (*version).clone());
        }
        for (head, progress) in &grouped.new_runs {
            self.keys.insert(head.id, head.key);
            self.runs.insert(head.key, ((*head).clone(), (*progress).clone()));
        }
        for (run, progress) in &grouped.runs {
            let (_, stored) = self.runs.get_mut(run).expect("checked before");
            stored.clone_from(progress);
        }
        for (run, task) in &grouped.tasks {
            self.tasks.entry(*run).or_default().insert(task.task, (*task).clone());
        }
        // History is append-only: the first word on an attempt and its log stands.
        for (run, row) in &grouped.attempts {
            let key = (row.task, row.attempt.number, row.attempt.id);
            let history = self.attempts.entry(*run).or_default();
            history.entry(key).or_insert_with(|| (*row).clone());
        }
        for (run, attempt, log) in &grouped.logs {
            self.logs.entry((*run, *attempt)).or_insert_with(|| (*log).clone());
        }
    }
}

/// Reading.
impl Model {
    pub fn unfinished(&self, scheduler: SchedulerId) -> Vec<(RunKey, RunId)> {
        let mut found: Vec<&RunHead> = self
            .runs
            .values()
            .filter(|(_, progress)| progress.owner == scheduler && !progress.status.is_final())
            .map(|(head, _)| head)
            .collect();
        found.sort_by_key(|head| (head.created_at, head.id));
        found.into_iter().map(|head| (head.key, head.id)).collect()
    }

    pub fn run(&self, id: RunId) -> Option<StoredRun> {
        let key = self.keys.get(&id)?;
        let (head, progress) = self.runs.get(key)?.clone();
        let tasks =
            self.tasks.get(key).map_or_else(Vec::new, |rows| rows.values().cloned().collect());
        Some(StoredRun { head, progress, tasks })
    }

    pub fn runs(&self, query: &RunsQuery) -> Vec<(RunHead, RunProgress)> {
        let mut found: Vec<&(RunHead, RunProgress)> =
            self.runs.values().filter(|(head, progress)| matches(query, head, progress)).collect();
        found.sort_by_key(|(head, _)| Reverse((head.created_at, head.id)));
        found.into_iter().take(query.limit).cloned().collect()
    }

    pub fn version(&self, workflow: &str, number: Option<u32>) -> Option<VersionRow> {
        let name: Arc<str> = workflow.into();
        let (first, last) = number.map_or((0, u32::MAX), |number| (number, number));
        let mut range = self.versions.range((Arc::clone(&name), first)..=(name, last));
        range.next_back().map(|(_, version)| version.clone())
    }

    pub fn attempts(&self, run: RunKey) -> Vec<AttemptRow> {
        self.attempts.get(&run).map_or_else(Vec::new, |rows| rows.values().cloned().collect())
    }

    pub fn log(&self, run: RunKey, attempt: AttemptId) -> Option<Log> {
        self.logs.get(&(run, attempt)).cloned()
    }
}

fn matches(query: &RunsQuery, head: &RunHead, progress: &RunProgress) -> bool {
    (query.statuses.is_empty() || query.statuses.contains(&progress.status))
        && query.workflow.as_deref().is_none_or(|workflow| *workflow == *head.workflow)
        && query.after.is_none_or(|after| (head.created_at, head.id) < after)
}
