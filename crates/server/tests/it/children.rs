//! Child runs over the API.

use crate::rig::Rig;
use axum::http::StatusCode;
use mainspring_core::error::TaskError;
use mainspring_core::work::Outcome;
use serde_json::Value;

/// Asks until the run is in this state.
async fn until(rig: &Rig, id: &str, status: &str) {
    while rig.get(&format!("/runs/{id}")).await.json()["status"] != status {
        tokio::task::yield_now().await;
    }
}

async fn begin(rig: &Rig) -> String {
    rig.deploy("name: kid\ntasks:\n  x: {run: x}\n").await;
    rig.deploy("name: w\ntasks:\n  a: {workflow: kid}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    run["id"].as_str().unwrap().to_owned()
}

async fn child_of(rig: &Rig, id: &str) -> Value {
    let found = rig.get(&format!("/runs?parent={id}")).await.json();
    found["items"][0].clone()
}

#[tokio::test]
async fn a_child_names_its_parent_and_a_task_its_child() {
    let (rig, hand) = Rig::at_work().await;
    let id = begin(&rig).await;
    hand.started("x").await;
    let child = child_of(&rig, &id).await;
    let parent = &child["parent"];
    assert_eq!((&parent["run"], &parent["task"]), (&id.as_str().into(), &"a".into()));
    assert_eq!((&parent["attempt"], parent.get("index")), (&1.into(), None));
    let task = rig.get(&format!("/runs/{id}/tasks/a")).await.json();
    assert_eq!((&task["status"], &task["kind"]), (&"waiting".into(), &"workflow".into()));
    assert_eq!((&task["child"], &task["awaits"]["run"]), (&child["id"], &child["id"]));
    let all = rig.get("/runs").await.json();
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2), "both are listed");
    hand.end("x", Outcome::Success(None));
    until(&rig, &id, "success").await;
    let task = rig.get(&format!("/runs/{id}/tasks/a")).await.json();
    assert_eq!(task["child"], child["id"], "also afterwards");
    assert_eq!(rig.get("/runs?parent=nobody").await.code(), "bad_query");
}

#[tokio::test]
async fn a_child_is_not_retried_by_itself_nor_resumed_under_a_hold() {
    let (rig, hand) = Rig::at_work().await;
    let id = begin(&rig).await;
    hand.started("x").await;
    let child = child_of(&rig, &id).await["id"].as_str().unwrap().to_owned();
    rig.post(&format!("/runs/{id}/pause"), "").await;
    until(&rig, &child, "paused").await;
    let refused = rig.post(&format!("/runs/{child}/resume"), "").await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "held_by_parent"));
    rig.post(&format!("/runs/{id}/resume"), "").await;
    hand.end("x", Outcome::Failed(TaskError::exit(1)));
    until(&rig, &id, "failed").await;
    for path in [format!("/runs/{child}/retry"), format!("/runs/{child}/tasks/x/retry")] {
        let refused = rig.post(&path, "").await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "child_run"));
        assert!(refused.text.contains(&format!("retry run {id}")), "{}", refused.text);
    }
    let bulk = r#"{"action": "retry", "filter": {"status": ["failed"]}, "dry_run": true}"#;
    let meant = rig.post("/runs/bulk", bulk).await.json();
    assert_eq!(meant["matched"], 1, "children are done again by their parents");
}
