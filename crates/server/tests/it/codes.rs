//! Every code of the OpenAPI file is answered by somebody, and every answer is one that the file
//! tells of: a code without a request here fails, and so does an operation that keeps one quiet.

use crate::by_hand::ByHand;
use crate::log_parts::ended;
use crate::rig::{Answer, NOOPS, Rig, request};
use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use mainspring_core::ids::{RunId, SchedulerId};
use mainspring_core::kernel::record::Role;
use mainspring_core::limits::SIGNALS_MAX;
use mainspring_core::work::Outcome;
use mainspring_core::world::batch::Change;
use mainspring_server::Scope;
use mainspring_server::auth::who::{Pass, Who};
use mainspring_server::idempotency::{IdempotencyKeyHeader, claim};
use mainspring_server::routes::router::described;
use mainspring_testkit::shaky::{Fate, Fault};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const NOBODY: &str = "00000000-0000-7000-8000-000000000000";
const WORK: &str =
    "name: w\ntasks:\n  a: {run: x}\n  b: {run: y, depends_on: [{task: a, when: finished}]}\n";

/// What was answered so far.
struct Seen {
    codes: BTreeSet<String>,
    /// Operations by their ids.
    operations: BTreeMap<String, Value>,
    all: BTreeSet<String>,
}

impl Seen {
    fn new() -> Self {
        let api = serde_json::to_value(described().1).unwrap();
        let items = api["paths"].as_object().unwrap().values();
        let operations = items.flat_map(|item| item.as_object().unwrap().values());
        let named =
            operations.map(|it| (it["operationId"].as_str().unwrap().to_owned(), it.clone()));
        let words = &api["components"]["schemas"]["Problem"]["properties"]["code"]["enum"];
        let words = words.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
        Self { codes: BTreeSet::new(), operations: named.collect(), all: words.collect() }
    }

    /// This operation answered with this code, and the file says that it may.
    #[track_caller]
    fn hear(&mut self, operation: &str, code: &str, answer: &Answer) {
        assert_eq!(answer.code(), code, "{operation}: {}", answer.text);
        let described = self.operations.get(operation).expect("an operation");
        let status = answer.status.as_u16().to_string();
        let says = described["responses"][&status]["description"].as_str().unwrap_or_default();
        assert!(says.contains(&format!("`{code}`")), "{operation} keeps {code} quiet: {says}");
        self.codes.insert(code.to_owned());
    }

    /// No operation at all answered.
    #[track_caller]
    fn hear_nowhere(&mut self, code: &str, answer: &Answer) {
        assert_eq!(answer.code(), code, "{}", answer.text);
        self.codes.insert(code.to_owned());
    }
}

#[tokio::test]
async fn every_code_is_answered_and_told_of() {
    let mut seen = Seen::new();
    misunderstood(&mut seen).await;
    refused_at_the_door(&mut seen).await;
    not_found(&mut seen).await;
    in_the_wrong_state(&mut seen).await;
    at_work(&mut seen).await;
    fanned_out(&mut seen).await;
    lost(&mut seen).await;
    waiting(&mut seen).await;
    kin(&mut seen).await;
    keys(&mut seen).await;
    tokens(&mut seen).await;
    limits(&mut seen).await;
    troubled(&mut seen).await;
    let unseen: Vec<&String> = seen.all.difference(&seen.codes).collect();
    assert!(unseen.is_empty(), "no request here is answered with {unseen:?}");
}

