//! Which answer a request was given under its key.

use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::record::{IdempotencyKey, KeyAnswer, KeyRow};
use mainspring_core::time::Timestamp;
use rusqlite::{Connection, Row, params};

/// The first word stands. A run that is not there holds nothing.
pub(super) const INSERT: &str = "
    insert into idempotency_keys (principal, route, key, body, answer, run, created_at)
    values (?1, ?2, ?3, ?4, ?5, (select id from runs where id = ?6), ?7)
    on conflict (principal, route, key) do nothing";
pub(super) const LOAD: &str = "
    select principal, route, key, body, answer, created_at from idempotency_keys
    where principal = ?1 and route = ?2 and key = ?3";
pub(super) const LET_GO: &str = "
    update idempotency_keys indexed by idempotency_keys_by_run set run = null where run = ?1";
pub(super) const HAS_OLD: &str = "
    select 1 from idempotency_keys indexed by idempotency_keys_free
    where run is null and created_at < ?1 limit 1";
pub(super) const DROP: &str = "
    delete from idempotency_keys indexed by idempotency_keys_free
    where run is null and created_at < ?1";

pub(in crate::sqlite) fn insert(conn: &Connection, rows: &[&KeyRow]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for KeyRow { key: IdempotencyKey { principal, route, key, body }, answer, created_at } in rows {
        let run = match answer {
            KeyAnswer::Run(run) => Some(run.as_bytes()),
            KeyAnswer::Version { .. } | KeyAnswer::Bulk(_) | KeyAnswer::Done => None,
        };
        let answer = serde_json::to_string(answer).expect("plain data serializes");
        statement.execute(params![
            &**principal,
            &**route,
            &**key,
            body,
            answer,
            run,
            created_at.0
        ])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn load(
    conn: &Connection,
    key: &IdempotencyKey,
) -> Result<Option<KeyRow>, Fault> {
    let mut statement = conn.prepare_cached(LOAD)?;
    let mut rows = statement.query(params![&*key.principal, &*key.route, &*key.key])?;
    rows.next()?.map(read).transpose()
}

/// The run is gone: nothing holds its keys any more.
pub(super) fn let_go(conn: &Connection, run: RunId) -> Result<(), Fault> {
    conn.prepare_cached(LET_GO)?.execute([run.as_bytes()])?;
    Ok(())
}

/// Drops old keys that no run holds.
pub(in crate::sqlite) fn drop_before(conn: &Connection, before: Timestamp) -> Result<(), Fault> {
    conn.prepare_cached(DROP)?.execute([before.0])?;
    Ok(())
}

/// Whether `drop_before` would find anything.
pub(in crate::sqlite) fn has_old(conn: &Connection, before: Timestamp) -> Result<bool, Fault> {
    Ok(conn.prepare_cached(HAS_OLD)?.exists([before.0])?)
}

pub(super) fn read(row: &Row<'_>) -> Result<KeyRow, Fault> {
    let mut cells = Cells::of(row, "idempotency_keys", 3);
    Ok(KeyRow {
        key: IdempotencyKey {
            principal: cells.take::<String>()?.into(),
            route: cells.take::<String>()?.into(),
            key: cells.take::<String>()?.into(),
            body: cells.take()?,
        },
        answer: cells.structure()?,
        created_at: cells.time()?,
    })
}
