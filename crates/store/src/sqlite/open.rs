//! From a path to connections: creating, refusing, migrating.

use super::connection;
use super::fault::sentence;
use super::frozen::Frozen;
use super::schema;
use rusqlite::{Connection, ErrorCode};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("there is no database at {}: nothing has been run here yet", path.display())]
    Missing { path: PathBuf },
    #[error(
        "{} was written by a newer version of Mainspring (schema {found}, this program knows \
         {known}): use that version",
        path.display()
    )]
    Newer { path: PathBuf, found: usize, known: usize },
    #[error(
        "{} was last used by an older version of Mainspring (schema {found}, this program reads \
         {known}): start the server once to bring it up to date",
        path.display()
    )]
    Older { path: PathBuf, found: usize, known: usize },
    #[error("{} belongs to another program: name another file", path.display())]
    Foreign { path: PathBuf },
    #[error("{what}")]
    Failed {
        what: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl OpenError {
    pub(super) fn failed(error: rusqlite::Error, path: &Path) -> Self {
        Self::Failed { what: sentence(&error, path), source: Box::new(error) }
    }

    pub(super) fn io(error: io::Error, path: &Path) -> Self {
        let what = format!("{} cannot be opened: {error}", path.display());
        Self::Failed { what, source: Box::new(error) }
    }
}

/// Creates the file if there is none, brings its schema up to date, and returns the connection
/// that may write.
pub(super) fn writer(path: &Path) -> Result<Connection, OpenError> {
    create(path).map_err(|error| OpenError::io(error, path))?;
    let failed = |error| OpenError::failed(error, path);
    let mut conn = connection::open_writer(path).map_err(failed)?;
    schema::migrate(&mut conn, path)?;
    let mode: String = conn
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        .map_err(failed)?;
    if mode == "wal" {
        return Ok(conn);
    }
    let what = format!(
        "the file system that holds {} cannot share memory between programs, which the \
         database needs: use a folder on a local disk",
        path.display()
    );
    Err(OpenError::Failed { what, source: format!("journal mode is {mode}").into() })
}

/// Private to this user from its first moment, and durable with its name.
pub(super) fn create(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(file) => {
            file.sync_all()?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The schema's version of a file that is there. Changes nothing.
pub(super) fn look(path: &Path) -> Result<usize, OpenError> {
    check_is_there(path)?;
    let conn = connection::open_reader(path).map_err(|error| OpenError::failed(error, path));
    schema::found(&conn?, path)
}

fn check_is_there(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(OpenError::Missing { path: path.to_owned() })
        }
        Err(error) => Err(OpenError::io(error, path)),
        Ok(_) => Ok(()),
    }
}

/// Connections that only read. Creates nothing, changes nothing, takes no lock.
pub(super) fn readers(
    path: &Path,
    count: usize,
) -> Result<(Vec<Connection>, Option<Frozen>), OpenError> {
    check_is_there(path)?;
    match open_all(path, count, connection::open_reader) {
        Ok(connections) => Ok((connections, None)),
        Err(error) if may_be_frozen(&error) => {
            let frozen = Frozen::of(path).ok_or(error)?;
            Ok((open_all(path, count, connection::open_immutable)?, Some(frozen)))
        }
        Err(error) => Err(error),
    }
}

fn open_all(
    path: &Path,
    count: usize,
    open: fn(&Path) -> rusqlite::Result<Connection>,
) -> Result<Vec<Connection>, OpenError> {
    let one = |_| {
        let conn = open(path).map_err(|error| OpenError::failed(error, path))?;
        schema::check(&conn, path)?;
        Ok(conn)
    };
    (0..count).map(one).collect()
}

/// What SQLite says when it may not create the files it needs beside the database.
fn may_be_frozen(error: &OpenError) -> bool {
    let OpenError::Failed { source, .. } = error else { return false };
    let code =
        source.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}
