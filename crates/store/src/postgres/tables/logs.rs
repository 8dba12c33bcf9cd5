//! What attempts wrote, when it was little; else how much it was, and where it is.

use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, number, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::row::Log;
use tokio_postgres::Row;

/// A log is handed over once; should it come again, the first one stands.
const INSERT: &str = "
    insert into logs (run, attempt, inline, file_bytes, blob_bytes)
    select * from unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::bigint[], $5::bigint[])
    on conflict (run, attempt) do nothing";
const LOAD: &str = "
    select run, attempt, inline, file_bytes, blob_bytes from logs
    where run = $1 and attempt = $2";
const OUTSIDE: &str = "
    select found.attempt from unnest($1::uuid[]) as asked(attempt),
        lateral (select logs.attempt from logs
                 where logs.attempt = asked.attempt and inline is null limit 1) found";

pub(in crate::postgres) fn insert<'a>(rows: &'a [(RunKey, AttemptId, &'a Log)]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|(run, ..)| run.0)
        .and(|(_, attempt, _)| uuid(attempt.as_bytes()))
        .and(|(.., log)| match log {
            Log::Inline(bytes) => Some(&**bytes),
            Log::File { .. } | Log::Blob { .. } => None,
        })
        .and(|(.., log)| match log {
            Log::File { bytes } => Some(number(*bytes)),
            Log::Inline(_) | Log::Blob { .. } => None,
        })
        .and(|(.., log)| match log {
            Log::Blob { bytes } => Some(number(*bytes)),
            Log::Inline(_) | Log::File { .. } => None,
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

/// Those of these attempts whose logs are not in their rows.
pub(in crate::postgres) async fn outside(
    session: &Session,
    among: &[AttemptId],
) -> Result<Vec<AttemptId>, Fault> {
    let params = Columns::of(among).and(|attempt| uuid(attempt.as_bytes())).params();
    let rows = session.rows(&Step { sql: OUTSIDE, params }).await?;
    let id = |row: &Row| Cells::of(row, "logs", 1).id().map(AttemptId::from_bytes);
    rows.iter().map(id).collect()
}

fn read(row: &Row) -> Result<Log, Fault> {
    let mut cells = Cells::of(row, "logs", 2);
    let (_run, _attempt) = (cells.take::<i64>()?, cells.id()?);
    let inline = cells.take::<Option<&[u8]>>()?;
    let (file_bytes, blob_bytes) = (cells.maybe_number()?, cells.maybe_number()?);
    match (inline, file_bytes, blob_bytes) {
        (Some(bytes), None, None) => Ok(Log::Inline(bytes.into())),
        (None, Some(bytes), None) => Ok(Log::File { bytes }),
        (None, None, Some(bytes)) => Ok(Log::Blob { bytes }),
        _ => Err(cells.contradiction("must be inline, in a file, or in the blob store")),
    }
}
