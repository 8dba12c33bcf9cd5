//! Runs: what is said of them once, and what changes while they live.

use super::tasks::{named, read_hold};
use crate::parent::ParentTask;
use crate::postgres::cells::Cells;
use crate::postgres::columns::{Columns, count, number, structure, uuid};
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use crate::postgres::text;
use mainspring_core::ids::{RunId, RunKey, SchedulerId};
use mainspring_core::kernel::row::{
    CancelCause, Counts, Parent, RunError, RunHead, RunKind, RunProgress, RunStatus,
};
use mainspring_core::limits::INPUT_LISTED_BYTES_MAX;
use mainspring_core::output::Output;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use tokio_postgres::Row;

const INSERT: &str = "
    insert into runs (key, status, held_by, held_at, cancel, owner, stamp, started_at,
                      opened_at, finished_at, error, output, tasks_total, tasks_live,
                      tasks_success, tasks_failed, tasks_cancelled, tasks_skipped,
                      tasks_waiting, tasks_worker_done, signals, additions, alone_since,
                      unconfirmed_since, id, workflow, version, kind, input, labels, priority, triggered_by, workdir, parent,
                      group_key, created_at, retry_of, parent_task)
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[],
                         $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
                         $11::text[], $12::text[], $13::bigint[], $14::bigint[],
                         $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
                         $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[],
                         $23::bigint[], $24::bigint[], $25::uuid[], $26::text[], $27::bigint[],
                         $28::text[], $29::text[], $30::text[], $31::integer[], $32::text[],
                         $33::text[], $34::uuid[], $35::text[], $36::bigint[], $37::uuid[],
                         $38::text[])";
const INSERT_INPUT: &str = "
    insert into inputs (run, input) select * from unnest($1::bigint[], $2::text[])";
/// Looks up the place of each row by its key and updates by place: a plan that no statistics
/// can talk into reading the whole table. Divides by nothing when a row was missing.
const PUT: &str = "
    with put as (
        update runs set status = t.status, held_by = t.held_by, held_at = t.held_at,
            cancel = t.cancel, owner = t.owner, stamp = t.stamp, started_at = t.started_at,
            opened_at = t.opened_at, finished_at = t.finished_at, error = t.error,
            output = t.output, tasks_total = t.total, tasks_live = t.live, tasks_success = t.success,
            tasks_failed = t.failed, tasks_cancelled = t.cancelled, tasks_skipped = t.skipped,
            tasks_waiting = t.waiting, tasks_worker_done = t.worker_done, signals = t.signals,
            additions = t.additions, alone_since = t.alone_since,
            unconfirmed_since = t.unconfirmed_since
        from (
            select u.*, (select known.ctid from runs known where known.key = u.key) as place
            from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[],
                        $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
                        $11::text[], $12::text[], $13::bigint[], $14::bigint[],
                        $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
                        $19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[],
                        $23::bigint[], $24::bigint[])
                 as u(key, status, held_by, held_at, cancel, owner, stamp, started_at,
                      opened_at, finished_at, error, output, total, live, success, failed,
                      cancelled, skipped, waiting, worker_done, signals, additions, alone_since,
                      unconfirmed_since)
            offset 0) t
        where runs.ctid = t.place
        returning 1)
    select 1 / (count(*) = cardinality($1))::integer from put";
/// Divides by nothing unless all of them are there.
const CHECK: &str = "
    select 1 / (count((select 1 from runs where runs.key = u.key)) = cardinality($1))::integer
    from unnest($1::bigint[]) as u(key)";
const STORED: &str = "
    select u.id from unnest($1::uuid[]) as u(id)
    where (select 1 from runs where runs.id = u.id) is not null";
const UNKNOWN: &str = "
    select u.key from unnest($1::bigint[]) as u(key)
    where (select 1 from runs where runs.key = u.key) is null limit 1";
const KNOWN: &str = "
    select u.key, u.id from unnest($1::bigint[], $2::uuid[]) as u(key, id)
    where (select 1 from runs where runs.key = u.key) is not null
       or (select 1 from runs where runs.id = u.id) is not null limit 1";
const UNFINISHED: &str = "
    select key, id from runs
    where status in ('pending', 'running', 'paused', 'cancelling')
      and owner = (select ordinal from schedulers where id = $1)
    order by created_at, id";

