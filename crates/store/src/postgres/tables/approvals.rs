//! Approvals that wait for somebody.

use super::attempts::{index, read_task_ref};
use super::tasks::{self, columns};
use crate::contract::StoredApproval;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use mainspring_core::ids::{RunId, RunKey};
use mainspring_core::kernel::wait::ApprovalPlace;
use tokio_postgres::Row;

const PUT: &str = "
    insert into approvals (run, no, ix, since)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
    on conflict (run, no, ix) do update set since = excluded.since";
/// Each row is found through its index, whatever the planner believes of the table.
const DROP: &str = "
    delete from approvals where ctid = any (array(
        select found.place from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as u(run, no, ix),
        lateral (select ctid as place from approvals
                 where approvals.run = u.run and approvals.no = u.no and approvals.ix = u.ix
                 offset 0) found))";
const LIST: &str = concat!(
    "select found.*, listed.since, whose.id, whose.workflow, whose.version
     from (select run, no, ix, since from approvals where (since, run, no, ix) > ($1, $2, $3, $4)
           order by since, run, no, ix limit $5) listed,
     lateral (select id, workflow, version from runs where key = listed.run offset 0) whose,
     lateral (select ",
    columns!(),
    " from tasks where tasks.run = listed.run and tasks.no = listed.no and tasks.ix = listed.ix
              offset 0) found"
);
const OF_RUN: &str = "
    select run, no, ix, since from approvals where run = $1 order by no, ix";

pub(in crate::postgres) fn put(places: &[ApprovalPlace]) -> Step<'_> {
    let params = named(places).and(|place| place.since.0).params();
    Step { sql: PUT, params }
}

pub(in crate::postgres) fn drop_places(places: &[ApprovalPlace]) -> Step<'_> {
    Step { sql: DROP, params: named(places).params() }
}

fn named(places: &[ApprovalPlace]) -> Columns<'_, ApprovalPlace> {
    Columns::of(places)
        .and(|place| place.run.0)
        .and(|place| i64::from(place.task.no.0))
        .and(|place| index(place.task))
}

pub(in crate::postgres) async fn list(
    session: &Session,
    after: Option<ApprovalPlace>,
    rows_max: usize,
) -> Result<Vec<StoredApproval>, Fault> {
    let (since, run, no, ix) = after.map_or((i64::MIN, i64::MIN, 0, -1), |after| {
        (after.since.0, after.run.0, i64::from(after.task.no.0), index(after.task))
    });
    let params: Vec<_> = vec![
        Box::new(since) as _,
        Box::new(run) as _,
        Box::new(no) as _,
        Box::new(ix) as _,
        Box::new(count(rows_max)) as _,
    ];
    let rows = session.rows(&Step { sql: LIST, params }).await?;
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, Fault>>()?;
    found.sort_by_key(|approval| approval.place);
    Ok(found)
}

fn read(row: &Row) -> Result<StoredApproval, Fault> {
    let task = tasks::read(row)?;
    let mut cells = Cells::of(row, "approvals", 3);
    let run = RunKey(cells.take()?);
    cells.skip_to("since");
    let place = ApprovalPlace { since: cells.time()?, run, task: task.task };
    Ok(StoredApproval {
        place,
        run: RunId::from_bytes(cells.id()?),
        workflow: cells.text()?.into(),
        version: cells.number()?,
        row: task,
    })
}

pub(super) fn of_run(run: RunKey) -> Step<'static> {
    Step { sql: OF_RUN, params: vec![Box::new(run.0)] }
}

pub(super) fn read_place(row: &Row) -> Result<ApprovalPlace, Fault> {
    let mut cells = Cells::of(row, "approvals", 3);
    let run = RunKey(cells.take()?);
    let task = read_task_ref(&mut cells)?;
    Ok(ApprovalPlace { since: cells.time()?, run, task })
}
