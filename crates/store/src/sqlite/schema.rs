//! Versions of the schema, in order. A migration that was released never changes.

use super::open::OpenError;
use crate::upkeep::Migration;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_first", sql: include_str!("migrations/0001_first.sql") },
    Migration { name: "0002_outputs", sql: include_str!("migrations/0002_outputs.sql") },
    Migration { name: "0003_limits", sql: include_str!("migrations/0003_limits.sql") },
    Migration { name: "0004_waits", sql: include_str!("migrations/0004_waits.sql") },
    Migration { name: "0005_reruns", sql: include_str!("migrations/0005_reruns.sql") },
    Migration { name: "0006_additions", sql: include_str!("migrations/0006_additions.sql") },
    Migration { name: "0007_graces", sql: include_str!("migrations/0007_graces.sql") },
    Migration { name: "0008_finalizers", sql: include_str!("migrations/0008_finalizers.sql") },
    Migration { name: "0009_children", sql: include_str!("migrations/0009_children.sql") },
    Migration { name: "0010_bulks", sql: include_str!("migrations/0010_bulks.sql") },
    Migration { name: "0011_kills", sql: include_str!("migrations/0011_kills.sql") },
];

/// Marks the file as Mainspring's: "Main" in ASCII.
const APPLICATION_ID: u32 = 0x4d61_696e;

const fn newest() -> usize {
    MIGRATIONS.len()
}

/// Brings the file up to date. Holds the write lock from looking to the last change, so that
/// two programs that start at once do not both migrate.
pub(super) fn migrate(conn: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::failed(error, path);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = found(&tx, path)?;
    if found == newest() {
        return Ok(());
    }
    for migration in &MIGRATIONS[found..] {
        tx.execute_batch(migration.sql).map_err(failed)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    tx.pragma_update(None, "user_version", newest()).map_err(failed)?;
    tx.commit().map_err(failed)
}

/// Looks without a change: a reader takes a file only as it is.
pub(super) fn check(conn: &Connection, path: &Path) -> Result<(), OpenError> {
    match found(conn, path)? {
        found if found == newest() => Ok(()),
        // Made, and cut off before anything was put into it.
        0 => Err(OpenError::Missing { path: path.to_owned() }),
        found => Err(OpenError::Older { path: path.to_owned(), found, known: newest() }),
    }
}

/// The schema's version; 0 for an empty file. Refuses what this program must not touch.
pub(super) fn found(conn: &Connection, path: &Path) -> Result<usize, OpenError> {
    let failed = |error| OpenError::failed(error, path);
    let number = |pragma| conn.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let application = number("application_id").map_err(failed)?;
    let version = number("user_version").map_err(failed)? as usize;
    let tables: u32 = conn
        .query_row("select count(*) from sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    let path = path.to_owned();
    match (application, version, tables) {
        (0, 0, 0) => Ok(0),
        (APPLICATION_ID, version, _) if version > newest() => {
            Err(OpenError::Newer { path, found: version, known: newest() })
        }
        (APPLICATION_ID, version, _) => Ok(version),
        _ => Err(OpenError::Foreign { path }),
    }
}