/// What `read` takes, in its order.
macro_rules! columns {
    () => {
        columns!("coalesce(input, (select input from inputs where run = key)) as input", "output")
    };
    (listed) => {
        columns!("input", "null::text as output")
    };
    ($input:literal, $output:literal) => {
        concat!(
            "key, id, workflow, version, kind, ", $input, ",
         labels, priority, triggered_by, workdir, parent, parent_task, group_key, created_at, retry_of, status,
         held_by, held_at, cancel, (select id from schedulers where ordinal = owner) as owner, stamp, started_at,
         opened_at, finished_at, error, ", $output, ", tasks_total, tasks_live, tasks_success,
         tasks_failed, tasks_cancelled, tasks_skipped, tasks_waiting, tasks_worker_done,
         signals, additions, alone_since, unconfirmed_since"
        )
    };
}
pub(super) use columns;

const LOAD: &str = concat!("select ", columns!(), " from runs where id = $1");
const LOAD_BY_KEY: &str = concat!("select ", columns!(), " from runs where key = $1");
const CHANGED: &str = concat!(
    "select ",
    columns!(listed),
    " from runs
     where owner = (select ordinal from schedulers where id = $1) and stamp > $2
     order by stamp fetch first ($3) rows with ties"
);

/// Progress to write, with its owner's ordinal, of a run that is new or known.
pub(in crate::postgres) struct Owned<'a, Run> {
    pub run: Run,
    pub progress: &'a RunProgress,
    pub owner: i64,
}

/// Parameters 1 to 24.
fn progress<'r, 'a, Run>(
    rows: &'r [Owned<'a, Run>],
    key: impl Fn(&Run) -> RunKey,
) -> Columns<'r, Owned<'a, Run>> {
    let counts = |row: &Owned<'a, Run>| row.progress.counts;
    Columns::of(rows)
        .and(|row| key(&row.run).0)
        .and(|row| row.progress.status.word())
        .maybe_text(|row| row.progress.hold.as_ref().map(|hold| hold.by.as_str()))
        .and(|row| row.progress.hold.as_ref().map(|hold| hold.at.0))
        .and(|row| row.progress.cancel.as_ref().map(structure))
        .and(|row| row.owner)
        .and(|row| number(row.progress.stamp))
        .and(|row| row.progress.started_at.map(|at| at.0))
        .and(|row| row.progress.opened_at.map(|at| at.0))
        .and(|row| row.progress.finished_at.map(|at| at.0))
        .and(|row| row.progress.error.as_ref().map(structure))
        .and(|row| row.progress.output.as_ref().map(Output::to_text))
        .and(|row| i64::from(counts(row).total))
        .and(|row| i64::from(counts(row).live))
        .and(|row| i64::from(counts(row).success))
        .and(|row| i64::from(counts(row).failed))
        .and(|row| i64::from(counts(row).cancelled))
        .and(|row| i64::from(counts(row).skipped))
        .and(|row| i64::from(counts(row).waiting))
        .and(|row| i64::from(counts(row).worker_done))
        .and(|row| i64::from(row.progress.signals))
        .and(|row| i64::from(row.progress.additions))
        .and(|row| row.progress.alone_since.map(|at| at.0))
        .and(|row| row.progress.unconfirmed_since.map(|at| at.0))
}

pub(in crate::postgres) fn insert<'a>(rows: &'a [Owned<'a, &'a RunHead>]) -> Step<'a> {
    let params = progress(rows, |head| head.key)
        .and(|row| uuid(row.run.id.as_bytes()))
        .text(|row| &row.run.workflow)
        .and(|row| i64::from(row.run.version))
        .and(|row| kind_word(row.run.kind))
        .and(|row| Some(row.run.input.as_str()).filter(|_| !is_large(row.run)))
        .and(|row| written_labels(&row.run.labels))
        .and(|row| row.run.priority)
        .text(|row| &row.run.triggered_by)
        .text(|row| &row.run.workdir)
        .and(|row| row.run.parent.as_ref().map(|parent| uuid(parent.run.as_bytes())))
        .maybe_text(|row| row.run.group.as_deref())
        .and(|row| row.run.created_at.0)
        .and(|row| row.run.retry_of.as_ref().map(|of| uuid(of.as_bytes())))
        .and(|row| row.run.parent.as_ref().map(|parent| structure(&ParentTask::of(parent))))
        .params();
    Step { sql: INSERT, params }
}

