//! Every statement walks an index, over tables that are empty, full, and full without the
//! planner knowing.

use super::place::Place;
use super::schema;
use super::session::{Role, Session, Step};
use super::tables::tasks::Extent;
use super::tables::{
    additions, approvals, attempts, audit, blobs, bulks, cache, idempotency_keys, instances,
    limits, logs, run_drop, run_list, runs, schedulers, signals, tasks, tokens, versions,
    workflows,
};
use super::transaction::{self, Owners};
use crate::blobs::BlobName;
use crate::contract::{InstancesQuery, RunsQuery};
use mainspring_core::ids::{
    AttemptId, BulkId, RunId, RunKey, SchedulerId, TaskNo, TaskRef, TokenId,
};
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkBy, BulkEnd, BulkRow, BulkState};
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::finalizer::Step as AttemptStep;
use mainspring_core::kernel::ledger::{Ledger, LedgerRow};
use mainspring_core::kernel::limit::{Bound, LimitRow};
use mainspring_core::kernel::record::{
    AuditRow, IdempotencyKey, KeyAnswer, KeyRow, Role as TokenRole, TokenKind, TokenRow,
};
use mainspring_core::kernel::row::{
    Attempt, AttemptRow, Counts, Log, RunHead, RunKind, RunProgress, RunStatus, TaskRow,
    VersionRow, WorkflowRow,
};
use mainspring_core::kernel::wait::{ApprovalPlace, SignalRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use std::collections::BTreeMap;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;

const SCHEDULER: SchedulerId = SchedulerId::from_bytes([1; 16]);
const AT: Timestamp = Timestamp(5);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// A connection to a database that is up to date and empty.
async fn connect(url: &str) -> Session {
    let session = Session::connect(&Place::parse(url).unwrap(), Role::Writer).await.ok().unwrap();
    schema::migrate(&session).await.ok().unwrap();
    session
}

fn head(number: u64, input: &str) -> RunHead {
    RunHead {
        key: RunKey::new(1, number),
        id: RunId::from_parts(number, [0; 10]),
        workflow: "w".into(),
        version: 1,
        kind: RunKind::Dag,
        input: Json::parse(input).unwrap(),
        labels: BTreeMap::new(),
        priority: 0,
        triggered_by: String::new(),
        workdir: String::new(),
        parent: None,
        retry_of: None,
        group: None,
        created_at: AT,
    }
}

fn progress(status: RunStatus) -> RunProgress {
    RunProgress {
        status,
        hold: None,
        cancel: None,
        alone_since: None,
        unconfirmed_since: None,
        owner: SCHEDULER,
        stamp: 1,
        started_at: None,
        opened_at: None,
        finished_at: Some(AT),
        error: None,
        output: None,
        signals: 0,
        additions: 0,
        counts: Counts::default(),
    }
}

fn key() -> IdempotencyKey {
    IdempotencyKey { principal: "p".into(), route: "r".into(), key: "k".into(), body: [0; 32] }
}

fn cache_key() -> CacheKey {
    CacheKey { workflow: "w".into(), task: "t".into(), hash: [0; 32] }
}

fn past(task: TaskRef, id: AttemptId) -> AttemptRow {
    let attempt = Attempt {
        number: 1,
        id,
        dispatched_at: AT,
        started_at: None,
        finished_at: None,
        end: None,
    };
    AttemptRow { task, step: AttemptStep::Work, attempt, output: None }
}

/// A batch with every kind of change.
fn everything() -> Vec<Change> {
    let run = RunKey::new(1, 1);
    let task = TaskRef::plain(TaskNo(0));
    let id = AttemptId::from_bytes([3; 16]);
    let token = TokenId::from_bytes([4; 16]);
    let large = format!("\"{}\"", "x".repeat(5_000));
    let tried = RunProgress { signals: 1, ..progress(RunStatus::Running) };
    vec![
        Change::NewVersion(VersionRow {
            workflow: "w".into(),
            number: 1,
            hash: [0; 32],
            text: "t".into(),
            created_at: AT,
        }),
        Change::PutWorkflow(WorkflowRow {
            name: "w".into(),
            latest: 1,
            created_at: AT,
            updated_at: AT,
            deleted_at: None,
        }),
        Change::NewRun(head(1, &large), progress(RunStatus::Running)),
        Change::PutRun(run, progress(RunStatus::Success)),
        Change::PutTask(run, TaskRow::new(task)),
        Change::NewRun(head(2, "{}"), tried.clone()),
        Change::PutRun(RunKey::new(1, 2), tried),
        Change::PutTask(RunKey::new(1, 2), TaskRow { tries: 1, ..TaskRow::new(task) }),
        Change::NewAttempt(run, past(task, id)),
        Change::SendBackInstances(run, TaskNo(0)),
        Change::DropCache(AT),
        Change::PutCache(CacheRow {
            key: cache_key(),
            run: RunId::from_bytes([5; 16]),
            output: None,
            expires_at: AT,
        }),
        Change::PutLimit(LimitRow { name: "l".into(), bound: Bound::of(1) }),
        Change::PutLedger(LedgerRow { name: "l".into(), ledger: Ledger::default() }),
        Change::NewLog(run, id, Log::Blob { bytes: 1 }),
        Change::NewSignal(run, signal()),
        Change::ListApproval(place(0)),
        Change::UnlistApproval(place(1)),
        Change::DropRun(RunKey::new(1, 7), 7),
        Change::DropKeys(AT),
        Change::Marks { next_run: 1, next_stamp: 1 },
        Change::NewKey(KeyRow { key: key(), answer: KeyAnswer::Done, created_at: AT }),
        Change::NewAudit(AuditRow {
            at: AT,
            by: "b".into(),
            from: "f".into(),
            action: "a".into(),
            target: "t".to_owned(),
        }),
        Change::NewToken(TokenRow {
            id: token,
            name: "n".into(),
            hash: [0; 32],
            role: TokenRole::Admin,
            kind: TokenKind::Bearer,
            created_at: AT,
            expires_at: None,
        }),
        Change::DropToken(token),
        Change::DropBulks(AT),
        Change::NewBulk(bulk()),
        Change::EndBulk(bulk().id, BulkEnd { at: AT, result: Json::null() }),
    ]
}

fn bulk() -> BulkRow {
    BulkRow {
        id: BulkId::from_bytes([6; 16]),
        by: BulkBy { name: "n".into(), token: None, from: "f".into() },
        asked: Json::null(),
        until: AT,
        matched: 0,
        created_at: AT,
        state: BulkState::Over(BulkEnd { at: AT, result: Json::null() }),
    }
}

async fn write(session: &Session) -> Result<(), super::fault::Fault> {
    let fence = schedulers::register(session, SCHEDULER).await?.fence;
    let mut owners = Owners::default();
    transaction::commit(session, &mut owners, fence, &[&everything()]).await?;
    let unknown = Change::PutTask(RunKey::new(1, 9), TaskRow::new(TaskRef::plain(TaskNo(0))));
    let again = Change::NewRun(head(1, "{}"), progress(RunStatus::Pending));
    for refused in [unknown, again] {
        assert!(transaction::commit(session, &mut owners, fence, &[&[refused]]).await.is_err());
    }
    let complete = blobs::complete(blob(), 1);
    let removed = blobs::remove(blob(), AT).into_iter();
    let contents = blobs::remove_contents(RunId::from_bytes([5; 16]), 5);
    for step in removed.chain(blobs::claim(blob())).chain([complete, contents]) {
        // Only the statement counts: outside of a transaction it is refused.
        let _ = session.rows(&step).await;
    }
    Ok(())
}

fn signal() -> SignalRow {
    let (key, by) = ("k".into(), "b".to_owned());
    SignalRow { number: 1, key, value: Json::null(), by, at: AT }
}

fn place(no: u32) -> ApprovalPlace {
    ApprovalPlace { since: AT, run: RunKey::new(1, 1), task: TaskRef::plain(TaskNo(no)) }
}

fn blob() -> BlobName {
    BlobName::Log(AttemptId::from_bytes([3; 16]))
}

async fn read(session: &Session) -> Result<(), super::fault::Fault> {
    let run = head(1, "{}");
    runs::unfinished(session, SCHEDULER).await?;
    runs::changed(session, SCHEDULER, 0, 5).await?;
    session.snapshot(&[runs::load(run.id), tasks::first(run.id)]).await?;
    for extent in [Extent::Loaded, Extent::Outline] {
        session.rows(&tasks::many(run.id, extent)).await?;
    }
    versions::load(session, "w", Some(1)).await?;
    versions::load(session, "w", None).await?;
    workflows::load(session, "w").await?;
    workflows::list(session, None, 5).await?;
    attempts::of_run(session, run.key).await?;
    attempts::of_task(session, run.key, TaskRef::plain(TaskNo(0))).await?;
    let group = (run.key, TaskNo(0));
    instances::list(session, group, &InstancesQuery::default()).await?;
    instances::one(session, group, 0).await?;
    instances::outputs(session, group, (0, 5)).await?;
    runs::stored(session, &[run.id]).await?;
    cache::load(session, &cache_key()).await?;
    logs::load(session, run.key, AttemptId::from_bytes([3; 16])).await?;
    logs::outside(session, &[AttemptId::from_bytes([3; 16])]).await?;
    idempotency_keys::load(session, &key()).await?;
    signals::newest(session, run.key).await?;
    additions::of_run(session, run.key).await?;
    approvals::list(session, Some(place(0)), 5).await?;
    limits::all(session).await?;
    audit::list(session, None, 5).await?;
    tokens::all(session).await?;
    bulks::load(session, bulk().id).await?;
    bulks::unfinished(session).await?;
    bulks::has_old(session, AT).await?;
    idempotency_keys::has_old(session, AT).await?;
    run_drop::expired(session, AT, 5).await?;
    blobs::chunks(session, blob()).await?;
    blobs::chunk(session, blob(), 0).await?;
    blobs::list(session, None, 5).await?;
    for query in queries() {
        run_list::list(session, &query).await?;
    }
    Ok(())
}

fn queries() -> Vec<RunsQuery> {
    let mut queries = Vec::new();
    let statuses = [
        vec![],
        vec![RunStatus::Running],
        vec![RunStatus::Failed],
        vec![RunStatus::Success],
        RunStatus::ALL.to_vec(),
    ];
    for statuses in statuses {
        for workflow in [None, Some("w".to_owned())] {
            for after in [None, Some((AT, RunId::from_bytes([0; 16])))] {
                let labels = vec![("a".to_owned(), "b".to_owned())];
                let (statuses, workflow) = (statuses.clone(), workflow.clone());
                let plain =
                    RunsQuery { statuses, workflow, after, limit: 5, ..RunsQuery::default() };
                queries.push(RunsQuery { labels, since: Some(AT), ..plain.clone() });
                queries.push(plain);
            }
        }
    }
    queries
}

/// The plan that a prepared statement always has.
async fn plan(session: &Session, sql: &str, params: usize) -> String {
    let values = match params {
        0 => String::new(),
        _ => format!("({})", vec!["null"; params].join(", ")),
    };
    let client = session.client();
    client.batch_execute(&format!("prepare asked as {sql}")).await.unwrap();
    let lines = client.simple_query(&format!("explain execute asked{values}")).await.unwrap();
    client.batch_execute("deallocate asked").await.unwrap();
    let mut plan = String::new();
    for line in &lines {
        if let SimpleQueryMessage::Row(row) = line {
            plan.push_str(row.get(0).unwrap_or_default());
            plan.push('\n');
        }
    }
    assert!(!plan.is_empty(), "no plan for {sql}");
    plan
}

async fn check_plans(session: &Session, statements: &[(String, usize)], state: &str) {
    for (sql, params) in statements {
        let plan = plan(session, sql, *params).await;
        for bad in ["Seq Scan", "Sort", "Hash Join", "Merge Join", "Bitmap"] {
            assert!(!plan.contains(bad), "over tables {state}: {sql}\n{plan}");
        }
    }
}

/// Tables with 20,000 rows each, put in behind the planner's back.
const FILL: &str = "
    begin read write;
    insert into runs select n, gen_random_uuid(), 'w' || n % 10, 1, 'dag', '{}', '{}', 0, '', '',
        null, n, case when n % 1000 = 0 then 'failed' when n % 1000 = 1 then 'running'
        else 'success' end, null, null, null, 1, n, null, null, n, null, 0, 0, 0, 0, 0, 0, null, 0, 0
        from generate_series(1, 20000) n;
    insert into tasks (run, no, ix, fact, attempts, tries, losses, refusals, refused_for,
        ever_started) select 1, 1, n, 'success', 0, 0, 0, 0, 0, false
        from generate_series(0, 20000) n;
    insert into cache select 'w', n, '', gen_random_uuid(), '@' || n, n
        from generate_series(1, 20000) n;
    insert into tasks (run, no, ix, fact, attempts, tries, losses, refusals, refused_for,
        ever_started) select n, 0, -1, 'none', 0, 0, 0, 0, 0, false
        from generate_series(1, 20000) n;
    insert into logs select n, gen_random_uuid(), null, null, 5 from generate_series(1, 20000) n;
    insert into additions select n, 1, '', '', n from generate_series(1, 20000) n;
    insert into signals select n, 'k' || n, 1, '', '', n from generate_series(1, 20000) n;
    insert into approvals select n, 0, -1, n from generate_series(1, 20000) n;
    insert into blobs select n, 1, n from generate_series(1, 20000) n;
    insert into blob_chunks select n, 0, '' from generate_series(1, 20000) n;
    insert into idempotency_keys select n, '', '', '', '', null, n
        from generate_series(1, 20000) n;
    insert into bulks select gen_random_uuid(), '', null, '', '', n, 0, n, null, null,
        case when n % 1000 = 0 then null else n end, '' from generate_series(1, 20000) n;
    insert into audit select n, n, '', '', '', '' from generate_series(1, 20000) n;
    insert into versions select 'w' || n, 1, '', '', n from generate_series(1, 20000) n;
    insert into workflows select 'w' || n, 1, n, n, null from generate_series(1, 20000) n;
    commit;";

#[test]
fn every_statement_walks_an_index() {
    let used = mainspring_throwaway::database();
    let fresh = mainspring_throwaway::database();
    runtime().block_on(async {
        let session = connect(&used.url()).await;
        write(&session).await.ok().unwrap();
        read(&session).await.ok().unwrap();
        let statements = session.prepared_so_far();
        assert!(statements.len() > 50, "{} statements", statements.len());
        let session = connect(&fresh.url()).await;
        check_plans(&session, &statements, "that are empty").await;
        session.client().batch_execute(FILL).await.unwrap();
        check_plans(&session, &statements, "that are full, unknown to the planner").await;
        session.client().batch_execute("begin read write; analyze; commit").await.unwrap();
        check_plans(&session, &statements, "that are full").await;
    });
}

#[test]
fn what_is_not_a_success_is_listed_from_its_own_index() {
    let database = mainspring_throwaway::database();
    runtime().block_on(async {
        let session = connect(&database.url()).await;
        schedulers::register(&session, SCHEDULER).await.ok().unwrap();
        session.client().batch_execute(FILL).await.unwrap();
        session.client().batch_execute("begin read write; analyze; commit").await.unwrap();
        for (status, index) in
            [(RunStatus::Failed, "runs_unsuccessful"), (RunStatus::Running, "runs_unfinished")]
        {
            let query = RunsQuery { statuses: vec![status], limit: 5, ..RunsQuery::default() };
            run_list::list(&session, &query).await.ok().unwrap();
            let prepared = session.prepared_so_far();
            let word = format!("('{}')", status.word());
            let (sql, params) = prepared.iter().find(|(sql, _)| sql.contains(&word)).unwrap();
            let plan = plan(&session, sql, *params).await;
            assert!(plan.contains(index), "{plan}");
        }
    });
}

/// Should a `begin` fail, what was sent behind it must not be written one by one.
#[test]
fn nothing_is_written_outside_of_a_transaction() {
    let database = mainspring_throwaway::database();
    runtime().block_on(async {
        let session = connect(&database.url()).await;
        let fence = schedulers::register(&session, SCHEDULER).await.ok().unwrap().fence;
        let audited = [&AuditRow {
            at: AT,
            by: "b".into(),
            from: "f".into(),
            action: "a".into(),
            target: "t".to_owned(),
        }];
        for step in [audit::insert(&audited), schedulers::fence(fence)] {
            let Err(super::fault::Fault::Sql(error)) = session.rows(&step).await else {
                panic!("it was written: {}", step.sql);
            };
            assert_eq!(error.code(), Some(&SqlState::READ_ONLY_SQL_TRANSACTION));
        }
        let steps: [Step<'_>; 2] = [audit::insert(&audited), schedulers::fence(fence)];
        assert!(session.transaction("no such statement", &steps).await.is_err());
        assert!(audit::list(&session, None, 5).await.ok().unwrap().is_empty());
    });
}
