//! Reading a file where SQLite may not leave its own files beside it.
//!
//! A reader of a WAL database needs the WAL's index file. In a folder that this user may not
//! write to, it exists only while a server has the database open. Without it, the file can be
//! read as if nothing would ever change, which is true as long as no server opens it. That is
//! looked at again after each answer: a server shows itself by its WAL, and one that has come
//! and gone by the file's time and size.

use crate::contract::ReadError;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[derive(Debug)]
pub(super) struct Frozen {
    path: PathBuf,
    wal: PathBuf,
    seen: (u64, Option<SystemTime>),
}

impl Frozen {
    /// None when a server has the file open, or left without tidying up: then what the file
    /// says is not all there is.
    pub fn of(path: &Path) -> Option<Self> {
        let wal = wal_of(path);
        let seen = look(path)?;
        match wal.exists() {
            true => None,
            false => Some(Self { path: path.to_owned(), wal, seen }),
        }
    }

    /// Whether what was read until now can be believed.
    pub fn check(&self) -> Result<(), ReadError> {
        if !self.wal.exists() && look(&self.path) == Some(self.seen) {
            return Ok(());
        }
        let what = format!("{} changed while it was being read: run again", self.path.display());
        Err(ReadError::Failed { what, source: None })
    }
}

fn look(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let found = fs::metadata(path).ok()?;
    Some((found.len(), found.modified().ok()))
}

fn wal_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    name.into()
}
