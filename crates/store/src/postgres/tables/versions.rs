//! Definitions.

use crate::contract::VersionsQuery;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use crate::postgres::text;
use mainspring_core::kernel::row::VersionRow;
use tokio_postgres::Row;

/// Two servers may deploy the same version at once; the first one stands.
const INSERT: &str = "
    insert into versions (workflow, number, hash, text, created_at)
    select * from unnest($1::text[], $2::bigint[], $3::bytea[], $4::text[], $5::bigint[])
    on conflict (workflow, number) do nothing";
const NUMBERED: &str = "
    select workflow, number, hash, text, created_at from versions
    where workflow = $1 and number = $2";
const LIST: &str = "
    select workflow, number, hash, text, created_at from versions
    where workflow = $1 and number < $2 order by number desc limit $3";

pub(in crate::postgres) fn insert<'a>(rows: &'a [&'a VersionRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .text(|row| &row.workflow)
        .and(|row| i64::from(row.number))
        .and(|row| row.hash.as_slice())
        .text(|row| &row.text)
        .and(|row| row.created_at.0)
        .params();
    Step { sql: INSERT, params }
}

pub(in crate::postgres) async fn load(
    session: &Session,
    workflow: &str,
    number: Option<u32>,
) -> Result<Option<VersionRow>, Fault> {
    let Some(number) = number else {
        let latest = VersionsQuery { workflow, below: None, limit: 1 };
        return Ok(list(session, latest).await?.into_iter().next());
    };
    let params: Vec<_> =
        vec![Box::new(text::encode(workflow)) as _, Box::new(i64::from(number)) as _];
    let row = session.row(&Step { sql: NUMBERED, params }).await?;
    row.as_ref().map(read).transpose()
}

pub(in crate::postgres) async fn list(
    session: &Session,
    query: VersionsQuery<'_>,
) -> Result<Vec<VersionRow>, Fault> {
    let below = query.below.map_or(i64::MAX, i64::from);
    let params: Vec<_> = vec![
        Box::new(text::encode(query.workflow)) as _,
        Box::new(below) as _,
        Box::new(count(query.limit)) as _,
    ];
    session.rows(&Step { sql: LIST, params }).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<VersionRow, Fault> {
    let mut cells = Cells::of(row, "versions", 2);
    Ok(VersionRow {
        workflow: cells.text()?.into(),
        number: cells.number()?,
        hash: cells.hash()?,
        text: cells.text()?.into(),
        created_at: cells.time()?,
    })
}
