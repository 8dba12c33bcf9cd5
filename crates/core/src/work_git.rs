//! What an executor is told of git: a worktree for an attempt, and a branch to land. Plain types,
//! handed on to a child process as JSON.

use crate::ids::AttemptId;
use serde::{Deserialize, Serialize};

/// A git worktree of its own for each attempt. Paths are absolute, or relative to the run's
/// directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitWorkspace {
    pub repo: String,
    pub base: String,
    /// `mainspring/<run>/<task>`, and `/<index>` for an instance of a group.
    pub branch: String,
}

/// Landing a branch: the built-in merge queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitMerge {
    /// Absolute, or relative to the run's directory, which is `workdir`.
    pub repo: String,
    pub branch: String,
    pub into: String,
    pub base: String,
    /// A shell line that is run where the merge is, before it lands.
    pub verify: Option<String>,
    pub strategy: MergeStrategy,
    pub update_checkout: UpdateCheckout,
    /// Of the work, not of the merge: what the commit's trailer carries.
    pub attempt: AttemptId,
    pub message: String,
    /// The run's directory: absolute.
    pub workdir: String,
    pub kill_grace_ms: u64,
    pub log_bytes_max: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeStrategy {
    #[default]
    Squash,
    Merge,
}

/// What becomes of a checkout of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpdateCheckout {
    /// The merge waits until nobody has it checked out.
    #[default]
    Never,
    /// One without changes of its own follows the target.
    Clean,
}
