//! All rows in ordered maps. No threads, no locks: a copy is a snapshot.

use super::cache::Cache;
use super::limits::Limits;
use super::records::Records;
use crate::contract::{
    CommitError, Expired, Fence, Registration, RunsQuery, StoredLimits, StoredRun, VersionsQuery,
};
use crate::grouped::{Grouped, Marks};
use crate::refused::Refused;
use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::row::{
    AdditionRow, AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow, WorkflowRow,
};
use mainspring_core::kernel::wait::SignalRow;
use mainspring_core::limits::INPUT_LISTED_BYTES_MAX;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_core::world::input::Forgotten;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    schedulers: BTreeMap<SchedulerId, Scheduler>,
    versions: BTreeMap<(Arc<str>, u32), VersionRow>,
    workflows: BTreeMap<Arc<str>, WorkflowRow>,
    pub(super) runs: BTreeMap<RunKey, (RunHead, RunProgress)>,
    keys: BTreeMap<RunId, RunKey>,
    pub(super) tasks: BTreeMap<RunKey, BTreeMap<TaskRef, TaskRow>>,
    pub(super) attempts: BTreeMap<RunKey, BTreeMap<(TaskRef, u32, AttemptId), AttemptRow>>,
    logs: BTreeMap<(RunKey, AttemptId), Log>,
    pub(super) additions: BTreeMap<RunKey, BTreeMap<u32, AdditionRow>>,
    pub(super) signals: BTreeMap<RunKey, BTreeMap<(Arc<str>, u32), SignalRow>>,
    pub(super) approvals: BTreeMap<(RunKey, TaskRef), Timestamp>,
    pub(super) cache: Cache,
    limits: Limits,
    pub(super) records: Records,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scheduler {
    ordinal: u32,
    epoch: u64,
    marks: Marks,
}

/// Writing.
impl Model {
    pub fn register(&mut self, scheduler: SchedulerId) -> Registration {
        let ordinal = 1 + u32::try_from(self.schedulers.len()).expect("fewer than 2^22 schedulers");
        let new = || Scheduler { ordinal, epoch: 0, marks: Marks::default() };
        let entry = self.schedulers.entry(scheduler).or_insert_with(new);
        entry.epoch += 1;
        let Scheduler { ordinal, epoch, marks } = *entry;
        let last_run = self.runs.range(RunKey::range(ordinal)).next_back();
        let owned = self.runs.values().filter(|(_, progress)| progress.owner == scheduler);
        let shown = Marks {
            next_run: last_run.map_or(0, |(key, _)| key.sequence()) + 1,
            next_stamp: owned.map(|(_, progress)| progress.stamp).max().unwrap_or(0) + 1,
        };
        let Marks { next_run, mut next_stamp } = marks.raised_to(shown);
        if self.adopt(scheduler, next_stamp) {
            next_stamp += 1;
        }
        Registration { fence: Fence { scheduler, epoch }, ordinal, next_run, next_stamp }
    }

    /// Whoever registers is the only one alive: what others left unfinished becomes its own, as
    /// one commit. Returns whether there was anything.
    fn adopt(&mut self, scheduler: SchedulerId, stamp: u64) -> bool {
        let is_left =
            |progress: &RunProgress| progress.owner != scheduler && !progress.status.is_final();
        let left = self.runs.values_mut().map(|(_, progress)| progress);
        let mut dead = BTreeSet::new();
        for progress in left.filter(|progress| is_left(progress)) {
            dead.insert(progress.owner);
            (progress.owner, progress.stamp) = (scheduler, stamp);
        }
        for id in &dead {
            self.schedulers.get_mut(id).expect("an owner is known").epoch += 1;
        }
        !dead.is_empty()
    }

    /// Writes all changes or none.
    pub fn apply(&mut self, fence: Fence, changes: &[Change]) -> Result<(), CommitError> {
        if self.schedulers.get(&fence.scheduler).map(|known| known.epoch) != Some(fence.epoch) {
            return Err(CommitError::Fenced);
        }
        let grouped = Grouped::of(changes);
        self.check(&grouped)?;
        self.write(&grouped);
        self.drop_runs(&grouped.dropped_runs);
        let keys = &self.keys;
        self.records.write(&grouped, |run| keys.contains_key(&run));
        if let (Some(marks), Some(known)) =
            (grouped.marks, self.schedulers.get_mut(&fence.scheduler))
        {
            known.marks = known.marks.raised_to(marks);
        }
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
        for row in &grouped.workflows {
            self.workflows.insert(Arc::clone(&row.name), (*row).clone());
        }
        for (head, progress) in &grouped.new_runs {
            self.keys.insert(head.id, head.key);
            self.runs.insert(head.key, ((*head).clone(), (*progress).clone()));
        }
        for (run, progress) in &grouped.runs {
            let (_, stored) = self.runs.get_mut(run).expect("checked before");
            stored.clone_from(progress);
        }
        for (run, row) in &grouped.attempts {
            self.append(*run, (*row).clone());
        }
        for (run, no) in &grouped.sent_back {
            self.send_back(*run, *no);
        }
        for (run, task) in &grouped.tasks {
            self.tasks.entry(*run).or_default().insert(task.task, (*task).clone());
        }
        for (run, attempt, log) in &grouped.logs {
            self.logs.entry((*run, *attempt)).or_insert_with(|| (*log).clone());
        }
        self.write_waits(grouped);
        self.cache.write(grouped);
        self.limits.write(grouped);
    }