async fn misunderstood(seen: &mut Seen) {
    let rig = Rig::new().await;
    let id = rig.run().await;
    seen.hear("listRuns", "bad_query", &rig.get("/runs?limit=0").await);
    seen.hear("listRuns", "bad_cursor", &rig.get("/runs?cursor=x").await);
    seen.hear("triggerRun", "bad_body", &rig.post("/workflows/w/runs", "{").await);
    let key = [("idempotency-key", "")];
    let answer = rig.ask(request(Method::POST, "/workflows/w/runs", &key, "")).await;
    seen.hear("triggerRun", "bad_request", &answer);
    seen.hear("getWorkflow", "bad_request", &rig.get("/workflows/%ff").await);
    let large = " ".repeat(5 * 1024 * 1024);
    seen.hear("pauseRun", "body_too_large", &rig.post(&format!("/runs/{id}/pause"), &large).await);
    let text = [("content-type", "text/csv")];
    let answer = rig.ask(request(Method::POST, "/workflows", &text, "x")).await;
    seen.hear("deployWorkflow", "media_type", &answer);
    let range = [("range", "bytes=9-")];
    let path = format!("/runs/{id}/tasks/a/logs");
    seen.hear("taskLog", "bad_range", &rig.ask(request(Method::GET, &path, &range, "")).await);
    seen.hear("deployWorkflow", "bad_definition", &rig.deploy("name: 1").await);
    rig.deploy("name: typed\ninput: {type: object, required: [n]}\ntasks: {a: {noop: {}}}\n").await;
    seen.hear("triggerRun", "bad_input", &rig.post("/workflows/typed/runs", "{}").await);
    let rig = Rig::within(Scope::OneRun(RunId::from_bytes([7; 16]))).await;
    seen.hear("deployWorkflow", "one_run", &rig.deploy(NOOPS).await);
    let rig = Rig::impatient().await;
    let never =
        Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let answer = rig.ask(request(Method::POST, "/workflows", &[], never)).await;
    seen.hear("deployWorkflow", "slow_body", &answer);
}

async fn refused_at_the_door(seen: &mut Seen) {
    let rig = Rig::new().await;
    let host = [("host", "evil.example")];
    let answer = rig.ask(request(Method::GET, "/runs", &host, "")).await;
    seen.hear("listRuns", "host_refused", &answer);
    let origin = [("origin", "https://evil.example")];
    let answer = rig.ask(request(Method::POST, "/tokens", &origin, "{}")).await;
    seen.hear("createToken", "cross_origin", &answer);
    let (rig, [viewer, ..]) = Rig::guarded().await;
    seen.hear("metrics", "unauthorized", &rig.get("/metrics").await);
    let bearer = format!("Bearer {viewer}");
    let bearer = [("authorization", bearer.as_str())];
    let answer = rig.ask(request(Method::GET, "/audit", &bearer, "")).await;
    seen.hear("listAudit", "forbidden", &answer);
    rig.app.is_ready.store(false, Ordering::Relaxed);
    seen.hear("ready", "stopping", &rig.get("/readyz").await);
}

async fn not_found(seen: &mut Seen) {
    let rig = Rig::new().await;
    let id = rig.run().await;
    seen.hear_nowhere("route_not_found", &rig.get("/nowhere").await);
    seen.hear_nowhere("method_not_allowed", &rig.delete("/runs").await);
    seen.hear("getWorkflow", "workflow_not_found", &rig.get("/workflows/x").await);
    seen.hear("getRun", "run_not_found", &rig.get(&format!("/runs/{NOBODY}")).await);
    seen.hear("events", "run_not_found", &rig.get(&format!("/events?run={NOBODY}")).await);
    seen.hear("getTask", "task_not_found", &rig.get(&format!("/runs/{id}/tasks/x")).await);
    seen.hear("runOutput", "no_output", &rig.get(&format!("/runs/{id}/output")).await);
    let answer = rig.get(&format!("/runs/{id}/tasks/a?index=0")).await;
    seen.hear("getTask", "not_a_group", &answer);
    let answer = rig.get(&format!("/runs/{id}/tasks/a/instances")).await;
    seen.hear("listInstances", "not_a_group", &answer);
    let answer = rig.get(&format!("/runs/{id}/tasks/a/logs?attempt=9")).await;
    seen.hear("taskLog", "attempt_not_found", &answer);
    seen.hear("getBulk", "bulk_not_found", &rig.get("/runs/bulk/x").await);
    let answer = rig.delete(&format!("/tokens/{NOBODY}")).await;
    seen.hear("revokeToken", "token_not_found", &answer);
}

