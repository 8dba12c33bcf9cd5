//! Superseded attempts; and how an attempt is written in any table that holds one.

use super::runs::structure;
use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::error::TaskError;
use mainspring_core::ids::{AttemptId, RunKey, TaskNo, TaskRef};
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, AttemptRow};
use mainspring_core::output::Output;
use rusqlite::{Connection, Row, Rows, params};
use std::borrow::Cow;

/// History is append-only: should an attempt come again, the first word on it stands.
pub(super) const INSERT: &str = "
    insert into attempts (run, no, ix, number, id, dispatched_at, started_at, finished_at,
                          ending, ending_detail, output, role)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    on conflict do nothing";

/// What `read` takes, in its order.
macro_rules! columns {
    () => {
        "run, no, ix, number, id, dispatched_at, started_at, finished_at, ending,
         ending_detail, output, role"
    };
}

pub(super) const OF_RUN: &str =
    concat!("select ", columns!(), " from attempts where run = ?1 order by no, ix, number, id");
pub(super) const OF_TASK: &str = concat!(
    "select ",
    columns!(),
    " from attempts where run = ?1 and no = ?2 and ix = ?3 order by number, id"
);

pub(in crate::sqlite) fn insert(
    conn: &Connection,
    rows: &[(RunKey, &AttemptRow)],
) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(INSERT)?;
    for (run, AttemptRow { task, step, attempt, output }) in rows {
        let ending = attempt.end.as_ref().map(Ending::of);
        statement.execute(params![
            run.0,
            task.no.0,
            index(*task),
            attempt.number,
            attempt.id.as_bytes(),
            attempt.dispatched_at.0,
            attempt.started_at.map(|at| at.0),
            attempt.finished_at.map(|at| at.0),
            ending.as_ref().map(|ending| ending.word),
            ending.as_ref().and_then(|ending| ending.detail.as_deref()),
            output.as_ref().map(Output::to_text),
            step.word(),
        ])?;
    }
    Ok(())
}

pub(in crate::sqlite) fn of_run(conn: &Connection, run: RunKey) -> Result<Vec<AttemptRow>, Fault> {
    let mut statement = conn.prepare_cached(OF_RUN)?;
    read_all(statement.query([run.0])?)
}

pub(in crate::sqlite) fn of_task(
    conn: &Connection,
    run: RunKey,
    task: TaskRef,
) -> Result<Vec<AttemptRow>, Fault> {
    let mut statement = conn.prepare_cached(OF_TASK)?;
    read_all(statement.query(params![run.0, task.no.0, index(task)])?)
}

fn read_all(mut rows: Rows<'_>) -> Result<Vec<AttemptRow>, Fault> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Result<AttemptRow, Fault> {
    let mut cells = Cells::of(row, "attempts", 5);
    let _run: i64 = cells.take()?;
    let task = read_task_ref(&mut cells)?;
    Ok(AttemptRow {
        task,
        attempt: Attempt {
            number: cells.take()?,
            id: AttemptId::from_bytes(cells.take()?),
            dispatched_at: cells.time()?,
            started_at: cells.maybe_time()?,
            finished_at: cells.maybe_time()?,
            end: read_end(&mut cells)?,
        },
        output: cells.maybe_output()?,
        step: cells.word(|word| Step::ALL.iter().copied().find(|it| it.word() == word))?,
    })
}

/// No column of a key is null: a plain task has the index -1.
pub(super) fn index(task: TaskRef) -> i64 {
    task.index.map_or(-1, i64::from)
}

pub(super) fn read_task_ref(cells: &mut Cells<'_>) -> Result<TaskRef, Fault> {
    let no = TaskNo(cells.take()?);
    let index = match cells.take::<i64>()? {
        -1 => None,
        index => {
            let index = u32::try_from(index);
            Some(index.map_err(|_| cells.contradiction("no instance has this index"))?)
        }
    };
    Ok(TaskRef { no, index })
}

/// An end as two columns: its word, and what else there is to say.
pub(super) struct Ending<'a> {
    pub word: &'static str,
    pub detail: Option<Cow<'a, str>>,
}

impl<'a> Ending<'a> {
    pub fn of(end: &'a AttemptEnd) -> Self {
        match end {
            AttemptEnd::Success => Self { word: "success", detail: None },
            AttemptEnd::Cached => Self { word: "cached", detail: None },
            AttemptEnd::Copied => Self { word: "copied", detail: None },
            AttemptEnd::Failed(error) => Self::failed(error),
            AttemptEnd::Cancelled => Self { word: "cancelled", detail: None },
            AttemptEnd::Abandoned => Self { word: "abandoned", detail: None },
            AttemptEnd::Refused(why) => Self { word: "refused", detail: Some(Cow::Borrowed(why)) },
        }
    }

    pub fn failed(error: &TaskError) -> Self {
        Self { word: "failed", detail: Some(structure(error).into()) }
    }
}

#[derive(Clone, Copy)]
enum EndWord {
    Success,
    Cached,
    Copied,
    Failed,
    Cancelled,
    Abandoned,
    Refused,
}

fn end_word(word: &str) -> Option<EndWord> {
    match word {
        "success" => Some(EndWord::Success),
        "cached" => Some(EndWord::Cached),
        "copied" => Some(EndWord::Copied),
        "failed" => Some(EndWord::Failed),
        "cancelled" => Some(EndWord::Cancelled),
        "abandoned" => Some(EndWord::Abandoned),
        "refused" => Some(EndWord::Refused),
        _ => None,
    }
}

/// Reads the columns `ending` and `ending_detail`.
pub(super) fn read_end(cells: &mut Cells<'_>) -> Result<Option<AttemptEnd>, Fault> {
    let plain = match cells.maybe_word(end_word)? {
        Some(EndWord::Failed) => {
            return Ok(Some(AttemptEnd::Failed(Box::new(cells.structure()?))));
        }
        Some(EndWord::Refused) => {
            return Ok(Some(AttemptEnd::Refused(cells.take::<String>()?.into())));
        }
        Some(EndWord::Success) => Some(AttemptEnd::Success),
        Some(EndWord::Cached) => Some(AttemptEnd::Cached),
        Some(EndWord::Copied) => Some(AttemptEnd::Copied),
        Some(EndWord::Cancelled) => Some(AttemptEnd::Cancelled),
        Some(EndWord::Abandoned) => Some(AttemptEnd::Abandoned),
        None => None,
    };
    cells.take::<Option<String>>()?;
    Ok(plain)
}
