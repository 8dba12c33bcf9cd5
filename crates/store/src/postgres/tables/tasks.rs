//! Tasks: one row each, from the first thing there is to say of it.

use super::attempts::{end_detail, end_word, index, read_end, read_task_ref};
use crate::groups::loaded;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count, number, structure, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::Step;
use mainspring_core::error::TaskError;
use mainspring_core::ids::{AttemptId, RunId, RunKey};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, Cancelled, Hold, Stopping, TaskRow};
use mainspring_core::output::Output;
use mainspring_core::time::Span;
use std::borrow::Cow;
use tokio_postgres::Row;

/// Whole rows. Written through the key's index whatever the planner believes, which an update with a join is not.
const PUT: &str = "
    insert into tasks (run, no, ix, fact, until, attempts, attempt_number, attempt_id,
                       dispatched_at, started_at, finished_at, ending, ending_detail, tries,
                       losses, refusals, refused_for, ever_started, held_by, held_at,
                       stopping, cancelled, settled_at, output, group_state, wait, finalizer)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[],
                         $6::bigint[], $7::bigint[], $8::uuid[], $9::bigint[], $10::bigint[],
                         $11::bigint[], $12::text[], $13::text[], $14::bigint[], $15::bigint[],
                         $16::bigint[], $17::bigint[], $18::boolean[], $19::text[],
                         $20::bigint[], $21::text[], $22::text[], $23::bigint[], $24::text[],
                         $25::text[], $26::text[], $27::text[])
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
        output = excluded.output, group_state = excluded.group_state,
        wait = excluded.wait, finalizer = excluded.finalizer";

/// What `read` takes, in its order.
macro_rules! columns {
    () => {
        columns!("output")
    };
    ($output:literal) => {
        concat!(
            "run, no, ix, fact, until, attempts, attempt_number, attempt_id, dispatched_at,
             started_at, finished_at, ending, ending_detail, tries, losses, refusals, refused_for,
             ever_started, held_by, held_at, stopping, cancelled, settled_at, ",
            $output,
            ", group_state, wait, finalizer"
        )
    };
}
pub(super) use columns;

/// The run that was asked for by its id.
macro_rules! this {
    () => {
        "(select key from runs where id = $1)"
    };
}

const FIRST: &str = concat!(
    "select ",
    columns!(),
    " from tasks where run = ",
    this!(),
    " order by no, ix limit $2"
);

/// Rows of plain tasks and groups. Spans are the tasks between one group with instances and the
/// next: of such a group its own row is fetched by its key, because no other end of a range stops a
/// walk before its instances.
macro_rules! outline {
    () => {
        concat!(
            "with recursive spans(first, last) as (
                select 0::bigint, (select no from tasks where run = ",
            this!(),
            " and ix >= 0 order by no, ix limit 1)
                union all
                select spans.last + 1, (select no from tasks where run = ",
            this!(),
            " and no > spans.last and ix >= 0 order by no, ix limit 1)
                from spans where spans.last is not null)
             select found.* from spans, lateral (
                select ",
            columns!(),
            " from tasks where run = ",
            this!(),
            " and no >= spans.first and no < coalesce(spans.last, 9223372036854775807)
                union all
                select ",
            columns!(),
            " from tasks where run = ",
            this!(),
            " and no = spans.last and ix = -1) found"
        )
    };
}

const OUTLINE: &str = outline!();
/// What a run is loaded with: also instances from a group's cursor back, until there are as many
/// as its row says.
const LOADED: &str = concat!(
    outline!(),
    " union all
     select others.* from spans, lateral (
        select run, no, group_state::json as state from tasks where run = ",
    this!(),
    " and no = spans.last and ix = -1 and group_state is not null offset 0) own, lateral (
        select ",
    columns!(),
    " from tasks where run = own.run and no = own.no and ix >= 0 and fact <> 'success'
        order by ix desc
        limit greatest((state->>'next')::bigint - (state->>'success')::bigint, 0)) others"
);
/// What instances put out stays where it is, unless it is a name.
const ALL: &str = concat!(
    "select ",
    columns!("case when ix >= 0 and left(output, 1) <> '@' then 'null' else output end as output"),
    " from tasks where run = $1 order by no, ix"
);

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
        .and(|(_, row)| ending(row))
        .and(|(_, row)| ending_detail(row))
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
        .and(|(_, row)| row.output.as_ref().map(Output::to_text))
        .and(|(_, row)| row.group.as_ref().map(structure))
        .and(|(_, row)| row.wait.as_ref().map(structure))
        .and(|(_, row)| row.finalizer.as_ref().map(structure))
        .params();
    Step { sql: PUT, params }
}

pub(super) fn attempt(row: &TaskRow) -> Option<&Attempt> {
    row.attempt.as_ref()
}

/// The end of the attempt; where there is none, that of a task that failed without one.
pub(super) fn ending(row: &TaskRow) -> Option<&'static str> {
    match &row.attempt {
        Some(attempt) => attempt.end.as_ref().map(end_word),
        None => row.error.as_ref().map(|_| "failed"),
    }
}

