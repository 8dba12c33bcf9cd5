//! One writer for each repository: a lock file in its git folder, so that it holds between servers
//! as well. Git's own locks make a second writer fail; this one makes it wait.

use super::caller::Caller;
use super::error::GitError;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

const NAME: &str = "mainspring.lock";
/// Waits between two tries, doubled up to the second.
const AGAIN: Duration = Duration::from_millis(5);
const AGAIN_MAX: Duration = Duration::from_millis(100);

/// Held until it is dropped, or the process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Waits until nobody else writes.
pub(crate) fn take(common: &Path, caller: &Caller) -> Result<Lock, GitError> {
    let path = common.join(NAME);
    let what = || format!("the repository's lock {} cannot be taken", path.display());
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(GitError::io(what()))?;
    let mut again = AGAIN;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) if caller.is_wanted() => std::thread::sleep(again),
            Err(TryLockError::WouldBlock) => return Err(GitError::Abandoned),
            Err(TryLockError::Error(error)) => return Err(GitError::io(what())(error)),
        }
        again = (again * 2).min(AGAIN_MAX);
    }
}
