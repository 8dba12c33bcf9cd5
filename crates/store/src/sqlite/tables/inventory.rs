//! Statements that go through whole tables, for checks.

use super::{approvals, attempts, cache, idempotency_keys, runs, tasks, workflows};
use crate::contract::StoredRun;
use crate::inventory::{
    CachedSuccess, HeldKey, KeyRange, Numbered, STRAYS_MAX, Stray, TABLES_OF_RUNS, WholeRun,
};
use crate::sqlite::cells::{Cells, limit};
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId};
use mainspring_core::kernel::cache::CacheKey;
use mainspring_core::kernel::record::IdempotencyKey;
use mainspring_core::kernel::row::LogSize;
use rusqlite::{Connection, params};

/// Told at most; a damaged file has thousands.
const FAULTS_MAX: i64 = 100;

const SCHEDULERS: &str = "select id from schedulers order by ordinal";
const RUN_KEYS: &str = "select key, id from runs where key > ?1 order by key limit ?2";
const LOGS: &str = "
    select attempt, length(inline), file_bytes, blob_bytes from logs where run = ?1 order by attempt";
const NAMES: &str = "
    select name from (select name from workflows where name > ?1
                      union select workflow from versions where workflow > ?1)
    order by name limit ?2";
const NUMBERS: &str = "select number from versions where workflow = ?1 order by number";
const HELD_KEYS: &str = "
    select principal, route, key, body, answer, created_at,
           run is not null and not exists (select 1 from runs where runs.id = held.run)
    from idempotency_keys held
    where (principal, route, key) > (?1, ?2, ?3)
    order by principal, route, key limit ?4";

const CACHED: &str = "
    select workflow, task, hash, run, output, expires_at,
           coalesce(substr(output, 1, 1) = '@', false)
               and not exists (select 1 from runs where runs.id = cache.run)
    from cache where (workflow, task, hash) > (?1, ?2, ?3)
    order by workflow, task, hash limit ?4";

pub(in crate::sqlite) fn integrity(conn: &Connection) -> Result<Vec<String>, Fault> {
    let mut found: Vec<String> = Vec::new();
    conn.pragma(None, "integrity_check", FAULTS_MAX, |row| {
        found.push(row.get(0)?);
        Ok(())
    })?;
    found.retain(|line| line != "ok");
    conn.pragma_query(None, "foreign_key_check", |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        found.push(format!("a row of {table} refers to a row of {parent} that is not there"));
        Ok(())
    })?;
    Ok(found)
}

pub(in crate::sqlite) fn schedulers(conn: &Connection) -> Result<Vec<SchedulerId>, Fault> {
    let mut statement = conn.prepare_cached(SCHEDULERS)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(SchedulerId::from_bytes(Cells::of(row, "schedulers", 0).take()?));
    }
    Ok(found)
}

pub(in crate::sqlite) fn run_keys(
    conn: &Connection,
    above: RunKey,
    runs_max: usize,
) -> Result<Vec<(RunKey, Option<RunId>)>, Fault> {
    let mut statement = conn.prepare_cached(RUN_KEYS)?;
    let mut rows = statement.query(params![above.0, limit(runs_max)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((RunKey(row.get(0)?), row.get(1).ok().map(RunId::from_bytes)));
    }
    Ok(found)
}

pub(in crate::sqlite) fn whole_run(
    conn: &Connection,
    run: RunKey,
) -> Result<Option<WholeRun>, Fault> {
    let Some((head, progress)) = runs::load_by_key(conn, run)? else { return Ok(None) };
    let tasks = tasks::all(conn, run)?;
    let attempts = attempts::of_run(conn, run)?;
    let logs = logs(conn, run)?;
    let approvals = approvals::of_run(conn, run)?;
    let run = StoredRun { head, progress, tasks };
    Ok(Some(WholeRun { run, attempts, logs, approvals }))
}

fn logs(conn: &Connection, run: RunKey) -> Result<Vec<(AttemptId, LogSize)>, Fault> {
    let mut statement = conn.prepare_cached(LOGS)?;
    let mut rows = statement.query([run.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "logs", 1);
        let attempt = AttemptId::from_bytes(cells.take()?);
        let size = match (cells.take()?, cells.take()?, cells.take()?) {
            (Some(bytes), None, None) => LogSize::Inline { bytes },
            (None, Some(bytes), None) => LogSize::File { bytes },
            (None, None, Some(bytes)) => LogSize::Blob { bytes },
            _ => return Err(cells.contradiction("must be inline, in a file or in a blob")),
        };
        found.push((attempt, size));
    }
    Ok(found)
}

pub(in crate::sqlite) fn strays(conn: &Connection, range: KeyRange) -> Result<Vec<Stray>, Fault> {
    let mut found = Vec::new();
    for table in TABLES_OF_RUNS {
        let mut statement = conn.prepare_cached(&format!(
            "select distinct run from {table} where run > ?1 and run <= ?2
             and not exists (select 1 from runs where key = {table}.run) limit ?3"
        ))?;
        let values = params![range.above.0, range.up_to.0, limit(STRAYS_MAX)];
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            found.push(Stray { table, run: RunKey(row.get(0)?) });
        }
    }
    Ok(found)
}

pub(in crate::sqlite) fn names(
    conn: &Connection,
    after: &str,
    names_max: usize,
) -> Result<Vec<String>, Fault> {
    let mut statement = conn.prepare_cached(NAMES)?;
    let rows = statement.query_map(params![after, limit(names_max)], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(in crate::sqlite) fn numbered(conn: &Connection, workflow: &str) -> Result<Numbered, Fault> {
    let row = workflows::load(conn, workflow)?;
    let mut statement = conn.prepare_cached(NUMBERS)?;
    let mut rows = statement.query([workflow])?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        versions.push(Cells::of(row, "versions", 1).take()?);
    }
    Ok(Numbered { row, versions })
}

pub(in crate::sqlite) fn held_keys(
    conn: &Connection,
    after: Option<&IdempotencyKey>,
    keys_max: usize,
) -> Result<Vec<HeldKey>, Fault> {
    let (principal, route, key) =
        after.map_or(("", "", ""), |after| (&*after.principal, &*after.route, &*after.key));
    let mut statement = conn.prepare_cached(HELD_KEYS)?;
    let mut rows = statement.query(params![principal, route, key, limit(keys_max)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(HeldKey { row: idempotency_keys::read(row)?, dangles: row.get(6)? });
    }
    Ok(found)
}

pub(in crate::sqlite) fn cached(
    conn: &Connection,
    after: Option<&CacheKey>,
    rows_max: usize,
) -> Result<Vec<CachedSuccess>, Fault> {
    let (workflow, task, hash) =
        after.map_or(("", "", &[][..]), |after| (&*after.workflow, &*after.task, &after.hash[..]));
    let mut statement = conn.prepare_cached(CACHED)?;
    let mut rows = statement.query(params![workflow, task, hash, limit(rows_max)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(CachedSuccess { row: cache::read(row)?, dangles: row.get(6)? });
    }
    Ok(found)
}
