//! What runs were told from outside.

use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::wait::SignalRow;
use rusqlite::{Connection, Row, params};

pub(super) const INSERT: &str = "
    insert or ignore into signals (run, key, number, value, \"by\", at)
    values (?1, ?2, ?3, ?4, ?5, ?6)";
/// The other columns are those of the row with the highest number.
pub(super) const NEWEST: &str = "
    select run, key, max(number), value, \"by\", at from signals where run = ?1 group by key";

pub(in crate::sqlite) fn insert(
    conn: &Connection,
    rows: &[(RunKey, &SignalRow)],
) -> Result<(), Fault> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut statement = conn.prepare_cached(INSERT)?;
    for (run, SignalRow { number, key, value, by, at }) in rows {
        statement.execute(params![run.0, &**key, number, value.as_str(), by, at.0])?;
    }
    Ok(())
}

/// Of each key, in the order of their numbers.
pub(in crate::sqlite) fn newest(conn: &Connection, run: RunKey) -> Result<Vec<SignalRow>, Fault> {
    let mut statement = conn.prepare_cached(NEWEST)?;
    let mut rows = statement.query([run.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    found.sort_by_key(|row| row.number);
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<SignalRow, Fault> {
    let mut cells = Cells::of(row, "signals", 3);
    let _run: i64 = cells.take()?;
    let key = cells.take::<String>()?.into();
    let number = cells.take()?;
    Ok(SignalRow { number, key, value: cells.json()?, by: cells.take()?, at: cells.time()? })
}
