//! What is in the way in a person's checkout when it is to follow its branch: files that are not
//! tracked, where files come that are. Git would take those that it is told to ignore for worthless,
//! and overwrite them: a `.env` is ignored and precious.

use super::caller::Caller;
use super::error::GitError;
use super::repository::Repository;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Which paths come, go and change when a checkout follows its branch.
#[derive(Debug, Default)]
pub(crate) struct Move {
    added: BTreeSet<PathBuf>,
    removed: BTreeSet<PathBuf>,
    changed: BTreeSet<PathBuf>,
}

impl Move {
    pub fn between(
        caller: &Caller,
        repository: &Repository,
        [old, new]: [&str; 2],
    ) -> Result<Self, GitError> {
        let args = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new];
        let done = caller.run(repository.at(), &args)?;
        if !done.status.success() {
            return Err(done.into_error());
        }
        let mut change = Self::default();
        let mut words = done.stdout.split(|byte| *byte == 0);
        while let (Some(status), Some(path)) = (words.next(), words.next()) {
            let path = PathBuf::from(OsStr::from_bytes(path));
            match status {
                b"A" => drop(change.added.insert(path)),
                b"D" => drop(change.removed.insert(path)),
                _ => drop(change.changed.insert(path)),
            }
        }
        Ok(change)
    }

    /// What only the new commit has.
    pub fn added(&self) -> impl Iterator<Item = &Path> {
        self.added.iter().map(PathBuf::as_path)
    }

    /// What the old commit has, and the new one has not, or otherwise.
    pub fn former(&self) -> impl Iterator<Item = &Path> {
        self.removed.iter().chain(&self.changed).map(PathBuf::as_path)
    }

    /// What a merge of a branch into a target is going to bring, before it is made: what the branch
    /// has added since they parted and the target does not have.
    pub fn expected(
        caller: &Caller,
        repository: &Repository,
        [target, branch]: [&str; 2],
    ) -> Result<Self, GitError> {
        let done = caller.run(repository.at(), &["merge-base", target, branch])?;
        if !done.status.success() {
            // Nothing in common: the merge itself says so.
            return Ok(Self::default());
        }
        let mut change = Self::between(caller, repository, [&done.text()?, branch])?;
        let missing = Self::between(caller, repository, [target, branch])?.added;
        change.added.retain(|path| missing.contains(path));
        Ok(change)
    }

    /// The first that is in the way in a checkout whose tracked files are all as they were.
    pub fn obstacle(&self, checkout: &Path) -> Result<Option<PathBuf>, GitError> {
        let unknown = || format!("what is in {} cannot be told", checkout.display());
        for path in &self.added {
            let found = self.on_the_way(checkout, path).map_err(GitError::io(unknown()))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// What is in the place of a path, or of a folder above it.
    fn on_the_way(&self, checkout: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
        let mut reached = PathBuf::new();
        for name in path.components() {
            reached.push(name);
            let found = match fs::symlink_metadata(checkout.join(&reached)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                found => found?,
            };
            if !found.is_dir() {
                return Ok(Some(reached).filter(|file| !self.removed.contains(file)));
            }
        }
        self.staying_in(checkout, path)
    }

    /// A file in a folder that does not go with the move.
    fn staying_in(&self, checkout: &Path, folder: &Path) -> io::Result<Option<PathBuf>> {
        for entry in fs::read_dir(checkout.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let found = match entry.file_type()?.is_dir() {
                true => self.staying_in(checkout, &path)?,
                false => Some(path).filter(|file| !self.removed.contains(file)),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> BTreeSet<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    /// What is in the way of these in a folder with the files `here`.
    fn check(here: &[&str], added: &[&str], removed: &[&str]) -> Option<String> {
        let folder = tempfile::tempdir().expect("made");
        for name in here {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("below")).expect("made");
            fs::write(path, "").expect("written");
        }
        let change = Move { added: paths(added), removed: paths(removed), ..Move::default() };
        let found = change.obstacle(folder.path()).expect("told");
        found.map(|path| path.to_str().expect("UTF-8").to_owned())
    }

    #[test]
    fn files_are_in_the_way_unless_they_go_with_the_move() {
        assert_eq!(check(&["a", "b/c"], &["d", "b/e", "f/g/h"], &[]), None);
        assert_eq!(check(&["a"], &["a"], &[]).as_deref(), Some("a"));
        assert_eq!(check(&["a"], &["a/b/c"], &[]).as_deref(), Some("a"));
        assert_eq!(check(&["a"], &["a/b/c"], &["a"]), None);
        assert_eq!(check(&["a/b/c", "a/d"], &["a"], &["a/d"]).as_deref(), Some("a/b/c"));
        assert_eq!(check(&["a/b/c", "a/d"], &["a"], &["a/d", "a/b/c"]), None);
    }
}
