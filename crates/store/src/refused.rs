//! Batches that contradict what is stored. Each of them is a bug of whoever made the batch;
//! every store refuses them alike, and keeps nothing of the batch.

use crate::contract::CommitError;
use mainspring_core::ids::{RunId, RunKey, SchedulerId};

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("run {id} (key {}) is already stored", key.0)]
    RunExists { key: RunKey, id: RunId },
    #[error("there is no run with key {} to write to", .0.0)]
    RunUnknown(RunKey),
    #[error("scheduler {0} owns a run but was never registered")]
    OwnerUnknown(SchedulerId),
}

impl From<Refused> for CommitError {
    fn from(refused: Refused) -> Self {
        let what = format!("the store refused a batch: {refused}. This is a bug: please report it");
        Self::Failed { what, source: None }
    }
}
