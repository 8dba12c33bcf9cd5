//! What can go wrong with the database, in words a person can act on.

use super::place::Place;
use crate::contract::{CommitError, ReadError};
use crate::refused::Refused;
use std::time::Duration;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

#[derive(Debug)]
pub(super) enum Fault {
    Sql(Error),
    /// Told again while it is not worth another try.
    Unreachable(String),
    /// The connection is there, but nothing comes from it.
    Silent,
    /// Another server holds the lock.
    Taken(String),
    /// The connection was lost under an earlier batch of the same life, and nobody looked yet
    /// at what became of it.
    Unsettled,
    /// What should have become a blob ended before its end.
    CutShort,
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
    pub fn into_commit(self, place: &Place) -> CommitError {
        let (what, source) = match self {
            Self::Fenced | Self::Taken(_) => return CommitError::Fenced,
            Self::Refused(refused) => return refused.into(),
            Self::Damaged(what) => (ReadError::Damaged(what).to_string(), None),
            Self::Unreachable(what) => (what, None),
            Self::Silent => (silent(place), None),
            Self::Unsettled => (UNSETTLED.to_owned(), None),
            Self::CutShort => (CUT_SHORT.to_owned(), None),
            Self::Sql(error) => (sentence(&error, place), Some(error.into())),
        };
        CommitError::Failed { what, source }
    }

    pub fn into_read(self, place: &Place) -> ReadError {
        let (what, source) = match self {
            Self::Damaged(what) => return ReadError::Damaged(what),
            Self::Sql(error) if is_corrupt(&error) => {
                return ReadError::Damaged(format!("{place}: {}", said(&error)));
            }
            Self::Sql(error) => (sentence(&error, place), Some(error.into())),
            Self::Unreachable(what) | Self::Taken(what) => (what, None),
            fault => (fault.into_commit(place).to_string(), None),
        };
        ReadError::Failed { what, source }
    }

    /// Whether another connection may do better.
    pub fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Silent) || matches!(self, Self::Sql(error) if is_lost(error))
    }
}

/// Waits for the server, but not for ever: it may be stopped, or swap.
pub(super) async fn within<T>(
    patience: Duration,
    answer: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    tokio::time::timeout(patience, answer).await.unwrap_or(Err(Fault::Silent))
}

pub(super) fn silent(place: &Place) -> String {
    format!("{place} does not answer: check that its server is neither stopped nor overloaded")
}

const UNSETTLED: &str = "an earlier batch failed: what became of it must be looked at before \
                         anything else is written";

const CUT_SHORT: &str = "nothing of a blob is kept whose end did not come";

/// No answer of the server's, or one that says that it is leaving.
pub(super) fn is_lost(error: &Error) -> bool {
    error.as_db_error().is_none_or(|answer| {
        [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::CANNOT_CONNECT_NOW]
            .contains(answer.code())
    })
}

fn is_corrupt(error: &Error) -> bool {
    error
        .code()
        .is_some_and(|code| [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code))
}

/// The server's own words, without the values that may stand in their detail.
fn said(error: &Error) -> String {
    match error.as_db_error() {
        Some(answer) => answer.message().to_owned(),
        None => {
            std::error::Error::source(error).map_or_else(|| error.to_string(), |e| e.to_string())
        }
    }
}

/// What happened, and what to do about it. Never a password: it is in no error of the driver,
/// and `Place` does not show it.
pub(super) fn sentence(error: &Error, place: &Place) -> String {
    let said = said(error);
    let Some(code) = error.code() else {
        // The driver tells its kinds apart only by their words.
        if error.to_string() == "error performing TLS handshake" {
            return format!(
                "{place} could not be reached in private ({said}): check sslmode and sslrootcert \
                 in the URL, and that the server's certificate is for the host it names"
            );
        }
        return format!(
            "{place} cannot be reached ({said}): check that it runs and that this machine may \
             connect to it"
        );
    };
    let (what, remedy) = remedy(code);
    format!("{place} {what} ({said}): {remedy}")
}

fn remedy(code: &SqlState) -> (&'static str, &'static str) {
    match code.code() {
        "28P01" | "28000" => (
            "does not let this user in",
            "check user and password in the URL, and the server's pg_hba.conf",
        ),
        "3D000" => ("does not exist", "create it with createdb, or name another"),
        "42501" => (
            "denies this user what Mainspring needs",
            "make the user the owner of the database, or run `create schema mainspring \
             authorization` with its name",
        ),
        "25006" | "57P04" => (
            "cannot be written to",
            "name the primary server, not a standby, and check that it is not read-only",
        ),
        "53100" => ("has no space left on its disk", "free some space there"),
        "53200" => ("has no memory left", "free some there"),
        "53300" => (
            "has no connection left",
            "raise max_connections, or close what other programs keep open; Mainspring takes seven",
        ),
        "55P03" | "57014" | "40P01" => (
            "took too long",
            "look in pg_stat_activity for another program that holds locks on Mainspring's tables",
        ),
        "57P01" | "57P02" | "57P03" => {
            ("is starting or stopping", "wait until it runs again; Mainspring connects by itself")
        }
        "58030" => ("reports an error of its disk", "check the disk and the server's log"),
        "XX001" | "XX002" => ("is damaged", "restore it from a backup"),
        "42P01" | "42703" | "3F000" => {
            ("lacks tables that were there", "restore it from a backup, or name another database")
        }
        _ => ("could not do what it was asked to", "look into the server's log"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_failure_says_what_to_do() {
        let common = remedy(&SqlState::DISK_FULL);
        let unknown = remedy(&SqlState::SYNTAX_ERROR);
        assert_ne!(common, unknown);
        for code in ["28P01", "3D000", "42501", "25006", "53300", "57P01", "57014", "XX001"] {
            assert_ne!(remedy(&SqlState::from_code(code)), unknown, "{code}");
        }
    }

    #[test]
    fn a_second_server_fences_this_one_off() {
        let place = Place::parse("postgres://h/d").unwrap();
        let error = Fault::Taken("somebody".to_owned()).into_commit(&place);
        assert!(matches!(error, CommitError::Fenced), "{error:?}");
        let error = Fault::Taken("somebody".to_owned()).into_read(&place);
        assert_eq!(error.to_string(), "somebody");
    }
}