pub(in crate::postgres) fn is_large(head: &RunHead) -> bool {
    head.input.as_str().len() > INPUT_LISTED_BYTES_MAX
}

pub(in crate::postgres) fn insert_inputs<'a>(rows: &'a [&'a RunHead]) -> Step<'a> {
    let params = Columns::of(rows).and(|head| head.key.0).and(|head| head.input.as_str()).params();
    Step { sql: INSERT_INPUT, params }
}

pub(in crate::postgres) fn put<'a>(rows: &'a [Owned<'a, RunKey>]) -> Step<'a> {
    Step { sql: PUT, params: progress(rows, |run| *run).params() }
}

pub(in crate::postgres) fn check(runs: &BTreeSet<RunKey>) -> Step<'static> {
    Step { sql: CHECK, params: vec![Box::new(keys(runs))] }
}

fn keys(runs: &BTreeSet<RunKey>) -> Vec<i64> {
    runs.iter().map(|run| run.0).collect()
}

/// Those of these runs that are stored.
pub(in crate::postgres) async fn stored(
    session: &Session,
    among: &[RunId],
) -> Result<Vec<RunId>, Fault> {
    let params = Columns::of(among).and(|run| uuid(run.as_bytes())).params();
    let rows = session.rows(&Step { sql: STORED, params }).await?;
    let id = |row: &Row| Cells::of(row, "runs", 1).id().map(RunId::from_bytes);
    rows.iter().map(id).collect()
}

/// One of them that is not stored.
pub(in crate::postgres) async fn unknown(
    session: &Session,
    runs: &BTreeSet<RunKey>,
) -> Result<Option<RunKey>, Fault> {
    let row = session.row(&Step { sql: UNKNOWN, params: vec![Box::new(keys(runs))] }).await?;
    row.map(|row| Cells::of(&row, "runs", 1).take().map(RunKey)).transpose()
}

/// One of them whose key or id is stored.
pub(in crate::postgres) async fn known(
    session: &Session,
    heads: &[&RunHead],
) -> Result<Option<(RunKey, RunId)>, Fault> {
    let params =
        Columns::of(heads).and(|head| head.key.0).and(|head| uuid(head.id.as_bytes())).params();
    let row = session.row(&Step { sql: KNOWN, params }).await?;
    row.as_ref().map(read_names).transpose()
}

pub(in crate::postgres) async fn unfinished(
    session: &Session,
    scheduler: SchedulerId,
) -> Result<Vec<(RunKey, RunId)>, Fault> {
    let step = Step { sql: UNFINISHED, params: vec![Box::new(uuid(scheduler.as_bytes()))] };
    session.rows(&step).await?.iter().map(read_names).collect()
}

fn read_names(row: &Row) -> Result<(RunKey, RunId), Fault> {
    let mut cells = Cells::of(row, "runs", 1);
    Ok((RunKey(cells.take()?), RunId::from_bytes(cells.id()?)))
}

/// The stamp that the limit falls on is given whole.
pub(in crate::postgres) async fn changed(
    session: &Session,
    scheduler: SchedulerId,
    after: u64,
    runs_max: usize,
) -> Result<Vec<(RunHead, RunProgress)>, Fault> {
    if runs_max == 0 {
        return Ok(Vec::new());
    }
    let params: Vec<_> = vec![
        Box::new(uuid(scheduler.as_bytes())) as _,
        Box::new(number(after)) as _,
        Box::new(count(runs_max)) as _,
    ];
    let rows = session.rows(&Step { sql: CHANGED, params }).await?;
    let mut found = rows.iter().map(read_listed).collect::<Result<Vec<_>, Fault>>()?;
    found.sort_by_key(|(head, progress)| (progress.stamp, head.key));
    Ok(found)
}

pub(in crate::postgres) fn load(id: RunId) -> Step<'static> {
    Step { sql: LOAD, params: vec![Box::new(uuid(id.as_bytes()))] }
}

pub(super) fn load_by_key(run: RunKey) -> Step<'static> {
    Step { sql: LOAD_BY_KEY, params: vec![Box::new(run.0)] }
}

