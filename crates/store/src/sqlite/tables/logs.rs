//! What attempts wrote, when it was little; else how much there is in its file.

use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::Log;
use rusqlite::{Connection, Row, params};

/// A log is handed over once; should it come again, the first one stands.
pub(super) const INSERT: &str = "
    insert into logs (run, attempt, inline, file_bytes) values (?1, ?2, ?3, ?4)
    on conflict (run, attempt) do nothing";
pub(super) const LOAD: &str = "
    select run, attempt, inline, file_bytes from logs where run = ?1 and attempt = ?2";
pub(super) const FILES_OF_RUN: &str = "
    select attempt from logs where run = ?1 and file_bytes is not null order by attempt";

pub(in crate::sqlite) fn insert(
    conn: &Connection,
    rows: &[(RunKey, AttemptId, &Log)],
) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for (run, attempt, log) in rows {
        let (inline, file_bytes) = match log {
            Log::Inline(bytes) => (Some(&**bytes), None),
            Log::File { bytes } => (None, Some(*bytes)),
        };
        statement.execute(params![run.0, attempt.as_bytes(), inline, file_bytes])?;
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

/// Attempts whose logs are in files.
pub(super) fn files_of_run(conn: &Connection, run: RunKey) -> Result<Vec<AttemptId>, Fault> {
    let mut statement = conn.prepare_cached(FILES_OF_RUN)?;
    let mut rows = statement.query([run.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "logs", 1);
        found.push(AttemptId::from_bytes(cells.take()?));
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<Log, Fault> {
    let mut cells = Cells::of(row, "logs", 2);
    let (_run, _attempt) = (cells.take::<i64>()?, cells.take::<[u8; 16]>()?);
    let inline = cells.take::<Option<Vec<u8>>>()?;
    let file_bytes = cells.take::<Option<u64>>()?;
    match (inline, file_bytes) {
        (Some(bytes), None) => Ok(Log::Inline(bytes.into())),
        (None, Some(bytes)) => Ok(Log::File { bytes }),
        _ => Err(cells.contradiction("must be either inline or in a file")),
    }
}
