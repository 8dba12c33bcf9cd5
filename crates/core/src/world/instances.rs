//! A group's instances in memory: those at work, those that wait for another try, and those that
//! a retry would take back. One below the group's cursor that is not here has succeeded.

use crate::evaluate::Surroundings;
use crate::ids::{TaskNo, TaskRef};
use crate::items::Items;
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::Step;
use crate::kernel::group::Group;
use crate::kernel::row::TaskRow;
use crate::limits::GROUP_DELAYED_MAX;
use crate::spec::definition::FanOut;
use crate::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Instances {
    rows: BTreeMap<u32, Box<TaskRow>>,
    /// Dispatched or running.
    pub live: u32,
    /// Those that wait for another try, whose time has come, and that nobody holds.
    pub due: BTreeSet<u32>,
    /// None before they were worked out, and for a group without `foreach`.
    pub items: Option<Arc<Items>>,
    /// Those without an attempt that were last asked about.
    pub asked: Range<u32>,
    /// That no list can be made of what they did has been found out before they had all landed.
    pub is_unlisted: bool,
    /// What instances share, once nothing of it can change any more.
    pub around: Option<Arc<Surroundings>>,
}

impl Instances {
    pub fn of(items: Option<Arc<Items>>) -> Self {
        Self { items, ..Self::default() }
    }

    pub fn get(&self, index: u32) -> Option<&TaskRow> {
        self.rows.get(&index).map(|row| &**row)
    }

    /// The row, made if there was none.
    pub fn entry(&mut self, no: TaskNo, index: u32) -> &mut TaskRow {
        let task = TaskRef { no, index: Some(index) };
        self.rows.entry(index).or_insert_with(|| Box::new(TaskRow::new(task)))
    }

    pub fn put(&mut self, index: u32, row: TaskRow) {
        self.live += u32::from(row.fact.is_live());
        self.rows.insert(index, Box::new(row));
    }

    /// Its success is in the store: nothing more can happen to it.
    pub fn forget(&mut self, index: u32) {
        self.rows.remove(&index);
    }

    pub fn iter(&self) -> impl Iterator<Item = &TaskRow> {
        self.rows.values().map(|row| &**row)
    }

    /// Keeps the counts true when an instance stands otherwise than before.
    pub fn note(&mut self, group: &mut Group, index: u32, (before, after): (Standing, Standing)) {
        for (standing, step) in [(before, u32::MAX), (after, 1)] {
            let counted = match standing.fact {
                Fact::Dispatched | Fact::Running => Some(&mut self.live),
                _ => tally(group, standing),
            };
            // Adding the largest number takes one away.
            counted.into_iter().for_each(|n| *n = n.wrapping_add(step));
        }
        if after.fact != Fact::Delayed {
            self.due.remove(&index);
        }
    }

    /// Whether an instance waits for nothing but its turn.
    pub fn is_due(&self, index: u32, now: Timestamp) -> bool {
        self.get(index).is_some_and(|row| {
            let has_come = row.until.is_some_and(|until| until <= now);
            row.fact == Fact::Delayed && row.hold.is_none() && has_come
        })
    }

    /// The instance whose turn it is: another try before a first one.
    pub fn next(&self, group: &Group, fan_out: &FanOut) -> Option<u32> {
        if self.live + group.waiting >= fan_out.concurrency.unwrap_or(u32::MAX) {
            return None;
        }
        let fresh = || {
            // Those whose work is done take memory as well until that has landed.
            let waiting = group.delayed + group.held + group.worker_done;
            let twice = fan_out.concurrency.unwrap_or(0).saturating_mul(2);
            let may_open = group.has_more() && waiting <= twice.max(GROUP_DELAYED_MAX);
            may_open.then_some(group.next)
        };
        self.due.first().copied().or_else(fresh)
    }
}

/// What of a row decides where it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub fact: Fact,
    pub is_held: bool,
    /// What lands its work is live.
    pub is_landing: bool,
}

impl Standing {
    pub fn of(row: &TaskRow) -> Self {
        let is_landing = row.finalizing().is_some_and(|finalizer| finalizer.fact.is_live());
        Self { fact: row.fact, is_held: row.hold.is_some(), is_landing }
    }

    /// Which step of its task holds permits, if one does.
    pub fn step(self) -> Step {
        if self.is_landing { Step::Finalize } else { Step::Work }
    }
}

/// Where an instance that is not at work is counted.
pub fn tally(group: &mut Group, standing: Standing) -> Option<&mut u32> {
    match standing.fact {
        Fact::Success => Some(&mut group.success),
        Fact::Failed => Some(&mut group.failed),
        Fact::Cancelled => Some(&mut group.cancelled),
        Fact::Waiting => Some(&mut group.waiting),
        Fact::WorkerDone => Some(&mut group.worker_done),
        Fact::Delayed if standing.is_held => Some(&mut group.held),
        Fact::Delayed => Some(&mut group.delayed),
        _ => None,
    }
}
