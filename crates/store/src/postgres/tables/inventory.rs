//! Statements that go through whole tables, for checks.

use super::{approvals, attempts, cache, idempotency_keys, runs, tasks, workflows};
use crate::contract::StoredRun;
use crate::inventory::{
    CachedSuccess, HeldKey, KeyRange, Numbered, STRAYS_MAX, Stray, TABLES_OF_RUNS, WholeRun,
};
use crate::postgres::cells::Cells;
use crate::postgres::columns::count;
use crate::postgres::fault::Fault;
use crate::postgres::session::{Session, Step};
use crate::postgres::text;
use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId};
use mainspring_core::kernel::cache::CacheKey;
use mainspring_core::kernel::record::IdempotencyKey;
use mainspring_core::kernel::row::LogSize;
use tokio_postgres::Row;
use uuid::Uuid;

/// Pages have checksums where the server was told so, and reading them all is the check.
const INTEGRITY: &str = "
    select c.relname::text from pg_index i
    join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'mainspring' and not i.indisvalid order by 1";
const SCHEDULERS: &str = "select id from schedulers order by ordinal";
const RUN_KEYS: &str = "select key, id from runs where key > $1 order by key limit $2";
const LOGS: &str = "
    select attempt, length(inline)::bigint, file_bytes, blob_bytes from logs where run = $1
    order by attempt";
const NAMES: &str = "
    select name from (select name from workflows where name > $1
                      union select workflow from versions where workflow > $1) known
    order by name limit $2";
const NUMBERS: &str = "
    select number, workflow from versions where workflow = $1 order by number";
const HELD_KEYS: &str = "
    select principal, route, key, body, answer, created_at,
           run is not null and not exists (select 1 from runs where runs.id = held.run)
    from idempotency_keys held
    where (principal, route, key) > ($1, $2, $3)
    order by principal, route, key limit $4";

const CACHED: &str = "
    select workflow, task, hash, run, output, expires_at,
           coalesce(left(output, 1) = '@', false)
               and not exists (select 1 from runs where runs.id = cache.run)
    from cache where (workflow, task, hash) > ($1, $2, $3)
    order by workflow, task, hash limit $4";

pub(in crate::postgres) async fn integrity(session: &Session) -> Result<Vec<String>, Fault> {
    let rows = session.rows(&Step { sql: INTEGRITY, params: Vec::new() }).await?;
    let names = rows.iter().map(|row| row.try_get::<_, String>(0));
    let said = |name| format!("index {name} is not valid: rebuild it with `reindex index`");
    Ok(names.map(|name| name.map(said)).collect::<Result<_, _>>()?)
}

pub(in crate::postgres) async fn schedulers(session: &Session) -> Result<Vec<SchedulerId>, Fault> {
    let rows = session.rows(&Step { sql: SCHEDULERS, params: Vec::new() }).await?;
    let id = |row: &Row| Cells::of(row, "schedulers", 0).id().map(SchedulerId::from_bytes);
    rows.iter().map(id).collect()
}

pub(in crate::postgres) async fn run_keys(
    session: &Session,
    above: RunKey,
    runs_max: usize,
) -> Result<Vec<(RunKey, Option<RunId>)>, Fault> {
    let params: Vec<_> = vec![Box::new(above.0) as _, Box::new(count(runs_max)) as _];
    let rows = session.rows(&Step { sql: RUN_KEYS, params }).await?;
    let read = |row: &Row| {
        let id = row.try_get::<_, Uuid>(1).ok();
        Ok((RunKey(row.try_get(0)?), id.map(|id| RunId::from_bytes(id.into_bytes()))))
    };
    rows.iter().map(read).collect()
}

pub(in crate::postgres) async fn whole_run(
    session: &Session,
    run: RunKey,
) -> Result<Option<WholeRun>, Fault> {
    let steps = [
        runs::load_by_key(run),
        tasks::all(run),
        attempts::of_key(run),
        Step { sql: LOGS, params: vec![Box::new(run.0)] },
        approvals::of_run(run),
    ];
    let answers = session.snapshot(&steps).await?;
    let [run, tasks, past, logs, listed] = &answers[..] else { return Ok(None) };
    let Some(run) = run.first() else { return Ok(None) };
    let (head, progress) = runs::read(run)?;
    let tasks = tasks.iter().map(tasks::read).collect::<Result<Vec<_>, Fault>>()?;
    let attempts = past.iter().map(attempts::read).collect::<Result<Vec<_>, Fault>>()?;
    let logs = logs.iter().map(read_log).collect::<Result<Vec<_>, Fault>>()?;
    let approvals = listed.iter().map(approvals::read_place).collect::<Result<Vec<_>, Fault>>()?;
    let run = StoredRun { head, progress, tasks };
    Ok(Some(WholeRun { run, attempts, logs, approvals }))
}

