//! Runs: what is said of them once, and what changes while they live.

use super::schedulers;
use super::tasks::read_hold;
use crate::parent::ParentTask;
use crate::refused::Refused;
use crate::sqlite::cells::Cells;
use crate::sqlite::fault::Fault;
use mainspring_core::ids::{RunId, RunKey, SchedulerId};
use mainspring_core::kernel::row::{
    CancelCause, Counts, Parent, RunError, RunHead, RunKind, RunProgress, RunStatus,
};
use mainspring_core::limits::INPUT_LISTED_BYTES_MAX;
use mainspring_core::output::Output;
use rusqlite::{CachedStatement, Connection, ErrorCode, Row, ToSql, params};

/// The numbers of what changes are the same here and in `PUT`.
pub(super) const INSERT: &str = "
    insert into runs (key, status, held_by, held_at, cancel, owner, stamp, started_at,
                      opened_at, finished_at, error, output, tasks_total, tasks_live,
                      tasks_success, tasks_failed, tasks_cancelled, tasks_skipped,
                      tasks_waiting, tasks_worker_done, signals, additions, alone_since,
                      unconfirmed_since, id, workflow, version, kind, input, labels, priority, triggered_by, workdir, parent,
                      group_key, created_at, retry_of, parent_task)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35,
            ?36, ?37, ?38)";
pub(super) const INSERT_INPUT: &str = "insert into inputs (run, input) values (?1, ?2)";
pub(super) const PUT: &str = "
    update runs set status = ?2, held_by = ?3, held_at = ?4, cancel = ?5, owner = ?6,
        stamp = ?7, started_at = ?8, opened_at = ?9, finished_at = ?10, error = ?11,
        output = ?12, tasks_total = ?13, tasks_live = ?14, tasks_success = ?15,
        tasks_failed = ?16, tasks_cancelled = ?17, tasks_skipped = ?18, tasks_waiting = ?19,
        tasks_worker_done = ?20, signals = ?21, additions = ?22, alone_since = ?23,
        unconfirmed_since = ?24
    where key = ?1";
pub(super) const EXISTS: &str = "select 1 from runs where key = ?1";
pub(super) const KNOWN: &str = "select 1 from runs where id = ?1";
pub(super) const UNFINISHED: &str = "
    select key, id from runs indexed by runs_unfinished
    where status in ('pending', 'running', 'paused', 'cancelling')
      and owner = (select ordinal from schedulers where id = ?1)
    order by created_at, id";