pub(in crate::postgres) fn read(row: &Row) -> Result<(RunHead, RunProgress), Fault> {
    let (head, progress) = read_listed(row)?;
    match head.input.is_unread() {
        true => Err(Cells::of(row, "runs", 1).contradiction("its input is missing")),
        false => Ok((head, progress)),
    }
}

/// Of a list, which leaves large inputs where they are.
pub(in crate::postgres) fn read_listed(row: &Row) -> Result<(RunHead, RunProgress), Fault> {
    let mut cells = Cells::of(row, "runs", 1);
    Ok((read_head(&mut cells)?, read_progress(&mut cells)?))
}

fn read_head(cells: &mut Cells<'_>) -> Result<RunHead, Fault> {
    Ok(RunHead {
        key: RunKey(cells.take()?),
        id: RunId::from_bytes(cells.id()?),
        workflow: cells.text()?.into(),
        version: cells.number()?,
        kind: cells.word(kind_from_word)?,
        input: cells.maybe_unread()?,
        labels: read_labels(cells)?,
        priority: cells.take()?,
        triggered_by: cells.text()?,
        workdir: cells.text()?,
        parent: read_parent(cells)?,
        group: cells.maybe_text()?.map(Into::into),
        created_at: cells.time()?,
        retry_of: cells.maybe_id()?.map(RunId::from_bytes),
    })
}

fn read_parent(cells: &mut Cells<'_>) -> Result<Option<Box<Parent>>, Fault> {
    let run = cells.maybe_id()?.map(RunId::from_bytes);
    let task = cells.maybe_structure::<ParentTask>()?;
    match (run, task) {
        (None, None) => Ok(None),
        (Some(run), Some(task)) => Ok(Some(Box::new(task.in_run(run)))),
        _ => Err(cells.contradiction("a parent and its task go together")),
    }
}

fn read_progress(cells: &mut Cells<'_>) -> Result<RunProgress, Fault> {
    let mut progress = RunProgress {
        status: cells.word(|word| named(RunStatus::ALL, RunStatus::word, word))?,
        hold: read_hold(cells)?,
        cancel: cells.maybe_structure::<CancelCause>()?,
        alone_since: None,
        unconfirmed_since: None,
        owner: SchedulerId::from_bytes(cells.id()?),
        stamp: cells.number()?,
        started_at: cells.maybe_time()?,
        opened_at: cells.maybe_time()?,
        finished_at: cells.maybe_time()?,
        error: cells.maybe_structure::<RunError>()?,
        output: cells.maybe_output()?,
        signals: 0,
        additions: 0,
        counts: Counts {
            total: cells.number()?,
            live: cells.number()?,
            success: cells.number()?,
            failed: cells.number()?,
            cancelled: cells.number()?,
            skipped: cells.number()?,
            waiting: cells.number()?,
            worker_done: cells.number()?,
        },
    };
    (progress.signals, progress.additions) = (cells.number()?, cells.number()?);
    progress.alone_since = cells.maybe_time()?;
    progress.unconfirmed_since = cells.maybe_time()?;
    Ok(progress)
}

/// Encoded before they become JSON: the server looks into it, and refuses even an escaped
/// U+0000 there.
pub(super) fn written_labels(labels: &BTreeMap<String, String>) -> String {
    let encoded: BTreeMap<Cow<'_, str>, Cow<'_, str>> =
        labels.iter().map(|(name, value)| (text::encode(name), text::encode(value))).collect();
    structure(&encoded)
}

fn read_labels(cells: &mut Cells<'_>) -> Result<BTreeMap<String, String>, Fault> {
    let stored: BTreeMap<String, String> = cells.structure()?;
    let decoded = stored.iter().map(|(name, value)| {
        Some((text::decode(name)?.into_owned(), text::decode(value)?.into_owned()))
    });
    let labels: Option<BTreeMap<String, String>> = decoded.collect();
    labels.ok_or_else(|| cells.contradiction("its labels were not written by us"))
}

pub(super) const fn kind_word(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Dag => "dag",
    }
}

fn kind_from_word(word: &str) -> Option<RunKind> {
    match word {
        "dag" => Some(RunKind::Dag),
        _ => None,
    }
}