fn read_log(row: &Row) -> Result<(AttemptId, LogSize), Fault> {
    let mut cells = Cells::of(row, "logs", 1);
    let attempt = AttemptId::from_bytes(cells.id()?);
    match (cells.maybe_number()?, cells.maybe_number()?, cells.maybe_number()?) {
        (Some(bytes), None, None) => Ok((attempt, LogSize::Inline { bytes })),
        (None, Some(bytes), None) => Ok((attempt, LogSize::File { bytes })),
        (None, None, Some(bytes)) => Ok((attempt, LogSize::Blob { bytes })),
        _ => Err(cells.contradiction("must be inline, in a file or in a blob")),
    }
}

pub(in crate::postgres) async fn strays(
    session: &Session,
    range: KeyRange,
) -> Result<Vec<Stray>, Fault> {
    let mut found = Vec::new();
    for table in TABLES_OF_RUNS {
        let sql = format!(
            "select distinct run from {table} where run > $1 and run <= $2
             and not exists (select 1 from runs where key = {table}.run) limit $3"
        );
        let params: Vec<_> = vec![
            Box::new(range.above.0) as _,
            Box::new(range.up_to.0) as _,
            Box::new(count(STRAYS_MAX)) as _,
        ];
        for row in session.rows(&Step { sql: &sql, params }).await? {
            found.push(Stray { table, run: RunKey(row.try_get(0)?) });
        }
    }
    Ok(found)
}

pub(in crate::postgres) async fn names(
    session: &Session,
    after: &str,
    names_max: usize,
) -> Result<Vec<String>, Fault> {
    let params: Vec<_> = vec![Box::new(text::encode(after)) as _, Box::new(count(names_max)) as _];
    let rows = session.rows(&Step { sql: NAMES, params }).await?;
    rows.iter().map(|row| Cells::of(row, "workflows", 1).text()).collect()
}

pub(in crate::postgres) async fn numbered(
    session: &Session,
    workflow: &str,
) -> Result<Numbered, Fault> {
    let numbers = Step { sql: NUMBERS, params: vec![Box::new(text::encode(workflow))] };
    let answers = session.snapshot(&[workflows::by_name(workflow), numbers]).await?;
    let [row, numbers] = &answers[..] else {
        return Err(Fault::Damaged("two questions have two answers".to_owned()));
    };
    let row = row.first().map(workflows::read).transpose()?;
    let number = |row: &Row| Cells::of(row, "versions", 1).number();
    Ok(Numbered { row, versions: numbers.iter().map(number).collect::<Result<_, Fault>>()? })
}

pub(in crate::postgres) async fn held_keys(
    session: &Session,
    after: Option<&IdempotencyKey>,
    keys_max: usize,
) -> Result<Vec<HeldKey>, Fault> {
    let (principal, route, key) =
        after.map_or(("", "", ""), |after| (&*after.principal, &*after.route, &*after.key));
    let params: Vec<_> = vec![
        Box::new(text::encode(principal)) as _,
        Box::new(text::encode(route)) as _,
        Box::new(text::encode(key)) as _,
        Box::new(count(keys_max)) as _,
    ];
    let rows = session.rows(&Step { sql: HELD_KEYS, params }).await?;
    let read =
        |row: &Row| Ok(HeldKey { row: idempotency_keys::read(row)?, dangles: row.try_get(6)? });
    rows.iter().map(read).collect()
}

pub(in crate::postgres) async fn cached(
    session: &Session,
    after: Option<&CacheKey>,
    rows_max: usize,
) -> Result<Vec<CachedSuccess>, Fault> {
    let (workflow, task, hash) =
        after.map_or(("", "", &[][..]), |after| (&*after.workflow, &*after.task, &after.hash[..]));
    let params: Vec<_> = vec![
        Box::new(text::encode(workflow)) as _,
        Box::new(text::encode(task)) as _,
        Box::new(hash) as _,
        Box::new(count(rows_max)) as _,
    ];
    let rows = session.rows(&Step { sql: CACHED, params }).await?;
    let read = |row: &Row| Ok(CachedSuccess { row: cache::read(row)?, dangles: row.try_get(6)? });
    rows.iter().map(read).collect()
}
