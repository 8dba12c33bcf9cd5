//! What observers are told after each commit: states, not steps, so that the latest wins.

use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::{RunHead, RunProgress, TaskRow};
use mainspring_core::world::batch::{Batch, Change};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub enum Event {
    Run(Arc<RunHead>, RunProgress),
    Task(RunKey, TaskRow),
}

impl Event {
    /// What a batch changes, for those who watch.
    pub(crate) fn of(batch: &Batch) -> Vec<Self> {
        let mut heads = batch.heads.iter();
        let mut head = || Arc::clone(heads.next().expect("a head for every run written"));
        let events = batch.changes.iter().filter_map(|change| match change {
            Change::NewRun(_, progress) | Change::PutRun(_, progress) => {
                Some(Self::Run(head(), progress.clone()))
            }
            Change::PutTask(key, row) => Some(Self::Task(*key, row.clone())),
            _ => None,
        });
        events.collect()
    }
}

/// Is told what has become durable, on the engine's own thread: it must not wait.
pub trait Observer: Send + Sync + 'static {
    fn committed(&self, events: &[Event]);

    /// The store refuses; the engine goes on trying. `error` says what a person can do.
    fn store_failed(&self, error: &str);
}
