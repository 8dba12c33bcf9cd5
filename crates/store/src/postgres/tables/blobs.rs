//! Blobs: a row for each, and its chunks.

use crate::blobs::{BlobEntry, BlobName, Durability};
use crate::postgres::cells::Cells;
use crate::postgres::columns::{count, number};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use tokio_postgres::Row;

/// Whoever puts the same name meanwhile waits here.
const CLAIM: &str = "
    insert into blobs (name, chunks, put_at)
    values ($1, 0, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
    on conflict (name) do update set put_at = excluded.put_at";
const CLEAR: &str = "delete from blob_chunks where blob = $1";
const COMPLETE: &str = "update blobs set chunks = $2 where name = $1";
const INSERT_CHUNK: &str = "insert into blob_chunks (blob, number, bytes) values ($1, $2, $3)";
/// The chunks first: they are found through the blob.
const REMOVE: [&str; 2] = [
    "delete from blob_chunks
     where blob = $1 and exists (select 1 from blobs where name = $1 and put_at < $2)",
    "delete from blobs where name = $1 and put_at < $2",
];
/// In one statement, so that what is put meanwhile does not change which they are.
const REMOVE_CONTENTS: &str = "
    with removed as (
        delete from blobs where name = any (array(
            select name from blobs where name > $1 and name < $2 order by name limit $3))
        returning name
    ), cleared as (
        delete from blob_chunks where blob = any (array(select name from removed))
    )
    select count(*) from removed";
const CHUNKS: &str = "select name, chunks from blobs where name = $1";
const CHUNK: &str = "select blob, number, bytes from blob_chunks where blob = $1 and number = $2";
const LIST: &str = "select name, put_at from blobs where name > $1 order by name limit $2";

/// What opens the transaction of a put. A commit that is not waited for is durable with the
/// next one that is, at the latest: the one that refers to the blob.
pub(in crate::postgres) const fn begin(durability: Durability) -> &'static str {
    match durability {
        Durability::Synced => "begin read write",
        Durability::Unsynced => "begin read write; set local synchronous_commit = off",
    }
}

/// The steps before the first chunk.
pub(in crate::postgres) fn claim(name: BlobName) -> [Step<'static>; 2] {
    [CLAIM, CLEAR].map(|sql| Step { sql, params: vec![Box::new(name.to_string()) as _] })
}

/// The step after the last chunk.
pub(in crate::postgres) fn complete(name: BlobName, chunks: u64) -> Step<'static> {
    let params: Vec<_> = vec![Box::new(name.to_string()) as _, Box::new(number(chunks)) as _];
    Step { sql: COMPLETE, params }
}

pub(in crate::postgres) fn insert_chunk(name: BlobName, at: u64, bytes: Vec<u8>) -> Step<'static> {
    let params: Vec<_> =
        vec![Box::new(name.to_string()) as _, Box::new(number(at)) as _, Box::new(bytes) as _];
    Step { sql: INSERT_CHUNK, params }
}

pub(in crate::postgres) fn remove(name: BlobName, put_before: Timestamp) -> [Step<'static>; 2] {
    REMOVE.map(|sql| {
        let params: Vec<_> = vec![Box::new(name.to_string()) as _, Box::new(put_before.0) as _];
        Step { sql, params }
    })
}

/// Answers how many there were.
pub(in crate::postgres) fn remove_contents(run: RunId, limit: usize) -> Step<'static> {
    let (before, after) = BlobName::contents(run);
    let params: Vec<_> =
        vec![Box::new(before) as _, Box::new(after) as _, Box::new(count(limit)) as _];
    Step { sql: REMOVE_CONTENTS, params }
}

pub(in crate::postgres) fn read_count(rows: &[Row]) -> Result<usize, Fault> {
    let row = rows.first().ok_or_else(|| Fault::Damaged("a count has one row".to_owned()))?;
    Cells::of(row, "blobs", 0).number()
}

/// How many chunks it has; None when there is no such blob.
pub(in crate::postgres) async fn chunks(
    session: &Session,
    name: BlobName,
) -> Result<Option<u64>, Fault> {
    let step = Step { sql: CHUNKS, params: vec![Box::new(name.to_string()) as _] };
    let Some(row) = session.row(&step).await? else { return Ok(None) };
    let mut cells = Cells::of(&row, "blobs", 1);
    let _name = cells.take::<&str>()?;
    cells.number().map(Some)
}

/// None when the blob was removed meanwhile.
pub(in crate::postgres) async fn chunk(
    session: &Session,
    name: BlobName,
    at: u64,
) -> Result<Option<Vec<u8>>, Fault> {
    let params: Vec<_> = vec![Box::new(name.to_string()) as _, Box::new(number(at)) as _];
    let Some(row) = session.row(&Step { sql: CHUNK, params }).await? else { return Ok(None) };
    let mut cells = Cells::of(&row, "blob_chunks", 2);
    let (_blob, _number) = (cells.take::<&str>()?, cells.take::<i64>()?);
    cells.take().map(Some)
}

pub(in crate::postgres) async fn list(
    session: &Session,
    after: Option<BlobName>,
    limit: usize,
) -> Result<Vec<BlobEntry>, Fault> {
    let after = after.map_or_else(String::new, |after| after.to_string());
    let params: Vec<_> = vec![Box::new(after) as _, Box::new(count(limit)) as _];
    session.rows(&Step { sql: LIST, params }).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<BlobEntry, Fault> {
    let mut cells = Cells::of(row, "blobs", 1);
    let name = cells.word(|text| text.parse().ok())?;
    Ok(BlobEntry { name, put_at: cells.time()? })
}
