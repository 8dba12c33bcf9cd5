//! Tasks: one row each, from the first thing there is to say of it.

use super::attempts::{Ending, index, read_end, read_task_ref};
use super::instances;
use super::runs::structure;
use crate::groups::unsuccessful;
use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::error::TaskError;
use mainspring_core::ids::{AttemptId, RunKey};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, Cancelled, Hold, Stopping, TaskRow};
use mainspring_core::output::Output;
use mainspring_core::time::Span;
use rusqlite::{CachedStatement, Connection, Row, Rows, params};

/// Whole rows. With no other index on the table a replacement is one write into the tree, whether or
/// not there was a row: an `on conflict … do update` looks, reads, deletes and inserts, which is
/// half as much again for every end of a task (measured: 1.7 µs against 2.6).
pub(super) const PUT: &str = "
    insert or replace into tasks (
        run, no, ix, fact, until, attempts, attempt_number, attempt_id, dispatched_at, started_at,
        finished_at, ending, ending_detail, tries, losses, refusals, refused_for, ever_started,
        held_by, held_at, stopping, cancelled, settled_at, output, group_state,
        wait, finalizer)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)";

/// What `read` takes, in its order.
macro_rules! columns {
    () => {
        "run, no, ix, fact, until, attempts, attempt_number, attempt_id, dispatched_at,
         started_at, finished_at, ending, ending_detail, tries, losses, refusals,
         refused_for, ever_started, held_by, held_at, stopping, cancelled, settled_at, output,
         group_state, wait, finalizer"
    };
}
pub(super) use columns;

pub(super) const ALL: &str =
    concat!("select ", columns!(), " from tasks where run = ?1 order by no, ix");
/// The walk is cut off where instances begin, and never sorted: no limit is told to SQLite.
pub(super) const ABOVE: &str =
    concat!("select ", columns!(), " from tasks where run = ?1 and no > ?2 order by no, ix");

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
    let ending = match attempt {
        Some(attempt) => attempt.end.as_ref().map(Ending::of),
        None => row.error.as_deref().map(Ending::failed),
    };
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
        row.output.as_ref().map(Output::to_text),
        row.group.as_ref().map(structure),
        row.wait.as_ref().map(structure),
        row.finalizer.as_ref().map(structure),
    ])
}

/// What a run is loaded with.
pub(in crate::sqlite) fn of_run(conn: &Connection, run: RunKey) -> Result<Vec<TaskRow>, Fault> {
    let own = plain(conn, run)?;
    let mut found = Vec::with_capacity(own.len());
    for row in own {
        let (no, count) = (row.task.no, unsuccessful(&row));
        found.push(row);
        if count > 0 {
            found.extend(instances::unsuccessful(conn, (run, no), count)?);
        }
    }
    Ok(found)
}

/// Every row there is, however many instances that are. What they put out is looked at and not kept.
pub(super) fn all(conn: &Connection, run: RunKey) -> Result<Vec<TaskRow>, Fault> {
    let mut statement = conn.prepare_cached(ALL)?;
    let mut rows = statement.query([run.0])?;
    let (mut found, null) = (Vec::new(), Output::null());
    while let Some(row) = rows.next()? {
        let mut row = read(row)?;
        if let (Some(_), Some(output @ Output::Inline(_))) = (row.task.index, &mut row.output) {
            output.clone_from(&null);
        }
        found.push(row);
    }
    Ok(found)
}

/// Rows of plain tasks and groups. From the first instance of a group the walk goes on behind the
/// last one.
pub(in crate::sqlite) fn plain(conn: &Connection, run: RunKey) -> Result<Vec<TaskRow>, Fault> {
    let mut statement = conn.prepare_cached(ABOVE)?;
    let mut found = Vec::new();
    let mut above = Some(-1);
    while let Some(no) = above.take() {
        let mut rows = statement.query(params![run.0, no])?;
        while let Some(row) = rows.next()? {
            if row.get::<_, i64>(2)? >= 0 {
                above = Some(row.get(1)?);
                break;
            }
            found.push(read(row)?);
        }
    }
    Ok(found)
}

pub(super) fn read_all(mut rows: Rows<'_>) -> Result<Vec<TaskRow>, Fault> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

pub(super) fn read(row: &Row<'_>) -> Result<TaskRow, Fault> {
    let mut cells = Cells::of(row, "tasks", 3);
    let _run: i64 = cells.take()?;
    let task = read_task_ref(&mut cells)?;
    let (fact, until) = (cells.word(Fact::from_word)?, cells.maybe_time()?);
    let attempts = cells.take()?;
    let (attempt, error) = read_attempt(&mut cells)?;
    Ok(TaskRow {
        task,
        fact,
        until,
        attempts,
        attempt,
        tries: cells.take()?,
        losses: cells.take()?,
        refusals: cells.take()?,
        refused_for: Span(cells.take()?),
        ever_started: cells.take()?,
        hold: read_hold(&mut cells)?.map(Box::new),
        stopping: cells.maybe_word(|word| named(Stopping::ALL, Stopping::word, word))?,
        cancelled: cells.maybe_word(|word| named(Cancelled::ALL, Cancelled::word, word))?,
        settled_at: cells.maybe_time()?,
        output: cells.maybe_output()?,
        error,
        group: cells.maybe_structure()?,
        wait: cells.maybe_structure()?,
        finalizer: cells.maybe_structure()?,
    })
}

/// Reads the columns of an attempt: where there is none, its end is that of a task that failed
/// without one.
fn read_attempt(cells: &mut Cells<'_>) -> Result<(Option<Attempt>, Option<Box<TaskError>>), Fault> {
    let number = cells.take::<Option<u32>>()?;
    let id = cells.take::<Option<[u8; 16]>>()?;
    let dispatched_at = cells.maybe_time()?;
    let started_at = cells.maybe_time()?;
    let finished_at = cells.maybe_time()?;
    let end = read_end(cells)?;
    match (number, id, dispatched_at, end) {
        (None, None, None, None) => Ok((None, None)),
        (None, None, None, Some(AttemptEnd::Failed(error))) => Ok((None, Some(error))),
        (Some(number), Some(id), Some(dispatched_at), end) => {
            let id = AttemptId::from_bytes(id);
            let attempt = Attempt { number, id, dispatched_at, started_at, finished_at, end };
            Ok((Some(attempt), None))
        }
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
