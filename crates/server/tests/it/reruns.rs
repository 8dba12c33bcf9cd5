//! Runs that run another one anew.

use crate::rig::{NOOPS, Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::json::Json;
use mainspring_core::work::Outcome;

/// Asks until the run is in this state.
async fn until(rig: &Rig, id: &str, status: &str) {
    while rig.get(&format!("/runs/{id}")).await.json()["status"] != status {
        tokio::task::yield_now().await;
    }
}

const WORK: &str = "name: w\ntasks:\n  a: {run: x}\n  b: {run: y, depends_on: [a]}\n";

#[tokio::test]
async fn a_run_is_run_anew_from_a_task() {
    let (rig, hand) = Rig::at_work().await;
    rig.deploy(WORK).await;
    let body = r#"{"labels": {"team": "data"}, "priority": 3}"#;
    let run = rig.post("/workflows/w/runs", body).await.json();
    let id = run["id"].as_str().unwrap();
    hand.started("a").await;
    hand.end("a", Outcome::Success(Some(Json::parse("7").unwrap().into())));
    hand.started("b").await;
    let early = rig.post(&format!("/runs/{id}/rerun"), "{}").await;
    assert_eq!((early.status, early.code().as_str()), (StatusCode::CONFLICT, "run_state"));
    hand.end("b", Outcome::Success(None));
    until(&rig, id, "success").await;
    let anew = rig.post(&format!("/runs/{id}/rerun"), r#"{"from": "b"}"#).await;
    assert_eq!(anew.status, StatusCode::ACCEPTED, "{}", anew.text);
    let anew = anew.json();
    assert_eq!((&anew["retry_of"], &anew["version"]), (&run["id"], &1.into()));
    assert_eq!((&anew["labels"], &anew["priority"]), (&run["labels"], &3.into()));
    hand.started("b").await;
    let path = format!("/runs/{}", anew["id"].as_str().unwrap());
    let task = rig.get(&format!("{path}/tasks/a")).await.json();
    assert_eq!((&task["status"], &task["reason"]), (&"success".into(), &"copied".into()));
    assert_eq!(task["output"], 7);
    let attempts = rig.get(&format!("{path}/tasks/a/attempts")).await.json();
    assert_eq!(attempts["items"][0]["status"], "copied");
    assert_eq!(rig.get(&format!("{path}/tasks/a/logs")).await.text, "", "nothing ran here");
    hand.end("b", Outcome::Success(None));
    until(&rig, anew["id"].as_str().unwrap(), "success").await;
    let audit = rig.get("/audit").await.json();
    assert_eq!(audit["items"][0]["action"], "run.rerun");
}

#[tokio::test]
async fn the_latest_version_is_checked_first() {
    let rig = Rig::new().await;
    let id = rig.run().await;
    let rerun = async |body: &'static str| rig.post(&format!("/runs/{id}/rerun"), body).await;
    rig.deploy("name: w\ninput: {type: object, required: [n]}\ntasks: {c: {noop: {}}}\n").await;
    let refused = rerun(r#"{"version": "latest"}"#).await;
    assert_eq!(refused.code(), "bad_input");
    assert!(refused.json()["errors"][0]["path"].as_str().unwrap().starts_with("/input"));
    let refused = rerun(r#"{"version": "latest", "from": "a"}"#).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (StatusCode::NOT_FOUND, "task_not_found")
    );
    assert!(refused.text.contains("version 2 of 'w' has no task 'a'"), "{}", refused.text);
    assert_eq!(rerun(r#"{"from": "nope"}"#).await.code(), "task_not_found");
    for wrong in [r#"{"version": 2}"#, r#"{"version": "newest"}"#, r#"{"form": "a"}"#, "[]"] {
        assert_eq!(
            rig.post(&format!("/runs/{id}/rerun"), wrong).await.code(),
            "bad_body",
            "{wrong}"
        );
    }
    assert_eq!(rerun(r#"{"version": "same"}"#).await.json()["version"], 1);
    rig.deploy("name: w\ntasks: {a: {noop: {}}, new: {noop: {}, depends_on: [a]}}\n").await;
    let anew = rerun(r#"{"version": "latest", "from": "new"}"#).await.json();
    assert_eq!((&anew["version"], &anew["tasks"]["total"]), (&3.into(), &2.into()));
    assert_eq!(rig.delete("/workflows/w").await.status, StatusCode::NO_CONTENT);
    assert_eq!(rerun("{}").await.code(), "workflow_not_found");
}

#[tokio::test]
async fn the_latest_version_leaves_out_what_was_added_whatever_was_deployed_since() {
    let (rig, hand) = Rig::at_work().await;
    rig.deploy(WORK).await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let id = run["id"].as_str().unwrap();
    hand.started("a").await;
    let yaml = [("content-type", "application/yaml")];
    let added =
        request(Method::POST, &format!("/runs/{id}/tasks"), &yaml, "tasks: {n: {noop: {}}}");
    assert_eq!(rig.ask(added).await.status, StatusCode::CREATED);
    for task in ["a", "b"] {
        hand.started(task).await;
        hand.end(task, Outcome::Success(None));
    }
    until(&rig, id, "success").await;
    let rerun = async |body: &'static str| rig.post(&format!("/runs/{id}/rerun"), body).await;
    for _ in 0..2 {
        let from = rerun(r#"{"version": "latest", "from": "n"}"#).await;
        assert_eq!(from.code(), "task_not_found");
        let latest = rerun(r#"{"version": "latest", "from": "b"}"#).await.json();
        assert_eq!(latest["tasks"]["total"], 2);
        let copied = format!("/runs/{}/tasks/a", latest["id"].as_str().unwrap());
        assert_eq!(rig.get(&copied).await.json()["reason"], "copied");
        assert_eq!(rerun(r#"{"from": "n"}"#).await.json()["tasks"]["total"], 3);
        rig.deploy(&WORK.replace("run: y", "run: z")).await;
    }
}

#[tokio::test]
async fn the_same_request_gets_the_same_run() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let id = rig.run().await;
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    let path = format!("/runs/{id}/rerun");
    let ask =
        async |body: &'static str| rig.ask(request(Method::POST, &path, &headers, body)).await;
    let first = ask(r#"{"from": "b"}"#).await.json();
    assert_eq!(ask(r#"{"from": "b"}"#).await.json()["id"], first["id"]);
    assert_eq!(ask("{}").await.code(), "key_reused");
    assert_eq!(rig.get("/runs").await.json()["items"].as_array().unwrap().len(), 2);
}
