//! Runs: accepted, listed, shown, ordered about.

use crate::rig::{NOOPS, Rig};
use axum::http::StatusCode;
use mainspring_core::work::Outcome;

#[tokio::test]
async fn a_run_is_accepted_shown_and_listed() {
    let rig = Rig::new().await;
    let id = rig.run().await;
    let shown = rig.get(&format!("/runs/{id}")).await.json();
    assert_eq!((&shown["status"], &shown["tasks"]["success"]), (&"success".into(), &2.into()));
    let listed = rig.get("/runs?status=success,failed&workflow=w").await.json();
    assert_eq!(listed["items"][0]["id"], id.as_str());
    assert_eq!(rig.get("/runs?status=failed").await.json()["items"], serde_json::json!([]));
    let tasks = rig.get(&format!("/runs/{id}/tasks")).await.json();
    assert_eq!(tasks["items"][1]["name"], "b");
    assert_eq!(rig.get(&format!("/runs/{id}/tasks/b")).await.json()["status"], "success");
    let attempts = rig.get(&format!("/runs/{id}/tasks/b/attempts")).await.json();
    assert_eq!(attempts["items"], serde_json::json!([]), "a noop has no attempt");
    assert_eq!(rig.get(&format!("/runs/{id}/tasks/b/logs")).await.text, "");
}

