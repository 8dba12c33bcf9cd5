//! One action on many runs.

use crate::rig::{NOOPS, Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::kernel::record::Role;
use mainspring_store::Store as _;
use mainspring_testkit::shaky::Fate;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Nothing has room to run in a rig of its own.
const WORK: &str = "name: p\ntasks: {a: {run: x}}\n";

pub async fn begin(rig: &Rig, count: usize) {
    assert!(rig.deploy(WORK).await.status.is_success());
    for no in 0..count {
        let body = format!(r#"{{"labels": {{"n": "{}"}}}}"#, no % 2);
        assert!(rig.post("/workflows/p/runs", &body).await.status.is_success());
    }
}

pub async fn over(rig: &Rig, begun: &Value) -> Value {
    loop {
        let path = format!("/runs/bulk/{}", begun["id"].as_str().unwrap());
        let progress = rig.get(&path).await.json();
        if progress["finished_at"].is_string() {
            return progress;
        }
        tokio::task::yield_now().await;
    }
}

async fn done(rig: &Rig, body: &Value) -> Value {
    let begun = rig.post("/runs/bulk", &body.to_string()).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED, "{}", begun.text);
    over(rig, &begun.json()).await
}

pub async fn count(rig: &Rig, query: &str) -> usize {
    rig.get(&format!("/runs?limit=1000&{query}")).await.json()["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_preview_tells_and_does_nothing() {
    let rig = Rig::new().await;
    begin(&rig, 30).await;
    let body = json!({"action": "cancel", "filter": {"workflow": "p"}, "dry_run": true});
    let seen = rig.post("/runs/bulk", &body.to_string()).await;
    assert_eq!(seen.status, StatusCode::OK, "{}", seen.text);
    let seen = seen.json();
    assert_eq!((&seen["matched"], seen["first"].as_array().unwrap().len()), (&30.into(), 20));
    assert_eq!(count(&rig, "status=running").await, 30);
    let headers = [("idempotency-key", "a\tb")];
    let refused = rig.ask(request(Method::POST, "/runs/bulk", &headers, body.to_string())).await;
    assert_eq!(refused.code(), "bad_request", "a key has its form here too");
}

#[tokio::test]
async fn every_action_is_carried_out_on_what_the_filter_names() {
    let rig = Rig::new().await;
    begin(&rig, 10).await;
    rig.run().await;
    let some = done(&rig, &json!({"action": "pause", "filter": {"label": ["n=1"]}})).await;
    assert_eq!((&some["matched"], &some["done"]), (&5.into(), &5.into()), "{some}");
    assert_eq!(count(&rig, "status=paused&label=n=1").await, 5);
    let all = done(&rig, &json!({"action": "resume", "all": true})).await;
    assert_eq!((&all["matched"], &all["done"]), (&5.into(), &5.into()), "{all}");
    let all = done(&rig, &json!({"action": "cancel", "filter": {"workflow": "p"}})).await;
    assert_eq!(all["done"], 10, "{all}");
    let again = done(&rig, &json!({"action": "cancel", "filter": {"workflow": "p"}})).await;
    assert_eq!(again["matched"], 0, "to repeat it is safe: {again}");
    let body = json!({"action": "cancel", "filter": {"workflow": "p", "status": ["cancelled"]}});
    let refused = done(&rig, &body).await;
    assert_eq!((&refused["refused"], &refused["reasons"]["run_state"]), (&10.into(), &10.into()));
    assert_eq!(refused["problems"][0]["code"], "run_state");
    let retried = done(&rig, &json!({"action": "retry", "filter": {"label": ["n=0"]}})).await;
    assert_eq!(retried["done"], 5, "{retried}");
    let anew =
        done(&rig, &json!({"action": "rerun", "filter": {"workflow": "w"}, "from": "b"})).await;
    assert_eq!((&anew["matched"], &anew["done"]), (&1.into(), &1.into()), "{anew}");
    assert_eq!(count(&rig, "workflow=w").await, 2, "and not those that it made itself");
    let audit = rig.get("/audit?limit=1000").await.json();
    let items = audit["items"].as_array().unwrap();
    assert_eq!(items.iter().filter(|it| it["action"] == "run.cancel").count(), 10, "each");
}

#[tokio::test]
async fn its_progress_is_told_to_the_end() {
    let rig = Rig::new().await;
    begin(&rig, 30).await;
    let body = json!({"action": "cancel", "filter": {"workflow": "p"}});
    let begun = rig.post("/runs/bulk", &body.to_string()).await.json();
    let path = format!("/runs/bulk/{}?follow=true", begun["id"].as_str().unwrap());
    // It ends by itself, or this would wait for ever.
    let told = rig.get(&path).await;
    assert_eq!(told.headers["content-type"], "text/event-stream");
    let last = told.text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!((&last["matched"], &last["done"]), (&30.into(), &30.into()), "{last}");
    assert!(last["finished_at"].is_string(), "{last}");
    let once_more = rig.get(&path).await.text;
    assert_eq!(once_more.matches("event: progress").count(), 1, "{once_more}");
    assert_eq!(rig.get("/runs/bulk/nobody?follow=true").await.code(), "bulk_not_found");
}

#[tokio::test]
async fn children_go_with_their_parents() {
    let rig = Rig::new().await;
    rig.deploy("name: low\ntasks: {w: {wait: {signal: go}}}\n").await;
    rig.deploy("name: mid\ntasks: {k: {workflow: low}}\n").await;
    rig.deploy("name: top\ntasks: {k: {workflow: mid}}\n").await;
    for _ in 0..3 {
        assert!(rig.post("/workflows/top/runs", "{}").await.status.is_success());
    }
    while count(&rig, "workflow=low&status=running").await < 3 {
        tokio::task::yield_now().await;
    }
    let of = |action: &str| json!({"action": action, "all": true});
    let lows = rig.get("/runs?workflow=low").await.json();
    let one = lows["items"][0]["id"].as_str().unwrap();
    assert_eq!(rig.post(&format!("/runs/{one}/pause"), "").await.status, StatusCode::OK);
    let paused = done(&rig, &of("pause")).await;
    assert_eq!((&paused["matched"], &paused["done"]), (&3.into(), &3.into()), "{paused}");
    assert_eq!(count(&rig, "status=paused").await, 9);
    // What somebody had paused by itself is resumed as well: it was asked for.
    let resumed = done(&rig, &of("resume")).await;
    assert_eq!((&resumed["matched"], &resumed["done"]), (&9.into(), &9.into()), "{resumed}");
    assert_eq!(count(&rig, "status=running").await, 9);
    let cancelled = done(&rig, &of("cancel")).await;
    assert_eq!((&cancelled["done"], &cancelled["refused"]), (&3.into(), &0.into()), "{cancelled}");
    assert_eq!(count(&rig, "status=cancelled").await, 9);
    let mid = rig.get("/runs?workflow=mid").await.json();
    let path = format!("/runs/{}/tasks/k", mid["items"][0]["id"].as_str().unwrap());
    assert_eq!(rig.get(&path).await.json()["reason"], "run_cancelled");
    // Alone they are meant by themselves.
    let filter = json!({"action": "cancel", "filter": {"workflow": "low"}});
    assert_eq!(done(&rig, &filter).await["matched"], 0);
}

#[tokio::test]
async fn no_more_labels_are_asked_for_than_a_run_can_have() {
    let rig = Rig::new().await;
    let labels = vec!["a=b"; 65];
    let body = json!({"action": "cancel", "filter": {"label": labels}, "dry_run": true});
    assert_eq!(rig.post("/runs/bulk", &body.to_string()).await.code(), "bad_body");
    let query = vec!["label=a=b"; 65].join("&");
    assert_eq!(rig.get(&format!("/runs?{query}")).await.code(), "bad_query");
    assert_eq!(rig.get(&format!("/runs?{}", &query[10..])).await.status, StatusCode::OK);
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() {
    let rig = Rig::new().await;
    let bad = [
        json!({"action": "cancel"}),
        json!({"action": "cancel", "filter": {}}),
        json!({"action": "cancel", "filter": {"workflow": "p"}, "all": true}),
        json!({"action": "cancel", "filter": {"status": []}}),
        json!({"action": "cancel", "filter": {"status": ["over"]}}),
        json!({"action": "cancel", "filter": {"since": "yesterday"}}),
        json!({"action": "cancel", "filter": {"label": ["n"]}}),
        json!({"action": "cancel", "filter": {"name": "p"}}),
        json!({"action": "cancel", "all": true, "from": "a"}),
        json!({"action": "delete", "all": true}),
        json!({"filter": {"workflow": "p"}}),
    ];
    for body in bad {
        let refused = rig.post("/runs/bulk", &body.to_string()).await;
        assert_eq!(refused.code(), "bad_body", "{body}");
    }
    assert_eq!(rig.get("/runs/bulk/nobody").await.code(), "bulk_not_found");
    let viewer = rig.token(Role::Viewer, None);
    let bearer = format!("Bearer {viewer}");
    let headers = [("content-type", "application/json"), ("authorization", bearer.as_str())];
    let body = json!({"action": "cancel", "all": true}).to_string();
    let refused = rig.ask(request(Method::POST, "/runs/bulk", &headers, body)).await;
    assert_eq!(refused.code(), "forbidden");
}

#[tokio::test]
async fn a_store_that_fails_meanwhile_keeps_it_waiting_and_nothing_is_done_twice() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    for _ in 0..6 {
        rig.post("/workflows/w/runs", "{}").await;
    }
    // The first is that of the order itself.
    rig.store.next(&[Fate::Durable, Fate::Lost, Fate::Durable, Fate::DurableButReportedFailed]);
    let anew = done(&rig, &json!({"action": "rerun", "filter": {"workflow": "w"}})).await;
    assert_eq!((&anew["matched"], &anew["done"]), (&6.into(), &6.into()), "{anew}");
    assert_eq!(count(&rig, "workflow=w").await, 12);
}

#[tokio::test]
async fn the_same_request_is_the_same_work() {
    let rig = Rig::new().await;
    begin(&rig, 2).await;
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    let ask = async |body: Value| {
        rig.ask(request(Method::POST, "/runs/bulk", &headers, body.to_string())).await
    };
    let first = ask(json!({"action": "cancel", "filter": {"workflow": "p"}})).await.json();
    over(&rig, &first).await;
    let again = ask(json!({"action": "cancel", "filter": {"workflow": "p"}})).await.json();
    assert_eq!((&again["id"], &again["done"]), (&first["id"], &2.into()));
    assert_eq!(ask(json!({"action": "pause", "all": true})).await.code(), "key_reused");
}

/// Whoever comes second while the first still looks for its runs starts nothing of its own.
#[tokio::test]
async fn the_same_request_at_the_same_time_is_the_same_work() {
    let rig = Rig::new().await;
    begin(&rig, 30).await;
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    let body = json!({"action": "cancel", "filter": {"workflow": "p"}}).to_string();
    let ask = async || {
        let asked = request(Method::POST, "/runs/bulk", &headers, body.clone());
        rig.ask(asked).await
    };
    let (a, b, c, d) = tokio::join!(ask(), ask(), ask(), ask());
    let mut ids = BTreeSet::new();
    for answer in [a, b, c, d] {
        match answer.status {
            StatusCode::ACCEPTED => drop(ids.insert(answer.json()["id"].to_string())),
            _ => assert_eq!(answer.code(), "key_in_flight"),
        }
    }
    assert_eq!(ids.len(), 1);
    let orders = rig.store.unfinished_bulks().await.unwrap();
    assert!(orders.iter().all(|row| ids.contains(&format!("\"{}\"", row.id))), "{orders:?}");
}

/// What was not among those shown is not done: the preview says up to when it looked.
#[tokio::test]
async fn what_comes_after_a_preview_is_not_meant() {
    let rig = Rig::new().await;
    begin(&rig, 3).await;
    let filter = json!({"workflow": "p"});
    let body = json!({"action": "pause", "filter": filter, "dry_run": true});
    let seen = rig.post("/runs/bulk", &body.to_string()).await.json();
    begin(&rig, 2).await;
    let filter = json!({"workflow": "p", "until": seen["until"]});
    let all = done(&rig, &json!({"action": "pause", "filter": filter})).await;
    assert_eq!(all["matched"], 3, "{all}");
}
