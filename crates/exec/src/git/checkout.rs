//! Checkouts of a target. Moving a branch under somebody's checkout would show them everything
//! that landed as undone by them: so a merge waits until nobody has the target checked out, or
//! takes a checkout without changes of its own along.

use super::caller::{At, Caller};
use super::error::GitError;
use super::repository::Repository;
use mainspring_core::work_git::UpdateCheckout;
use std::path::{Path, PathBuf};

/// What a person may be in the middle of.
const UNDER_WAY: &[&str] = &["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"];

/// Whether a target may be moved.
#[derive(Debug)]
pub(crate) enum Checkouts {
    /// And these go along.
    Free(Vec<PathBuf>),
    /// Why it has to wait.
    InTheWay(String),
}

impl Checkouts {
    pub fn look(
        caller: &Caller,
        repository: &Repository,
        target: &str,
        policy: UpdateCheckout,
    ) -> Result<Self, GitError> {
        let found = repository.checkouts(caller, target)?;
        let short = target.strip_prefix("refs/heads/").unwrap_or(target);
        for path in &found {
            let path_text = path.display();
            let why = match policy {
                UpdateCheckout::Never => format!(
                    "{short} is checked out in {path_text}: it is not moved under a checkout. \
                     Switch that to another branch (git switch --detach), or set \
                     `update_checkout: clean`"
                ),
                UpdateCheckout::Clean if is_clean(caller, path)? => continue,
                UpdateCheckout::Clean => format!(
                    "{short} is checked out in {path_text}, with changes that are not committed: \
                     commit or stash them there"
                ),
            };
            return Ok(Self::InTheWay(why));
        }
        Ok(Self::Free(found))
    }

    /// Whether a move of the target would be taken along by all of them.
    pub fn can_follow(
        paths: &[PathBuf],
        caller: &Caller,
        [old, new]: [&str; 2],
    ) -> Result<Option<String>, GitError> {
        for path in paths {
            let args = ["read-tree", "--dry-run", "-m", "-u", old, new];
            let done = caller.run(At::Folder(path), &args)?;
            if !done.status.success() {
                return Ok(Some(format!(
                    "the checkout in {} cannot take the merge along: {}",
                    path.display(),
                    done.complaint()
                )));
            }
        }
        Ok(None)
    }
}

fn is_clean(caller: &Caller, path: &Path) -> Result<bool, GitError> {
    let at = At::Folder(path);
    // A file that was only touched would count as changed further on.
    caller.run(at, &["update-index", "-q", "--refresh"])?;
    let args = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none"];
    if !caller.run(at, &args)?.text()?.is_empty() {
        return Ok(false);
    }
    for name in UNDER_WAY {
        if caller.run(at, &["rev-parse", "--verify", "--quiet", name])?.status.success() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes a checkout along after its branch has moved: only if its files are still what `old` is.
/// Nothing of anybody's is overwritten; false when it stays behind.
pub(crate) fn follow(
    caller: &Caller,
    path: &Path,
    target: &str,
    [old, new]: [&str; 2],
) -> Result<bool, GitError> {
    let at = At::Folder(path);
    let head = caller.run(at, &["symbolic-ref", "--quiet", "HEAD"])?;
    if !head.status.success() || head.text()? != target {
        // They have switched meanwhile: nothing to take along.
        return Ok(true);
    }
    if caller.run(at, &["diff-index", "--cached", "--quiet", new])?.answer()? {
        return Ok(true);
    }
    let is_old = caller.run(at, &["diff-index", "--cached", "--quiet", old])?.answer()?;
    let done = is_old.then(|| caller.run(at, &["read-tree", "-m", "-u", old, new])).transpose()?;
    Ok(done.is_some_and(|done| done.status.success()))
}
