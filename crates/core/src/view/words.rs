//! From (definition, run, rows) to one word for each task.

use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::row::{CancelCause, Cancelled, RunProgress, TaskRow};
use crate::kernel::rows::Rows;
use crate::plan::dag::edge::{Doom, EdgeState};
use crate::plan::dag::graph::EdgeNo;
use crate::plan::dag::plan::{Plan, Shape};
use crate::time::Timestamp;
use crate::view::word::{Reason, Shown, Word};

/// One word for each task, in task order.
pub fn words(shape: Shape<'_>, progress: &RunProgress, rows: &Rows, now: Timestamp) -> Vec<Shown> {
    let view = View { shape, rows, plan: Plan::new(shape, rows), progress, now };
    shape.graph.tasks().map(|no| view.shown(no)).collect()
}

/// Being named needs no reason.
const fn cancel_reason(why: Cancelled) -> Option<Reason> {
    match why {
        Cancelled::ByName => None,
        Cancelled::UpstreamCancelled => Some(Reason::UpstreamCancelled),
        Cancelled::RunCancelled => Some(Reason::RunCancelled),
        Cancelled::RunTimeout => Some(Reason::RunTimeout),
    }
}

struct View<'a> {
    shape: Shape<'a>,
    rows: &'a Rows,
    plan: Plan,
    progress: &'a RunProgress,
    now: Timestamp,
}

impl View<'_> {
    fn shown(&self, no: TaskNo) -> Shown {
        let plain = |word| Shown { word, reason: None };
        let row = self.rows.get(no);
        match self.rows.fact(no) {
            Fact::Dispatched => plain(Word::Dispatched),
            Fact::Running => plain(Word::Running),
            Fact::Waiting => plain(Word::Waiting),
            Fact::WorkerDone => plain(Word::WorkerDone),
            Fact::Success => plain(Word::Success),
            Fact::Failed => plain(Word::Failed),
            Fact::Cancelled => {
                let reason = row.and_then(|row| row.cancelled).and_then(cancel_reason);
                Shown { word: Word::Cancelled, reason }
            }
            Fact::Skipped => Shown { word: Word::Skipped, reason: Some(Reason::Condition) },
            Fact::None => self.derived(no),
            Fact::Delayed if self.rows.is_held(no) => plain(Word::Paused),
            Fact::Delayed if row.is_some_and(|row| self.is_due(row)) => plain(Word::Ready),
            Fact::Delayed => plain(Word::Pending),
        }
    }

    fn is_due(&self, row: &TaskRow) -> bool {
        row.until.is_some_and(|until| until <= self.now)
    }

    /// Blocked over cancelled over skipped; then what holds it, then what it waits for.
    fn derived(&self, no: TaskNo) -> Shown {
        let shown = |word, reason| Shown { word, reason };
        let doom = self.plan.doom(no);
        if doom == Some(Doom::Blocked) {
            let cause = self.failed_above(no).map(Reason::UpstreamFailed);
            return shown(Word::Blocked, cause);
        }
        if doom == Some(Doom::Cancelled) {
            return shown(Word::Cancelled, Some(Reason::UpstreamCancelled));
        }
        match &self.progress.cancel {
            Some(CancelCause::Asked(_)) => {
                return shown(Word::Cancelled, Some(Reason::RunCancelled));
            }
            Some(CancelCause::RunTimeout) => {
                return shown(Word::Cancelled, Some(Reason::RunTimeout));
            }
            None => {}
        }
        if doom == Some(Doom::Skipped) {
            return shown(Word::Skipped, Some(Reason::UpstreamSkipped));
        }
        if self.rows.is_held(no) {
            return shown(Word::Paused, None);
        }
        shown(if self.plan.is_open(no) { Word::Ready } else { Word::Pending }, None)
    }

    /// The failed task that blocks this one: up along the first blocking edge each time.
    fn failed_above(&self, no: TaskNo) -> Option<TaskNo> {
        let mut at = no;
        loop {
            let mut edges = self.shape.graph.range(at);
            let blocking = edges.find(|position| {
                let edge = EdgeNo(u32::try_from(*position).unwrap_or(u32::MAX));
                self.plan.edge(edge) == EdgeState::Never(Doom::Blocked)
            })?;
            at = self.shape.graph.edge(EdgeNo(u32::try_from(blocking).ok()?)).upstream;
            if self.rows.fact(at) == Fact::Failed {
                return Some(at);
            }
        }
    }
}
