//! The changes of one batch by kind: what a store writes together.
//!
//! Kinds are written in the order of the fields, so that a batch may name its changes in any
//! order: a run is there before the rows that belong to it.

use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::{AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow};
use mainspring_core::world::batch::Change;
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct Grouped<'a> {
    pub versions: Vec<&'a VersionRow>,
    pub new_runs: Vec<(&'a RunHead, &'a RunProgress)>,
    pub runs: Vec<(RunKey, &'a RunProgress)>,
    pub tasks: Vec<(RunKey, &'a TaskRow)>,
    pub attempts: Vec<(RunKey, &'a AttemptRow)>,
    pub logs: Vec<(RunKey, AttemptId, &'a Log)>,
}

impl<'a> Grouped<'a> {
    pub fn of(changes: &'a [Change]) -> Self {
        let mut grouped = Self::default();
        for change in changes {
            match change {
                Change::NewVersion(version) => grouped.versions.push(version),
                Change::NewRun(head, progress) => grouped.new_runs.push((head, progress)),
                Change::PutRun(run, progress) => grouped.runs.push((*run, progress)),
                Change::PutTask(run, task) => grouped.tasks.push((*run, task)),
                Change::NewAttempt(run, attempt) => grouped.attempts.push((*run, attempt)),
                Change::NewLog(run, attempt, log) => grouped.logs.push((*run, *attempt, log)),
            }
        }
        grouped
    }

    /// Runs that rows of this batch belong to and that it does not write itself. Usually none:
    /// whatever happens to a task moves its run's stamp.
    pub fn runs_taken_for_granted(&self) -> BTreeSet<RunKey> {
        let tasks = self.tasks.iter().map(|(run, _)| *run);
        let attempts = self.attempts.iter().map(|(run, _)| *run);
        let logs = self.logs.iter().map(|(run, ..)| *run);
        let mut keys: Vec<RunKey> = tasks.chain(attempts).chain(logs).collect();
        keys.dedup();
        let mut keys: BTreeSet<RunKey> = keys.into_iter().collect();
        for (head, _) in &self.new_runs {
            keys.remove(&head.key);
        }
        for (run, _) in &self.runs {
            keys.remove(run);
        }
        keys
    }
}
