//! Definitions.

use crate::contract::VersionsQuery;
use crate::sqlite::cells::{Cells, limit};
use crate::sqlite::fault::Fault;
use mainspring_core::kernel::row::VersionRow;
use rusqlite::{Connection, Row, params};

/// Two servers may deploy the same version at once; the first one stands.
pub(super) const INSERT: &str = "
    insert into versions (workflow, number, hash, text, created_at)
    values (?1, ?2, ?3, ?4, ?5)
    on conflict (workflow, number) do nothing";
pub(super) const NUMBERED: &str = "
    select workflow, number, hash, text, created_at from versions
    where workflow = ?1 and number = ?2";
pub(super) const LATEST: &str = "
    select workflow, number, hash, text, created_at from versions
    where workflow = ?1 order by number desc limit 1";
pub(super) const LIST: &str = "
    select workflow, number, hash, text, created_at from versions
    where workflow = ?1 and number < ?2 order by number desc limit ?3";

pub(in crate::sqlite) fn insert(conn: &Connection, rows: &[&VersionRow]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for row in rows {
        let VersionRow { workflow, number, hash, text, created_at } = row;
        statement.execute(params![&**workflow, number, hash, &**text, created_at.0])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn load(
    conn: &Connection,
    workflow: &str,
    number: Option<u32>,
) -> Result<Option<VersionRow>, Fault> {
    let mut statement = conn.prepare_cached(number.map_or(LATEST, |_| NUMBERED))?;
    let mut rows = match number {
        Some(number) => statement.query(params![workflow, number])?,
        None => statement.query([workflow])?,
    };
    rows.next()?.map(read).transpose()
}

pub(in crate::sqlite) fn list(
    conn: &Connection,
    query: VersionsQuery<'_>,
) -> Result<Vec<VersionRow>, Fault> {
    let mut statement = conn.prepare_cached(LIST)?;
    let below = query.below.map_or(i64::MAX, i64::from);
    let mut rows = statement.query(params![query.workflow, below, limit(query.limit)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<VersionRow, Fault> {
    let mut cells = Cells::of(row, "versions", 2);
    Ok(VersionRow {
        workflow: cells.take::<String>()?.into(),
        number: cells.take()?,
        hash: cells.take()?,
        text: cells.take::<String>()?.into(),
        created_at: cells.time()?,
    })
}
