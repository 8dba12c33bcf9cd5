//! Outputs that are not at hand.

use crate::ids::{RunId, RunKey, TaskNo};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::output::{BlobRef, Output};
use crate::world::input::Prefetched;
use std::sync::Arc;

/// Where outputs are that are not at hand. Calls wait for a disk or a network.
pub trait Outputs {
    /// The content of a blob of this run.
    fn load(&self, run: RunId, blob: &BlobRef) -> Result<Json, OutputsError>;

    /// A local file with the content of a blob of this run, for a process to read.
    fn file(&self, run: RunId, blob: &BlobRef) -> Result<String, OutputsError>;

    /// A local file with a value of this run, for a process to read.
    fn written(&self, run: RunId, json: &Json) -> Result<String, OutputsError>;

    /// Keeps a value: in its row while it is small, in the blob store otherwise.
    fn keep(&self, run: RunId, json: Json) -> Result<Output, OutputsError>;

    /// The outputs of those instances of a group that have one, in index order, beginning with
    /// this index: as many as are well read at a time, none when there are no more.
    fn instances(
        &self,
        run: RunKey,
        task: TaskNo,
        from: u32,
    ) -> Result<Vec<InstanceOutput>, OutputsError>;

    /// A workflow, and the version of it that is named, as far as they are stored.
    fn workflow(&self, name: &Arc<str>, version: Option<u32>) -> Result<Prefetched, OutputsError>;
}

/// What the work of one instance put out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceOutput {
    pub index: u32,
    /// What became of it: work that was done may have failed to land.
    pub fact: Fact,
    pub output: Output,
}

#[derive(Debug, thiserror::Error)]
pub enum OutputsError {
    /// It is not there any more, or not what it was.
    #[error("{0}")]
    Lost(String),
    /// Ask again later.
    #[error("{0}")]
    Unreachable(String),
}
