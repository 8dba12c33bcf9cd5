//! Which file a path names. A database that is removed or replaced while it is open goes on taking
//! commits that nobody will ever find again, and SQLite does not look: the writer does.

use crate::contract::CommitError;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub fn of(path: &Path) -> io::Result<Self> {
        let found = std::fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }

    /// Refuses when the path no longer names this file. Put back in time, all goes on.
    pub fn check(self, path: &Path) -> Result<(), CommitError> {
        let (source, what) = match Self::of(path) {
            Ok(found) if found == self => return Ok(()),
            Ok(_) => (None, "was replaced"),
            Err(error) => (Some(error.into()), "was removed, or cannot be reached,"),
        };
        let path = path.display();
        let what = format!("{path} {what} while it was in use: put it back, or run anew");
        Err(CommitError::Failed { what, source })
    }
}
