//! What can go wrong with the file, in words a person can act on.

use crate::contract::{CommitError, ReadError};
use crate::refused::Refused;
use rusqlite::ffi;
use rusqlite::{Error, ErrorCode};
use std::path::Path;

#[derive(Debug)]
pub(super) enum Fault {
    Sql(Error),
    Fenced,
    Refused(Refused),
    /// Names table, row and value.
    Damaged(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl Fault {
    pub fn into_commit(self, path: &Path) -> CommitError {
        match self {
            Self::Fenced => CommitError::Fenced,
            Self::Refused(refused) => refused.into(),
            Self::Damaged(what) => {
                CommitError::Failed { what: ReadError::Damaged(what).to_string(), source: None }
            }
            Self::Sql(error) if is_fsync(&error) => {
                CommitError::Fsync { what: format!("{} ({error})", path.display()) }
            }
            Self::Sql(error) => {
                let what = sentence(&error, path);
                CommitError::Failed { what, source: Some(Box::new(error)) }
            }
        }
    }

    pub fn into_read(self, path: &Path) -> ReadError {
        match self {
            Self::Damaged(what) => ReadError::Damaged(what),
            Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                ReadError::Damaged(format!("{} ({error})", path.display()))
            }
            Self::Sql(error) => {
                let what = sentence(&error, path);
                ReadError::Failed { what, source: Some(Box::new(error)) }
            }
            fault @ (Self::Fenced | Self::Refused(_)) => {
                ReadError::Failed { what: fault.into_commit(path).to_string(), source: None }
            }
        }
    }
}

/// The kernel may have dropped what it could not write, and says so only once.
pub(super) fn is_fsync(error: &Error) -> bool {
    error.sqlite_error().is_some_and(|error| {
        matches!(error.extended_code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
    })
}

/// 512 in SQLite, with room for the names of the files beside it.
const PATH_BYTES_MAX: usize = 500;

/// What happened to the file, and what to do about it.
pub(super) fn sentence(error: &Error, path: &Path) -> String {
    let (path, path_bytes) = (path.display(), path.as_os_str().len());
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => {
            format!("the disk that holds {path} is full: free some space and run again")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => format!(
            "{path} cannot be written: make the file and its folder writable for this user and \
             run again"
        ),
        Some(ErrorCode::CannotOpen) if path_bytes > PATH_BYTES_MAX => format!(
            "{path} has a path of {path_bytes} bytes, and the database can open at most \
             {PATH_BYTES_MAX}: use a folder with a shorter one"
        ),
        Some(ErrorCode::CannotOpen) => format!(
            "{path} cannot be opened: check that its folder exists and that this user may read \
             and write there"
        ),
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("{path} is damaged: restore it from a backup")
        }
        Some(ErrorCode::NotADatabase) => {
            format!("{path} is not a database: move it away, or name another file")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("another program keeps {path} locked: end it and run again")
        }
        Some(ErrorCode::SystemIoFailure) => {
            format!("the disk that holds {path} reports an error: check it and run again")
        }
        Some(ErrorCode::OutOfMemory) => {
            format!("there is not enough memory to work on {path}: free some and run again")
        }
        _ => format!("the database {path} could not do what it was asked to"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit_error(code: i32) -> CommitError {
        let error = Error::SqliteFailure(ffi::Error::new(code), None);
        Fault::from(error).into_commit("/data/db".as_ref())
    }

    #[test]
    fn only_an_unconfirmed_write_is_an_fsync_error() {
        for code in [ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_DIR_FSYNC] {
            assert!(matches!(commit_error(code), CommitError::Fsync { .. }), "{code}");
        }
        for code in [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR] {
            assert!(matches!(commit_error(code), CommitError::Failed { .. }), "{code}");
        }
    }

    #[test]
    fn every_common_failure_says_what_to_do() {
        let codes = [
            ffi::SQLITE_FULL,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_READONLY_DIRECTORY,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_BUSY_SNAPSHOT,
            ffi::SQLITE_IOERR_WRITE,
        ];
        for code in codes {
            let said = commit_error(code).to_string();
            assert!(said.contains("/data/db") && said.contains(": "), "{code}: {said}");
        }
    }
}
