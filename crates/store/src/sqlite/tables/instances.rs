//! Instances of a group: read by their indexes, and sent back together.

use super::attempts::index;
use super::tasks::{columns, read, read_all};
use crate::contract::InstancesQuery;
use crate::groups::OUTPUTS_PAGE_BYTES;
use crate::sqlite::cells::{Cells, limit};
use crate::sqlite::fault::Fault;
use mainspring_core::evaluate::InstanceOutput;
use mainspring_core::ids::{RunKey, TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use rusqlite::{Connection, OptionalExtension, params};

/// From the cursor back, until as many are found as there are.
pub(super) const UNSUCCESSFUL: &str = concat!(
    "select ",
    columns!(),
    " from tasks where run = ?1 and no = ?2 and ix >= 0 and fact <> 'success'
     order by ix desc limit ?3"
);
pub(super) const ONE: &str =
    concat!("select ", columns!(), " from tasks where run = ?1 and no = ?2 and ix = ?3");
/// Of work that was done and did not land nobody reads what it put out.
pub(super) const OUTPUTS: &str = "
    select run, no, ix, fact, output from tasks
    where run = ?1 and no = ?2 and ix >= ?3 and output is not null order by ix limit ?4";
/// Passes over plain tasks only: a group's first instance is beside its own row.
pub(super) const NEXT_GROUP: &str = "
    select no from tasks where run = ?1 and no > ?2 and ix >= 0 order by no, ix limit 1";
pub(super) const LAST_INDEX: &str = "
    select ix from tasks where run = ?1 and no = ?2 order by ix desc limit 1";
/// A refused start gave its number back: it leaves nothing.
pub(super) const INTO_HISTORY: &str = "
    insert into attempts (run, no, ix, number, id, dispatched_at, started_at, finished_at,
                          ending, ending_detail, output)
    select run, no, ix, attempt_number, attempt_id, dispatched_at, started_at, finished_at,
           ending, ending_detail, output
    from tasks
    where run = ?1 and no = ?2 and ix >= 0 and attempt_id is not null and ending is not 'refused'
    on conflict do nothing";
pub(super) const DROP: &str = "delete from tasks where run = ?1 and no = ?2 and ix >= 0";

pub(super) fn unsuccessful(
    conn: &Connection,
    (run, no): (RunKey, TaskNo),
    count: u32,
) -> Result<Vec<TaskRow>, Fault> {
    let mut statement = conn.prepare_cached(UNSUCCESSFUL)?;
    let mut found = read_all(statement.query(params![run.0, no.0, count])?)?;
    found.reverse();
    Ok(found)
}

pub(in crate::sqlite) fn list(
    conn: &Connection,
    (run, no): (RunKey, TaskNo),
    query: &InstancesQuery,
) -> Result<Vec<TaskRow>, Fault> {
    let mut statement = conn.prepare_cached(&listing(&query.facts))?;
    read_all(statement.query(params![run.0, no.0, query.from, limit(query.limit)])?)
}

/// The text depends only on which facts are asked for, so that it stays cached.
pub(super) fn listing(facts: &[Fact]) -> String {
    let words: Vec<String> = facts.iter().map(|fact| format!("'{}'", fact.word())).collect();
    let facts = match words.is_empty() {
        true => String::new(),
        false => format!("and fact in ({})", words.join(", ")),
    };
    format!(
        "select {} from tasks where run = ?1 and no = ?2 and ix >= ?3 {facts}
         order by ix limit ?4",
        columns!()
    )
}

/// The row of a task or an instance.
pub(super) fn at(conn: &Connection, run: RunKey, task: TaskRef) -> Result<Option<TaskRow>, Fault> {
    let mut statement = conn.prepare_cached(ONE)?;
    let mut rows = statement.query(params![run.0, task.no.0, index(task)])?;
    rows.next()?.map(read).transpose()
}

pub(in crate::sqlite) fn one(
    conn: &Connection,
    (run, no): (RunKey, TaskNo),
    index: u32,
) -> Result<Option<TaskRow>, Fault> {
    let mut statement = conn.prepare_cached(ONE)?;
    let mut rows = statement.query(params![run.0, no.0, index])?;
    rows.next()?.map(read).transpose()
}

pub(in crate::sqlite) fn outputs(
    conn: &Connection,
    (run, no): (RunKey, TaskNo),
    (from, rows_max): (u32, usize),
) -> Result<Vec<InstanceOutput>, Fault> {
    let mut statement = conn.prepare_cached(OUTPUTS)?;
    let mut rows = statement.query(params![run.0, no.0, from, limit(rows_max)])?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < OUTPUTS_PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let mut cells = Cells::of(row, "tasks", 3);
        let (_run, _no) = (cells.take::<i64>()?, cells.take::<i64>()?);
        let (index, fact, output) = (cells.take()?, cells.word(Fact::from_word)?, cells.output()?);
        bytes += output.to_text().len();
        found.push(InstanceOutput { index, fact, output });
    }
    Ok(found)
}

/// How many the groups of a run have, by the highest index of each.
pub(super) fn rows(conn: &Connection, run: RunKey) -> Result<u64, Fault> {
    let mut next = conn.prepare_cached(NEXT_GROUP)?;
    let mut last = conn.prepare_cached(LAST_INDEX)?;
    let (mut above, mut rows) = (-1, 0);
    loop {
        let no: Option<i64> = next.query_row(params![run.0, above], |row| row.get(0)).optional()?;
        let Some(no) = no else { return Ok(rows) };
        let index: u64 = last.query_row(params![run.0, no], |row| row.get(0))?;
        rows += index + 1;
        above = no;
    }
}

/// What they were goes into the history, where it is not there yet.
pub(in crate::sqlite) fn send_back(
    conn: &Connection,
    groups: &[(RunKey, TaskNo)],
) -> Result<(), Fault> {
    for (run, no) in groups {
        for sql in [INTO_HISTORY, DROP] {
            conn.prepare_cached(sql)?.execute(params![run.0, no.0])?;
        }
    }
    Ok(())
}
