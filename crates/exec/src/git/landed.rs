//! Whether a merge has landed already: its commit names the attempt whose work it is, so the
//! target itself tells, whoever was killed since.

use super::caller::Caller;
use super::error::GitError;
use super::repository::Repository;
use mainspring_core::work_git::GitMerge;

pub(super) const TRAILER: &str = "Mainspring-Attempt";

/// Of the branch, when it landed: what is on it since has not.
pub(super) const TIP: &str = "Mainspring-Tip";

/// The commit by which it landed on a target that is there.
pub(super) fn in_target(
    caller: &Caller,
    repository: &Repository,
    merge: &GitMerge,
    target: &str,
) -> Result<Option<String>, GitError> {
    let grep = format!("--grep=^{TRAILER}: {}$", merge.attempt);
    let mut args = vec!["rev-list", "--max-count=1", "--extended-regexp", &grep, target];
    // What both had before the work began cannot be it. Without the branch all is looked at: the
    // latest first, so that what landed is found soon.
    let fork = fork(caller, repository, merge, target)?;
    let fork = fork.map(|fork| format!("^{fork}"));
    args.extend(fork.as_deref());
    let found = caller.run(repository.at(), &args)?.text()?;
    Ok(Some(found).filter(|commit| !commit.is_empty()))
}

fn fork(
    caller: &Caller,
    repository: &Repository,
    merge: &GitMerge,
    target: &str,
) -> Result<Option<String>, GitError> {
    let branch = format!("refs/heads/{}", merge.branch);
    let Some(tip) = repository.commit(caller, &branch)? else { return Ok(None) };
    let done = caller.run(repository.at(), &["merge-base", target, &tip])?;
    done.status.success().then(|| done.text()).transpose()
}

/// Where the branch was that landed by this commit.
pub(super) fn tip(
    caller: &Caller,
    repository: &Repository,
    commit: &str,
) -> Result<String, GitError> {
    let text = caller.run(repository.at(), &["log", "-1", "--format=%B", commit])?.text()?;
    let start = format!("{TIP}: ");
    Ok(text
        .lines()
        .filter_map(|line| line.strip_prefix(&start))
        .next_back()
        .unwrap_or("")
        .to_owned())
}
