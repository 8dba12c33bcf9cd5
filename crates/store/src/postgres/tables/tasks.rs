//! Tasks: one row each, from the first thing there is to say of it.

use super::attempts::{end_detail, end_word, index, read_end, read_task_ref};
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, number, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::Step;
use mainspring_core::ids::{AttemptId, RunId, RunKey};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, Cancelled, Hold, Stopping, TaskRow};
use mainspring_core::time::Span;
use tokio_postgres::Row;

/// Whole rows: what is not named (a group's state, a finalizer's) stays as it is. Written
/// through the key's index whatever the planner believes, which an update with a join is not.
const PUT: &str = "
    insert into tasks (run, no, ix, fact, until, attempts, attempt_number, attempt_id,
                       dispatched_at, started_at, finished_at, ending, ending_detail, tries,
                       losses, refusals, refused_for, ever_started, held_by, held_at,
                       stopping, cancelled, settled_at, output)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[],
                         $6::bigint[], $7::bigint[], $8::uuid[], $9::bigint[], $10::bigint[],
                         $11::bigint[], $12::text[], $13::text[], $14::bigint[], $15::bigint[],
                         $16::bigint[], $17::bigint[], $18::boolean[], $19::text[],
                         $20::bigint[], $21::text[], $22::text[], $23::bigint[], $24::text[])
    on conflict (run, no, ix) do update set
        fact = excluded.fact, until = excluded.until, attempts = excluded.attempts,
        attempt_number = excluded.attempt_number, attempt_id = excluded.attempt_id,
        dispatched_at = excluded.dispatched_at, started_at = excluded.started_at,
        finished_at = excluded.finished_at, ending = excluded.ending,
        ending_detail = excluded.ending_detail, tries = excluded.tries,
        losses = excluded.losses, refusals = excluded.refusals,
        refused_for = excluded.refused_for, ever_started = excluded.ever_started,
        held_by = excluded.held_by, held_at = excluded.held_at, stopping = excluded.stopping,
        cancelled = excluded.cancelled, settled_at = excluded.settled_at,
        output = excluded.output";

/// What `read` takes, in its order.
macro_rules! columns {
    () => {
        "run, no, ix, fact, until, attempts, attempt_number, attempt_id, dispatched_at,
         started_at, finished_at, ending, ending_detail, tries, losses, refusals,
         refused_for, ever_started, held_by, held_at, stopping, cancelled, settled_at, output"
    };
}

const OF_RUN: &str = concat!(
    "select ",
    columns!(),
    " from tasks where run = (select key from runs where id = $1) order by no, ix"
);
const OF_KEY: &str = concat!("select ", columns!(), " from tasks where run = $1 order by no, ix");

pub(in crate::postgres) fn put<'a>(rows: &'a [(RunKey, &'a TaskRow)]) -> Step<'a> {
    let params = Columns::of(rows)
        .and(|(run, _)| run.0)
        .and(|(_, row)| i64::from(row.task.no.0))
        .and(|(_, row)| index(row.task))
        .and(|(_, row)| row.fact.word())
        .and(|(_, row)| row.until.map(|at| at.0))
        .and(|(_, row)| i64::from(row.attempts))
        .and(|(_, row)| attempt(row).map(|attempt| i64::from(attempt.number)))
        .and(|(_, row)| attempt(row).map(|attempt| uuid(attempt.id.as_bytes())))
        .and(|(_, row)| attempt(row).map(|attempt| attempt.dispatched_at.0))
        .and(|(_, row)| attempt(row).and_then(|attempt| attempt.started_at).map(|at| at.0))
        .and(|(_, row)| attempt(row).and_then(|attempt| attempt.finished_at).map(|at| at.0))
        .and(|(_, row)| end(row).map(end_word))
        .and(|(_, row)| end(row).and_then(end_detail))
        .and(|(_, row)| i64::from(row.tries))
        .and(|(_, row)| i64::from(row.losses))
        .and(|(_, row)| i64::from(row.refusals))
        .and(|(_, row)| number(row.refused_for.0))
        .and(|(_, row)| row.ever_started)
        .maybe_text(|(_, row)| row.hold.as_ref().map(|hold| hold.by.as_str()))
        .and(|(_, row)| row.hold.as_ref().map(|hold| hold.at.0))
        .and(|(_, row)| row.stopping.map(Stopping::word))
        .and(|(_, row)| row.cancelled.map(Cancelled::word))
        .and(|(_, row)| row.settled_at.map(|at| at.0))
        .and(|(_, row)| row.output.as_ref().map(Json::as_str))
        .params();
    Step { sql: PUT, params }
}

fn attempt(row: &TaskRow) -> Option<&Attempt> {
    row.attempt.as_ref()
}

fn end(row: &TaskRow) -> Option<&AttemptEnd> {
    row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref())
}

pub(in crate::postgres) fn of_run(run: RunId) -> Step<'static> {
    Step { sql: OF_RUN, params: vec![Box::new(uuid(run.as_bytes()))] }
}

pub(super) fn of_key(run: RunKey) -> Step<'static> {
    Step { sql: OF_KEY, params: vec![Box::new(run.0)] }
}

pub(in crate::postgres) fn read(row: &Row) -> Result<TaskRow, Fault> {
    let mut cells = Cells::of(row, "tasks", 3);
    let _run: i64 = cells.take()?;
    Ok(TaskRow {
        task: read_task_ref(&mut cells)?,
        fact: cells.word(Fact::from_word)?,
        until: cells.maybe_time()?,
        attempts: cells.number()?,
        attempt: read_attempt(&mut cells)?,
        tries: cells.number()?,
        losses: cells.number()?,
        refusals: cells.number()?,
        refused_for: Span(cells.number()?),
        ever_started: cells.take()?,
        hold: read_hold(&mut cells)?.map(Box::new),
        stopping: cells.maybe_word(|word| named(Stopping::ALL, Stopping::word, word))?,
        cancelled: cells.maybe_word(|word| named(Cancelled::ALL, Cancelled::word, word))?,
        settled_at: cells.maybe_time()?,
        output: cells.maybe_json()?,
    })
}

fn read_attempt(cells: &mut Cells<'_>) -> Result<Option<Attempt>, Fault> {
    let number = cells.maybe_number()?;
    let id = cells.maybe_id()?;
    let dispatched_at = cells.maybe_time()?;
    let started_at = cells.maybe_time()?;
    let finished_at = cells.maybe_time()?;
    let end = read_end(cells)?;
    match (number, id, dispatched_at) {
        (None, None, None) => Ok(None),
        (Some(number), Some(id), Some(dispatched_at)) => Ok(Some(Attempt {
            number,
            id: AttemptId::from_bytes(id),
            dispatched_at,
            started_at,
            finished_at,
            end,
        })),
        _ => Err(cells.contradiction("its attempt is not whole")),
    }
}

/// Reads the columns `held_by` and `held_at`.
pub(super) fn read_hold(cells: &mut Cells<'_>) -> Result<Option<Hold>, Fault> {
    match (cells.maybe_text()?, cells.maybe_time()?) {
        (None, None) => Ok(None),
        (Some(by), Some(at)) => Ok(Some(Hold { by, at })),
        _ => Err(cells.contradiction("its hold is not whole")),
    }
}

/// The value that a word stands for.
pub(super) fn named<T: Copy>(
    all: &[T],
    word_of: impl Fn(T) -> &'static str,
    word: &str,
) -> Option<T> {
    all.iter().copied().find(|value| word_of(*value) == word)
}
