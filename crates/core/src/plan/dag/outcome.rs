//! How a run ends, decided only after the last cascade.

use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::row::{CancelCause, RunStatus};
use crate::kernel::rows::Rows;
use crate::plan::dag::plan::Shape;
use crate::spec::definition::When;

/// The outcome of a run that was neither cancelled nor timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Success,
    /// This task failed and nothing handled it.
    Failed(TaskNo),
    /// This task was cancelled by itself.
    Cancelled(TaskNo),
}

/// How a run ends: a cancel first, then what its tasks say.
pub fn outcome(cancel: Option<&CancelCause>, shape: Shape<'_>, rows: &Rows) -> RunStatus {
    match cancel {
        Some(CancelCause::Asked(_)) => RunStatus::Cancelled,
        Some(CancelCause::RunTimeout) => RunStatus::Failed,
        None => verdict(shape, rows).status(),
    }
}

impl Verdict {
    pub const fn status(self) -> RunStatus {
        match self {
            Self::Success => RunStatus::Success,
            Self::Failed(_) => RunStatus::Failed,
            Self::Cancelled(_) => RunStatus::Cancelled,
        }
    }
}

pub fn verdict(shape: Shape<'_>, rows: &Rows) -> Verdict {
    let unhandled =
        rows.iter().find(|row| row.fact == Fact::Failed && !is_handled(shape, rows, row.task.no));
    if let Some(row) = unhandled {
        return Verdict::Failed(row.task.no);
    }
    let cancelled = rows.iter().find(|row| row.fact == Fact::Cancelled);
    cancelled.map_or(Verdict::Success, |row| Verdict::Cancelled(row.task.no))
}

/// By the task itself, or by a direct dependent on a `when: failed` edge that succeeded.
/// `on_failure: run` is a *finally*: its edges are `finished`, so it never handles.
fn is_handled(shape: Shape<'_>, rows: &Rows, no: TaskNo) -> bool {
    shape.definition.task(no).allow_failure
        || shape.graph.dependents(no).iter().any(|(edge, dependent)| {
            shape.graph.edge(*edge).when == When::Failed && rows.fact(*dependent) == Fact::Success
        })
}
