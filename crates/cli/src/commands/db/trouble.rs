//! Databases that cannot be used: told, and told apart by exit code.

use crate::exit::Exit;
use crate::out;
use anyhow::{Error, Result};
use mainspring_store::{ConnectError, OpenError, ReadError};

/// Says what was wrong with the database; anything else is for whoever called.
pub fn told(error: Error) -> Result<Exit> {
    match exit_of(&error) {
        Some(exit) => {
            out::error(&error);
            Ok(exit)
        }
        None => Err(error),
    }
}

fn exit_of(error: &Error) -> Option<Exit> {
    error.chain().find_map(|cause| {
        if let Some(error) = cause.downcast_ref::<OpenError>() {
            let is_there = !matches!(error, OpenError::Missing { .. });
            return Some(if is_there { Exit::Unreadable } else { Exit::Usage });
        }
        if let Some(error) = cause.downcast_ref::<ConnectError>() {
            let is_usage = matches!(error, ConnectError::Url(_) | ConnectError::Taken(_));
            return Some(if is_usage { Exit::Usage } else { Exit::Unreadable });
        }
        cause.downcast_ref::<ReadError>().map(|_| Exit::Unreadable)
    })
}
