//! Orders on many runs.

use crate::bulk_runs::{decode, encode};
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, number, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::{BulkId, TokenId};
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkBy, BulkEnd, BulkRow, BulkRuns, BulkState};
use mainspring_core::time::Timestamp;
use tokio_postgres::Row;

const INSERT: &str = "
    insert into bulks (id, name, token, \"from\", asked, until, matched, created_at, runs, below,
                       finished_at, result)
    select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::bigint[],
                         $7::bigint[], $8::bigint[], $9::bytea[], $10::bytea[], $11::bigint[],
                         $12::text[])
    on conflict (id) do nothing";
/// The first word stands. They are few: each has a statement of its own.
const END: &str = "
    update bulks set finished_at = $2, result = $3, runs = null, below = null
    where id = $1 and finished_at is null";
const DROP: &str = "delete from bulks where finished_at is not null and finished_at < $1";
const HAS_OLD: &str = "
    select exists (select 1 from bulks where finished_at is not null and finished_at < $1)";
const LOAD: &str = "
    select id, name, token, \"from\", asked, until, matched, created_at, runs, below, finished_at,
           result
    from bulks where id = $1";
const UNFINISHED: &str = "
    select id, name, token, \"from\", asked, until, matched, created_at, runs, below, finished_at,
           result
    from bulks where finished_at is null order by created_at, id";
const ALL: &str = "
    select id, name, token, \"from\", asked, until, matched, created_at, runs, below, finished_at,
           result
    from bulks order by id";

pub(in crate::postgres) fn insert<'a>(rows: &'a [&'a BulkRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|row| uuid(row.id.as_bytes()))
        .text(|row| &row.by.name)
        .and(|row| row.by.token.as_ref().map(|token| uuid(token.as_bytes())))
        .text(|row| &row.by.from)
        .and(|row| row.asked.as_str())
        .and(|row| row.until.0)
        .and(|row| number(row.matched))
        .and(|row| row.created_at.0)
        .and(|row| meant(row).map(|meant| encode(&meant.runs)))
        .and(|row| meant(row).map(|meant| encode(&meant.below)))
        .and(|row| over(row).map(|end| end.at.0))
        .and(|row| over(row).map(|end| end.result.as_str()))
        .params();
    Step { sql: INSERT, params }
}

fn meant(row: &BulkRow) -> Option<&BulkRuns> {
    match &row.state {
        BulkState::AtWork(meant) => Some(meant),
        BulkState::Over(_) => None,
    }
}

fn over(row: &BulkRow) -> Option<&BulkEnd> {
    match &row.state {
        BulkState::AtWork(_) => None,
        BulkState::Over(end) => Some(end),
    }
}

pub(in crate::postgres) fn end<'a>(id: &BulkId, BulkEnd { at, result }: &'a BulkEnd) -> Step<'a> {
    let params: Vec<_> = vec![
        Box::new(uuid(id.as_bytes())) as _,
        Box::new(at.0) as _,
        Box::new(result.as_str()) as _,
    ];
    Step { sql: END, params }
}

/// Drops those that ended before this moment.
pub(in crate::postgres) fn drop_before(before: Timestamp) -> Step<'static> {
    Step { sql: DROP, params: vec![Box::new(before.0)] }
}

/// Whether `drop_before` would find anything.
pub(in crate::postgres) async fn has_old(
    session: &Session,
    before: Timestamp,
) -> Result<bool, Fault> {
    let step = Step { sql: HAS_OLD, params: vec![Box::new(before.0)] };
    Ok(session.row(&step).await?.is_some_and(|row| row.get(0)))
}

pub(in crate::postgres) async fn load(
    session: &Session,
    id: BulkId,
) -> Result<Option<BulkRow>, Fault> {
    let step = Step { sql: LOAD, params: vec![Box::new(uuid(id.as_bytes()))] };
    session.row(&step).await?.as_ref().map(read).transpose()
}

/// Those that are at work, oldest first.
pub(in crate::postgres) async fn unfinished(session: &Session) -> Result<Vec<BulkRow>, Fault> {
    list(session, UNFINISHED).await
}

/// Every one, for checks.
pub(in crate::postgres) async fn all(session: &Session) -> Result<Vec<BulkRow>, Fault> {
    list(session, ALL).await
}

async fn list(session: &Session, sql: &'static str) -> Result<Vec<BulkRow>, Fault> {
    session.rows(&Step { sql, params: Vec::new() }).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<BulkRow, Fault> {
    let mut cells = Cells::of(row, "bulks", 1);
    Ok(BulkRow {
        id: BulkId::from_bytes(cells.id()?),
        by: BulkBy {
            name: cells.text()?.into(),
            token: cells.maybe_id()?.map(TokenId::from_bytes),
            from: cells.text()?.into(),
        },
        asked: cells.json()?,
        until: cells.time()?,
        matched: cells.number()?,
        created_at: cells.time()?,
        state: state(&mut cells)?,
    })
}

fn state(cells: &mut Cells<'_>) -> Result<BulkState, Fault> {
    let lists: (Option<&[u8]>, Option<&[u8]>) = (cells.take()?, cells.take()?);
    let (at, result): (_, Option<&str>) = (cells.maybe_time()?, cells.take()?);
    match (lists, at, result) {
        ((Some(runs), Some(below)), None, None) => match (decode(runs), decode(below)) {
            (Some(runs), Some(below)) => Ok(BulkState::AtWork(BulkRuns { runs, below })),
            _ => Err(cells.contradiction("its runs are no list of ids")),
        },
        ((None, None), Some(at), Some(result)) => {
            let result = Json::parse(result).map_err(|error| {
                cells.contradiction(&format!("column result cannot be read: {error}"))
            })?;
            Ok(BulkState::Over(BulkEnd { at, result }))
        }
        _ => Err(cells.contradiction("must be at work or over")),
    }
}
