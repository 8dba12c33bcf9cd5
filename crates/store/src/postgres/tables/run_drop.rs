//! Runs whose time is up: which they are, and how they go with all that belongs to them.

use crate::contract::Expired;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count, number};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::{AttemptId, RunId, RunKey};
use mainspring_core::time::Timestamp;
use mainspring_core::world::input::Forgotten;
use tokio_postgres::Row;
use uuid::Uuid;

/// Walks from the oldest run on: what is passed over are the few that took longer than runs
/// are kept. From group to group, and to the last instance of each, it is a step.
const EXPIRED: &str = "
    select key, id, stamp,
           tasks_total + (
               with recursive groups(no) as (
                   select (select no from tasks where run = key and ix >= 0
                           order by no, ix limit 1)
                   union all
                   select (select tasks.no from tasks
                           where run = key and tasks.no > groups.no and ix >= 0
                           order by tasks.no, ix limit 1)
                   from groups where groups.no is not null)
               select coalesce(sum(1 + (select ix from tasks
                                        where run = key and tasks.no = groups.no
                                        order by ix desc limit 1)), 0)::bigint
               from groups),
           array(select attempt from logs
                 where logs.run = key and inline is null order by attempt)
    from runs
    where created_at < $1 and finished_at < $1 and status in ('success', 'failed', 'cancelled')
    order by created_at, id limit $2";

/// The runs that go: one that was opened again since it was looked at stays. Each row is found
/// through its index and dropped by its place, whatever the planner believes of the tables.
macro_rules! gone {
    () => {
        "unnest($1::bigint[], $2::bigint[]) as u(key, stamp),
         lateral (select key, id, ctid as place from runs
                  where runs.key = u.key and runs.stamp = u.stamp
                    and status in ('success', 'failed', 'cancelled') offset 0) gone"
    };
}

macro_rules! drop_rows {
    ($table:literal) => {
        concat!(
            "delete from ",
            $table,
            " where ctid = any (array(select found.place from ",
            gone!(),
            ", lateral (select ctid as place from ",
            $table,
            " where run = gone.key offset 0) found))"
        )
    };
}

/// In this order: the runs themselves go last, because the others are found through them.
const DROPS: [&str; 10] = [
    drop_rows!("tasks"),
    drop_rows!("attempts"),
    drop_rows!("logs"),
    drop_rows!("inputs"),
    drop_rows!("signals"),
    drop_rows!("approvals"),
    drop_rows!("additions"),
    // What names a blob goes with it.
    concat!(
        "delete from cache where ctid = any (array(select found.place from ",
        gone!(),
        ", lateral (select ctid as place from cache
                    where run = gone.id and left(output, 1) = '@' offset 0) found))"
    ),
    concat!(
        "update idempotency_keys set run = null where ctid = any (array(select found.place from ",
        gone!(),
        ", lateral (select ctid as place from idempotency_keys
                    where run = gone.id offset 0) found))"
    ),
    concat!("delete from runs where ctid = any (array(select gone.place from ", gone!(), "))"),
];

pub(in crate::postgres) fn drop_runs(
    runs: &[(RunKey, u64)],
) -> impl Iterator<Item = Step<'_>> + use<'_> {
    DROPS.into_iter().map(|sql| {
        let params =
            Columns::of(runs).and(|(run, _)| run.0).and(|(_, stamp)| number(*stamp)).params();
        Step { sql, params }
    })
}

pub(in crate::postgres) async fn expired(
    session: &Session,
    before: Timestamp,
    runs_max: usize,
) -> Result<Vec<Expired>, Fault> {
    let params: Vec<_> = vec![Box::new(before.0) as _, Box::new(count(runs_max)) as _];
    session.rows(&Step { sql: EXPIRED, params }).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Expired, Fault> {
    let mut cells = Cells::of(row, "runs", 1);
    let key = RunKey(cells.take()?);
    let id = RunId::from_bytes(cells.id()?);
    let run = Forgotten { key, id, stamp: cells.number()? };
    let rows = cells.number()?;
    let logs: Vec<Uuid> = cells.take()?;
    let logs = logs.into_iter().map(|id| AttemptId::from_bytes(id.into_bytes())).collect();
    Ok(Expired { run, rows, logs })
}
