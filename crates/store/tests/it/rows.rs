//! Rows to write, plain unless a test says otherwise.

use mainspring_core::ids::{
    AttemptId, BulkId, RunId, RunKey, SchedulerId, TaskNo, TaskRef, TokenId,
};
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkBy, BulkEnd, BulkRow, BulkRuns, BulkState};
use mainspring_core::kernel::cache::CacheKey;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Group;
use mainspring_core::kernel::record::{
    AuditRow, IdempotencyKey, KeyAnswer, KeyRow, Role, TokenKind, TokenRow,
};
use mainspring_core::kernel::row::{
    Attempt, Counts, Parent, RunHead, RunKind, RunProgress, RunStatus, TaskRow, VersionRow,
    WorkflowRow,
};
use mainspring_core::output::{BlobRef, Output};
use mainspring_core::time::Timestamp;
use std::collections::BTreeMap;

pub const SCHEDULER: SchedulerId = SchedulerId::from_bytes([7; 16]);
pub const OTHER: SchedulerId = SchedulerId::from_bytes([8; 16]);

pub fn run_id(number: u64) -> RunId {
    let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
    RunId::from_parts(1_700_000_000_000 + number, [a, b, c, d, e, f, g, h, 0, 0])
}

pub fn attempt_id(number: u64) -> AttemptId {
    let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
    AttemptId::from_parts(1_700_000_000_000 + number, [a, b, c, d, e, f, g, h, 0, 0])
}

/// Run `number` of the scheduler with ordinal 1, created `number` microseconds after 1970.
pub fn head(number: u64) -> RunHead {
    RunHead {
        key: RunKey::new(1, number),
        id: run_id(number),
        workflow: "build".into(),
        version: 1,
        kind: RunKind::Dag,
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority: 0,
        triggered_by: "test".to_owned(),
        workdir: "/tmp".to_owned(),
        parent: None,
        retry_of: None,
        group: None,
        created_at: Timestamp(i64::try_from(number).unwrap()),
    }
}

/// Of a child run: the second attempt of a task.
pub fn parent(number: u64, task: TaskRef) -> Box<Parent> {
    Box::new(Parent { run: run_id(number), task, name: "convert".into(), attempt: 2 })
}

pub fn progress(status: RunStatus, stamp: u64) -> RunProgress {
    RunProgress {
        status,
        hold: None,
        cancel: None,
        alone_since: None,
        unconfirmed_since: None,
        owner: SCHEDULER,
        stamp,
        started_at: None,
        opened_at: None,
        finished_at: None,
        error: None,
        output: None,
        signals: 0,
        additions: 0,
        counts: Counts::default(),
    }
}

pub fn plain(no: u32) -> TaskRef {
    TaskRef::plain(TaskNo(no))
}

pub fn instance(no: u32, index: u32) -> TaskRef {
    TaskRef { no: TaskNo(no), index: Some(index) }
}

pub fn attempt(number: u32, id: u64) -> Attempt {
    Attempt {
        number,
        id: attempt_id(id),
        dispatched_at: Timestamp(10),
        started_at: None,
        finished_at: None,
        end: None,
    }
}

pub fn task(task: TaskRef) -> TaskRow {
    TaskRow::new(task)
}

/// A group that has opened so many instances, of which so many have succeeded.
pub fn group(no: u32, next: u32, success: u32) -> TaskRow {
    let group = Group { next, success, ..Group::of(100_000) };
    TaskRow { fact: Fact::Open, group: Some(Box::new(group)), ..task(plain(no)) }
}

pub fn json(text: &str) -> Output {
    Json::parse(text).unwrap().into()
}

pub fn blob(number: u8) -> Output {
    Output::Blob(BlobRef { hash: [number; 32], bytes: u64::from(number) << 32 })
}

pub fn cache_key(task: &str, hash: u8) -> CacheKey {
    CacheKey { workflow: "build".into(), task: task.into(), hash: [hash; 32] }
}

pub fn version(workflow: &str, number: u32, text: &str) -> VersionRow {
    VersionRow {
        workflow: workflow.into(),
        number,
        hash: [u8::try_from(number).unwrap(); 32],
        text: text.into(),
        created_at: Timestamp(i64::from(number)),
    }
}

pub fn workflow(name: &str, latest: u32) -> WorkflowRow {
    WorkflowRow {
        name: name.into(),
        latest,
        created_at: Timestamp(1),
        updated_at: Timestamp(i64::from(latest)),
        deleted_at: None,
    }
}

pub fn idempotency_key(key: &str) -> IdempotencyKey {
    IdempotencyKey {
        principal: "ann".into(),
        route: "trigger".into(),
        key: key.into(),
        body: [5; 32],
    }
}

pub fn key_row(key: &str, answer: KeyAnswer, created_at: i64) -> KeyRow {
    KeyRow { key: idempotency_key(key), answer, created_at: Timestamp(created_at) }
}

pub fn audit_row(target: &str) -> AuditRow {
    AuditRow {
        at: Timestamp(1),
        by: "ann".into(),
        from: "127.0.0.1".into(),
        action: "run.cancel".into(),
        target: target.to_owned(),
    }
}

pub fn token_id(number: u8) -> TokenId {
    TokenId::from_bytes([number; 16])
}

pub fn token(number: u8, kind: TokenKind) -> TokenRow {
    TokenRow {
        id: token_id(number),
        name: "ann".into(),
        hash: [number; 32],
        role: Role::Operator,
        kind,
        created_at: Timestamp(i64::from(number)),
        expires_at: None,
    }
}

pub fn bulk_id(number: u8) -> BulkId {
    BulkId::from_bytes([number; 16])
}

pub fn bulk(number: u8) -> BulkRow {
    BulkRow {
        id: bulk_id(number),
        by: BulkBy { name: "ann".into(), token: None, from: "127.0.0.1".into() },
        asked: Json::empty_object(),
        until: Timestamp(i64::from(number)),
        matched: 1,
        created_at: Timestamp(i64::from(number)),
        state: BulkState::AtWork(BulkRuns { runs: [run_id(1)].into(), below: [].into() }),
    }
}

pub fn bulk_end(at: i64, what: &str) -> BulkEnd {
    BulkEnd { at: Timestamp(at), result: Json::from_value(&serde_json::json!({ "is": what })) }
}
