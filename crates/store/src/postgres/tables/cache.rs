//! Successes that are taken instead of running again.

use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use crate::postgres::text;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use tokio_postgres::Row;

const PUT: &str = "
    insert into cache (workflow, task, hash, run, output, expires_at)
    select * from unnest($1::text[], $2::text[], $3::bytea[], $4::uuid[], $5::text[],
                         $6::bigint[])
    on conflict (workflow, task, hash) do update set
        run = excluded.run, output = excluded.output, expires_at = excluded.expires_at";
const DROP_EXPIRED: &str = "delete from cache where expires_at <= $1";
const LOAD: &str = "
    select workflow, task, hash, run, output, expires_at from cache
    where workflow = $1 and task = $2 and hash = $3";

pub(in crate::postgres) fn put<'a>(rows: &'a [&'a CacheRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .text(|row| &row.key.workflow)
        .text(|row| &row.key.task)
        .and(|row| &row.key.hash[..])
        .and(|row| uuid(row.run.as_bytes()))
        .and(|row| row.output.as_ref().map(Output::to_text))
        .and(|row| row.expires_at.0)
        .params();
    Step { sql: PUT, params }
}

pub(in crate::postgres) fn drop_expired(at: Timestamp) -> Step<'static> {
    Step { sql: DROP_EXPIRED, params: vec![Box::new(at.0)] }
}

pub(in crate::postgres) async fn load(
    session: &Session,
    key: &CacheKey,
) -> Result<Option<CacheRow>, Fault> {
    let params: Vec<_> = vec![
        Box::new(text::encode(&key.workflow)) as _,
        Box::new(text::encode(&key.task)) as _,
        Box::new(&key.hash[..]) as _,
    ];
    session.row(&Step { sql: LOAD, params }).await?.as_ref().map(read).transpose()
}

pub(super) fn read(row: &Row) -> Result<CacheRow, Fault> {
    let mut cells = Cells::of(row, "cache", 2);
    let key = CacheKey {
        workflow: cells.text()?.into(),
        task: cells.text()?.into(),
        hash: cells.hash()?,
    };
    let run = RunId::from_bytes(cells.id()?);
    Ok(CacheRow { key, run, output: cells.maybe_output()?, expires_at: cells.time()? })
}
