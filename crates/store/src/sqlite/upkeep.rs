//! Keeping the file up: looking at its schema, making it smaller, copying it while it is used.

use super::connection;
use super::open::{self, OpenError};
use super::schema;
use super::store::Sqlite;
use crate::upkeep::{Schema, Vacuumed};
use mainspring_core::ids::SchedulerId;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, params};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// 4 MiB at a time.
const STEP_PAGES: i32 = 1_024;

const IDENTIFY: &str = "update schedulers set id = ?2 where id = ?1";

impl Sqlite {
    /// Which schema the file has. Changes nothing; a newer one is refused.
    pub fn schema(path: &Path) -> Result<Schema, OpenError> {
        Ok(Schema::of(open::look(path)?, schema::MIGRATIONS))
    }

    /// Brings a file that is there up to date. Whoever calls holds the data folder's lock.
    pub fn migrate(path: &Path) -> Result<Schema, OpenError> {
        let before = Self::schema(path)?;
        open::writer(path)?;
        Ok(before)
    }

    /// Writes the file anew without its gaps. Whoever calls holds the data folder's lock: the
    /// rows of every table move, and a server would have to wait for all of it.
    pub fn vacuum(path: &Path) -> Result<Vacuumed, OpenError> {
        open::readers(path, 1)?;
        let failed = |error| OpenError::failed(error, path);
        let conn = open::writer(path)?;
        checkpoint(&conn).map_err(failed)?;
        let before_bytes = size(path)?;
        conn.execute_batch("vacuum").map_err(failed)?;
        checkpoint(&conn).map_err(failed)?;
        Ok(Vacuumed { before_bytes, after_bytes: size(path)? })
    }

    /// Copies the database into a new file as it is at one moment, also while a server writes
    /// to it. In the copy the first scheduler goes by the name of the second: who works there
    /// later is not who works here now.
    pub fn back_up(
        path: &Path,
        copy: &Path,
        (here, there): (SchedulerId, SchedulerId),
    ) -> Result<(), OpenError> {
        open::readers(path, 1)?;
        let failed = |error| OpenError::failed(error, path);
        let mut from = connection::open_reader(path).map_err(failed)?;
        open::create(copy).map_err(|error| OpenError::io(error, copy))?;
        let failed_copy = |error| OpenError::failed(error, copy);
        let mut to = connection::open_writer(copy).map_err(failed_copy)?;
        copy_pages(&mut from, &mut to).map_err(failed_copy)?;
        to.execute(IDENTIFY, params![here.as_bytes(), there.as_bytes()]).map_err(failed_copy)?;
        checkpoint(&to).map_err(failed_copy)?;
        to.close().map_err(|(_, error)| failed_copy(error))?;
        File::open(copy).and_then(|file| file.sync_all()).map_err(|it| OpenError::io(it, copy))
    }
}

/// One read transaction over all steps: without it, every commit of the server's would make the
/// copy begin anew, and beside a busy one it would never end. The WAL grows meanwhile.
fn copy_pages(from: &mut Connection, to: &mut Connection) -> rusqlite::Result<()> {
    let state = from.transaction()?;
    state.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))?;
    let backup = Backup::new(&state, to)?;
    loop {
        match backup.step(STEP_PAGES)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // The copy is ours alone and the source is only read: nobody to wait for.
            _ => std::thread::yield_now(),
        }
    }
}

/// Everything into the one file.
fn checkpoint(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))
}

fn size(path: &Path) -> Result<u64, OpenError> {
    let found: io::Result<fs::Metadata> = fs::metadata(path);
    found.map(|found| found.len()).map_err(|error| OpenError::io(error, path))
}
