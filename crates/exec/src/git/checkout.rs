//! Checkouts of a target. Moving a branch under somebody's checkout would show them everything
//! that landed as undone by them: so a merge waits until nobody has the target checked out, or
//! takes a checkout without changes of its own along.

use super::behind;
use super::caller::{At, Caller};
use super::error::GitError;
use super::lock::Lock;
use super::obstacles::Move;
use super::repository::Repository;
use super::under_way;
use mainspring_core::work_git::UpdateCheckout;
use std::path::{Path, PathBuf};

/// What a person may be in the middle of.
const UNDER_WAY: &[&str] = &["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"];

/// Those that follow a target when it moves.
#[derive(Debug)]
pub(crate) struct Checkouts {
    /// The target's name without `refs/heads/`.
    branch: String,
    paths: Vec<PathBuf>,
}

impl Checkouts {
    /// An error if one of them is in the way, or somebody is in the middle of something that puts
    /// the target elsewhere when it ends.
    pub fn look(
        caller: &Caller,
        (repository, lock): (&Repository, &Lock),
        target: &str,
        policy: UpdateCheckout,
    ) -> Result<Self, GitError> {
        let found = Self::all(caller, (repository, lock), target)?;
        // After the checkouts: whoever begins one says so before they leave the branch.
        if let Some(what) = under_way::with(repository, lock, target)? {
            return Err(GitError::InTheWay(what));
        }
        for path in &found.paths {
            let trouble = match policy {
                UpdateCheckout::Never => Some(
                    ": it is not moved under a checkout. Switch that to another branch (git switch \
                     --detach), or set `update_checkout: clean`"
                        .to_owned(),
                ),
                UpdateCheckout::Clean => trouble(caller, path)?,
            };
            if let Some(trouble) = trouble {
                return Err(found.in_the_way(path, &trouble));
            }
        }
        Ok(found)
    }

    pub fn all(
        caller: &Caller,
        (repository, lock): (&Repository, &Lock),
        target: &str,
    ) -> Result<Self, GitError> {
        let branch = target.strip_prefix("refs/heads/").unwrap_or(target).to_owned();
        Ok(Self { branch, paths: repository.checkouts(caller, lock, target)? })
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().map(PathBuf::as_path)
    }

    /// Whether all of them have room for what a move brings.
    pub fn check_room(&self, change: &Move) -> Result<(), GitError> {
        for path in &self.paths {
            if let Some(file) = change.obstacle(path)? {
                let file = file.display();
                let trouble = format!(
                    ", and {file} in it is not tracked: it would be overwritten. Move it away"
                );
                return Err(self.in_the_way(path, &trouble));
            }
        }
        Ok(())
    }

    /// Whether git would take all of them along.
    pub fn check_follow(&self, caller: &Caller, [old, new]: [&str; 2]) -> Result<(), GitError> {
        for path in &self.paths {
            let args = ["read-tree", "--dry-run", "-m", "-u", old, new];
            let done = caller.run(At::Folder(path), &args)?;
            if !done.status.success() {
                let trouble = format!(", which cannot take the merge along: {}", done.complaint());
                return Err(self.in_the_way(path, &trouble));
            }
        }
        Ok(())
    }

    fn in_the_way(&self, path: &Path, trouble: &str) -> GitError {
        GitError::InTheWay(format!("{} is checked out in {}{trouble}", self.branch, path.display()))
    }
}

/// Why a checkout cannot go along now, whatever the move brings.
fn trouble(caller: &Caller, path: &Path) -> Result<Option<String>, GitError> {
    let at = At::Folder(path);
    let args = ["rev-parse", "--path-format=absolute", "--git-path", "index.lock"];
    let lock = PathBuf::from(caller.run(at, &args)?.text()?);
    if lock.exists() {
        return Ok(Some(format!(
            ", where git is at work: if it is not, remove {} there",
            lock.display()
        )));
    }
    // A file that was only touched would count as changed further on.
    caller.run(at, &["update-index", "-q", "--refresh"])?;
    let args = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=none"];
    if !caller.run(at, &args)?.text()?.is_empty() {
        return changed(caller, path).map(Some);
    }
    behind::forget(caller, path)?;
    for name in UNDER_WAY {
        if caller.run(at, &["rev-parse", "--verify", "--quiet", name])?.status.success() {
            let what = ", in the middle of a merge or the like: finish or abort it there";
            return Ok(Some(what.to_owned()));
        }
    }
    Ok(None)
}

/// What is said of a checkout that is not as its branch is.
fn changed(caller: &Caller, path: &Path) -> Result<String, GitError> {
    Ok(match behind::why(caller, path)? {
        None => ", with changes that are not committed: commit or stash them there".to_owned(),
        Some(why) => format!(
            ", which could not go along when others landed ({why}): mend that, and catch up with \
             `git -C {} stash`",
            path.display()
        ),
    })
}

/// Takes a checkout along after its branch has moved: only if its files are still what `old` is.
/// Nothing of anybody's is overwritten. Why it stays behind, if it does.
pub(crate) fn follow(
    caller: &Caller,
    (path, target): (&Path, &str),
    change: &Move,
    [old, new]: [&str; 2],
) -> Result<Option<String>, GitError> {
    let at = At::Folder(path);
    let head = caller.run(at, &["symbolic-ref", "--quiet", "HEAD"])?;
    if !head.status.success() || head.text()? != target {
        // They have switched meanwhile: nothing to take along.
        return Ok(None);
    }
    if caller.run(at, &["diff-index", "--cached", "--quiet", new])?.answer()? {
        return Ok(None);
    }
    if !caller.run(at, &["diff-index", "--cached", "--quiet", old])?.answer()? {
        return Ok(Some("it was changed while the merge landed".to_owned()));
    }
    let refused = caller.run(at, &["read-tree", "--dry-run", "-m", "-u", old, new])?;
    if !refused.status.success() {
        let why = refused.complaint();
        return Ok(Some(format!("it was changed while the merge landed ({why})")));
    }
    // Last of all, so that hardly anything can come in between.
    if let Some(file) = change.obstacle(path)? {
        return Ok(Some(format!("{} in it is not tracked", file.display())));
    }
    write(caller, path, change, [old, new])
}

/// Git has just said that it would do this: what fails now is the writing.
fn write(
    caller: &Caller,
    path: &Path,
    change: &Move,
    [old, new]: [&str; 2],
) -> Result<Option<String>, GitError> {
    let done = caller.run(At::Folder(path), &["read-tree", "-m", "-u", old, new])?;
    if done.status.success() {
        return Ok(None);
    }
    let why = format!("its files could not be written: {}", done.complaint());
    Ok(Some(match behind::put_back(caller, path, change, (old, &why)) {
        Ok(()) => format!("{why}. They are those of {old} again"),
        Err(error) => format!("{why}. Nor could all of them be put back: {error}"),
    }))
}
