//! What a writer is asked to do, and which of it goes into one transaction.
//!
//! ```text
//!  queue:  batch, batch, batch, register, batch …
//!          └── one transaction ┘ └ one ┘  └ one …
//! ```
//! Batches that have queued up while one was written are written together: one wait for the disk
//! instead of several. Each keeps its place, and all of them share one fate.

use crate::contract::{CommitError, Fence, ReadError, Registration};
use crate::promise::Promise;
use mainspring_core::ids::SchedulerId;
use mainspring_core::limits::BATCH_CHANGES_MAX;
use mainspring_core::world::batch::Change;
use tokio::sync::oneshot;

pub(crate) enum Job {
    Commit { fence: Fence, batch: Batch },
    Register { scheduler: SchedulerId, reply: oneshot::Sender<Result<Registration, ReadError>> },
    Ping { reply: oneshot::Sender<Result<(), ReadError>> },
}

/// Changes, and whoever waits for them to be durable.
pub(crate) struct Batch {
    pub changes: Vec<Change>,
    pub promise: Promise,
}

/// Batches of one transaction. Never empty.
pub(crate) struct Together {
    pub fence: Fence,
    batches: Vec<Batch>,
}

impl Together {
    /// The first batch and those queued right behind it, as long as they are not too many; and
    /// what came after them, if that was taken from the queue as well.
    pub fn of(
        fence: Fence,
        first: Batch,
        mut next: impl FnMut() -> Option<Job>,
    ) -> (Self, Option<Job>) {
        let mut together = Self { fence, batches: vec![first] };
        while together.rows() < BATCH_CHANGES_MAX {
            match next() {
                Some(Job::Commit { fence, batch }) if fence == together.fence => {
                    together.batches.push(batch);
                }
                other => return (together, other),
            }
        }
        (together, None)
    }

    fn rows(&self) -> usize {
        self.batches.iter().map(|batch| batch.changes.len()).sum()
    }

    /// In their order.
    pub fn changes(&self) -> Vec<&[Change]> {
        self.batches.iter().map(|batch| &*batch.changes).collect()
    }

    /// What became of the transaction became of each.
    pub fn keep(self, result: &Result<(), CommitError>) {
        for batch in self.batches {
            batch.promise.keep(match result {
                Ok(()) => Ok(()),
                Err(error) => Err(error.told_again()),
            });
        }
    }
}
