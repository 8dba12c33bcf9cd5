//! Why a database could not be opened.

use super::fault::Fault;
use super::place::{Place, UrlError};
use super::schema::{Unfit, newest};
use crate::contract::ReadError;
use std::io;

/// Why a PostgreSQL database could not be opened. No text holds a password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the URL of the database is not right: {0}")]
    Url(String),
    #[error(
        "{place} was written by a newer version of Mainspring (schema {found}, this program \
         knows {known}): use that version"
    )]
    Newer { place: String, found: usize, known: usize },
    #[error(
        "{place} was last used by an older version of Mainspring (schema {found}, this program \
         reads {known}): start the server once to bring it up to date"
    )]
    Older { place: String, found: usize, known: usize },
    #[error(
        "{0} has a schema named mainspring that belongs to another program: rename it, or name \
         another database"
    )]
    Foreign(String),
    #[error("{0} holds nothing of Mainspring's yet: start the server once")]
    Empty(String),
    /// Another server works on it.
    #[error("{0}")]
    Taken(String),
    #[error("{what}")]
    Failed {
        what: String,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl From<UrlError> for ConnectError {
    fn from(error: UrlError) -> Self {
        Self::Url(error.to_string())
    }
}

impl ConnectError {
    pub(super) fn of(unfit: Unfit, place: &Place) -> Self {
        let (known, shown) = (newest(), place.to_string());
        match unfit {
            Unfit::Newer { found } => Self::Newer { place: shown, found, known },
            Unfit::Older { found } => Self::Older { place: shown, found, known },
            Unfit::Foreign => Self::Foreign(shown),
            Unfit::Empty => Self::Empty(shown),
            Unfit::Server(what) => Self::Failed { what: format!("{place} {what}"), source: None },
            Unfit::Fault(Fault::Taken(what)) => Self::Taken(what),
            Unfit::Fault(fault) => match fault.into_read(place) {
                ReadError::Failed { what, source } => Self::Failed { what, source },
                damaged @ ReadError::Damaged(_) => {
                    Self::Failed { what: damaged.to_string(), source: None }
                }
            },
        }
    }

    pub(super) fn thread(error: io::Error, place: &Place) -> Self {
        let what = format!("{place} cannot be opened: this system starts no more threads");
        Self::Failed { what, source: Some(error.into()) }
    }
}