pub(super) fn ending_detail(row: &TaskRow) -> Option<Cow<'_, str>> {
    match &row.attempt {
        Some(attempt) => attempt.end.as_ref().and_then(end_detail),
        None => row.error.as_ref().map(|error| structure(error).into()),
    }
}

/// Most runs have fewer rows than this: they are read as they are, which is half the work.
const FEW: usize = 100;

/// How much of a run's tasks is asked for.
#[derive(Clone, Copy)]
pub(in crate::postgres) enum Extent {
    /// What it is loaded with.
    Loaded,
    /// The same without instances.
    Outline,
}

/// The first rows of a run, of which `few` makes sense.
pub(in crate::postgres) fn first(run: RunId) -> Step<'static> {
    Step { sql: FIRST, params: vec![Box::new(uuid(run.as_bytes())), Box::new(count(FEW))] }
}

/// What was asked for, if these are all rows that the run has.
pub(in crate::postgres) fn few(
    rows: &[Row],
    extent: Extent,
) -> Result<Option<Vec<TaskRow>>, Fault> {
    if rows.len() >= FEW {
        return Ok(None);
    }
    let mut rows = rows.iter().map(read).collect::<Result<Vec<_>, Fault>>()?;
    match extent {
        Extent::Loaded => return Ok(Some(loaded(rows))),
        Extent::Outline => rows.retain(|row| row.task.index.is_none()),
    }
    Ok(Some(rows))
}

/// What was asked for, whatever lies between. Give its rows to `in_order`.
pub(in crate::postgres) fn many(run: RunId, extent: Extent) -> Step<'static> {
    let sql = match extent {
        Extent::Loaded => LOADED,
        Extent::Outline => OUTLINE,
    };
    Step { sql, params: vec![Box::new(uuid(run.as_bytes()))] }
}

/// Every row there is, however many instances that are.
pub(super) fn all(run: RunKey) -> Step<'static> {
    Step { sql: ALL, params: vec![Box::new(run.0)] }
}

/// By number and index: they come nearly so.
pub(in crate::postgres) fn in_order(rows: &[Row]) -> Result<Vec<TaskRow>, Fault> {
    let mut found = rows.iter().map(read).collect::<Result<Vec<_>, Fault>>()?;
    found.sort_by_key(|row| row.task);
    Ok(found)
}

pub(super) fn read(row: &Row) -> Result<TaskRow, Fault> {
    let mut cells = Cells::of(row, "tasks", 3);
    let _run: i64 = cells.take()?;
    let task = read_task_ref(&mut cells)?;
    let (fact, until) = (cells.word(Fact::from_word)?, cells.maybe_time()?);
    let attempts = cells.number()?;
    let (attempt, error) = read_attempt(&mut cells)?;
    Ok(TaskRow {
        task,
        fact,
        until,
        attempts,
        attempt,
        tries: cells.number()?,
        losses: cells.number()?,
        refusals: cells.number()?,
        refused_for: Span(cells.number()?),
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
    let number = cells.maybe_number()?;
    let id = cells.maybe_id()?;
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
