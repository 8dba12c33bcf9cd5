//! Why a task is not running, over HTTP.

use crate::rig::Rig;
use axum::http::StatusCode;
use serde_json::Value;

const W: &str = "\
name: w
max_active_runs: 1
tasks:
  a: { wait: { signal: go } }
  b: { depends_on: [a], noop: {} }
  c: { parallel: 3, approval: { message: 'Really?', by: [ann] } }
";

async fn trigger(rig: &Rig) -> String {
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    format!("/runs/{}", run["id"].as_str().expect("an id"))
}

/// Asks until all instances wait: for what is worked out elsewhere.
async fn until_all_wait(rig: &Rig, run: &str) -> Value {
    loop {
        let told = rig.get(&format!("{run}/explain")).await.json();
        if told["tasks"][2]["instances"][2].is_object() && told["tasks"][0]["status"] == "waiting" {
            return told;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_says_why_its_tasks_do_not_run() {
    let rig = Rig::new().await;
    rig.deploy(W).await;
    let run = trigger(&rig).await;
    let told = until_all_wait(&rig, &run).await;
    assert_eq!(told["tasks"][0]["reasons"][0]["kind"], "signal");
    assert_eq!(told["tasks"][0]["reasons"][0]["key"], "go");
    let first = &told["tasks"][1]["reasons"][0];
    assert_eq!(
        (&first["kind"], &first["task"], &first["state"]),
        (&"dependency".into(), &"a".into(), &"waiting".into())
    );
    let one = &told["tasks"][2]["instances"][0]["reasons"][0];
    assert_eq!((&one["kind"], &one["by"][0]), (&"approval".into(), &"ann".into()));
    let alone = rig.get(&format!("{run}/explain?task=b")).await.json();
    assert_eq!(
        (alone["tasks"].as_array().map(Vec::len), &alone["unsettled"]),
        (Some(1), &3.into())
    );
    let from = rig.get(&format!("{run}/explain?from=b")).await.json();
    assert_eq!(from["tasks"].as_array().map(Vec::len), Some(2));
    let wrong = rig.get(&format!("{run}/explain?from=b&task=a")).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert_eq!(rig.get(&format!("{run}/explain?task=nothing")).await.status, StatusCode::NOT_FOUND);
    let second = trigger(&rig).await;
    let told = rig.get(&format!("{second}/explain")).await.json();
    assert_eq!(told["reasons"][0]["kind"], "max_active_runs");
    assert_eq!(told["tasks"][0]["reasons"][0]["kind"], "run_pending");
}
