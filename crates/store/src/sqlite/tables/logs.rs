//! What attempts wrote, when it was little; else how much it was, and where it is.

use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::Log;
use rusqlite::{Connection, Row, params};

/// A log is handed over once; should it come again, the first one stands.
pub(super) const INSERT: &str = "
    insert into logs (run, attempt, inline, file_bytes, blob_bytes) values (?1, ?2, ?3, ?4, ?5)
    on conflict (run, attempt) do nothing";
pub(super) const LOAD: &str = "
    select run, attempt, inline, file_bytes, blob_bytes from logs
    where run = ?1 and attempt = ?2";
pub(super) const OUTSIDE_OF_RUN: &str = "
    select attempt from logs where run = ?1 and inline is null order by attempt";
pub(super) const OUTSIDE: &str = "
    select attempt from logs indexed by logs_outside where attempt = ?1 and inline is null limit 1";

pub(in crate::sqlite) fn insert(
    conn: &Connection,
    rows: &[(RunKey, AttemptId, &Log)],
) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for (run, attempt, log) in rows {
        let (inline, file_bytes, blob_bytes) = match log {
            Log::Inline(bytes) => (Some(&**bytes), None, None),
            Log::File { bytes } => (None, Some(*bytes), None),
            Log::Blob { bytes } => (None, None, Some(*bytes)),
        };
        statement.execute(params![run.0, attempt.as_bytes(), inline, file_bytes, blob_bytes])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn load(
    conn: &Connection,
    run: RunKey,
    attempt: AttemptId,
) -> Result<Option<Log>, Fault> {
    let mut statement = conn.prepare_cached(LOAD)?;
    let mut rows = statement.query(params![run.0, attempt.as_bytes()])?;
    rows.next()?.map(read).transpose()
}

/// Attempts whose logs are not in their rows.
pub(super) fn outside_of_run(conn: &Connection, run: RunKey) -> Result<Vec<AttemptId>, Fault> {
    let mut statement = conn.prepare_cached(OUTSIDE_OF_RUN)?;
    let mut rows = statement.query([run.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "logs", 1);
        found.push(AttemptId::from_bytes(cells.take()?));
    }
    Ok(found)
}

/// Those of these attempts whose logs are not in their rows.
pub(in crate::sqlite) fn outside(
    conn: &Connection,
    among: &[AttemptId],
) -> Result<Vec<AttemptId>, Fault> {
    let mut statement = conn.prepare_cached(OUTSIDE)?;
    let mut found = Vec::new();
    for attempt in among {
        if statement.exists([attempt.as_bytes()])? {
            found.push(*attempt);
        }
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<Log, Fault> {
    let mut cells = Cells::of(row, "logs", 2);
    let (_run, _attempt) = (cells.take::<i64>()?, cells.take::<[u8; 16]>()?);
    let inline = cells.take::<Option<Vec<u8>>>()?;
    let file_bytes = cells.take::<Option<u64>>()?;
    let blob_bytes = cells.take::<Option<u64>>()?;
    match (inline, file_bytes, blob_bytes) {
        (Some(bytes), None, None) => Ok(Log::Inline(bytes.into())),
        (None, Some(bytes), None) => Ok(Log::File { bytes }),
        (None, None, Some(bytes)) => Ok(Log::Blob { bytes }),
        _ => Err(cells.contradiction("must be inline, in a file, or in the blob store")),
    }
}
