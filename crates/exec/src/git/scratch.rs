//! The merge itself, in a worktree that nobody else sees.

use super::caller::Caller;
use super::error::GitError;
use super::repository::Repository;
use super::workspace::listed;
use super::worktrees::{Head, Worktree, Worktrees};
use mainspring_core::ids::AttemptId;
use mainspring_core::work_git::{GitMerge, MergeStrategy};

/// A worktree that stands at some commit, on no branch.
#[derive(Debug)]
pub(crate) struct Scratch<'a> {
    caller: &'a Caller,
    worktree: Worktree,
}

/// What a merge comes to.
#[derive(Debug)]
pub(crate) enum Merged {
    /// A commit on top of the target.
    Commit(String),
    /// The target has it all.
    NoChanges,
    /// Paths that both have changed.
    Conflicted(String),
}

impl<'a> Scratch<'a> {
    pub fn make(
        caller: &'a Caller,
        worktrees: &Worktrees,
        repository: &Repository,
        (attempt, commit): (AttemptId, &str),
    ) -> Result<Self, GitError> {
        let lock = repository.lock(caller)?;
        let head = Head::Detached(commit);
        let worktree = worktrees.add(caller, (repository, &lock), attempt, head)?;
        Ok(Self { caller, worktree })
    }

    pub fn files(&self) -> &std::path::Path {
        &self.worktree.files
    }

    /// Merges the tip of a branch into a target's.
    pub fn merge(
        &self,
        merge: &GitMerge,
        [tip, target]: [&str; 2],
        message: &str,
    ) -> Result<Merged, GitError> {
        let Self { caller, worktree } = self;
        let at = worktree.at();
        // Whatever a former round or its verification has left. HEAD is on no branch.
        worktree.fill(caller, target)?;
        caller.run(at, &["clean", "--quiet", "-d", "--force", "--force"])?.text()?;
        let how = match merge.strategy {
            MergeStrategy::Squash => "--squash",
            MergeStrategy::Merge => "--no-ff",
        };
        let done = caller.run(at, &["merge", "--quiet", "--no-commit", "--no-stat", how, tip])?;
        if !done.status.success() {
            let args = ["diff", "--name-only", "--diff-filter=U"];
            let conflicts = caller.run(at, &args)?.text()?;
            return match conflicts.is_empty() {
                true => Err(GitError::Wrong(format!(
                    "{} cannot be merged into {}: {}",
                    merge.branch,
                    merge.into,
                    done.complaint()
                ))),
                false => Ok(Merged::Conflicted(listed(&conflicts))),
            };
        }
        let is_same = caller.run(at, &["diff", "--cached", "--quiet", target])?.answer()?;
        if is_same && merge.strategy == MergeStrategy::Squash {
            return Ok(Merged::NoChanges);
        }
        let args = ["commit", "--quiet", "--no-verify", "--cleanup=verbatim", "--file=-"];
        caller.run_with(at, &args, Some(message))?.text()?;
        caller.run(at, &["rev-parse", "--verify", "HEAD"])?.text().map(Merged::Commit)
    }
}
