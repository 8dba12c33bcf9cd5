//! Tasks: one row each, from the first thing there is to say of it.

use super::attempts::{Ending, index, read_end, read_task_ref};
use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, Cancelled, Hold, Stopping, TaskRow};
use mainspring_core::time::Span;
use rusqlite::{CachedStatement, Connection, Row, params};

/// Whole rows: what is not named (a group's state, a finalizer's) stays as it is.
pub(super) const PUT: &str = "
    insert into tasks (run, no, ix, fact, until, attempts, attempt_number, attempt_id,
                       dispatched_at, started_at, finished_at, ending, ending_detail, tries,
                       losses, refusals, refused_for, ever_started, held_by, held_at,
                       stopping, cancelled, settled_at, output)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            ?19, ?20, ?21, ?22, ?23, ?24)
    on conflict (run, no, ix) do update set
        fact = ?4, until = ?5, attempts = ?6, attempt_number = ?7, attempt_id = ?8,
        dispatched_at = ?9, started_at = ?10, finished_at = ?11, ending = ?12,
        ending_detail = ?13, tries = ?14, losses = ?15, refusals = ?16, refused_for = ?17,
        ever_started = ?18, held_by = ?19, held_at = ?20, stopping = ?21, cancelled = ?22,
        settled_at = ?23, output = ?24";
pub(super) const OF_RUN: &str = "
    select run, no, ix, fact, until, attempts, attempt_number, attempt_id, dispatched_at,
           started_at, finished_at, ending, ending_detail, tries, losses, refusals,
           refused_for, ever_started, held_by, held_at, stopping, cancelled, settled_at, output
    from tasks where run = ?1 order by no, ix";

pub(in crate::sqlite) fn put(conn: &Connection, rows: &[(RunKey, &TaskRow)]) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(PUT)?;
    for (run, row) in rows {
        put_one(&mut statement, *run, row)?;
    }
    Ok(())
}

fn put_one(
    statement: &mut CachedStatement<'_>,
    run: RunKey,
    row: &TaskRow,
) -> rusqlite::Result<usize> {
    let attempt = row.attempt.as_ref();
    let ending = attempt.and_then(|attempt| attempt.end.as_ref()).map(Ending::of);
    statement.execute(params![
        run.0,
        row.task.no.0,
        index(row.task),
        row.fact.word(),
        row.until.map(|at| at.0),
        row.attempts,
        attempt.map(|attempt| attempt.number),
        attempt.map(|attempt| attempt.id.as_bytes()),
        attempt.map(|attempt| attempt.dispatched_at.0),
        attempt.and_then(|attempt| attempt.started_at).map(|at| at.0),
        attempt.and_then(|attempt| attempt.finished_at).map(|at| at.0),
        ending.as_ref().map(|ending| ending.word),
        ending.as_ref().and_then(|ending| ending.detail.as_deref()),
        row.tries,
        row.losses,
        row.refusals,
        i64::try_from(row.refused_for.0).unwrap_or(i64::MAX),
        row.ever_started,
        row.hold.as_ref().map(|hold| hold.by.as_str()),
        row.hold.as_ref().map(|hold| hold.at.0),
        row.stopping.map(Stopping::word),
        row.cancelled.map(Cancelled::word),
        row.settled_at.map(|at| at.0),
        row.output.as_ref().map(Json::as_str),
    ])
}

pub(in crate::sqlite) fn of_run(conn: &Connection, run: RunKey) -> Result<Vec<TaskRow>, Fault> {
    let mut statement = conn.prepare_cached(OF_RUN)?;
    let mut rows = statement.query([run.0])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<TaskRow, Fault> {
    let mut cells = Cells::of(row, "tasks", 3);
    let _run: i64 = cells.take()?;
    Ok(TaskRow {
        task: read_task_ref(&mut cells)?,
        fact: cells.word(Fact::from_word)?,
        until: cells.maybe_time()?,
        attempts: cells.take()?,
        attempt: read_attempt(&mut cells)?,
        tries: cells.take()?,
        losses: cells.take()?,
        refusals: cells.take()?,
        refused_for: Span(cells.take()?),
        ever_started: cells.take()?,
        hold: read_hold(&mut cells)?.map(Box::new),
        stopping: cells.maybe_word(|word| named(Stopping::ALL, Stopping::word, word))?,
        cancelled: cells.maybe_word(|word| named(Cancelled::ALL, Cancelled::word, word))?,
        settled_at: cells.maybe_time()?,
        output: cells.maybe_json()?,
    })
}

fn read_attempt(cells: &mut Cells<'_>) -> Result<Option<Attempt>, Fault> {
    let number = cells.take::<Option<u32>>()?;
    let id = cells.take::<Option<[u8; 16]>>()?;
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
    match (cells.take::<Option<String>>()?, cells.maybe_time()?) {
        (None, None) => Ok(None),
        (Some(by), Some(at)) => Ok(Some(Hold { by, at })),
        _ => Err(cells.contradiction("its hold is not whole")),
    }
}

/// The value that a word stands for.
fn named<T: Copy>(all: &[T], word_of: impl Fn(T) -> &'static str, word: &str) -> Option<T> {
    all.iter().copied().find(|value| word_of(*value) == word)
}
