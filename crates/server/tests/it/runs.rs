//! Runs: accepted, listed, shown, ordered about.

use crate::rig::{NOOPS, Rig};
use axum::http::StatusCode;

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
