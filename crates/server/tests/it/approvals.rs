//! Approvals and signals: listed, decided and sent over HTTP.

use crate::rig::{Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::kernel::record::Role;
use serde_json::{Value, json};

const ASK: &str = "\
name: w
tasks:
  a: { noop: {}, input: { n: 7 } }
  b:
    depends_on: [a]
    approval: { message: \"Ship ${{ tasks.a.output.n }}?\", timeout: 1h, on_reject: continue }
  c: { depends_on: [b], noop: {} }
";

/// A run of a workflow, once a task of it is in this state; its path.
async fn run_until(rig: &Rig, text: &str, (task, status): (&str, &str)) -> String {
    let answer = rig.deploy(text).await;
    assert!(answer.status.is_success(), "{}", answer.text);
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    until(rig, &format!("{path}/tasks/{task}"), status).await;
    path
}

/// Asks until it has this state: what a task waits for is worked out elsewhere.
async fn until(rig: &Rig, path: &str, status: &str) -> Value {
    loop {
        let found = rig.get(path).await.json();
        if found["status"] == status {
            return found;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_waits_for_a_person_is_listed_and_decided() {
    let rig = Rig::new().await;
    let run = run_until(&rig, ASK, ("b", "waiting")).await;
    let task = rig.get(&format!("{run}/tasks/b")).await.json();
    assert_eq!((&task["kind"], &task["attempt"]), (&json!("approval"), &json!(1)));
    assert_eq!(task["awaits"]["message"], "Ship 7?");
    assert!(task.get("retry_at").is_none());
    let attempts = rig.get(&format!("{run}/tasks/b/attempts")).await.json();
    assert_eq!(attempts["items"][0]["status"], "waiting");
    assert_eq!(rig.get(&run).await.json()["tasks"]["waiting"], 1);

    let list = rig.get("/approvals").await.json();
    let item = &list["items"][0];
    assert_eq!((&item["workflow"], &item["task"]), (&json!("w"), &json!("b")));
    assert_eq!((&item["message"], &item["on_timeout"]), (&json!("Ship 7?"), &json!("reject")));
    assert!(item.get("by").is_none() && item["until"].is_string());
    assert_eq!(item["run"], run.trim_start_matches("/runs/"));

    let path = format!("{run}/tasks/b");
    let answer = rig.post(&format!("{path}/approve"), r#"{"comment": "fine"}"#).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let output = &answer.json()["output"];
    assert_eq!((&output["approved"], &output["by"]), (&json!(true), &json!("anonymous")));
    assert_eq!(output["comment"], "fine");
    until(&rig, &run, "success").await;
    assert_eq!(rig.get("/approvals").await.json()["items"], json!([]));
    let audit = rig.get("/audit").await.json();
    assert_eq!(audit["items"][0]["action"], "task.approve");
}

#[tokio::test]
async fn what_does_not_wait_is_refused_and_nothing_changes() {
    let rig = Rig::new().await;
    let text = ASK.replace("c: { depends_on: [b], noop: {} }", "c: { wait: { signal: k } }");
    let run = run_until(&rig, &text, ("b", "waiting")).await;
    let code = async |path: &str| rig.post(&format!("{run}/{path}"), "{}").await;
    assert_eq!(code("tasks/a/approve").await.code(), "not_an_approval");
    assert_eq!(code("tasks/x/approve").await.code(), "task_not_found");
    assert_eq!(code("tasks/b/approve?index=0").await.code(), "not_a_group");
    assert_eq!(code("tasks/b/reject").await.status, StatusCode::OK);
    let again = code("tasks/b/approve").await;
    assert_eq!((again.status, again.code()), (StatusCode::CONFLICT, "task_settled".to_owned()));
    let output = rig.get(&format!("{run}/tasks/b")).await.json()["output"].clone();
    assert_eq!(output["approved"], false);
    let long = json!({ "comment": "x".repeat(5_000) }).to_string();
    assert_eq!(rig.post(&format!("{run}/tasks/b/reject"), &long).await.code(), "bad_body");
}

#[tokio::test]
async fn a_held_approval_is_decided_once() {
    let rig = Rig::new().await;
    let run = run_until(&rig, ASK, ("b", "waiting")).await;
    let post = async |verb: &str| rig.post(&format!("{run}/tasks/b/{verb}"), "{}").await;
    assert_eq!(post("pause").await.json()["status"], "waiting");
    let held = post("approve").await.json();
    assert_eq!(
        (&held["status"], &held["awaits"]["decided"]),
        (&json!("waiting"), &json!("approved"))
    );
    assert_eq!(post("reject").await.code(), "decided");
    assert_eq!(rig.get("/approvals").await.json()["items"][0]["decided"], "approved");
    post("resume").await;
    until(&rig, &run, "success").await;
}

#[tokio::test]
async fn only_those_who_are_named_may_decide() {
    let rig = Rig::new().await;
    let text = ASK.replace("timeout: 1h", "by: [ann, admin]");
    let run = run_until(&rig, &text, ("b", "waiting")).await;
    let token = |name: &str, role| rig.named_token(name, role, None);
    // That a token is called like a role does not make it one.
    let [bob, fake] = ["bob", "admin"].map(|name| token(name, Role::Operator));
    let (ann, root) = (token("ann", Role::Operator), token("root", Role::Admin));
    let path = format!("{run}/tasks/b/approve");
    let ask = async |secret: &str| {
        let bearer = format!("Bearer {secret}");
        rig.ask(request(Method::POST, &path, &[("authorization", &bearer)], "")).await
    };
    for other in [bob, fake] {
        let refused = ask(&other).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert_eq!(refused.code(), "not_allowed");
        assert!(refused.json()["detail"].as_str().unwrap().contains("ann, admin"));
    }
    let answer = ask(&ann).await;
    assert_eq!(answer.json()["output"]["by"], "ann", "{}", answer.text);
    assert_eq!(ask(&root).await.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_viewer_decides_nothing_by_name_or_by_role() {
    let rig = Rig::new().await;
    let refused = rig.deploy(&ASK.replace("timeout: 1h", "by: [viewer]")).await;
    assert_eq!(refused.code(), "bad_definition", "{}", refused.text);
    assert!(refused.text.contains("E218"), "{}", refused.text);
    let text = ASK.replace("timeout: 1h", "by: [eve]");
    let run = run_until(&rig, &text, ("b", "waiting")).await;
    let bearer = format!("Bearer {}", rig.named_token("eve", Role::Viewer, None));
    let path = format!("{run}/tasks/b/approve");
    let refused = rig.ask(request(Method::POST, &path, &[("authorization", &bearer)], "")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
}

#[tokio::test]
async fn approvals_are_listed_in_pages_with_instances() {
    let rig = Rig::new().await;
    let text = ASK.replace("depends_on: [a]", "depends_on: [a]\n    parallel: 3");
    let run = run_until(&rig, &text, ("b", "running")).await;
    while rig.get("/approvals").await.json()["items"].as_array().unwrap().len() < 3 {
        tokio::task::yield_now().await;
    }
    let mut indexes = Vec::new();
    let mut page = rig.get("/approvals?limit=1").await.json();
    loop {
        indexes.push(page["items"][0]["index"].as_u64().unwrap());
        let Some(cursor) = page["next_cursor"].as_str().map(str::to_owned) else { break };
        page = rig.get(&format!("/approvals?limit=1&cursor={cursor}")).await.json();
    }
    assert_eq!(indexes, [0, 1, 2]);
    assert_eq!(rig.get("/approvals?cursor=00").await.code(), "bad_cursor");
    let group = rig.get(&format!("{run}/tasks/b")).await.json();
    assert_eq!(group["instances"], json!({"total": 3, "waiting": 3}));
    let one = rig.post(&format!("{run}/tasks/b/approve?index=1"), "").await.json();
    assert_eq!((&one["index"], &one["status"]), (&json!(1), &json!("success")));
    rig.post(&format!("{run}/tasks/b/reject"), "").await;
    until(&rig, &run, "success").await;
}

#[tokio::test]
async fn a_signal_is_kept_for_what_waits_later() {
    let rig = Rig::new().await;
    let text = "name: w\ntasks:\n  a: { wait: { signal: k } }\n  b: { depends_on: [a], wait: { signal: l } }\n";
    let run = run_until(&rig, text, ("a", "waiting")).await;
    let path = format!("{run}/signal");
    let keyed = async |key: &str, body: &str| {
        rig.ask(request(Method::POST, &path, &[("idempotency-key", key)], body.to_owned())).await
    };
    for _ in 0..2 {
        let answer = keyed("1", r#"{"key": "l", "value": [1]}"#).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    }
    assert_eq!(keyed("1", r#"{"key": "l", "value": [2]}"#).await.code(), "key_reused");
    for bad in ["{}", r#"{"key": ""}"#, r#"{"key": "k", "more": 1}"#] {
        assert_eq!(rig.post(&path, bad).await.code(), "bad_body", "{bad}");
    }
    let large = json!({ "key": "k", "value": "x".repeat(70_000) }).to_string();
    assert_eq!(rig.post(&path, &large).await.code(), "bad_body");
    assert_eq!(rig.get(&format!("{run}/tasks/a")).await.json()["awaits"]["signal"], "k");
    assert_eq!(rig.post(&path, r#"{"key": "k"}"#).await.status, StatusCode::OK);
    until(&rig, &run, "success").await;
    assert_eq!(rig.get(&format!("{run}/tasks/a")).await.json()["output"], json!(null));
    assert_eq!(rig.get(&format!("{run}/tasks/b")).await.json()["output"], json!([1]));
    let late = rig.post(&path, r#"{"key": "k"}"#).await;
    assert_eq!((late.status, late.code()), (StatusCode::CONFLICT, "run_state".to_owned()));
}
