//! Which answer a request was given under its key.

use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, structure, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use crate::postgres::text;
use mainspring_core::kernel::record::{IdempotencyKey, KeyAnswer, KeyRow};
use mainspring_core::time::Timestamp;
use tokio_postgres::Row;

/// The first word stands. A run that is not there holds nothing.
const INSERT: &str = "
    insert into idempotency_keys (principal, route, key, body, answer, run, created_at)
    select u.principal, u.route, u.key, u.body, u.answer,
           (select id from runs where id = u.run), u.created_at
    from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::uuid[],
                $7::bigint[]) as u(principal, route, key, body, answer, run, created_at)
    on conflict (principal, route, key) do nothing";
const LOAD: &str = "
    select principal, route, key, body, answer, created_at from idempotency_keys
    where principal = $1 and route = $2 and key = $3";
const HAS_OLD: &str = "
    select exists (select 1 from idempotency_keys where run is null and created_at < $1)";
const DROP: &str = "delete from idempotency_keys where run is null and created_at < $1";

pub(in crate::postgres) fn insert<'a>(rows: &'a [&'a KeyRow]) -> Step<'a> {
    let params = Columns::of(rows)
        .text(|row| &row.key.principal)
        .text(|row| &row.key.route)
        .text(|row| &row.key.key)
        .and(|row| row.key.body.as_slice())
        .and(|row| structure(&row.answer))
        .and(|row| match &row.answer {
            KeyAnswer::Run(run) => Some(uuid(run.as_bytes())),
            KeyAnswer::Version { .. } | KeyAnswer::Bulk(_) | KeyAnswer::Done => None,
        })
        .and(|row| row.created_at.0)
        .params();
    Step { sql: INSERT, params }
}

/// Drops old keys that no run holds.
pub(in crate::postgres) fn drop_before(before: Timestamp) -> Step<'static> {
    Step { sql: DROP, params: vec![Box::new(before.0)] }
}

pub(in crate::postgres) async fn load(
    session: &Session,
    key: &IdempotencyKey,
) -> Result<Option<KeyRow>, Fault> {
    let params: Vec<_> = vec![
        Box::new(text::encode(&key.principal)) as _,
        Box::new(text::encode(&key.route)) as _,
        Box::new(text::encode(&key.key)) as _,
    ];
    session.row(&Step { sql: LOAD, params }).await?.as_ref().map(read).transpose()
}

/// Whether `drop_before` would find anything.
pub(in crate::postgres) async fn has_old(
    session: &Session,
    before: Timestamp,
) -> Result<bool, Fault> {
    let step = Step { sql: HAS_OLD, params: vec![Box::new(before.0)] };
    Ok(session.row(&step).await?.is_some_and(|row| row.get(0)))
}

pub(super) fn read(row: &Row) -> Result<KeyRow, Fault> {
    let mut cells = Cells::of(row, "idempotency_keys", 3);
    Ok(KeyRow {
        key: IdempotencyKey {
            principal: cells.text()?.into(),
            route: cells.text()?.into(),
            key: cells.text()?.into(),
            body: cells.hash()?,
        },
        answer: cells.structure()?,
        created_at: cells.time()?,
    })
}
