//! Who asked for what.

use crate::contract::Audited;
use crate::sqlite::cells::{Cells, limit};
use crate::sqlite::fault::Fault;
use mainspring_core::kernel::record::AuditRow;
use rusqlite::{Connection, Row, params};

/// Numbers go on from the highest: a row is never removed.
pub(super) const INSERT: &str = "
    insert into audit (at, \"by\", \"from\", action, target) values (?1, ?2, ?3, ?4, ?5)";
pub(super) const LIST: &str = "
    select number, at, \"by\", \"from\", action, target from audit
    where number < ?1 order by number desc limit ?2";

pub(in crate::sqlite) fn insert(conn: &Connection, rows: &[&AuditRow]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for AuditRow { at, by, from, action, target } in rows {
        statement.execute(params![at.0, &**by, &**from, &**action, target])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn list(
    conn: &Connection,
    below: Option<u64>,
    rows_max: usize,
) -> Result<Vec<Audited>, Fault> {
    let below = below.map_or(i64::MAX, |below| i64::try_from(below).unwrap_or(i64::MAX));
    let mut statement = conn.prepare_cached(LIST)?;
    let mut rows = statement.query(params![below, limit(rows_max)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<Audited, Fault> {
    let mut cells = Cells::of(row, "audit", 1);
    Ok(Audited {
        number: cells.take()?,
        row: AuditRow {
            at: cells.time()?,
            by: cells.take::<String>()?.into(),
            from: cells.take::<String>()?.into(),
            action: cells.take::<String>()?.into(),
            target: cells.take()?,
        },
    })
}
