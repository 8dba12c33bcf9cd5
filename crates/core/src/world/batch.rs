//! What a decision leaves behind: changes to make durable, then effects to carry out.

use crate::evaluate;
use crate::ids::{AttemptId, BulkId, RunId, RunKey, TaskNo, Ticket, TokenId};
use crate::kernel::bulk::{BulkEnd, BulkRow};
use crate::kernel::cache::CacheRow;
use crate::kernel::ledger::LedgerRow;
use crate::kernel::limit::LimitRow;
use crate::kernel::record::{AuditRow, KeyRow, TokenRow};
use crate::kernel::row::{
    AdditionRow, AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow, WorkflowRow,
};
use crate::kernel::wait::{ApprovalPlace, SignalRow};
use crate::launch::StartAttempt;
use crate::time::Timestamp;
use crate::work::{ExecutorKind, Question, Stop};
use std::sync::Arc;

/// One row to write. A batch holds at most one `PutTask` and one `PutRun` for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    NewVersion(VersionRow),
    PutWorkflow(WorkflowRow),
    NewRun(RunHead, RunProgress),
    PutRun(RunKey, RunProgress),
    PutTask(RunKey, TaskRow),
    /// A superseded attempt; never written twice.
    NewAttempt(RunKey, AttemptRow),
    NewLog(RunKey, AttemptId, Log),
    /// A run with all that belongs to it: tasks, attempts, logs. Only if it has this stamp
    /// still: one that was opened again meanwhile stays.
    DropRun(RunKey, u64),
    /// Keys from before this moment whose run is gone, or that never had one.
    DropKeys(Timestamp),
    /// A success to be taken instead of running again; a later one under its key replaces it.
    PutCache(CacheRow),
    /// Cached successes whose time was up at this moment.
    DropCache(Timestamp),
    /// A group goes back: what its instances were goes into the history, and they have no rows
    /// any more.
    SendBackInstances(RunKey, TaskNo),
    /// Numbers that stay used although no row shows it any more.
    Marks {
        next_run: u64,
        next_stamp: u64,
    },
    NewSignal(RunKey, SignalRow),
    NewAddition(RunKey, AdditionRow),
    /// An approval waits for somebody, or does not any more.
    ListApproval(ApprovalPlace),
    UnlistApproval(ApprovalPlace),
    /// What somebody set a limit to.
    PutLimit(LimitRow),
    /// What a rate counts, with the starts that it counts.
    PutLedger(LedgerRow),
    NewKey(KeyRow),
    NewAudit(AuditRow),
    NewToken(TokenRow),
    /// With its sessions.
    DropToken(TokenId),
    NewBulk(BulkRow),
    /// It was at work: the first word on its end stands.
    EndBulk(BulkId, BulkEnd),
    /// Those that ended before this moment.
    DropBulks(Timestamp),
}

/// What to do once the changes are durable.
#[derive(Clone, Debug)]
pub enum Effect {
    Start(StartAttempt),
    Stop(ExecutorKind, Stop),
    /// Work an answer out of payloads.
    Evaluate(evaluate::Question),
    /// Ask the executor what became of it.
    Reattach(ExecutorKind, Question),
    /// The attempt's end is durable: its executor may forget it.
    Settle(ExecutorKind, Ticket),
    /// It was told to end long ago, and is not known to be gone.
    KillUnconfirmed(Box<Unconfirmed>),
    /// The run is final.
    RunEnded(RunId),
}

/// An attempt that only a person may give up, and where it belongs, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    pub ticket: Ticket,
    pub run: RunId,
    pub workflow: Arc<str>,
    pub task: Arc<str>,
}

/// The outcome of one round of decisions.
#[derive(Debug, Default)]
pub struct Batch {
    /// Counts the batches of this world, from 0.
    pub number: u64,
    pub changes: Vec<Change>,
    /// Of the runs that the changes write, in their order.
    pub heads: Vec<Arc<RunHead>>,
    pub effects: Vec<Effect>,
}
