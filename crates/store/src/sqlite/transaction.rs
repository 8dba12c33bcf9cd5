//! Batches, each whole, in one transaction.

use super::fault::Fault;
use super::tables::{
    additions, approvals, attempts, audit, bulks, cache, idempotency_keys, instances, limits, logs,
    run_drop, runs, schedulers, signals, tasks, tokens, versions, workflows,
};
use crate::contract::{Fence, Registration};
use crate::grouped::Grouped;
use crate::refused::Refused;
use mainspring_core::ids::SchedulerId;
use mainspring_core::world::batch::Change;
use rusqlite::{Connection, TransactionBehavior};

/// Writes all changes or none. What is dropped before its commit is rolled back.
pub(super) fn commit(
    conn: &mut Connection,
    fence: Fence,
    batches: &[&[Change]],
) -> Result<(), Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schedulers::check_fence(&tx, fence)?;
    for changes in batches {
        let grouped = Grouped::of(changes);
        write(&tx, &grouped)?;
        write_records(&tx, &grouped)?;
        if let Some(marks) = grouped.marks {
            schedulers::mark(&tx, fence.scheduler, marks)?;
        }
    }
    Ok(tx.commit()?)
}

/// Writes what is there already, to the disk.
pub(super) fn rewrite(conn: &mut Connection) -> Result<(), Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
    tx.pragma_update(None, "user_version", version)?;
    Ok(tx.commit()?)
}

pub(super) fn register(
    conn: &mut Connection,
    scheduler: SchedulerId,
) -> Result<Registration, Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let registration = schedulers::register(&tx, scheduler)?;
    tx.commit()?;
    Ok(registration)
}

fn write(conn: &Connection, grouped: &Grouped<'_>) -> Result<(), Fault> {
    versions::insert(conn, &grouped.versions)?;
    workflows::put(conn, &grouped.workflows)?;
    runs::insert(conn, &grouped.new_runs)?;
    runs::put(conn, &grouped.runs)?;
    for run in grouped.runs_taken_for_granted() {
        if !runs::exists(conn, run)? {
            return Err(Refused::RunUnknown(run).into());
        }
    }
    attempts::insert(conn, &grouped.attempts)?;
    instances::send_back(conn, &grouped.sent_back)?;
    tasks::put(conn, &grouped.tasks)?;
    logs::insert(conn, &grouped.logs)?;
    signals::insert(conn, &grouped.signals)?;
    additions::insert(conn, &grouped.additions)?;
    approvals::write(conn, grouped.approvals())?;
    if let Some(moment) = grouped.cache_expired_at {
        cache::drop_expired(conn, moment)?;
    }
    cache::put(conn, grouped.cache.values().copied())?;
    limits::put(conn, grouped.limits.values().copied())?;
    limits::put_ledgers(conn, grouped.ledgers.values().copied())?;
    run_drop::drop_runs(conn, &grouped.dropped_runs)
}

fn write_records(conn: &Connection, grouped: &Grouped<'_>) -> Result<(), Fault> {
    if let Some(before) = grouped.keys_dropped_before {
        idempotency_keys::drop_before(conn, before)?;
    }
    idempotency_keys::insert(conn, &grouped.keys)?;
    audit::insert(conn, &grouped.audit)?;
    tokens::insert(conn, &grouped.tokens)?;
    tokens::drop_tokens(conn, &grouped.dropped_tokens)?;
    if let Some(before) = grouped.bulks_dropped_before {
        bulks::drop_before(conn, before)?;
    }
    bulks::insert(conn, &grouped.bulks)?;
    bulks::end(conn, grouped.bulk_ends.iter().map(|(id, end)| (id, *end)))
}
