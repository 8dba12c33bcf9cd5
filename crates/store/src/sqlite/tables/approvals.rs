//! Approvals that wait for somebody.

use super::attempts::{index, read_task_ref};
use super::instances;
use crate::contract::StoredApproval;
use crate::sqlite::cells::{Cells, limit};
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{RunId, RunKey};
use mainspring_core::kernel::wait::ApprovalPlace;
use rusqlite::{Connection, params};

pub(super) const PUT: &str = "
    insert or replace into approvals (run, no, ix, since) values (?1, ?2, ?3, ?4)";
pub(super) const DROP: &str = "delete from approvals where run = ?1 and no = ?2 and ix = ?3";
pub(super) const LIST: &str = "
    select run, no, ix, since, id, workflow, version
    from approvals indexed by approvals_by_age join runs on key = run
    where (since, run, no, ix) > (?1, ?2, ?3, ?4) order by since, run, no, ix limit ?5";
pub(super) const OF_RUN: &str = "
    select run, no, ix, since from approvals where run = ?1 order by no, ix";

/// Whether an approval waits from now on, or not any more.
pub(in crate::sqlite) fn write(
    conn: &Connection,
    listed: impl Iterator<Item = (ApprovalPlace, bool)>,
) -> Result<(), Fault> {
    for (ApprovalPlace { since, run, task }, waits) in listed {
        match waits {
            true => conn.prepare_cached(PUT)?.execute(params![
                run.0,
                task.no.0,
                index(task),
                since.0
            ])?,
            false => conn.prepare_cached(DROP)?.execute(params![run.0, task.no.0, index(task)])?,
        };
    }
    Ok(())
}

pub(in crate::sqlite) fn list(
    conn: &Connection,
    after: Option<ApprovalPlace>,
    rows_max: usize,
) -> Result<Vec<StoredApproval>, Fault> {
    let (since, run, no, ix) = after.map_or((i64::MIN, i64::MIN, 0, -1), |after| {
        (after.since.0, after.run.0, i64::from(after.task.no.0), index(after.task))
    });
    let mut statement = conn.prepare_cached(LIST)?;
    let mut rows = statement.query(params![since, run, no, ix, limit(rows_max)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "approvals", 3);
        let run = RunKey(cells.take()?);
        let task = read_task_ref(&mut cells)?;
        let place = ApprovalPlace { since: cells.time()?, run, task };
        let id = RunId::from_bytes(cells.take()?);
        let (workflow, version) = (cells.take::<String>()?.into(), cells.take()?);
        if let Some(row) = instances::at(conn, run, task)? {
            found.push(StoredApproval { place, run: id, workflow, version, row });
        }
    }
    Ok(found)
}

pub(super) fn of_run(conn: &Connection, run: RunKey) -> Result<Vec<ApprovalPlace>, Fault> {
    let mut statement = conn.prepare_cached(OF_RUN)?;
    let mut rows = statement.query([run.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "approvals", 3);
        let run = RunKey(cells.take()?);
        let task = read_task_ref(&mut cells)?;
        found.push(ApprovalPlace { since: cells.time()?, run, task });
    }
    Ok(found)
}