/// What `read` takes, in its order.
macro_rules! columns {
    () => {
        columns!("coalesce(input, (select input from inputs where run = key)) as input", "output")
    };
    (listed) => {
        columns!("input", "null as output")
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

pub(super) const LOAD: &str = concat!("select ", columns!(), " from runs where id = ?1");
pub(super) const LOAD_BY_KEY: &str = concat!("select ", columns!(), " from runs where key = ?1");
pub(super) const CHANGED: &str = concat!(
    "select ",
    columns!(listed),
    " from runs indexed by runs_by_stamp
     where owner = (select ordinal from schedulers where id = ?1) and stamp > ?2
     order by stamp, key"
);

pub(in crate::sqlite) fn insert(
    conn: &Connection,
    rows: &[(&RunHead, &RunProgress)],
) -> Result<(), Fault> {
    let mut owners = Owners::of(conn);
    let mut statement = conn.prepare_cached(INSERT)?;
    for (head, progress) in rows {
        let is_large = head.input.as_str().len() > INPUT_LISTED_BYTES_MAX;
        let input = (!is_large).then_some(head.input.as_str());
        bind_progress(&mut statement, head.key, progress, &mut owners)?;
        bind_head(&mut statement, head, input)?;
        match statement.raw_execute() {
            Ok(_) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                return Err(Refused::RunExists { key: head.key, id: head.id }.into());
            }
            Err(error) => return Err(error.into()),
        }
        if is_large {
            conn.prepare_cached(INSERT_INPUT)?.execute(params![head.key.0, head.input.as_str()])?;
        }
    }
    Ok(())
}

pub(in crate::sqlite) fn put(
    conn: &Connection,
    rows: &[(RunKey, &RunProgress)],
) -> Result<(), Fault> {
    let mut owners = Owners::of(conn);
    let mut statement = conn.prepare_cached(PUT)?;
    for (run, progress) in rows {
        bind_progress(&mut statement, *run, progress, &mut owners)?;
        if statement.raw_execute()? == 0 {
            return Err(Refused::RunUnknown(*run).into());
        }
    }
    Ok(())
}

/// Parameters 1 to 24.
fn bind_progress(
    statement: &mut CachedStatement<'_>,
    run: RunKey,
    progress: &RunProgress,
    owners: &mut Owners<'_>,
) -> Result<(), Fault> {
    let Counts { total, live, waiting, worker_done, success, failed, cancelled, skipped } =
        progress.counts;
    let owner = owners.ordinal(progress.owner)?;
    let values: [&dyn ToSql; 24] = [
        &run.0,
        &progress.status.word(),
        &progress.hold.as_ref().map(|hold| hold.by.as_str()),
        &progress.hold.as_ref().map(|hold| hold.at.0),
        &progress.cancel.as_ref().map(structure),
        &owner,
        &progress.stamp,
        &progress.started_at.map(|at| at.0),
        &progress.opened_at.map(|at| at.0),
        &progress.finished_at.map(|at| at.0),
        &progress.error.as_ref().map(structure),
        &progress.output.as_ref().map(Output::to_text),
        &total,
        &live,
        &success,
        &failed,
        &cancelled,
        &skipped,
        &waiting,
        &worker_done,
        &progress.signals,
        &progress.additions,
        &progress.alone_since.map(|at| at.0),
        &progress.unconfirmed_since.map(|at| at.0),
    ];
    bind(statement, 1, &values)
}

/// Parameters 25 to 38.
fn bind_head(
    statement: &mut CachedStatement<'_>,
    head: &RunHead,
    input: Option<&str>,
) -> Result<(), Fault> {
    let values: [&dyn ToSql; 14] = [
        head.id.as_bytes(),
        &&*head.workflow,
        &head.version,
        &kind_word(head.kind),
        &input,
        &structure(&head.labels),
        &head.priority,
        &head.triggered_by,
        &head.workdir,
        &head.parent.as_deref().map(|parent| parent.run.as_bytes()),
        &head.group.as_deref(),
        &head.created_at.0,
        &head.retry_of.as_ref().map(RunId::as_bytes),
        &head.parent.as_deref().map(|parent| structure(&ParentTask::of(parent))),
    ];
    bind(statement, 25, &values)
}

fn bind(
    statement: &mut CachedStatement<'_>,
    first: usize,
    values: &[&dyn ToSql],
) -> Result<(), Fault> {
    for (at, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(first + at, value)?;
    }
    Ok(())
}

pub(in crate::sqlite) fn exists(conn: &Connection, run: RunKey) -> Result<bool, Fault> {
    Ok(conn.prepare_cached(EXISTS)?.exists([run.0])?)
}

/// Those of these runs that are stored.
pub(in crate::sqlite) fn known(conn: &Connection, among: &[RunId]) -> Result<Vec<RunId>, Fault> {
    let mut statement = conn.prepare_cached(KNOWN)?;
    let mut found = Vec::new();
    for run in among {
        if statement.exists([run.as_bytes()])? {
            found.push(*run);
        }
    }
    Ok(found)
}

pub(in crate::sqlite) fn unfinished(
    conn: &Connection,
    scheduler: SchedulerId,
) -> Result<Vec<(RunKey, RunId)>, Fault> {
    let mut statement = conn.prepare_cached(UNFINISHED)?;
    let mut rows = statement.query([scheduler.as_bytes()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut cells = Cells::of(row, "runs", 1);
        found.push((RunKey(cells.take()?), RunId::from_bytes(cells.take()?)));
    }
    Ok(found)
}

pub(in crate::sqlite) fn load(
    conn: &Connection,
    id: RunId,
) -> Result<Option<(RunHead, RunProgress)>, Fault> {
    let mut statement = conn.prepare_cached(LOAD)?;
    let mut rows = statement.query([id.as_bytes()])?;
    rows.next()?.map(read).transpose()
}

pub(super) fn load_by_key(
    conn: &Connection,
    run: RunKey,
) -> Result<Option<(RunHead, RunProgress)>, Fault> {
    let mut statement = conn.prepare_cached(LOAD_BY_KEY)?;
    let mut rows = statement.query([run.0])?;
    rows.next()?.map(read).transpose()
}

/// The walk is cut off, where a stamp ends, and never sorted: no limit is told to SQLite.
pub(in crate::sqlite) fn changed(
    conn: &Connection,
    scheduler: SchedulerId,
    after: u64,
    runs_max: usize,
) -> Result<Vec<(RunHead, RunProgress)>, Fault> {
    let mut found: Vec<(RunHead, RunProgress)> = Vec::new();
    if runs_max == 0 {
        return Ok(found);
    }
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut statement = conn.prepare_cached(CHANGED)?;
    let mut rows = statement.query(params![scheduler.as_bytes(), after])?;
    while let Some(row) = rows.next()? {
        let (head, progress) = read_listed(row)?;
        let is_torn = found.last().is_some_and(|(_, last)| last.stamp == progress.stamp);
        if found.len() >= runs_max && !is_torn {
            break;
        }
        found.push((head, progress));
    }
    Ok(found)
}

pub(super) fn read(row: &Row<'_>) -> Result<(RunHead, RunProgress), Fault> {
    let (head, progress) = read_listed(row)?;
    match head.input.is_unread() {
        true => Err(Cells::of(row, "runs", 1).contradiction("its input is missing")),
        false => Ok((head, progress)),
    }
}

/// Of a list, which leaves large inputs where they are.
pub(super) fn read_listed(row: &Row<'_>) -> Result<(RunHead, RunProgress), Fault> {
    let mut cells = Cells::of(row, "runs", 1);
    Ok((read_head(&mut cells)?, read_progress(&mut cells)?))
}

fn read_head(cells: &mut Cells<'_>) -> Result<RunHead, Fault> {
    Ok(RunHead {
        key: RunKey(cells.take()?),
        id: RunId::from_bytes(cells.take()?),
        workflow: cells.take::<String>()?.into(),
        version: cells.take()?,
        kind: cells.word(kind_from_word)?,
        input: cells.maybe_unread()?,
        labels: cells.structure()?,
        priority: cells.take()?,
        triggered_by: cells.take()?,
        workdir: cells.take()?,
        parent: read_parent(cells)?,
        group: cells.take::<Option<String>>()?.map(Into::into),
        created_at: cells.time()?,
        retry_of: cells.take::<Option<[u8; 16]>>()?.map(RunId::from_bytes),
    })
}

fn read_parent(cells: &mut Cells<'_>) -> Result<Option<Box<Parent>>, Fault> {
    let run = cells.take::<Option<[u8; 16]>>()?.map(RunId::from_bytes);
    let task = cells.maybe_structure::<ParentTask>()?;
    match (run, task) {
        (None, None) => Ok(None),
        (Some(run), Some(task)) => Ok(Some(Box::new(task.in_run(run)))),
        _ => Err(cells.contradiction("a parent and its task go together")),
    }
}

fn read_progress(cells: &mut Cells<'_>) -> Result<RunProgress, Fault> {
    let mut progress = RunProgress {
        status: cells.word(status_from_word)?,
        hold: read_hold(cells)?,
        cancel: cells.maybe_structure::<CancelCause>()?,
        alone_since: None,
        unconfirmed_since: None,
        owner: SchedulerId::from_bytes(cells.take()?),
        stamp: cells.take()?,
        started_at: cells.maybe_time()?,
        opened_at: cells.maybe_time()?,
        finished_at: cells.maybe_time()?,
        error: cells.maybe_structure::<RunError>()?,
        output: cells.maybe_output()?,
        signals: 0,
        additions: 0,
        counts: Counts {
            total: cells.take()?,
            live: cells.take()?,
            success: cells.take()?,
            failed: cells.take()?,
            cancelled: cells.take()?,
            skipped: cells.take()?,
            waiting: cells.take()?,
            worker_done: cells.take()?,
        },
    };
    (progress.signals, progress.additions) = (cells.take()?, cells.take()?);
    progress.alone_since = cells.maybe_time()?;
    progress.unconfirmed_since = cells.maybe_time()?;
    Ok(progress)
}

/// Ordinals of owners; those of one batch are nearly always the same.
struct Owners<'a> {
    conn: &'a Connection,
    last: Option<(SchedulerId, u32)>,
}

impl<'a> Owners<'a> {
    fn of(conn: &'a Connection) -> Self {
        Self { conn, last: None }
    }

    fn ordinal(&mut self, owner: SchedulerId) -> Result<u32, Fault> {
        if let Some((known, ordinal)) = self.last
            && known == owner
        {
            return Ok(ordinal);
        }
        let ordinal = schedulers::ordinal(self.conn, owner)?.ok_or(Refused::OwnerUnknown(owner))?;
        self.last = Some((owner, ordinal));
        Ok(ordinal)
    }
}

pub(super) fn structure(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data serializes")
}

const fn kind_word(kind: RunKind) -> &'static str {
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

fn status_from_word(word: &str) -> Option<RunStatus> {
    RunStatus::ALL.iter().copied().find(|status| status.word() == word)
}
