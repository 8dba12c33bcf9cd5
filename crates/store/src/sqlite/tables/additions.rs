//! Tasks that were added to runs.

use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::AdditionRow;
use rusqlite::{Connection, Row, params};

pub(super) const INSERT: &str = "
    insert or ignore into additions (run, number, text, \"by\", at) values (?1, ?2, ?3, ?4, ?5)";
pub(super) const OF_RUN: &str = "
    select run, number, text, \"by\", at from additions where run = ?1 order by number";

pub(in crate::sqlite) fn insert(
    conn: &Connection,
    rows: &[(RunKey, &AdditionRow)],
) -> Result<(), Fault> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut statement = conn.prepare_cached(INSERT)?;
    for (run, AdditionRow { number, text, by, at }) in rows {
        statement.execute(params![run.0, number, &**text, by, at.0])?;
    }
    Ok(())
}

/// In the order of their numbers.
pub(in crate::sqlite) fn of_run(conn: &Connection, run: RunKey) -> Result<Vec<AdditionRow>, Fault> {
    let mut statement = conn.prepare_cached(OF_RUN)?;
    let mut rows = statement.query([run.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<AdditionRow, Fault> {
    let mut cells = Cells::of(row, "additions", 2);
    let _run: i64 = cells.take()?;
    let number = cells.take()?;
    let text = cells.take::<String>()?.into();
    Ok(AdditionRow { number, text, by: cells.take()?, at: cells.time()? })
}
