//! What a store remembers of a run, ready to be taken into a world.

use crate::kernel::row::{RunHead, RunProgress, TaskRow};
use crate::kernel::wait::SignalRow;
use crate::spec::definition::Definition;
use std::sync::Arc;

/// One run with all its task rows and the definition it is pinned to.
#[derive(Clone, Debug)]
pub struct RunSnapshot {
    pub head: RunHead,
    pub progress: RunProgress,
    pub definition: Arc<Definition>,
    pub tasks: Vec<TaskRow>,
    /// The newest of each key.
    pub signals: Vec<SignalRow>,
}
