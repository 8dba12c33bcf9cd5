//! A repository: commits by name, references, and who has them checked out.

use super::caller::{At, Caller};
use super::error::GitError;
use super::lock::{self, Lock};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a reference that does not exist has for its old value.
pub(crate) const NOTHING: &str = "";

/// For somebody's `git worktree add` to get past its first steps.
const LOOKS_MAX: u32 = 5;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// The git folder that all its worktrees share.
    common: PathBuf,
    /// As the definition names it.
    name: String,
}

/// What became of moving a reference.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Swap {
    Done,
    /// Somebody else has moved it.
    Moved,
}

impl Repository {
    /// Finds the repository of a folder, or a bare one.
    pub fn open(caller: &Caller, path: &str) -> Result<Self, GitError> {
        let wrong = |why: String| {
            GitError::Wrong(format!(
                "{path} is no git repository that can be used: {why}. `repo` is a path, absolute \
                 or below the run's directory"
            ))
        };
        let folder = Path::new(path);
        match std::fs::metadata(folder) {
            Err(error) => return Err(wrong(error.to_string())),
            Ok(found) if !found.is_dir() => return Err(wrong("it is not a folder".to_owned())),
            Ok(_) => {}
        }
        let args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let done = caller.run(At::Folder(folder), &args)?;
        if !done.status.success() {
            return Err(wrong(done.complaint()));
        }
        let common = PathBuf::from(done.text()?);
        let what = format!("the git folder {} cannot be found", common.display());
        let common = common.canonicalize().map_err(GitError::io(what))?;
        Ok(Self { common, name: path.to_owned() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn common(&self) -> &Path {
        &self.common
    }

    pub fn at(&self) -> At<'_> {
        At::Store(&self.common)
    }

    pub fn lock(&self, caller: &Caller) -> Result<Lock, GitError> {
        lock::take(&self.common, caller)
    }

    /// The commit that a name means: a branch, a tag, a commit, whatever git takes.
    pub fn commit(&self, caller: &Caller, name: &str) -> Result<Option<String>, GitError> {
        if name.is_empty() {
            return Ok(None);
        }
        let name = format!("{name}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        let done = caller.run(self.at(), &args)?;
        match done.status.success() {
            true => done.text().map(Some),
            // It says 1 for what is not there, 128 for what is no name.
            false => Ok(None),
        }
    }

    /// The reference of a branch; of one that stands for another branch, that one's. None for what
    /// no branch can be called: `main~1` is a commit all the same.
    pub fn branch(&self, caller: &Caller, name: &str) -> Result<Option<String>, GitError> {
        let reference = format!("refs/heads/{name}");
        if !caller.run(self.at(), &["check-ref-format", &reference])?.status.success() {
            return Ok(None);
        }
        let done = caller.run(self.at(), &["symbolic-ref", "--quiet", &reference])?;
        match done.status.success() {
            true => done.text().map(Some),
            false => Ok(Some(reference)),
        }
    }

    pub fn is_ancestor(&self, caller: &Caller, of: [&str; 2]) -> Result<bool, GitError> {
        let [older, newer] = of;
        caller.run(self.at(), &["merge-base", "--is-ancestor", older, newer])?.answer()
    }

    /// Moves a reference if it still is where it was; under the lock.
    pub fn swap(
        &self,
        caller: &Caller,
        reference: &str,
        [new, old]: [&str; 2],
        why: &str,
    ) -> Result<Swap, GitError> {
        let done = caller.run(self.at(), &["update-ref", "-m", why, reference, new, old])?;
        if done.status.success() {
            return Ok(Swap::Done);
        }
        let now = self.commit(caller, reference)?;
        match now.as_deref().unwrap_or(NOTHING) == old {
            // Nobody has moved it: a lock file, a full disk.
            true => Err(done.into_error()),
            false => Ok(Swap::Moved),
        }
    }

    /// Deletes a reference if it still is where it was; under the lock.
    pub fn delete(&self, caller: &Caller, reference: &str, old: &str) -> Result<(), GitError> {
        caller.run(self.at(), &["update-ref", "-d", reference, old])?.text().map(drop)
    }

    /// A reference of ours may be left locked by a git that was killed: whoever holds the lock of
    /// the repository is the only one who writes it.
    pub fn unlock_own(&self, _lock: &Lock, reference: &str) {
        let _ = std::fs::remove_file(self.common.join(format!("{reference}.lock")));
    }

    /// Worktrees that have a branch checked out. Under the lock: git fails when it comes upon one
    /// that is half made. Those of people are made without it, and that is waited for.
    pub fn checkouts(
        &self,
        caller: &Caller,
        _lock: &Lock,
        reference: &str,
    ) -> Result<Vec<PathBuf>, GitError> {
        let look = || caller.run(self.at(), &["worktree", "list", "--porcelain"])?.text();
        let mut list = look();
        for _ in 1..LOOKS_MAX {
            if list.is_ok() {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
            list = look();
        }
        let list = list?;
        let mut found = Vec::new();
        let mut path = None;
        for line in list.lines() {
            if let Some(worktree) = line.strip_prefix("worktree ") {
                path = Some(PathBuf::from(worktree));
            } else if line.strip_prefix("branch ") == Some(reference) {
                // One whose folder is gone is no checkout any more.
                found.extend(path.take().filter(|path| path.exists()));
            }
        }
        Ok(found)
    }
}
