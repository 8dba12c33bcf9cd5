//! What is due when: one entry for each task row and one for each run, removable, so that
//! a million one-hour timeouts of tasks that took a second cost nothing.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::TaskRow;
use crate::spec::definition::{Finalize, Task};
use crate::time::{Span, Timestamp};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timer {
    pub at: Timestamp,
    pub run: RunKey,
    /// None: the run's own timeout.
    pub task: Option<TaskRef>,
}

#[derive(Clone, Debug, Default)]
pub struct Timers(BTreeSet<Timer>);

impl Timers {
    pub fn arm(&mut self, timer: Timer) {
        self.0.insert(timer);
    }

    pub fn disarm(&mut self, timer: &Timer) {
        self.0.remove(timer);
    }

    pub fn next(&self) -> Option<Timestamp> {
        self.0.first().map(|timer| timer.at)
    }

    /// Takes the earliest one if its time has come.
    pub fn pop_due(&mut self, now: Timestamp) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Timer> {
        self.0.iter()
    }
}

/// When something has to happen to a task if nothing else does.
pub fn due(row: &TaskRow, task: &Task) -> Option<Timestamp> {
    let attempt = row.attempt.as_ref();
    match row.fact {
        Fact::Delayed => row.until,
        Fact::Waiting if row.child().is_some() => row.until.filter(|_| row.stopping.is_none()),
        Fact::Waiting if row.hold.is_none() => row.until,
        Fact::Dispatched if row.stopping.is_none() => {
            // Refused starts before this one count too, waiting for permits does not.
            let left = task.start_timeout.0.saturating_sub(row.refused_for.0);
            Some(attempt?.dispatched_at + Span(left))
        }
        Fact::Running if row.stopping.is_none() => Some(attempt?.started_at? + task.timeout),
        Fact::Dispatched | Fact::Running => row.until,
        Fact::WorkerDone => final_due(row, task.finalize.as_deref()?),
        _ => None,
    }
}

/// The same for what lands its work.
fn final_due(row: &TaskRow, finalize: &Finalize) -> Option<Timestamp> {
    let finalizer = row.finalizing()?;
    match finalizer.fact {
        Fact::Delayed => row.until,
        Fact::Dispatched if row.stopping.is_none() => {
            let left = finalize.start_timeout.0.saturating_sub(finalizer.refused_for.0);
            Some(finalizer.attempt?.dispatched_at + Span(left))
        }
        Fact::Running if row.stopping.is_none() => {
            Some(finalizer.attempt?.started_at? + finalize.timeout)
        }
        Fact::Dispatched | Fact::Running => row.until,
        _ => None,
    }
}
