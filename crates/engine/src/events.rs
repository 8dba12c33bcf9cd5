//! What observers are told after each commit: states, not steps, so that the latest wins.

use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::{RunHead, RunProgress, TaskRow};
use mainspring_core::world::batch::{Change, Unconfirmed};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Event {
    Run(Arc<RunHead>, RunProgress),
    Task(RunKey, TaskRow),
}

impl Event {
    /// What the changes of a batch say, in their order. The heads are those of the runs that
    /// they write, in the same order.
    pub(crate) fn of(changes: &[Change], heads: Vec<Arc<RunHead>>) -> Vec<Self> {
        let mut heads = heads.into_iter();
        let event = |change: &Change| match change {
            Change::NewRun(_, progress) | Change::PutRun(_, progress) => {
                let head = heads.next().expect("a batch has a head for each run it writes");
                Some(Self::Run(head, progress.clone()))
            }
            Change::PutTask(key, row) => Some(Self::Task(*key, row.clone())),
            Change::NewVersion(_)
            | Change::PutWorkflow(_)
            | Change::NewAttempt(..)
            | Change::NewLog(..)
            | Change::DropRun(..)
            | Change::DropKeys(_)
            | Change::Marks { .. }
            | Change::NewSignal(..)
            | Change::NewAddition(..)
            | Change::ListApproval(_)
            | Change::UnlistApproval(_)
            | Change::PutLimit(_)
            | Change::PutLedger(_)
            | Change::NewKey(_)
            | Change::NewAudit(_)
            | Change::NewToken(_)
            | Change::DropToken(_)
            | Change::NewBulk(_)
            | Change::EndBulk(..)
            | Change::DropBulks(_)
            | Change::PutCache(_)
            | Change::DropCache(_)
            | Change::SendBackInstances(..) => None,
        };
        changes.iter().filter_map(event).collect()
    }
}

/// Is told what has become durable, on the engine's own thread: it must not wait.
pub trait Observer: Send + Sync + 'static {
    fn committed(&self, events: &[Event]);

    /// The world is loaded, at the start and after the store failed, with everything up to this
    /// stamp. A commit that was said to have failed may be among it: nobody was told of that.
    fn loaded(&self, last_stamp: u64);

    /// The store refuses; the engine goes on trying. `error` says what a person can do.
    fn store_failed(&self, error: &str);

    /// A log could not be moved into the blob store. Nothing is lost: it stays in its file.
    /// `error` says what a person can do.
    fn log_stays(&self, attempt: AttemptId, error: &str);

    /// Something could not be read from the blob store, or put into it or on its way there: it
    /// waits, and is tried again. Said once for all that waits. `error` says what a person can do.
    fn content_waits(&self, error: &str);

    /// An attempt was told to end long ago, and nothing says that it is gone. Only a person may
    /// give it up.
    fn kill_unconfirmed(&self, _what: &Unconfirmed) {}
}
