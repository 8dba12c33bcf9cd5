//! Who decides.

use crate::contract::{Fence, Registration};
use crate::grouped::Marks;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{RunKey, SchedulerId};
use rusqlite::{Connection, OptionalExtension, params};

/// Ordinals go on from the highest: a row is never removed.
pub(super) const REGISTER: &str = "
    insert into schedulers (ordinal, id, epoch)
    values ((select coalesce(max(ordinal), 0) + 1 from schedulers), ?1, 1)
    on conflict (id) do update set epoch = epoch + 1
    returning ordinal, epoch, next_run, next_stamp";
/// Whoever registers holds the data folder: the others are dead. They are fenced off before what
/// they left unfinished is taken from them.
pub(super) const BURY: &str = "
    update schedulers set epoch = epoch + 1
    where id <> ?1 and ordinal in (
        select owner from runs indexed by runs_unfinished
        where status in ('pending', 'running', 'paused', 'cancelling'))";
/// As one commit of its new owner's.
pub(super) const ADOPT: &str = "
    update runs indexed by runs_unfinished set owner = ?1, stamp = ?2
    where status in ('pending', 'running', 'paused', 'cancelling') and owner <> ?1";
pub(super) const MARK: &str = "
    update schedulers set next_run = max(next_run, ?2), next_stamp = max(next_stamp, ?3)
    where id = ?1";
pub(super) const LAST_RUN: &str = "select max(key) from runs where key >= ?1 and key < ?2";
pub(super) const LAST_STAMP: &str = "select max(stamp) from runs where owner = ?1";
pub(super) const EPOCH: &str = "select epoch from schedulers where id = ?1";
pub(super) const ORDINAL: &str = "select ordinal from schedulers where id = ?1";

pub(in crate::sqlite) fn register(
    conn: &Connection,
    scheduler: SchedulerId,
) -> Result<Registration, Fault> {
    let (ordinal, epoch, marks) = conn.query_row(REGISTER, [scheduler.as_bytes()], |row| {
        let marks = Marks { next_run: row.get(2)?, next_stamp: row.get(3)? };
        Ok((row.get::<_, u32>(0)?, row.get::<_, u64>(1)?, marks))
    })?;
    let range = RunKey::range(ordinal);
    let last_run: Option<i64> =
        conn.query_row(LAST_RUN, [range.start.0, range.end.0], |row| row.get(0))?;
    let last_stamp: Option<u64> = conn.query_row(LAST_STAMP, [ordinal], |row| row.get(0))?;
    let Marks { next_run, mut next_stamp } = marks.raised_to(Marks {
        next_run: last_run.map_or(0, |key| RunKey(key).sequence()) + 1,
        next_stamp: last_stamp.unwrap_or(0) + 1,
    });
    conn.execute(BURY, [scheduler.as_bytes()])?;
    if conn.execute(ADOPT, params![ordinal, next_stamp])? > 0 {
        next_stamp += 1;
    }
    Ok(Registration { fence: Fence { scheduler, epoch }, ordinal, next_run, next_stamp })
}

pub(in crate::sqlite) fn mark(
    conn: &Connection,
    scheduler: SchedulerId,
    marks: Marks,
) -> Result<(), Fault> {
    let Marks { next_run, next_stamp } = marks;
    conn.prepare_cached(MARK)?.execute(params![scheduler.as_bytes(), next_run, next_stamp])?;
    Ok(())
}

pub(in crate::sqlite) fn check_fence(conn: &Connection, fence: Fence) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(EPOCH)?;
    let epoch: Option<u64> =
        statement.query_row([fence.scheduler.as_bytes()], |row| row.get(0)).optional()?;
    match epoch == Some(fence.epoch) {
        true => Ok(()),
        false => Err(Fault::Fenced),
    }
}

pub(in crate::sqlite) fn ordinal(
    conn: &Connection,
    scheduler: SchedulerId,
) -> Result<Option<u32>, Fault> {
    let mut statement = conn.prepare_cached(ORDINAL)?;
    Ok(statement.query_row(params![scheduler.as_bytes()], |row| row.get(0)).optional()?)
}
