//! What an executor is told of git: a worktree for an attempt, and a branch to land. Plain types,
//! handed on to a child process as JSON.

use crate::ids::{AttemptId, RunId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A git worktree of its own for each attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitWorkspace {
    /// Absolute.
    pub repo: String,
    pub base: String,
    /// `mainspring/<run>/<task>`, and `/<index>` for an instance of a group.
    pub branch: String,
    /// The target that its work is to land on, if that is known before the work is done.
    pub into: Option<String>,
}

/// What the work of a workspace lands on, by whoever made that: only there it is known which
/// folders are of one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lands {
    /// The one path of the repository, whichever way the definition names it.
    pub repository: String,
    pub into: Option<String>,
}

/// Of the name of a queue, what of its target is shown.
const SHOWN_CHARS_MAX: usize = 40;

/// The queue of a repository and a target.
pub fn queue_of(repository: &str, into: &str) -> Box<str> {
    let hash = Sha256::digest(format!("{repository}\0{into}").as_bytes());
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let shown: String = into.chars().take(SHOWN_CHARS_MAX).map(plain).collect();
    format!("git.{shown}.{hash}").into()
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
    use crate::kernel::limit::{check_name, queue_name};

    #[test]
    fn there_is_one_queue_for_each_repository_and_target() {
        let queue = |repository: &str, into: &str| queue_of(repository, into);
        let three = [queue("/a", "main"), queue("/b", "main"), queue("/a", "next/v1")];
        assert_eq!(three[0], queue("/a", "main"));
        assert!(three[0] != three[1] && three[0] != three[2] && three[1] != three[2]);
        assert!(three[2].starts_with("git.next-v1."), "{}", three[2]);
        assert_eq!(check_name(&queue_name(&three[2])), Ok(()), "people can set it");
    }

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
