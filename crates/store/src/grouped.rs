//! The changes of one batch by kind: what a store writes together.
//!
//! Kinds are written in the order of the fields, so that a batch may name its changes in any
//! order: a run is there before the rows that belong to it, and goes after the last word on it.
//! What the batch itself puts into the history is there before instances of a group go back, so that
//! its word on them stands; rows of tasks come after that, because the group may have new instances.
//! A key, or a cached success, that is used again in the batch that drops its old row keeps its new
//! one; a token that is dropped takes the sessions of the same batch with it.

use mainspring_core::ids::{AttemptId, BulkId, RunKey, TaskNo, TaskRef, TokenId};
use mainspring_core::kernel::bulk::{BulkEnd, BulkRow};
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::ledger::LedgerRow;
use mainspring_core::kernel::limit::LimitRow;
use mainspring_core::kernel::record::{AuditRow, KeyRow, TokenRow};
use mainspring_core::kernel::row::{
    AdditionRow, AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow, WorkflowRow,
};
use mainspring_core::kernel::wait::{ApprovalPlace, SignalRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct Grouped<'a> {
    pub versions: Vec<&'a VersionRow>,
    pub workflows: Vec<&'a WorkflowRow>,
    pub new_runs: Vec<(&'a RunHead, &'a RunProgress)>,
    pub runs: Vec<(RunKey, &'a RunProgress)>,
    pub attempts: Vec<(RunKey, &'a AttemptRow)>,
    /// Groups whose instances go back.
    pub sent_back: Vec<(RunKey, TaskNo)>,
    pub tasks: Vec<(RunKey, &'a TaskRow)>,
    pub logs: Vec<(RunKey, AttemptId, &'a Log)>,
    pub signals: Vec<(RunKey, &'a SignalRow)>,
    pub additions: Vec<(RunKey, &'a AdditionRow)>,
    /// The last word on each: since when, and whether it waits still.
    pub approvals: BTreeMap<(RunKey, TaskRef), (Timestamp, bool)>,
    /// The latest of the moments named: what has expired by then goes.
    pub cache_expired_at: Option<Timestamp>,
    /// The last word on each.
    pub cache: BTreeMap<&'a CacheKey, &'a CacheRow>,
    pub limits: BTreeMap<&'a str, &'a LimitRow>,
    pub ledgers: BTreeMap<&'a str, &'a LedgerRow>,
    pub dropped_runs: Vec<(RunKey, u64)>,
    /// The latest of the moments named.
    pub keys_dropped_before: Option<Timestamp>,
    pub keys: Vec<&'a KeyRow>,
    pub audit: Vec<&'a AuditRow>,
    pub tokens: Vec<&'a TokenRow>,
    pub dropped_tokens: Vec<TokenId>,
    /// The latest of the moments named.
    pub bulks_dropped_before: Option<Timestamp>,
    pub bulks: Vec<&'a BulkRow>,
    /// The first word on each.
    pub bulk_ends: BTreeMap<BulkId, &'a BulkEnd>,
    pub marks: Option<Marks>,
}

/// The next free numbers of a scheduler, whatever its rows show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub next_run: u64,
    pub next_stamp: u64,
}

impl Marks {
    /// A mark never goes down.
    pub fn raised_to(self, other: Self) -> Self {
        Self {
            next_run: self.next_run.max(other.next_run),
            next_stamp: self.next_stamp.max(other.next_stamp),
        }
    }
}

impl<'a> Grouped<'a> {
    pub fn of(changes: &'a [Change]) -> Self {
        let mut grouped = Self::default();
        for change in changes {
            grouped.add(change);
        }
        grouped
    }

    fn add(&mut self, change: &'a Change) {
        match change {
            Change::NewVersion(version) => self.versions.push(version),
            Change::PutWorkflow(workflow) => self.workflows.push(workflow),
            Change::NewRun(head, progress) => self.new_runs.push((head, progress)),
            Change::PutRun(run, progress) => self.runs.push((*run, progress)),
            Change::PutTask(run, task) => self.tasks.push((*run, task)),
            Change::NewAttempt(run, attempt) => self.attempts.push((*run, attempt)),
            Change::SendBackInstances(run, no) => self.sent_back.push((*run, *no)),
            Change::NewLog(run, attempt, log) => self.logs.push((*run, *attempt, log)),
            Change::NewSignal(run, row) => self.signals.push((*run, row)),
            Change::NewAddition(run, row) => self.additions.push((*run, row)),
            Change::ListApproval(ApprovalPlace { since, run, task }) => {
                self.approvals.insert((*run, *task), (*since, true));
            }
            Change::UnlistApproval(ApprovalPlace { since, run, task }) => {
                self.approvals.insert((*run, *task), (*since, false));
            }
            Change::DropCache(moment) => {
                self.cache_expired_at = self.cache_expired_at.max(Some(*moment));
            }
            Change::PutCache(row) => {
                self.cache.insert(&row.key, row);
            }
            Change::PutLimit(row) => {
                self.limits.insert(&row.name, row);
            }
            Change::PutLedger(row) => {
                self.ledgers.insert(&row.name, row);
            }
            Change::DropRun(run, stamp) => self.dropped_runs.push((*run, *stamp)),
            Change::DropKeys(before) => {
                self.keys_dropped_before = self.keys_dropped_before.max(Some(*before));
            }
            Change::Marks { next_run, next_stamp } => {
                let marks = Marks { next_run: *next_run, next_stamp: *next_stamp };
                self.marks = Some(self.marks.unwrap_or_default().raised_to(marks));
            }
            Change::NewKey(key) => self.keys.push(key),
            Change::NewAudit(row) => self.audit.push(row),
            Change::NewToken(token) => self.tokens.push(token),
            Change::DropToken(id) => self.dropped_tokens.push(*id),
            Change::DropBulks(before) => {
                self.bulks_dropped_before = self.bulks_dropped_before.max(Some(*before));
            }
            Change::NewBulk(row) => self.bulks.push(row),
            Change::EndBulk(id, end) => {
                self.bulk_ends.entry(*id).or_insert(end);
            }
        }
    }

    /// Approvals that wait from now on, and those that do not any more.
    pub fn approvals(&self) -> impl Iterator<Item = (ApprovalPlace, bool)> {
        self.approvals.iter().map(|((run, task), (since, waits))| {
            (ApprovalPlace { since: *since, run: *run, task: *task }, *waits)
        })
    }

    /// Runs that rows of this batch belong to and that it does not write itself. Usually none:
    /// whatever happens to a task moves its run's stamp.
    pub fn runs_taken_for_granted(&self) -> BTreeSet<RunKey> {
        let tasks = self.tasks.iter().map(|(run, _)| *run);
        let attempts = self.attempts.iter().map(|(run, _)| *run);
        let sent_back = self.sent_back.iter().map(|(run, _)| *run);
        let logs = self.logs.iter().map(|(run, ..)| *run);
        let signals = self.signals.iter().map(|(run, _)| *run);
        let approvals = self.approvals.keys().map(|(run, _)| *run);
        let additions = self.additions.iter().map(|(run, _)| *run);
        let others = sent_back.chain(logs).chain(signals).chain(additions).chain(approvals);
        let mut keys: Vec<RunKey> = tasks.chain(attempts).chain(others).collect();
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
