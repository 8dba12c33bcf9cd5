//! What attempts wrote, when it was little; else how much there is in its file.

use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, number, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::Log;
use tokio_postgres::Row;

/// A log is handed over once; should it come again, the first one stands.
const INSERT: &str = "
    insert into logs (run, attempt, inline, file_bytes)
    select * from unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::bigint[])
    on conflict (run, attempt) do nothing";
const LOAD: &str = "
    select run, attempt, inline, file_bytes from logs where run = $1 and attempt = $2";

pub(in crate::postgres) fn insert<'a>(rows: &'a [(RunKey, AttemptId, &'a Log)]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|(run, ..)| run.0)
        .and(|(_, attempt, _)| uuid(attempt.as_bytes()))
        .and(|(.., log)| match log {
            Log::Inline(bytes) => Some(&**bytes),
            Log::File { .. } => None,
        })
        .and(|(.., log)| match log {
            Log::Inline(_) => None,
            Log::File { bytes } => Some(number(*bytes)),
        })
        .params();
    Step { sql: INSERT, params }
}

pub(in crate::postgres) async fn load(
    session: &Session,
    run: RunKey,
    attempt: AttemptId,
) -> Result<Option<Log>, Fault> {
    let params: Vec<_> = vec![Box::new(run.0) as _, Box::new(uuid(attempt.as_bytes())) as _];
    let row = session.row(&Step { sql: LOAD, params }).await?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Log, Fault> {
    let mut cells = Cells::of(row, "logs", 2);
    let (_run, _attempt) = (cells.take::<i64>()?, cells.id()?);
    let inline = cells.take::<Option<&[u8]>>()?;
    let file_bytes = cells.maybe_number()?;
    match (inline, file_bytes) {
        (Some(bytes), None) => Ok(Log::Inline(bytes.into())),
        (None, Some(bytes)) => Ok(Log::File { bytes }),
        _ => Err(cells.contradiction("must be either inline or in a file")),
    }
}
