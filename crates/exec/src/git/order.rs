//! What the child process that lands a branch is told on stdin, and what it leaves as its output.

use super::caller::{Caller, Group};
use super::error::GitError;
use super::merge::land;
use mainspring_core::error::{TaskError, shorten};
use mainspring_core::ids::AttemptId;
use mainspring_core::json::Json;
use mainspring_core::output::Output;
use mainspring_core::work::Outcome;
use mainspring_core::work_git::GitMerge;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How the child exits when the branch has not landed; its output says why.
pub const CHILD_FAILED: u8 = 1;
/// As a shell tells of one that was ended by SIGTERM.
const CHILD_STOPPED: u8 = 143;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub merge: GitMerge,
    /// Of the merge, not of the work: names its scratch worktree.
    pub attempt: AttemptId,
    /// Where worktrees are.
    pub worktrees: PathBuf,
}

/// What became of a merge.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Verdict {
    /// merged, no_changes, conflicted, verify_failed, in_the_way, …
    pub result: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
    /// What has to be moved out of its way first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<String>,
}

impl Verdict {
    pub fn success(result: &str, merge: &GitMerge, commit: &str) -> Self {
        Self {
            result: result.to_owned(),
            commit: Some(commit.to_owned()),
            into: Some(merge.into.clone()),
            branch: Some(merge.branch.clone()),
            error: None,
            hindrance: None,
        }
    }

    pub fn failed(result: &str, error: TaskError) -> Self {
        Self { error: Some(error), ..Self::nothing(result) }
    }

    fn of(error: GitError) -> Self {
        match error {
            GitError::InTheWay(what) => {
                Self { hindrance: Some(what), ..Self::nothing("in_the_way") }
            }
            error => Self::failed("failed", error.to_task_error()),
        }
    }

    fn nothing(result: &str) -> Self {
        let (commit, into, branch) = (None, None, None);
        Self { result: result.to_owned(), commit, into, branch, error: None, hindrance: None }
    }

    fn has_landed(&self) -> bool {
        self.error.is_none() && self.hindrance.is_none()
    }

    pub fn to_outcome(&self) -> Outcome {
        if let Some(error) = &self.error {
            return Outcome::Failed(error.clone());
        }
        if let Some(what) = &self.hindrance {
            return Outcome::Hindered(shorten(what.clone()).into());
        }
        let json = Json::parse(&self.to_json()).expect("serialized JSON parses");
        Outcome::Success(Some(Output::Inline(json)))
    }

    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data serializes")
    }
}

/// Carries out an order in this process, which was started for it; writes its verdict to a file
/// and returns what to exit with. `wanted` is asked whether to go on.
pub fn carry_out(
    order: &str,
    output: &Path,
    wanted: impl Fn() -> bool + Send + Sync + 'static,
) -> u8 {
    let caller = Caller::new(std::env::vars_os(), Group::Callers, wanted);
    let verdict = match serde_json::from_str::<Order>(order) {
        Ok(order) => land(&caller, &order),
        Err(error) => Err(GitError::Wrong(format!("this is no order to land a branch: {error}"))),
    };
    let verdict = match verdict {
        Ok(verdict) => verdict,
        Err(GitError::Abandoned) => return CHILD_STOPPED,
        Err(error) => Verdict::of(error),
    };
    match std::fs::write(output, verdict.to_json()) {
        Ok(()) if verdict.has_landed() => 0,
        _ => CHILD_FAILED,
    }
}
