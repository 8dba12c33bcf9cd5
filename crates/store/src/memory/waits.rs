//! What people say to runs: signals, tasks that they add; and approvals that wait for somebody.

use super::model::Model;
use crate::contract::StoredApproval;
use crate::grouped::Grouped;
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::AdditionRow;
use mainspring_core::kernel::wait::{ApprovalPlace, SignalRow};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Model {
    pub(super) fn write_waits(&mut self, grouped: &Grouped<'_>) {
        for (run, row) in &grouped.signals {
            let signals = self.signals.entry(*run).or_default();
            let key = (Arc::clone(&row.key), row.number);
            signals.entry(key).or_insert_with(|| (*row).clone());
        }
        for (run, row) in &grouped.additions {
            let additions = self.additions.entry(*run).or_default();
            additions.entry(row.number).or_insert_with(|| (*row).clone());
        }
        for (ApprovalPlace { since, run, task }, waits) in grouped.approvals() {
            match waits {
                true => self.approvals.insert((run, task), since),
                false => self.approvals.remove(&(run, task)),
            };
        }
    }

    /// Tasks that were added, by number.
    pub fn additions(&self, run: RunKey) -> Vec<AdditionRow> {
        self.additions.get(&run).map_or_else(Vec::new, |all| all.values().cloned().collect())
    }

    /// All of them, by key and number.
    pub fn all_signals(&self, run: RunKey) -> Vec<SignalRow> {
        self.signals.get(&run).map_or_else(Vec::new, |all| all.values().cloned().collect())
    }

    /// The newest of each key.
    pub fn signals(&self, run: RunKey) -> Vec<SignalRow> {
        let all = self.signals.get(&run).into_iter().flat_map(|signals| signals.values());
        // In order, so that the last one of each key stays.
        let newest: BTreeMap<&str, &SignalRow> = all.map(|row| (&*row.key, row)).collect();
        let mut found: Vec<SignalRow> = newest.into_values().cloned().collect();
        found.sort_by_key(|row| row.number);
        found
    }

    pub fn approvals(&self, after: Option<ApprovalPlace>, limit: usize) -> Vec<StoredApproval> {
        let mut places = self.listed();
        places.retain(|place| after.is_none_or(|after| *place > after));
        places.sort_unstable();
        let stored = |place: &ApprovalPlace| {
            let (head, _) = self.runs.get(&place.run)?;
            let row = self.tasks.get(&place.run)?.get(&place.task)?.clone();
            let (workflow, version) = (Arc::clone(&head.workflow), head.version);
            Some(StoredApproval { place: *place, run: head.id, workflow, version, row })
        };
        places.iter().take(limit).filter_map(stored).collect()
    }

    /// Where approvals wait, by run and task.
    pub fn listed(&self) -> Vec<ApprovalPlace> {
        let places = self.approvals.iter();
        places
            .map(|((run, task), since)| ApprovalPlace { since: *since, run: *run, task: *task })
            .collect()
    }
}
