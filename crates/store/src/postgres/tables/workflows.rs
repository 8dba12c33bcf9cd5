//! Workflows by name.

use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use crate::postgres::text;
use mainspring_core::kernel::row::WorkflowRow;
use std::collections::BTreeMap;
use tokio_postgres::Row;

const PUT: &str = "
    insert into workflows (name, latest, created_at, updated_at, deleted_at)
    select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
    on conflict (name) do update set
        latest = excluded.latest, created_at = excluded.created_at,
        updated_at = excluded.updated_at, deleted_at = excluded.deleted_at";
const LOAD: &str = "
    select name, latest, created_at, updated_at, deleted_at from workflows where name = $1";
/// No name is empty, so that every one comes after the empty one.
const LIST: &str = "
    select name, latest, created_at, updated_at, deleted_at from workflows
    where name > $1 and deleted_at is null order by name limit $2";

/// The last word on each: one statement writes no row twice.
pub(in crate::postgres) fn last_words<'a>(rows: &[&'a WorkflowRow]) -> Vec<&'a WorkflowRow> {
    let by_name: BTreeMap<&str, &WorkflowRow> = rows.iter().map(|row| (&*row.name, *row)).collect();
    by_name.into_values().collect()
}

pub(in crate::postgres) fn put<'a>(rows: &'a [&'a WorkflowRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .text(|row| &row.name)
        .and(|row| i64::from(row.latest))
        .and(|row| row.created_at.0)
        .and(|row| row.updated_at.0)
        .and(|row| row.deleted_at.map(|at| at.0))
        .params();
    Step { sql: PUT, params }
}

pub(in crate::postgres) async fn load(
    session: &Session,
    name: &str,
) -> Result<Option<WorkflowRow>, Fault> {
    session.row(&by_name(name)).await?.as_ref().map(read).transpose()
}

pub(super) fn by_name(name: &str) -> Step<'_> {
    Step { sql: LOAD, params: vec![Box::new(text::encode(name))] }
}

pub(in crate::postgres) async fn list(
    session: &Session,
    after: Option<&str>,
    rows_max: usize,
) -> Result<Vec<WorkflowRow>, Fault> {
    let after = text::encode(after.unwrap_or_default());
    let params: Vec<_> = vec![Box::new(after) as _, Box::new(count(rows_max)) as _];
    session.rows(&Step { sql: LIST, params }).await?.iter().map(read).collect()
}

pub(super) fn read(row: &Row) -> Result<WorkflowRow, Fault> {
    let mut cells = Cells::of(row, "workflows", 1);
    Ok(WorkflowRow {
        name: cells.text()?.into(),
        latest: cells.number()?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
        deleted_at: cells.maybe_time()?,
    })
}