async fn tokens(seen: &mut Seen) {
    let rig = Rig::exposed().await;
    let admin = format!("Bearer {}", rig.token(Role::Admin, None));
    let by_admin = [("authorization", admin.as_str())];
    let path = format!("/tokens/{}", rig.app.tokens.bearers()[0].id);
    let answer = rig.ask(request(Method::DELETE, &path, &by_admin, "")).await;
    seen.hear("revokeToken", "last_admin", &answer);
    let body = r#"{"name": "admin", "role": "viewer"}"#;
    let answer = rig.ask(request(Method::POST, "/tokens", &by_admin, body)).await;
    seen.hear("createToken", "name_taken", &answer);
    let with_key = [by_admin[0], ("idempotency-key", "k")];
    let answer = rig.ask(request(Method::POST, "/tokens", &with_key, body)).await;
    seen.hear("createToken", "bad_request", &answer);
}

async fn limits(seen: &mut Seen) {
    let rig = Rig::new().await;
    let put = async |body: &'static str| {
        rig.ask(request(Method::PUT, "/tiers", &[("content-type", "application/json")], body)).await
    };
    seen.hear("setTier", "tier_of_workflow", &put(r#"{"name": "w/gpu", "limit": 1}"#).await);
    seen.hear("setTier", "tier_not_found", &put(r#"{"name": "x", "rate": "1/1s"}"#).await);
    // Nothing has room to run here.
    let text = "name: w\nconcurrency_group: {key: k, on_conflict: skip}\ntasks: {a: {run: x}}\n";
    assert!(rig.deploy(text).await.status.is_success());
    assert!(rig.post("/workflows/w/runs", "{}").await.status.is_success());
    seen.hear("triggerRun", "group_held", &rig.post("/workflows/w/runs", "{}").await);
}

async fn in_the_wrong_state(seen: &mut Seen) {
    let rig = Rig::new().await;
    let ended = rig.run().await;
    seen.hear("cancelRun", "run_state", &rig.post(&format!("/runs/{ended}/cancel"), "").await);
    // Nothing has room to run here.
    let answer =
        rig.deploy("name: p\ntasks: {a: {noop: {}}, b: {run: x, depends_on: [a]}}\n").await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let run = rig.post("/workflows/p/runs", "{}").await.json();
    let run = format!("/runs/{}", run["id"].as_str().unwrap());
    seen.hear("deleteWorkflow", "workflow_active", &rig.delete("/workflows/p").await);
    let order = async |path: &str| rig.post(&format!("{run}/tasks/{path}"), "").await;
    seen.hear("pauseTask", "task_settled", &order("a/pause").await);
    seen.hear("resumeTask", "task_not_held", &order("b/resume").await);
    assert!(order("b/pause").await.status.is_success());
    seen.hear("pauseTask", "task_held", &order("b/pause").await);
    seen.hear("retryTask", "task_not_failed", &order("a/retry").await);
    let answer = rig.post(&format!("{run}/retry"), r#"{"tasks": ["x"]}"#).await;
    seen.hear("retryRun", "task_not_found", &answer);
    let foreign = foreign_run(&rig).await;
    seen.hear("pauseRun", "not_owned", &rig.post(&format!("/runs/{foreign}/pause"), "").await);
}

/// A run like one of ours, of a scheduler that is somewhere else.
async fn foreign_run(rig: &Rig) -> String {
    let own = rig.store.memory.snapshot();
    let other = SchedulerId::from_bytes([9; 16]);
    let registration = rig.store.memory.register_now(other);
    let (mut head, mut progress) = {
        let run = rig.get("/runs?status=running").await.json();
        let id = run["items"][0]["id"].as_str().unwrap().parse().unwrap();
        let stored = own.run(id).unwrap();
        (stored.head, stored.progress)
    };
    head.id = mainspring_core::ids::RunId::from_bytes([8; 16]);
    head.key = mainspring_core::ids::RunKey::new(registration.ordinal, registration.next_run);
    progress.owner = other;
    progress.stamp = registration.next_stamp;
    let id = head.id.to_string();
    let written = rig.store.memory.apply_now(registration.fence, &[Change::NewRun(head, progress)]);
    written.unwrap();
    id
}

async fn at_work(seen: &mut Seen) {
    let (rig, hand) = Rig::at_work().await;
    assert!(rig.deploy(WORK).await.status.is_success());
    let path = begin(&rig, &hand).await;
    assert!(rig.post(&format!("{path}/tasks/a/cancel"), "").await.status.is_success());
    let answer = rig.post(&format!("{path}/tasks/a/cancel"), "").await;
    seen.hear("cancelTask", "task_stopping", &answer);
    hand.end("a", Outcome::Stopped);
    hand.started("b").await;
    let answer = rig.post(&format!("{path}/tasks/a/retry"), "").await;
    seen.hear("retryTask", "dependent_running", &answer);
    let answer = rig.post(&format!("{path}/retry"), r#"{"tasks": ["a"]}"#).await;
    seen.hear("retryRun", "dependent_running", &answer);
}

/// One instance at a time: the first is at work, the second has not begun, there is no third.
async fn fanned_out(seen: &mut Seen) {
    let (rig, hand) = Rig::at_work().await;
    let text = "name: w\ntasks: {a: {run: x, parallel: 2, concurrency: 1}}\n";
    assert!(rig.deploy(text).await.status.is_success());
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    hand.started("a[0]").await;
    let task = format!("/runs/{}/tasks/a", run["id"].as_str().unwrap());
    let looks = [
        ("getTask", ""),
        ("listAttempts", "/attempts"),
        ("taskLog", "/logs"),
        ("taskOutput", "/output"),
    ];
    for (operation, path) in looks {
        for (index, code) in [(1, "not_started"), (2, "instance_not_found")] {
            let answer = rig.get(&format!("{task}{path}?index={index}")).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND);
            seen.hear(operation, code, &answer);
        }
    }
    let orders = ["cancel", "pause", "resume", "retry"];
    for order in orders {
        let operation = format!("{order}Task");
        let answer = rig.post(&format!("{task}/{order}?index=1"), "").await;
        assert_eq!(answer.status, StatusCode::CONFLICT);
        seen.hear(&operation, "not_started", &answer);
        let answer = rig.post(&format!("{task}/{order}?index=2"), "").await;
        seen.hear(&operation, "instance_not_found", &answer);
    }
    seen.hear("taskOutput", "no_output", &rig.get(&format!("{task}/output?index=0")).await);
    seen.hear("taskOutput", "no_output", &rig.get(&format!("{task}/output")).await);
    seen.hear("taskLog", "bad_query", &rig.get(&format!("{task}/logs")).await);
}

async fn lost(seen: &mut Seen) {
    let rig = Rig::new().await;
    let log = ended(&rig, None).await;
    seen.hear("taskLog", "content_lost", &rig.get(&log).await);
}

async fn waiting(seen: &mut Seen) {
    let rig = Rig::new().await;
    let text = "name: w\ntasks:\n  a: {approval: {message: really?, by: admin}}\n  \
                b: {approval: {message: really?, by: nobody}}\n  c: {wait: {signal: k}}\n  \
                d: {depends_on: [a], approval: {message: really?}}\n";
    assert!(rig.deploy(text).await.status.is_success());
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let run = format!("/runs/{}", run["id"].as_str().unwrap());
    for task in ["a", "b", "c"] {
        while rig.get(&format!("{run}/tasks/{task}")).await.json()["status"] != "waiting" {
            tokio::task::yield_now().await;
        }
    }
    for verb in ["approve", "reject"] {
        let operation = format!("{verb}Task");
        let say = async |task: &str| rig.post(&format!("{run}/tasks/{task}/{verb}"), "").await;
        seen.hear(&operation, "not_an_approval", &say("c").await);
        seen.hear(&operation, "not_waiting", &say("d").await);
        seen.hear(&operation, "not_allowed", &say("b").await);
    }
    rig.post(&format!("{run}/tasks/a/pause"), "").await;
    assert_eq!(rig.post(&format!("{run}/tasks/a/approve"), "").await.status, StatusCode::OK);
    let again = rig.post(&format!("{run}/tasks/a/reject"), "").await;
    seen.hear("rejectTask", "decided", &again);
    rig.post(&format!("{run}/tasks/a/resume"), "").await;
    let again = rig.post(&format!("{run}/tasks/a/approve"), "").await;
    seen.hear("approveTask", "task_settled", &again);
    let signal = async || rig.post(&format!("{run}/signal"), r#"{"key": "x"}"#).await;
    for _ in 0..SIGNALS_MAX {
        assert_eq!(signal().await.status, StatusCode::OK);
    }
    seen.hear("signalRun", "too_many_signals", &signal().await);
}

async fn kin(seen: &mut Seen) {
    let (rig, hand) = Rig::at_work().await;
    rig.deploy("name: kid\ntasks:\n  x: {run: x}\n").await;
    rig.deploy("name: w\ntasks:\n  a: {workflow: kid}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let run = format!("/runs/{}", run["id"].as_str().unwrap());
    hand.started("x").await;
    let child = rig.get(&format!("{run}/tasks/a")).await.json();
    let child = format!("/runs/{}", child["child"].as_str().unwrap());
    rig.post(&format!("{run}/pause"), "").await;
    let held = rig.post(&format!("{child}/resume"), "").await;
    seen.hear("resumeRun", "held_by_parent", &held);
    rig.post(&format!("{run}/cancel"), "").await;
    hand.end("x", Outcome::Stopped);
    while rig.get(&child).await.json()["status"] != "cancelled" {
        tokio::task::yield_now().await;
    }
    seen.hear("retryRun", "child_run", &rig.post(&format!("{child}/retry"), "").await);
}

/// Starts a run, and waits until its task `a` is at work.
async fn begin(rig: &Rig, hand: &Arc<ByHand>) -> String {
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    hand.started("a").await;
    format!("/runs/{}", run["id"].as_str().unwrap())
}

async fn keys(seen: &mut Seen) {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let key = [("content-type", "application/json"), ("idempotency-key", "k")];
    let ask = async |body: &'static str| {
        rig.ask(request(Method::POST, "/workflows/w/runs", &key, body)).await
    };
    let who = Who {
        name: "anonymous".into(),
        role: Role::Admin,
        token: None,
        pass: Pass::Nothing,
        from: "127.0.0.1".into(),
    };
    let headers =
        HeaderMap::from_iter([("idempotency-key".parse().unwrap(), "k".parse().unwrap())]);
    let header = IdempotencyKeyHeader::read(&headers).unwrap();
    let held = claim(&rig.app, &who, &header, ("trigger w", b"{}")).await.unwrap();
    seen.hear("triggerRun", "key_in_flight", &ask("{}").await);
    drop(held);
    assert!(ask("{}").await.status.is_success());
    seen.hear("triggerRun", "key_reused", &ask(r#"{"priority": 1}"#).await);
}

async fn troubled(seen: &mut Seen) {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    rig.store.set(Fault::Unreachable);
    seen.hear("ready", "store_unavailable", &rig.get("/readyz").await);
    seen.hear("listRuns", "store_unavailable", &rig.get("/runs").await);
    rig.store.set(Fault::Damaged);
    seen.hear("listAudit", "internal", &rig.get("/audit").await);
    rig.store.set(Fault::None);
    rig.store.next(&[Fate::Lost]);
    let answer = rig.post("/workflows/w/runs", "{}").await;
    seen.hear("triggerRun", "unknown_outcome", &answer);
    assert_eq!(answer.headers["retry-after"], "1");
    assert!(rig.post("/workflows/w/runs", "{}").await.status.is_success(), "it goes on");
    rig.store.set(Fault::CommitsWait);
    // Some are taken to be decided, some wait; nobody is answered before there are too many.
    let mut asked: FuturesUnordered<_> =
        (0..20_000).map(|_| rig.post("/workflows/w/runs", "{}")).collect();
    seen.hear("triggerRun", "busy", &asked.next().await.unwrap());
    drop(asked);
    rig.store.set(Fault::None);
}
