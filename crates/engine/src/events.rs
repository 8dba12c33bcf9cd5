//! What observers are told after each commit: states, not steps, so that the latest wins.

use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::{RunProgress, TaskRow};
use mainspring_core::world::batch::Change;

#[derive(Clone, Debug)]
pub enum Event {
    Run(RunKey, RunProgress),
    Task(RunKey, TaskRow),
}

impl Event {
    pub(crate) fn of(change: &Change) -> Option<Self> {
        match change {
            Change::NewRun(head, progress) => Some(Self::Run(head.key, progress.clone())),
            Change::PutRun(key, progress) => Some(Self::Run(*key, progress.clone())),
            Change::PutTask(key, row) => Some(Self::Task(*key, row.clone())),
            Change::NewVersion(_) | Change::NewAttempt(..) | Change::NewLog(..) => None,
        }
    }
}

/// Is told what has become durable, on the engine's own thread: it must not wait.
pub trait Observer: Send + Sync + 'static {
    fn committed(&self, events: &[Event]);

    /// The store refuses; the engine goes on trying. `error` says what a person can do.
    fn store_failed(&self, error: &str);
}
