//! Superseded attempts; and how an attempt is written in any table that holds one.

use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, structure, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use crate::postgres::text;
use mainspring_core::ids::{AttemptId, RunKey, TaskNo, TaskRef};
use mainspring_core::kernel::finalizer::Step as Role;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, AttemptRow};
use mainspring_core::output::Output;
use std::borrow::Cow;
use tokio_postgres::Row;

/// History is append-only: should an attempt come again, the first word on it stands.
const INSERT: &str = "
    insert into attempts (run, no, ix, number, id, dispatched_at, started_at, finished_at,
                          ending, ending_detail, output, role)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::uuid[],
                         $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[],
                         $11::text[], $12::text[])
    on conflict do nothing";

/// What `read` takes, in its order.
macro_rules! columns {
    () => {
        "run, no, ix, number, id, dispatched_at, started_at, finished_at, ending,
         ending_detail, output, role"
    };
}

const OF_RUN: &str =
    concat!("select ", columns!(), " from attempts where run = $1 order by no, ix, number, id");
const OF_TASK: &str = concat!(
    "select ",
    columns!(),
    " from attempts where run = $1 and no = $2 and ix = $3 order by number, id"
);

pub(in crate::postgres) fn insert<'a>(rows: &'a [(RunKey, &'a AttemptRow)]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|(run, _)| run.0)
        .and(|(_, row)| i64::from(row.task.no.0))
        .and(|(_, row)| index(row.task))
        .and(|(_, row)| i64::from(row.attempt.number))
        .and(|(_, row)| uuid(row.attempt.id.as_bytes()))
        .and(|(_, row)| row.attempt.dispatched_at.0)
        .and(|(_, row)| row.attempt.started_at.map(|at| at.0))
        .and(|(_, row)| row.attempt.finished_at.map(|at| at.0))
        .and(|(_, row)| row.attempt.end.as_ref().map(end_word))
        .and(|(_, row)| row.attempt.end.as_ref().and_then(end_detail))
        .and(|(_, row)| row.output.as_ref().map(Output::to_text))
        .and(|(_, row)| row.step.word())
        .params();
    Step { sql: INSERT, params }
}

pub(in crate::postgres) async fn of_run(
    session: &Session,
    run: RunKey,
) -> Result<Vec<AttemptRow>, Fault> {
    session.rows(&of_key(run)).await?.iter().map(read).collect()
}

pub(in crate::postgres) async fn of_task(
    session: &Session,
    run: RunKey,
    task: TaskRef,
) -> Result<Vec<AttemptRow>, Fault> {
    let params: Vec<_> =
        vec![Box::new(run.0) as _, Box::new(i64::from(task.no.0)) as _, Box::new(index(task)) as _];
    session.rows(&Step { sql: OF_TASK, params }).await?.iter().map(read).collect()
}

pub(super) fn of_key(run: RunKey) -> Step<'static> {
    Step { sql: OF_RUN, params: vec![Box::new(run.0)] }
}

pub(super) fn read(row: &Row) -> Result<AttemptRow, Fault> {
    let mut cells = Cells::of(row, "attempts", 4);
    let _run: i64 = cells.take()?;
    Ok(AttemptRow {
        task: read_task_ref(&mut cells)?,
        attempt: Attempt {
            number: cells.number()?,
            id: AttemptId::from_bytes(cells.id()?),
            dispatched_at: cells.time()?,
            started_at: cells.maybe_time()?,
            finished_at: cells.maybe_time()?,
            end: read_end(&mut cells)?,
        },
        output: cells.maybe_output()?,
        step: cells.word(role)?,
    })
}

fn role(word: &str) -> Option<Role> {
    Role::ALL.iter().copied().find(|role| role.word() == word)
}

/// No column of a key is null: a plain task has the index -1.
pub(super) fn index(task: TaskRef) -> i64 {
    task.index.map_or(-1, i64::from)
}

pub(super) fn read_task_ref(cells: &mut Cells<'_>) -> Result<TaskRef, Fault> {
    let no = TaskNo(cells.number()?);
    let index = match cells.take::<i64>()? {
        -1 => None,
        index => {
            let index = u32::try_from(index);
            Some(index.map_err(|_| cells.contradiction("no instance has this index"))?)
        }
    };
    Ok(TaskRef { no, index })
}

/// An end is two columns: its word, and what else there is to say.
pub(super) const fn end_word(end: &AttemptEnd) -> &'static str {
    match end {
        AttemptEnd::Success => "success",
        AttemptEnd::Cached => "cached",
        AttemptEnd::Copied => "copied",
        AttemptEnd::Failed(_) => "failed",
        AttemptEnd::Cancelled => "cancelled",
        AttemptEnd::Abandoned => "abandoned",
        AttemptEnd::Refused(_) => "refused",
    }
}

pub(super) fn end_detail(end: &AttemptEnd) -> Option<Cow<'_, str>> {
    match end {
        AttemptEnd::Success
        | AttemptEnd::Cached
        | AttemptEnd::Copied
        | AttemptEnd::Cancelled
        | AttemptEnd::Abandoned => None,
        AttemptEnd::Failed(error) => Some(structure(error).into()),
        AttemptEnd::Refused(why) => Some(text::encode(why)),
    }
}

/// Reads the columns `ending` and `ending_detail`.
pub(super) fn read_end(cells: &mut Cells<'_>) -> Result<Option<AttemptEnd>, Fault> {
    let words = ["success", "cached", "copied", "failed", "cancelled", "abandoned", "refused"];
    let word = cells.maybe_word(|word| words.into_iter().find(|known| *known == word))?;
    let plain = match word {
        Some("failed") => return Ok(Some(AttemptEnd::Failed(Box::new(cells.structure()?)))),
        Some("refused") => return Ok(Some(AttemptEnd::Refused(cells.text()?.into()))),
        Some("success") => Some(AttemptEnd::Success),
        Some("cached") => Some(AttemptEnd::Cached),
        Some("copied") => Some(AttemptEnd::Copied),
        Some("cancelled") => Some(AttemptEnd::Cancelled),
        Some(_) => Some(AttemptEnd::Abandoned),
        None => None,
    };
    cells.take::<Option<&str>>()?;
    Ok(plain)
}
