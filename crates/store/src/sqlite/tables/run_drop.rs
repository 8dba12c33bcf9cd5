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
      and parent is null
    order by created_at, id limit ?2";
/// The runs below a run.
pub(super) const BELOW: &str = "
    with recursive below(key, id, tasks_total) as (
        select key, id, tasks_total from runs indexed by runs_by_parent where parent = ?1
        union
        select runs.key, runs.id, runs.tasks_total
        from below cross join runs indexed by runs_by_parent on runs.parent = below.id)
    select key, id, tasks_total from below";
/// One that was opened again since it was looked at stays.
pub(super) const DROP: &str = "
    delete from runs
    where key = ?1 and stamp = ?2 and status in ('success', 'failed', 'cancelled')
    returning id";
pub(super) const DROP_CHILD: &str = "delete from runs where key = ?1";
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
        let mut rows = cells.take::<u64>()? + instances::rows(conn, key)?;
        let mut logs = logs::outside_of_run(conn, key)?;
        let mut children = Vec::new();
        for child in below(conn, run.id)? {
            rows += 1 + child.tasks + instances::rows(conn, child.key)?;
            logs.extend(logs::outside_of_run(conn, child.key)?);
            children.push(child.id);
        }
        children.sort_unstable();
        logs.sort_unstable();
        found.push(Expired { run, children, rows, logs });
    }
    Ok(found)
}

struct Child {
    key: RunKey,
    id: RunId,
    tasks: u64,
}

fn below(conn: &Connection, run: RunId) -> Result<Vec<Child>, Fault> {
    let mut statement = conn.prepare_cached(BELOW)?;
    let mut rows = statement.query([run.as_bytes()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "runs", 1);
        let key = RunKey(cells.take()?);
        found.push(Child { key, id: RunId::from_bytes(cells.take()?), tasks: cells.take()? });
    }
    Ok(found)
}

pub(in crate::sqlite) fn drop_runs(conn: &Connection, runs: &[(RunKey, u64)]) -> Result<(), Fault> {
    for (run, stamp) in runs {
        let mut statement = conn.prepare_cached(DROP)?;
        let id = statement.query_row(params![run.0, stamp], |row| row.get(0)).optional()?;
        let Some(id) = id else { continue };
        let id = RunId::from_bytes(id);
        drop_rows(conn, *run, id)?;
        // Found through their parents, which may be gone by then: looked for before.
        for child in below(conn, id)? {
            conn.prepare_cached(DROP_CHILD)?.execute([child.key.0])?;
            drop_rows(conn, child.key, child.id)?;
        }
    }
    Ok(())
}

fn drop_rows(conn: &Connection, run: RunKey, id: RunId) -> Result<(), Fault> {
    for sql in DROP_ROWS {
        conn.prepare_cached(sql)?.execute([run.0])?;
    }
    cache::drop_of_run(conn, id)?;
    idempotency_keys::let_go(conn, id)
}
