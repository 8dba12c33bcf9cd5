//! From (definition, run, rows) to one word for each task.

use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::row::{AttemptEnd, CancelCause, Cancelled, RunProgress, TaskRow};
use crate::kernel::rows::Rows;
use crate::plan::dag::edge::{Doom, EdgeState};
use crate::plan::dag::graph::EdgeNo;
use crate::plan::dag::plan::{Course, Plan, Shape};
use crate::time::Timestamp;
use crate::view::word::{Reason, Shown, Word};

/// One word for each task, in task order.
pub fn words(shape: Shape<'_>, progress: &RunProgress, rows: &Rows, now: Timestamp) -> Vec<Shown> {
    let plan = Plan::new(shape, rows, Course::of(progress));
    let view = View { shape, rows, plan: &plan, progress, now };
    shape.graph.tasks().map(|no| view.shown(no)).collect()
}

/// The word for one task, by a plan that is known to be true.
pub fn word(
    shape: Shape<'_>,
    (progress, rows): (&RunProgress, &Rows),
    plan: &Plan,
    (no, now): (TaskNo, Timestamp),
) -> Word {
    View { shape, rows, plan, progress, now }.shown(no).word
}

/// The word for one instance of a group. A group's hold is its instances' too.
pub fn instance_word(group: &TaskRow, row: &TaskRow, now: Timestamp) -> Shown {
    let is_held = row.hold.is_some() || group.hold.is_some();
    let waits = if is_held { Held::Yes } else { Held::No };
    stored(row, waits, now).unwrap_or(Shown { word: Word::Pending, reason: None })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    Yes,
    No,
}

/// What a row says by itself; None when that follows from other tasks.
fn stored(row: &TaskRow, held: Held, now: Timestamp) -> Option<Shown> {
    let plain = |word| Shown { word, reason: None };
    let is_due = row.until.is_some_and(|until| until <= now);
    Some(match row.fact {
        Fact::None => return None,
        Fact::Dispatched => plain(Word::Dispatched),
        Fact::Running | Fact::Open => plain(Word::Running),
        Fact::Waiting => plain(Word::Waiting),
        Fact::WorkerDone => plain(Word::WorkerDone),
        Fact::Success => Shown { word: Word::Success, reason: taken(row) },
        Fact::Failed => plain(Word::Failed),
        Fact::Cancelled => {
            Shown { word: Word::Cancelled, reason: row.cancelled.and_then(cancel_reason) }
        }
        Fact::Skipped => Shown { word: Word::Skipped, reason: Some(Reason::Condition) },
        Fact::Delayed if held == Held::Yes => plain(Word::Paused),
        Fact::Delayed if is_due => plain(Word::Ready),
        Fact::Delayed => plain(Word::Pending),
    })
}

/// Being named needs no reason.
const fn cancel_reason(why: Cancelled) -> Option<Reason> {
    match why {
        Cancelled::ByName => None,
        Cancelled::UpstreamCancelled => Some(Reason::UpstreamCancelled),
        Cancelled::RunCancelled => Some(Reason::RunCancelled),
        Cancelled::RunTimeout => Some(Reason::RunTimeout),
        Cancelled::FailFast => Some(Reason::FailFast),
        Cancelled::GraceOver => Some(Reason::GraceOver),
        Cancelled::ChildCancelled => Some(Reason::ChildCancelled),
    }
}

/// Whose success it is, if it is not its own.
fn taken(row: &TaskRow) -> Option<Reason> {
    match row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref()) {
        Some(AttemptEnd::Cached) => Some(Reason::Cached),
        Some(AttemptEnd::Copied) => Some(Reason::Copied),
        _ => row.group.as_ref().is_some_and(|group| group.copied).then_some(Reason::Copied),
    }
}

struct View<'a> {
    shape: Shape<'a>,
    rows: &'a Rows,
    plan: &'a Plan,
    progress: &'a RunProgress,
    now: Timestamp,
}

impl View<'_> {
    fn shown(&self, no: TaskNo) -> Shown {
        let held = if self.rows.is_held(no) { Held::Yes } else { Held::No };
        let own = self.rows.get(no).and_then(|row| stored(row, held, self.now));
        own.unwrap_or_else(|| self.derived(no))
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
        if doom == Some(Doom::RunOver) {
            let reason = match &self.progress.cancel {
                Some(CancelCause::RunTimeout) => Reason::RunTimeout,
                Some(CancelCause::Asked(_)) | None => Reason::RunCancelled,
            };
            return shown(Word::Cancelled, Some(reason));
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
