//! What a decision leaves behind: changes to make durable, then effects to carry out.

use crate::ids::{AttemptId, RunId, RunKey, Ticket};
use crate::kernel::row::{AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow};
use crate::launch::StartAttempt;
use crate::work::{ExecutorKind, Question, Stop};

/// One row to write. A batch holds at most one `PutTask` and one `PutRun` for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    NewVersion(VersionRow),
    NewRun(RunHead, RunProgress),
    PutRun(RunKey, RunProgress),
    PutTask(RunKey, TaskRow),
    /// A superseded attempt; never written twice.
    NewAttempt(RunKey, AttemptRow),
    NewLog(RunKey, AttemptId, Log),
}

/// What to do once the changes are durable.
#[derive(Clone, Debug)]
pub enum Effect {
    Start(StartAttempt),
    Stop(ExecutorKind, Stop),
    /// Ask the executor what became of it.
    Reattach(ExecutorKind, Question),
    /// The attempt's end is durable: its executor may forget it.
    Settle(ExecutorKind, Ticket),
    /// The run is final.
    RunEnded(RunId),
}

/// The outcome of one round of decisions.
#[derive(Debug, Default)]
pub struct Batch {
    pub changes: Vec<Change>,
    pub effects: Vec<Effect>,
}
