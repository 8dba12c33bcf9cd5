//! Runs whose time is up: which they are, and how they go with all that belongs to them.

use super::{cache, idempotency_keys, instances, logs};
use crate::contract::Expired;
use crate::sqlite::cells::{Cells, limit};
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{RunId, RunKey};
use mainspring_core::time::Timestamp;
use mainspring_core::world::input::Forgotten;
use rusqlite::{Connection, OptionalExtension, params};

/// Walks from the oldest run on: what is passed over are the few that took longer than runs
/// are kept.
pub(super) const EXPIRED: &str = "
    select key, id, stamp, tasks_total from runs indexed by runs_by_age
    where created_at < ?1 and finished_at < ?1 and status in ('success', 'failed', 'cancelled')
    order by created_at, id limit ?2";
/// One that was opened again since it was looked at stays.
pub(super) const DROP: &str = "
    delete from runs
    where key = ?1 and stamp = ?2 and status in ('success', 'failed', 'cancelled')
    returning id";
pub(super) const DROP_ROWS: [&str; 7] = [
    "delete from tasks where run = ?1",
    "delete from attempts where run = ?1",
    "delete from logs where run = ?1",
    "delete from inputs where run = ?1",
    "delete from signals where run = ?1",
    "delete from approvals where run = ?1",
    "delete from additions where run = ?1",
];

pub(in crate::sqlite) fn expired(
    conn: &Connection,
    before: Timestamp,
    runs_max: usize,
) -> Result<Vec<Expired>, Fault> {
    let mut statement = conn.prepare_cached(EXPIRED)?;
    let mut rows = statement.query(params![before.0, limit(runs_max)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "runs", 1);
        let key = RunKey(cells.take()?);
        let run = Forgotten { key, id: RunId::from_bytes(cells.take()?), stamp: cells.take()? };
        let rows = cells.take::<u64>()? + instances::rows(conn, key)?;
        found.push(Expired { run, rows, logs: logs::outside_of_run(conn, key)? });
    }
    Ok(found)
}

pub(in crate::sqlite) fn drop_runs(conn: &Connection, runs: &[(RunKey, u64)]) -> Result<(), Fault> {
    for (run, stamp) in runs {
        let mut statement = conn.prepare_cached(DROP)?;
        let id = statement.query_row(params![run.0, stamp], |row| row.get(0)).optional()?;
        let Some(id) = id else { continue };
        for sql in DROP_ROWS {
            conn.prepare_cached(sql)?.execute([run.0])?;
        }
        let id = RunId::from_bytes(id);
        cache::drop_of_run(conn, id)?;
        idempotency_keys::let_go(conn, id)?;
    }
    Ok(())
}
