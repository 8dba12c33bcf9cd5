//! What an executor is told of git: a worktree for an attempt, and a branch to land. Plain types,
//! handed on to a child process as JSON.

use crate::ids::{AttemptId, RunId};
use serde::{Deserialize, Serialize};

/// A git worktree of its own for each attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitWorkspace {
    /// Absolute.
    pub repo: String,
    pub base: String,
    /// `mainspring/<run>/<task>`, and `/<index>` for an instance of a group.
    pub branch: String,
}

/// The branch of a task. Git takes every name of a task but a few with dots; theirs are written
/// `%2E`, which no name has.
pub fn branch_of(run: RunId, task: &str, index: Option<u32>) -> String {
    let is_bad = task.contains("..") || task.ends_with('.') || task.ends_with(".lock");
    let task = if is_bad { task.replace('.', "%2E") } else { task.to_owned() };
    let index = index.map(|index| format!("/{index}")).unwrap_or_default();
    format!("mainspring/{run}/{task}{index}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_named_so_that_git_takes_it() {
        let run = RunId::from_bytes([1; 16]);
        let name = |task, index| branch_of(run, task, index).replace(&run.to_string(), "RUN");
        assert_eq!(name("load", None), "mainspring/RUN/load");
        assert_eq!(name("load.v2", Some(7)), "mainspring/RUN/load.v2/7");
        assert_eq!(name("yarn.lock", None), "mainspring/RUN/yarn%2Elock");
        assert_eq!(name("a..b", None), "mainspring/RUN/a%2E%2Eb");
        assert_eq!(name("end.", Some(0)), "mainspring/RUN/end%2E/0");
    }
}