#[tokio::test]
async fn inputs_are_checked_and_defaults_filled_in() {
    let rig = Rig::new().await;
    let text = "name: w\ninput: {type: object, properties: {n: {type: integer, default: 3}}}\n\
                tasks: {a: {noop: {}}}\n";
    rig.deploy(text).await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    assert_eq!(run["input"], serde_json::json!({"n": 3}));
    let refused = rig.post("/workflows/w/runs", r#"{"input": {"n": "x"}}"#).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused.code(), "bad_input");
    assert_eq!(refused.json()["errors"][0]["path"], "/input/n");
}

#[tokio::test]
async fn a_large_input_is_told_to_whoever_asks_for_its_run() {
    let rig = Rig::new().await;
    rig.deploy("name: w\ninput: {type: object}\ntasks: {a: {noop: {}}}\n").await;
    let large = "x".repeat(2_000);
    let body = format!(r#"{{"input": {{"text": "{large}"}}}}"#);
    let run = rig.post("/workflows/w/runs", &body).await.json();
    let id = run["id"].as_str().unwrap();
    assert_eq!(rig.get(&format!("/runs/{id}")).await.json()["input"]["text"], large.as_str());
    let listed = rig.get("/runs").await.json();
    assert_eq!((&listed["items"][0]["id"], listed["items"][0].get("input")), (&run["id"], None));
}

#[tokio::test]
async fn labels_are_kept_and_found() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let body = r#"{"labels": {"team": "data"}, "priority": 5}"#;
    let run = rig.post("/workflows/w/runs", body).await.json();
    assert_eq!((&run["labels"]["team"], &run["priority"]), (&"data".into(), &5.into()));
    rig.post("/workflows/w/runs", "{}").await;
    let found = rig.get("/runs?label=team=data").await.json();
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    assert_eq!(rig.get("/runs?label=team").await.code(), "bad_query");
    let refused = rig.post("/workflows/w/runs", r#"{"priority": 2000000000}"#).await;
    assert_eq!(refused.code(), "bad_body");
}

#[tokio::test]
async fn filters_are_given_as_often_as_needed() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    for labels in [r#"{"a": "x,y=z", "b": "1"}"#, r#"{"a": "x,y=z"}"#, r#"{"b": "1"}"#] {
        rig.post("/workflows/w/runs", &format!(r#"{{"labels": {labels}}}"#)).await;
    }
    for (query, count) in [
        ("label=a=x,y=z", 2),
        ("label=a=x", 0),
        ("label=a=x,y=z&label=b=1", 1),
        ("label=b%3D1", 2),
        ("status=failed&status=success", 3),
        ("status=failed,success&status=paused", 3),
        ("status=failed&status=paused", 0),
    ] {
        let found = rig.get(&format!("/runs?{query}")).await.json();
        assert_eq!(found["items"].as_array().unwrap().len(), count, "{query}");
    }
    assert_eq!(rig.get("/runs?limit=1&limit=2").await.code(), "bad_query");
    assert_eq!(rig.get("/runs?status=failed&status=nope").await.code(), "bad_query");
    let run = rig.get("/runs?limit=1").await.json()["items"][0]["id"].clone();
    let tasks = format!("/runs/{}/tasks?status=failed&status=success", run.as_str().unwrap());
    assert_eq!(rig.get(&tasks).await.json()["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_paused_run_says_why() {
    let rig = Rig::new().await;
    // Nothing has room to run here.
    rig.deploy("name: w\ntasks: {a: {run: x}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    assert!(run.get("paused_reason").is_none());
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    let paused = rig.post(&format!("{path}/pause"), "").await.json();
    assert_eq!((&paused["status"], &paused["paused_reason"]), (&"paused".into(), &"person".into()));
    assert_eq!(paused["held"]["by"], "anonymous");
    assert_eq!(rig.get("/runs").await.json()["items"][0]["paused_reason"], "person");
    let resumed = rig.post(&format!("{path}/resume"), "").await.json();
    assert!(resumed.get("paused_reason").is_none());
}

#[tokio::test]
async fn all_attempts_of_a_run_come_as_one_list() {
    let (rig, hand) = Rig::at_work().await;
    rig.deploy("name: w\ntasks:\n  a: {run: x}\n  b: {run: x, depends_on: [a]}\n  c: {noop: {}}\n")
        .await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    hand.started("a").await;
    rig.post(&format!("{path}/cancel"), "").await;
    hand.end("a", Outcome::Stopped);
    hand.gone("a").await;
    let retried = rig.post(&format!("{path}/retry"), "").await;
    assert_eq!(retried.status, StatusCode::OK, "{}", retried.text);
    for task in ["a", "b"] {
        hand.started(task).await;
        hand.end(task, Outcome::Success(None));
        hand.gone(task).await;
    }
    let mut seen = Vec::new();
    let mut page = rig.get(&format!("{path}/attempts?limit=1")).await.json();
    loop {
        for item in page["items"].as_array().unwrap() {
            let text = |field: &str| item[field].as_str().unwrap().to_owned();
            seen.push(format!("{} {} {}", text("task"), item["attempt"], text("status")));
        }
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        page = rig.get(&format!("{path}/attempts?limit=1&cursor={cursor}")).await.json();
    }
    assert_eq!(seen, ["a 1 cancelled", "a 2 success", "b 1 success"]);
    let own = rig.get(&format!("{path}/tasks/a/attempts?limit=1")).await.json();
    let after = own["next_cursor"].as_str().unwrap();
    let own = rig.get(&format!("{path}/tasks/a/attempts?cursor={after}")).await.json();
    assert_eq!((&own["items"][0]["attempt"], own.get("next_cursor")), (&2.into(), None));
    assert!(own["items"][0].get("task").is_none());
    assert_eq!(rig.get(&format!("{path}/attempts?cursor=x")).await.code(), "bad_cursor");
}

#[tokio::test]
async fn orders_that_do_not_fit_change_nothing() {
    let rig = Rig::new().await;
    let id = rig.run().await;
    for order in ["cancel", "cancel?force=true", "pause", "resume", "retry"] {
        let answer = rig.post(&format!("/runs/{id}/{order}"), "").await;
        assert_eq!(answer.status, StatusCode::CONFLICT, "{order}: {}", answer.text);
        assert_eq!(answer.code(), "run_state");
    }
    for order in ["cancel", "pause", "resume", "retry"] {
        let answer = rig.post(&format!("/runs/{id}/tasks/a/{order}"), "").await;
        assert_eq!(answer.status, StatusCode::CONFLICT, "{order}: {}", answer.text);
    }
    assert_eq!(rig.get(&format!("/runs/{id}")).await.json()["status"], "success");
    assert_eq!(rig.post(&format!("/runs/{id}/retry"), r#"{"tasks": []}"#).await.code(), "bad_body");
    let nobody = "00000000-0000-7000-8000-000000000000";
    assert_eq!(rig.post(&format!("/runs/{nobody}/cancel"), "").await.code(), "run_not_found");
    assert_eq!(rig.get("/runs/nonsense").await.code(), "run_not_found");
    assert_eq!(rig.get(&format!("/runs/{id}/tasks/nope")).await.code(), "task_not_found");
    let path = format!("/runs/{id}/tasks/a/logs?attempt=3");
    assert_eq!(rig.get(&path).await.code(), "attempt_not_found");
}

#[tokio::test]
async fn pages_of_runs_hold_each_run_once() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    for _ in 0..7 {
        rig.post("/workflows/w/runs", "{}").await;
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut path = "/runs?limit=3".to_owned();
    loop {
        let page = rig.get(&path).await.json();
        for item in page["items"].as_array().unwrap() {
            assert!(seen.insert(item["id"].as_str().unwrap().to_owned()), "twice");
        }
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/runs?limit=3&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen.len(), 7);
}

#[tokio::test]
async fn every_change_is_in_the_audit_log() {
    let rig = Rig::new().await;
    rig.run().await;
    rig.delete("/workflows/w").await;
    let audit = rig.get("/audit").await.json();
    let actions: Vec<&str> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["workflow.delete", "run.trigger", "workflow.deploy"]);
    assert_eq!(audit["items"][0]["from"], "127.0.0.1");
    assert_eq!(audit["items"][0]["by"], "anonymous");
}
