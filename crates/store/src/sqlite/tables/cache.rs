//! Successes that are taken instead of running again.

use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use rusqlite::{Connection, Row, params};

pub(super) const PUT: &str = "
    insert into cache (workflow, task, hash, run, output, expires_at)
    values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict (workflow, task, hash) do update set run = ?4, output = ?5, expires_at = ?6";
pub(super) const DROP_EXPIRED: &str = "delete from cache where expires_at <= ?1";
/// They go with the blobs that they name.
pub(super) const DROP_OF_RUN: &str =
    "delete from cache where run = ?1 and substr(output, 1, 1) = '@'";
pub(super) const LOAD: &str = "
    select workflow, task, hash, run, output, expires_at from cache
    where workflow = ?1 and task = ?2 and hash = ?3";

pub(in crate::sqlite) fn put<'a>(
    conn: &Connection,
    rows: impl Iterator<Item = &'a CacheRow>,
) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(PUT)?;
    for CacheRow { key, run, output, expires_at } in rows {
        statement.execute(params![
            &*key.workflow,
            &*key.task,
            key.hash,
            run.as_bytes(),
            output.as_ref().map(Output::to_text),
            expires_at.0,
        ])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn drop_expired(conn: &Connection, at: Timestamp) -> Result<(), Fault> {
    conn.prepare_cached(DROP_EXPIRED)?.execute([at.0])?;
    Ok(())
}

pub(super) fn drop_of_run(conn: &Connection, run: RunId) -> Result<(), Fault> {
    conn.prepare_cached(DROP_OF_RUN)?.execute([run.as_bytes()])?;
    Ok(())
}

pub(in crate::sqlite) fn load(
    conn: &Connection,
    key: &CacheKey,
) -> Result<Option<CacheRow>, Fault> {
    let mut statement = conn.prepare_cached(LOAD)?;
    let mut rows = statement.query(params![&*key.workflow, &*key.task, key.hash])?;
    rows.next()?.map(read).transpose()
}

pub(super) fn read(row: &Row<'_>) -> Result<CacheRow, Fault> {
    let mut cells = Cells::of(row, "cache", 3);
    let key = CacheKey {
        workflow: cells.take::<String>()?.into(),
        task: cells.take::<String>()?.into(),
        hash: cells.take()?,
    };
    let run = RunId::from_bytes(cells.take()?);
    Ok(CacheRow { key, run, output: cells.maybe_output()?, expires_at: cells.time()? })
}
