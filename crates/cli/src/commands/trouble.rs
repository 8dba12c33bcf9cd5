//! From what went wrong to an exit code: what was asked for wrongly is told apart from a store that
//! could not do it.

use crate::client::ClientError;
use crate::exit::Exit;
use anyhow::Error;
use mainspring_engine::folder::FolderError;
use mainspring_engine::logs::LogError;
use mainspring_engine::outputs::OutputError;
use mainspring_store::{BlobError, ConnectError, OpenError, ReadError};
use std::error::Error as StdError;
use std::io::ErrorKind;

/// What has no better code was asked for wrongly.
pub fn exit_of(error: &Error) -> Exit {
    error.chain().find_map(of_cause).unwrap_or(Exit::Usage)
}

fn of_cause(cause: &(dyn StdError + 'static)) -> Option<Exit> {
    if let Some(error) = cause.downcast_ref::<ClientError>() {
        return Some(error.exit());
    }
    if let Some(error) = cause.downcast_ref::<FolderError>() {
        return Some(of_folder(error));
    }
    if let Some(error) = cause.downcast_ref::<OpenError>() {
        return Some(match error {
            OpenError::Missing { .. } => Exit::Usage,
            _ => Exit::Unreadable,
        });
    }
    if let Some(error) = cause.downcast_ref::<ConnectError>() {
        return Some(match error {
            ConnectError::Url(_) | ConnectError::Taken(_) => Exit::Usage,
            _ => Exit::Unreadable,
        });
    }
    let is_of_the_store = cause.is::<ReadError>()
        || cause.is::<BlobError>()
        || cause.is::<LogError>()
        || cause.is::<OutputError>();
    is_of_the_store.then_some(Exit::Unreadable)
}

/// A folder that is another's, or no folder, was named wrongly; one that cannot be read or written
/// was not.
fn of_folder(error: &FolderError) -> Exit {
    match error {
        FolderError::Held { .. } => Exit::Usage,
        FolderError::Io { source, .. } => match source.kind() {
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists | ErrorKind::InvalidFilename => {
                Exit::Usage
            }
            _ => Exit::Unreadable,
        },
        FolderError::BadId { .. } => Exit::Unreadable,
    }
}
