//! Instances of a group: read by their indexes, and sent back together.

use super::tasks::{columns, read};
use crate::contract::InstancesQuery;
use crate::groups::OUTPUTS_PAGE_BYTES;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Params, Session, Step};
use mainspring_core::evaluate::InstanceOutput;
use mainspring_core::ids::{RunKey, TaskNo};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use tokio_postgres::Row;

/// No facts: every one.
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from tasks where run = $1 and no = $2 and ix >= $3
       and (cardinality($5::text[]) = 0 or fact = any ($5)) order by ix limit $4"
);
const ONE: &str =
    concat!("select ", columns!(), " from tasks where run = $1 and no = $2 and ix = $3");
/// Of work that was done and did not land nobody reads what it put out. Sizes are known without the outputs: what the page has no room for is never fetched.
const OUTPUTS: &str = "
    select run, no, ix, fact, output from (
        select page.*, sum(octet_length(output)) over (order by ix rows unbounded preceding)
                       - octet_length(output) as bytes_before
        from (select run, no, ix, fact, output from tasks
              where run = $1 and no = $2 and ix >= $3 and output is not null
              order by ix limit $4) page) sized
    where bytes_before < $5";

/// Instances of the groups. Each row is found through its index, whatever the planner believes of
/// the table.
macro_rules! of_groups {
    ($columns:literal, $condition:literal) => {
        concat!(
            "select found.* from unnest($1::bigint[], $2::bigint[]) as u(run, no),
             lateral (select ",
            $columns,
            " from tasks where tasks.run = u.run and tasks.no = u.no and ix >= 0 ",
            $condition,
            " offset 0) found"
        )
    };
}

/// A refused start gave its number back: it leaves nothing.
const SEND_BACK: [&str; 2] = [
    concat!(
        "insert into attempts (run, no, ix, number, id, dispatched_at, started_at, finished_at,
                               ending, ending_detail, output) ",
        of_groups!(
            "run, no, ix, attempt_number, attempt_id, dispatched_at, started_at, finished_at,
             ending, ending_detail, output",
            "and attempt_id is not null and ending is distinct from 'refused'"
        ),
        " on conflict do nothing"
    ),
    concat!("delete from tasks where ctid = any (array(", of_groups!("ctid", ""), "))"),
];

fn place((run, no): (RunKey, TaskNo)) -> Params<'static> {
    vec![Box::new(run.0), Box::new(i64::from(no.0))]
}

pub(in crate::postgres) async fn list(
    session: &Session,
    group: (RunKey, TaskNo),
    query: &InstancesQuery,
) -> Result<Vec<TaskRow>, Fault> {
    let facts: Vec<&str> = query.facts.iter().map(|fact| fact.word()).collect();
    let mut params = place(group);
    params.push(Box::new(i64::from(query.from)));
    params.push(Box::new(count(query.limit)));
    params.push(Box::new(facts));
    session.rows(&Step { sql: LIST, params }).await?.iter().map(read).collect()
}

pub(in crate::postgres) async fn one(
    session: &Session,
    group: (RunKey, TaskNo),
    index: u32,
) -> Result<Option<TaskRow>, Fault> {
    let mut params = place(group);
    params.push(Box::new(i64::from(index)));
    session.row(&Step { sql: ONE, params }).await?.as_ref().map(read).transpose()
}

pub(in crate::postgres) async fn outputs(
    session: &Session,
    group: (RunKey, TaskNo),
    (from, rows_max): (u32, usize),
) -> Result<Vec<InstanceOutput>, Fault> {
    let mut params = place(group);
    params.push(Box::new(i64::from(from)));
    params.push(Box::new(count(rows_max)));
    params.push(Box::new(count(OUTPUTS_PAGE_BYTES)));
    let rows = session.rows(&Step { sql: OUTPUTS, params }).await?;
    let read = |row: &Row| {
        let mut cells = Cells::of(row, "tasks", 3);
        let (_run, _no) = (cells.take::<i64>()?, cells.take::<i64>()?);
        let (index, fact) = (cells.number()?, cells.word(Fact::from_word)?);
        Ok(InstanceOutput { index, fact, output: cells.output()? })
    };
    rows.iter().map(read).collect()
}

/// What they were goes into the history, where it is not there yet.
pub(in crate::postgres) fn send_back(
    groups: &[(RunKey, TaskNo)],
) -> impl Iterator<Item = Step<'_>> + use<'_> {
    SEND_BACK.into_iter().map(|sql| {
        let params =
            Columns::of(groups).and(|(run, _)| run.0).and(|(_, no)| i64::from(no.0)).params();
        Step { sql, params }
    })
}
