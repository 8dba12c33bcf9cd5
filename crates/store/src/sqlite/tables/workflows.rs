//! Workflows by name.

use crate::sqlite::cells::{Cells, limit};
use crate::sqlite::fault::Fault;
use mainspring_core::kernel::row::WorkflowRow;
use rusqlite::{Connection, Row, params};

pub(super) const PUT: &str = "
    insert into workflows (name, latest, created_at, updated_at, deleted_at)
    values (?1, ?2, ?3, ?4, ?5)
    on conflict (name) do update set
        latest = ?2, created_at = ?3, updated_at = ?4, deleted_at = ?5";
pub(super) const LOAD: &str = "
    select name, latest, created_at, updated_at, deleted_at from workflows where name = ?1";
/// No name is empty, so that every one comes after the empty one.
pub(super) const LIST: &str = "
    select name, latest, created_at, updated_at, deleted_at from workflows
    where name > ?1 and deleted_at is null order by name limit ?2";

pub(in crate::sqlite) fn put(conn: &Connection, rows: &[&WorkflowRow]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(PUT)?;
    for WorkflowRow { name, latest, created_at, updated_at, deleted_at } in rows {
        let deleted_at = deleted_at.map(|at| at.0);
        statement.execute(params![&**name, latest, created_at.0, updated_at.0, deleted_at])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn load(conn: &Connection, name: &str) -> Result<Option<WorkflowRow>, Fault> {
    let mut statement = conn.prepare_cached(LOAD)?;
    let mut rows = statement.query([name])?;
    rows.next()?.map(read).transpose()
}

pub(in crate::sqlite) fn list(
    conn: &Connection,
    after: Option<&str>,
    rows_max: usize,
) -> Result<Vec<WorkflowRow>, Fault> {
    let mut statement = conn.prepare_cached(LIST)?;
    let mut rows = statement.query(params![after.unwrap_or_default(), limit(rows_max)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<WorkflowRow, Fault> {
    let mut cells = Cells::of(row, "workflows", 1);
    Ok(WorkflowRow {
        name: cells.take::<String>()?.into(),
        latest: cells.take()?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
        deleted_at: cells.maybe_time()?,
    })
}
