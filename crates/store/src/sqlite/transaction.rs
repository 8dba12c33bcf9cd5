//! One batch, one transaction.

use super::fault::Fault;
use super::tables::{attempts, logs, runs, schedulers, tasks, versions};
use crate::contract::{Fence, Registration};
use crate::grouped::Grouped;
use crate::refused::Refused;
use mainspring_core::ids::SchedulerId;
use mainspring_core::world::batch::Change;
use rusqlite::{Connection, TransactionBehavior};

/// Writes all changes or none. What is dropped before its commit is rolled back.
pub(super) fn commit(conn: &mut Connection, fence: Fence, changes: &[Change]) -> Result<(), Fault> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    schedulers::check_fence(&tx, fence)?;
    write(&tx, &Grouped::of(changes))?;
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
    runs::insert(conn, &grouped.new_runs)?;
    runs::put(conn, &grouped.runs)?;
    for run in grouped.runs_taken_for_granted() {
        if !runs::exists(conn, run)? {
            return Err(Refused::RunUnknown(run).into());
        }
    }
    tasks::put(conn, &grouped.tasks)?;
    attempts::insert(conn, &grouped.attempts)?;
    logs::insert(conn, &grouped.logs)
}
