//! Orders on many runs.

use crate::bulk_runs::{decode, encode};
use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{BulkId, TokenId};
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkBy, BulkEnd, BulkRow, BulkRuns, BulkState};
use mainspring_core::time::Timestamp;
use rusqlite::{Connection, Row, params};

pub(super) const INSERT: &str = "
    insert into bulks (id, name, token, \"from\", asked, until, matched, created_at, runs, below,
                       finished_at, result)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    on conflict (id) do nothing";
/// The first word stands.
pub(super) const END: &str = "
    update bulks set finished_at = ?2, result = ?3, runs = null, below = null
    where id = ?1 and finished_at is null";
pub(super) const DROP: &str = "
    delete from bulks indexed by bulks_finished
    where finished_at < ?1";
pub(super) const HAS_OLD: &str = "
    select 1 from bulks indexed by bulks_finished
    where finished_at < ?1 limit 1";
const COLUMNS: &str = "
    id, name, token, \"from\", asked, until, matched, created_at, runs, below, finished_at, result";

pub(super) fn loading() -> String {
    format!("select {COLUMNS} from bulks where id = ?1")
}

pub(super) fn unfinished_first() -> String {
    format!(
        "select {COLUMNS} from bulks indexed by bulks_unfinished where finished_at is null
         order by created_at, id"
    )
}

pub(in crate::sqlite) fn insert(conn: &Connection, rows: &[&BulkRow]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for BulkRow { id, by, asked, until, matched, created_at, state } in rows {
        let (meant, end) = match state {
            BulkState::AtWork(meant) => (Some(meant), None),
            BulkState::Over(end) => (None, Some(end)),
        };
        statement.execute(params![
            id.as_bytes(),
            &*by.name,
            by.token.as_ref().map(TokenId::as_bytes),
            &*by.from,
            asked.as_str(),
            until.0,
            matched,
            created_at.0,
            meant.map(|meant| encode(&meant.runs)),
            meant.map(|meant| encode(&meant.below)),
            end.map(|end| end.at.0),
            end.map(|end| end.result.as_str()),
        ])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn end<'a>(
    conn: &Connection,
    ends: impl Iterator<Item = (&'a BulkId, &'a BulkEnd)>,
) -> Result<(), Fault> {
    for (id, BulkEnd { at, result }) in ends {
        conn.prepare_cached(END)?.execute(params![id.as_bytes(), at.0, result.as_str()])?;
    }
    Ok(())
}

/// Drops those that ended before this moment.
pub(in crate::sqlite) fn drop_before(conn: &Connection, before: Timestamp) -> Result<(), Fault> {
    conn.prepare_cached(DROP)?.execute([before.0])?;
    Ok(())
}

/// Whether `drop_before` would find anything.
pub(in crate::sqlite) fn has_old(conn: &Connection, before: Timestamp) -> Result<bool, Fault> {
    Ok(conn.prepare_cached(HAS_OLD)?.exists([before.0])?)
}

pub(in crate::sqlite) fn load(conn: &Connection, id: BulkId) -> Result<Option<BulkRow>, Fault> {
    let mut statement = conn.prepare_cached(&loading())?;
    let mut rows = statement.query([id.as_bytes()])?;
    rows.next()?.map(read).transpose()
}

/// Those that are at work, oldest first.
pub(in crate::sqlite) fn unfinished(conn: &Connection) -> Result<Vec<BulkRow>, Fault> {
    list(conn, &unfinished_first())
}

/// Every one, for checks.
pub(in crate::sqlite) fn all(conn: &Connection) -> Result<Vec<BulkRow>, Fault> {
    list(conn, &format!("select {COLUMNS} from bulks order by id"))
}

fn list(conn: &Connection, sql: &str) -> Result<Vec<BulkRow>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<BulkRow, Fault> {
    let mut cells = Cells::of(row, "bulks", 1);
    Ok(BulkRow {
        id: BulkId::from_bytes(cells.take()?),
        by: BulkBy {
            name: cells.take::<String>()?.into(),
            token: cells.take::<Option<[u8; 16]>>()?.map(TokenId::from_bytes),
            from: cells.take::<String>()?.into(),
        },
        asked: cells.json()?,
        until: cells.time()?,
        matched: cells.take()?,
        created_at: cells.time()?,
        state: state(&mut cells)?,
    })
}

fn state(cells: &mut Cells<'_>) -> Result<BulkState, Fault> {
    let lists: (Option<Vec<u8>>, Option<Vec<u8>>) = (cells.take()?, cells.take()?);
    let (at, result): (_, Option<String>) = (cells.maybe_time()?, cells.take()?);
    match (lists, at, result) {
        ((Some(runs), Some(below)), None, None) => match (decode(&runs), decode(&below)) {
            (Some(runs), Some(below)) => Ok(BulkState::AtWork(BulkRuns { runs, below })),
            _ => Err(cells.contradiction("its runs are no list of ids")),
        },
        ((None, None), Some(at), Some(result)) => {
            let result = Json::parse(&result).map_err(|error| {
                cells.contradiction(&format!("column result cannot be read: {error}"))
            })?;
            Ok(BulkState::Over(BulkEnd { at, result }))
        }
        _ => Err(cells.contradiction("must be at work or over")),
    }
}
