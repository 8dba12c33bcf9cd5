//! Runs whose time is up: which they are, and how they go with all that belongs to them.

use crate::contract::Expired;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count, number, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::{AttemptId, RunId, RunKey};
use mainspring_core::time::Timestamp;
use mainspring_core::world::input::Forgotten;
use tokio_postgres::Row;
use uuid::Uuid;

/// Walks from the oldest run on: what is passed over are the few that took longer than runs
/// are kept. From group to group, and to the last instance of each, it is a step.
macro_rules! instance_rows {
    () => {
        "with recursive groups(no) as (
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
         from groups"
    };
}

macro_rules! logs_outside {
    () => {
        "array(select attempt from logs
               where logs.run = key and inline is null order by attempt)"
    };
}

const EXPIRED: &str = concat!(
    "
    select key, id, stamp,
           tasks_total + (",
    instance_rows!(),
    "), ",
    logs_outside!(),
    "
    from runs
    where created_at < $1 and finished_at < $1 and status in ('success', 'failed', 'cancelled')
      and parent is null
    order by created_at, id limit $2"
);
/// The same of the runs below those runs.
const BELOW: &str = concat!(
    "with recursive below(root, key, id, tasks_total) as (
        select u.id, child.* from unnest($1::uuid[]) as u(id),
               lateral (select key, id, tasks_total from runs
                        where runs.parent = u.id offset 0) child
        union
        select below.root, child.key, child.id, child.tasks_total
        from below, lateral (select key, id, tasks_total from runs
                             where runs.parent = below.id offset 0) child)
     select key, id, root, tasks_total + (",
    instance_rows!(),
    "), ",
    logs_outside!(),
    " from below order by id"
);

/// The runs that go, and those below them: one that was opened again since it was looked at stays. Each row is found
/// through its index and dropped by its place, whatever the planner believes of the tables.
macro_rules! gone {
    () => {
        "unnest($1::bigint[], $2::bigint[]) as u(key, stamp),
         lateral (with recursive family(key, id, place) as (
                      select key, id, ctid from runs
                      where runs.key = u.key and runs.stamp = u.stamp
                        and status in ('success', 'failed', 'cancelled')
                      union
                      select child.key, child.id, child.place
                      from family, lateral (select key, id, ctid as place from runs
                                            where runs.parent = family.id offset 0) child)
                  select key, id, place from family offset 0) gone"
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
    let rows = session.rows(&Step { sql: EXPIRED, params }).await?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<Expired>, Fault>>()?;
    let roots: Vec<Uuid> = found.iter().map(|expired| uuid(expired.run.id.as_bytes())).collect();
    if roots.is_empty() {
        return Ok(found);
    }
    let below = session.rows(&Step { sql: BELOW, params: vec![Box::new(roots)] }).await?;
    for row in &below {
        let mut cells = Cells::of(row, "runs", 1);
        let _key: i64 = cells.take()?;
        let (id, root) = (RunId::from_bytes(cells.id()?), RunId::from_bytes(cells.id()?));
        let rows: u64 = cells.number()?;
        let logs = read_logs(&mut cells)?;
        let root = found.iter_mut().find(|expired| expired.run.id == root);
        if let Some(expired) = root {
            expired.children.push(id);
            expired.rows += 1 + rows;
            expired.logs.extend(logs);
        }
    }
    found.iter_mut().for_each(|expired| expired.logs.sort_unstable());
    Ok(found)
}

fn read(row: &Row) -> Result<Expired, Fault> {
    let mut cells = Cells::of(row, "runs", 1);
    let key = RunKey(cells.take()?);
    let id = RunId::from_bytes(cells.id()?);
    let run = Forgotten { key, id, stamp: cells.number()? };
    let rows = cells.number()?;
    Ok(Expired { run, children: Vec::new(), rows, logs: read_logs(&mut cells)? })
}

fn read_logs(cells: &mut Cells<'_>) -> Result<Vec<AttemptId>, Fault> {
    let logs: Vec<Uuid> = cells.take()?;
    Ok(logs.into_iter().map(|id| AttemptId::from_bytes(id.into_bytes())).collect())
}
