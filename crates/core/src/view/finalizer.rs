//! What lands the work of a task, as it is shown.

use crate::error::TaskError;
use crate::kernel::fact::Fact;
use crate::kernel::row::TaskRow;
use crate::spec::definition::Task;
use crate::time::Timestamp;
use serde::Serialize;

#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct FinalizerView {
    /// `queued`, `delayed`, `dispatched` or `running`; then its task's outcome.
    pub state: &'static str,
    /// Where it waits its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// When the work was done: of the same priority, the oldest goes first.
    pub since: Timestamp,
    /// The number of its live attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Counted failures, and how many it may have.
    pub tries: u32,
    pub tries_max: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub losses: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// How its last attempt failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
}

impl FinalizerView {
    pub fn of(task: &Task, row: &TaskRow) -> Option<Self> {
        let finalizer = row.finalizer.as_deref()?;
        let finalize = task.finalize.as_deref();
        let is_delayed = finalizer.fact == Fact::Delayed;
        Some(Self {
            state: finalizer.word(),
            queue: finalize.and_then(|it| finalizer.queue(it)).map(ToOwned::to_owned),
            since: finalizer.since,
            attempt: finalizer.attempt.map(|attempt| attempt.number),
            started_at: finalizer.attempt.and_then(|attempt| attempt.started_at),
            tries: finalizer.tries,
            tries_max: finalize.map_or(1, |it| it.retries.max + 1),
            losses: finalizer.losses,
            retry_at: row.until.filter(|_| is_delayed),
            error: finalizer.error.as_deref().cloned(),
        })
    }
}

/// Why a task whose work is done is not a success yet.
pub fn reason(row: &TaskRow) -> Option<String> {
    let finalizer = row.finalizing()?;
    Some(match &finalizer.refused {
        Some(why) if finalizer.fact == Fact::Delayed => format!("start_refused: {why}"),
        _ => format!("finalizer_{}", finalizer.word()),
    })
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}