    /// History is append-only: the first word on an attempt stands, as on its log.
    pub(super) fn append(&mut self, run: RunKey, row: AttemptRow) {
        let key = (row.task, row.attempt.number, row.attempt.id);
        self.attempts.entry(run).or_default().entry(key).or_insert(row);
    }

    fn drop_runs(&mut self, dropped: &[(RunKey, u64)]) {
        for (run, stamp) in dropped {
            let is_same =
                |progress: &RunProgress| progress.status.is_final() && progress.stamp == *stamp;
            if !self.runs.get(run).is_some_and(|(_, progress)| is_same(progress)) {
                continue;
            }
            let below = self.below(*run);
            for run in [*run].into_iter().chain(below) {
                self.drop_run(run);
            }
        }
    }

    fn drop_run(&mut self, run: RunKey) {
        if let Some((head, _)) = self.runs.remove(&run) {
            self.keys.remove(&head.id);
            self.cache.lose_blobs_of(head.id);
        }
        self.tasks.remove(&run);
        self.attempts.remove(&run);
        self.logs.retain(|(of, _), _| *of != run);
        self.signals.remove(&run);
        self.additions.remove(&run);
        self.approvals.retain(|(of, _), _| *of != run);
    }

    /// The runs below a run.
    fn below(&self, run: RunKey) -> Vec<RunKey> {
        let mut found = Vec::new();
        let mut above: Vec<RunId> =
            self.runs.get(&run).map(|(head, _)| head.id).into_iter().collect();
        while let Some(parent) = above.pop() {
            let heads = self.runs.values().map(|(head, _)| head);
            for child in heads.filter(|head| head.parent_run() == Some(parent)) {
                if child.key != run && !found.contains(&child.key) {
                    found.push(child.key);
                    above.push(child.id);
                }
            }
        }
        found
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

    pub fn limits(&self) -> StoredLimits {
        self.limits.all()
    }

    pub fn run(&self, id: RunId) -> Option<StoredRun> {
        let key = self.keys.get(&id)?;
        let (head, progress) = self.runs.get(key)?.clone();
        let tasks = self.tasks_of(*key);
        Some(StoredRun { head, progress, tasks })
    }

    pub fn known_runs(&self, among: &[RunId]) -> Vec<RunId> {
        among.iter().copied().filter(|run| self.keys.contains_key(run)).collect()
    }

    pub fn runs(&self, query: &RunsQuery) -> Vec<(RunHead, RunProgress)> {
        let mut found: Vec<&(RunHead, RunProgress)> =
            self.runs.values().filter(|(head, progress)| matches(query, head, progress)).collect();
        found.sort_by_key(|(head, _)| Reverse((head.created_at, head.id)));
        found.into_iter().take(query.limit).map(listed).collect()
    }

    pub fn version(&self, workflow: &str, number: Option<u32>) -> Option<VersionRow> {
        let name: Arc<str> = workflow.into();
        let (first, last) = number.map_or((0, u32::MAX), |number| (number, number));
        let mut range = self.versions.range((Arc::clone(&name), first)..=(name, last));
        range.next_back().map(|(_, version)| version.clone())
    }

    pub fn versions(&self, query: VersionsQuery<'_>) -> Vec<VersionRow> {
        let name: Arc<str> = query.workflow.into();
        let range = self.versions.range((Arc::clone(&name), 0)..=(name, u32::MAX));
        let is_below = |number| query.below.is_none_or(|below| number < below);
        let newest_first = range.rev().map(|(_, row)| row).filter(|row| is_below(row.number));
        newest_first.take(query.limit).cloned().collect()
    }

    pub fn workflow(&self, name: &str) -> Option<WorkflowRow> {
        self.workflows.get(name).cloned()
    }

    pub fn workflows(&self, after: Option<&str>, limit: usize) -> Vec<WorkflowRow> {
        let shown = self
            .workflows
            .values()
            .filter(|row| row.deleted_at.is_none() && after.is_none_or(|after| *row.name > *after));
        shown.take(limit).cloned().collect()
    }

    pub fn changed(
        &self,
        scheduler: SchedulerId,
        after: u64,
        limit: usize,
    ) -> Vec<(RunHead, RunProgress)> {
        let is_asked_for =
            |progress: &RunProgress| progress.owner == scheduler && progress.stamp > after;
        let mut found: Vec<&(RunHead, RunProgress)> =
            self.runs.values().filter(|(_, progress)| is_asked_for(progress)).collect();
        found.sort_by_key(|(head, progress)| (progress.stamp, head.key));
        let last = limit.checked_sub(1).map(|at| found.get(at).map(|(_, last)| last.stamp));
        let is_given = |progress: &RunProgress| match last {
            None => false,
            Some(last) => last.is_none_or(|last| progress.stamp <= last),
        };
        found.into_iter().filter(|(_, progress)| is_given(progress)).map(listed).collect()
    }

    pub fn expired(&self, before: Timestamp, limit: usize) -> Vec<Expired> {
        let is_over = |head: &RunHead, progress: &RunProgress| {
            progress.status.is_final()
                && head.parent.is_none()
                && head.created_at < before
                && progress.finished_at.is_some_and(|at| at < before)
        };
        let mut found: Vec<&(RunHead, RunProgress)> =
            self.runs.values().filter(|(head, progress)| is_over(head, progress)).collect();
        found.sort_by_key(|(head, _)| (head.created_at, head.id));
        let rows = |(head, progress): &(RunHead, RunProgress)| {
            u64::from(progress.counts.total) + self.instance_rows(head.key)
        };
        let expired = |run: &(RunHead, RunProgress)| {
            let (head, progress) = run;
            let below = self.below(head.key);
            let all = [head.key].into_iter().chain(below.iter().copied());
            let mut children: Vec<RunId> = below.iter().map(|key| self.runs[key].0.id).collect();
            let mut logs: Vec<AttemptId> = all.flat_map(|key| self.logs_outside_of(key)).collect();
            children.sort_unstable();
            logs.sort_unstable();
            let run_name = Forgotten { key: head.key, id: head.id, stamp: progress.stamp };
            let below = below.iter().map(|key| 1 + rows(&self.runs[key])).sum::<u64>();
            Expired { run: run_name, children, rows: rows(run) + below, logs }
        };
        found.into_iter().take(limit).map(expired).collect()
    }

    pub fn has_old_keys(&self, before: Timestamp) -> bool {
        self.records.has_old_keys(before, |run| self.keys.contains_key(&run))
    }

    fn logs_outside_of(&self, run: RunKey) -> Vec<AttemptId> {
        self.outside().filter(|(of, _)| *of == run).map(|(_, attempt)| attempt).collect()
    }

    pub fn logs_outside(&self, among: &[AttemptId]) -> Vec<AttemptId> {
        let known: BTreeSet<AttemptId> = self.outside().map(|(_, attempt)| attempt).collect();
        among.iter().copied().filter(|attempt| known.contains(attempt)).collect()
    }

    fn outside(&self) -> impl Iterator<Item = (RunKey, AttemptId)> {
        let outside = self.logs.iter().filter(|(_, log)| !matches!(log, Log::Inline(_)));
        outside.map(|(place, _)| *place)
    }

    pub fn attempts(&self, run: RunKey) -> Vec<AttemptRow> {
        self.attempts.get(&run).map_or_else(Vec::new, |rows| rows.values().cloned().collect())
    }

    pub fn attempts_of(&self, run: RunKey, task: TaskRef) -> Vec<AttemptRow> {
        self.attempts(run).into_iter().filter(|row| row.task == task).collect()
    }

    pub fn log(&self, run: RunKey, attempt: AttemptId) -> Option<Log> {
        self.logs.get(&(run, attempt)).cloned()
    }
}

/// As a list has it.
fn listed((head, progress): &(RunHead, RunProgress)) -> (RunHead, RunProgress) {
    let (mut head, mut progress) = (head.clone(), progress.clone());
    if head.input.as_str().len() > INPUT_LISTED_BYTES_MAX {
        head.input = Json::unread();
    }
    progress.output = None;
    (head, progress)
}

fn matches(query: &RunsQuery, head: &RunHead, progress: &RunProgress) -> bool {
    (query.statuses.is_empty() || query.statuses.contains(&progress.status))
        && query.workflow.as_deref().is_none_or(|workflow| *workflow == *head.workflow)
        && query.parent.is_none_or(|parent| head.parent_run() == Some(parent))
        && query.since.is_none_or(|since| head.created_at >= since)
        && query.until.is_none_or(|until| head.created_at < until)
        && query.labels.iter().all(|(name, value)| head.labels.get(name) == Some(value))
        && query.after.is_none_or(|after| (head.created_at, head.id) < after)
}
