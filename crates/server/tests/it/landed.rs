//! Tasks with a finalizer, as they are shown while that is at work.

use crate::by_hand::ByHand;
use crate::rig::Rig;
use axum::http::StatusCode;
use mainspring_core::json::Json;
use mainspring_core::output::Output;
use mainspring_core::work::Outcome;
use serde_json::{Value, json};
use std::sync::Arc;

const TEXT: &str = "name: w\ntasks:\n  a: {run: x, finalize: {queue: main, run: y}}\n  b: {run: x, finalize: {queue: main, run: y}}\n";

async fn at_work() -> (Rig, Arc<ByHand>, String) {
    let (rig, hand) = Rig::at_work().await;
    let answer = rig.deploy(TEXT).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let answer = rig.post("/workflows/w/runs", "{}").await;
    let run = format!("/runs/{}", answer.json()["id"].as_str().unwrap());
    hand.started("a").await;
    hand.started("b").await;
    (rig, hand, run)
}

fn output() -> Outcome {
    Outcome::Success(Some(Output::Inline(Json::parse("[1]").unwrap())))
}

async fn get(rig: &Rig, path: &str) -> Value {
    let answer = rig.get(path).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    answer.json()
}

#[tokio::test]
async fn a_task_whose_work_is_done_says_what_lands_it() {
    let (rig, hand, run) = at_work().await;
    hand.end_and_again("a", output()).await;
    hand.end("b", output());
    hand.gone("b").await;
    let a = get(&rig, &format!("{run}/tasks/a")).await;
    assert_eq!((&a["status"], &a["output"]), (&json!("worker_done"), &json!([1])));
    let finalizer = &a["finalizer"];
    assert_eq!((&finalizer["queue"], &finalizer["attempt"]), (&json!("main"), &json!(2)));
    assert!(finalizer["since"].is_string(), "{finalizer}");
    let b = get(&rig, &format!("{run}/tasks/b")).await;
    assert_eq!((&b["status"], &b["reason"]), (&json!("worker_done"), &json!("finalizer_queued")));
    let shown = get(&rig, &run).await;
    assert_eq!(shown["tasks"]["worker_done"], 2, "{shown}");
    let tiers = get(&rig, "/tiers").await;
    let tiers = tiers["items"].as_array().unwrap().clone();
    let queue = tiers.iter().find(|tier| tier["name"] == "queue:main").unwrap();
    assert_eq!(
        (&queue["limit"], &queue["in_use"], &queue["waiting"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(
        (&queue["holders"][0]["task"], &queue["waiters"][0]["task"]),
        (&json!("a"), &json!("b"))
    );
    hand.end("a", output());
    hand.started("b").await;
    hand.end("b", output());
    hand.gone("b").await;
    let shown = get(&rig, &run).await;
    assert_eq!(shown["status"], "success");
    let attempts = get(&rig, &format!("{run}/tasks/a/attempts")).await;
    let roles: Vec<_> =
        attempts["items"].as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["work", "finalize"]);
    for query in ["", "?attempt=1", "?attempt=2"] {
        let log = rig.get(&format!("{run}/tasks/a/logs{query}")).await;
        assert_eq!(log.text, "a line\n", "{query}");
    }
    let log = rig.get(&format!("{run}/tasks/a/logs?attempt=3")).await;
    assert_eq!(log.status, StatusCode::NOT_FOUND, "{}", log.text);
}

#[tokio::test]
async fn a_finalizer_that_waits_is_withdrawn_by_a_cancel() {
    let (rig, hand, run) = at_work().await;
    hand.end_and_again("a", output()).await;
    hand.end("b", output());
    hand.gone("b").await;
    let answer = rig.post(&format!("{run}/tasks/b/cancel"), "").await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let b = get(&rig, &format!("{run}/tasks/b")).await;
    assert_eq!((&b["status"], &b["output"]), (&json!("cancelled"), &json!([1])));
    hand.end("a", output());
    hand.gone("a").await;
    let shown = get(&rig, &run).await;
    assert_eq!(shown["status"], "cancelled");
    let attempts = get(&rig, &format!("{run}/tasks/b/attempts")).await;
    assert_eq!(attempts["items"].as_array().unwrap().len(), 1, "it never landed");
}
