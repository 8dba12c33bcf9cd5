//! What runs were told from outside.

use crate::postgres::cells::Cells;
use crate::postgres::columns::Columns;
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::wait::SignalRow;
use tokio_postgres::Row;

const INSERT: &str = "
    insert into signals (run, key, number, value, \"by\", at)
    select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[],
                         $6::bigint[])
    on conflict do nothing";
/// From key to key, and to the last of each, is a step.
const NEWEST: &str = "
    with recursive keys(key) as (
        select (select key from signals where run = $1 order by key, number limit 1)
        union all
        select (select signals.key from signals where run = $1 and signals.key > keys.key
                order by signals.key, number limit 1)
        from keys where keys.key is not null)
    select found.* from keys, lateral (
        select run, signals.key, number, value, \"by\", at from signals
        where run = $1 and signals.key = keys.key order by number desc limit 1) found";

pub(in crate::postgres) fn insert<'a>(rows: &'a [(RunKey, &'a SignalRow)]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|(run, _)| run.0)
        .text(|(_, row)| &row.key)
        .and(|(_, row)| i64::from(row.number))
        .and(|(_, row)| row.value.as_str())
        .text(|(_, row)| &row.by)
        .and(|(_, row)| row.at.0)
        .params();
    Step { sql: INSERT, params }
}

/// Of each key, in the order of their numbers.
pub(in crate::postgres) async fn newest(
    session: &Session,
    run: RunKey,
) -> Result<Vec<SignalRow>, Fault> {
    let rows = session.rows(&Step { sql: NEWEST, params: vec![Box::new(run.0)] }).await?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, Fault>>()?;
    found.sort_by_key(|row| row.number);
    Ok(found)
}

fn read(row: &Row) -> Result<SignalRow, Fault> {
    let mut cells = Cells::of(row, "signals", 3);
    let _run: i64 = cells.take()?;
    let key = cells.text()?.into();
    let number = cells.number()?;
    Ok(SignalRow { number, key, value: cells.json()?, by: cells.text()?, at: cells.time()? })
}
