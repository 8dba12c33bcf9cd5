//! Where a parked task is looked for, kept true with its row: waits on signals by their key, and
//! approvals in the list of what waits for a person.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::TaskRow;
use crate::kernel::wait::{ApprovalPlace, Awaited};
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::draft::Draft;
use crate::world::run::Run;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parked {
    /// It is not, or nobody looks for it but its timer.
    No,
    OnSignal(Arc<str>),
    OnApproval(Timestamp),
}

impl Parked {
    pub fn of(row: &TaskRow) -> Self {
        match row.awaited() {
            Some(Awaited::Signal { key }) if row.fact == Fact::Waiting => {
                Self::OnSignal(Arc::clone(key))
            }
            Some(Awaited::Approval { .. }) if row.fact == Fact::Waiting => {
                let since = row.attempt.as_ref().map(|attempt| attempt.dispatched_at);
                Self::OnApproval(since.expect("a wait is an attempt"))
            }
            _ => Self::No,
        }
    }
}

impl Run {
    /// Takes a task from where it was to where it is.
    pub fn note_parked(&mut self, task: TaskRef, before: Parked, after: Parked, draft: &mut Draft) {
        let run = self.head.key;
        let place = |since| ApprovalPlace { since, run, task };
        match before {
            Parked::No => {}
            Parked::OnSignal(key) => drop(self.awaiting.remove(&(key, task))),
            Parked::OnApproval(since) => draft.add(Change::UnlistApproval(place(since))),
        }
        match after {
            Parked::No => {}
            Parked::OnSignal(key) => drop(self.awaiting.insert((key, task))),
            Parked::OnApproval(since) => draft.add(Change::ListApproval(place(since))),
        }
    }

    /// Waits on signals, from rows alone.
    pub fn count_awaiting(&self) -> impl Iterator<Item = (Arc<str>, TaskRef)> {
        self.all_rows().filter_map(|row| match Parked::of(row) {
            Parked::OnSignal(key) => Some((key, row.task)),
            _ => None,
        })
    }
}

/// The place of a task's approval in the list, if it waits for one.
pub fn approval_place(run: RunKey, row: &TaskRow) -> Option<ApprovalPlace> {
    match Parked::of(row) {
        Parked::OnApproval(since) => Some(ApprovalPlace { since, run, task: row.task }),
        _ => None,
    }
}
