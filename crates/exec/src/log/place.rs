//! Where an attempt's log is: names of files below one folder, made when they are needed, so
//! that a live attempt keeps no paths in memory.

use mainspring_core::ids::AttemptId;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub folder: Arc<Path>,
    pub attempt: AttemptId,
}

impl Place {
    /// The folder of all logs of an executor.
    pub fn logs_below(folder: &Path) -> Arc<Path> {
        folder.join("logs").into()
    }

    /// The whole log in the end, and its beginning until then.
    pub fn head(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.attempt))
    }

    /// The latest output of a log over its limit; segments are written in turns.
    pub fn tail(&self, sequence: u64) -> PathBuf {
        self.folder.join(format!("{}.log.{}", self.attempt, sequence % 2))
    }
}
