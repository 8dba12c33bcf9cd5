//! Workflows: versions, hashes, deletion.

use crate::rig::{NOOPS, Rig};
use axum::http::StatusCode;

#[tokio::test]
async fn the_same_text_twice_makes_no_new_version() {
    let rig = Rig::new().await;
    let first = rig.deploy(NOOPS).await;
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.text);
    let again = rig.deploy(NOOPS).await;
    assert_eq!((again.status, again.json()["version"].as_u64()), (StatusCode::OK, Some(1)));
    let other = rig.deploy(&format!("{NOOPS}description: another\n")).await;
    assert_eq!(other.status, StatusCode::CREATED);
    let shown = rig.get("/workflows/w").await.json();
    assert_eq!(shown["version"], 2);
    assert_eq!(shown["description"], "another");
    let versions = rig.get("/workflows/w/versions").await.json();
    let numbers: Vec<u64> = versions["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["version"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(rig.get("/workflows/w/versions/1").await.json()["text"], NOOPS);
    assert_eq!(rig.get("/workflows/w/versions/latest").await.json()["version"], 2);
    assert_eq!(rig.get("/workflows/w/versions/9").await.code(), "workflow_not_found");
    assert_eq!(rig.get("/workflows/w/versions/x").await.code(), "workflow_not_found");
}

#[tokio::test]
async fn versions_are_compared() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    assert_eq!(rig.get("/workflows/w/diff").await.code(), "workflow_not_found");
    rig.deploy(&NOOPS.replace("depends_on: [a]", "depends_on: []")).await;
    rig.deploy(&NOOPS.replace("  b:", "  c: {noop: {}}\n  b:")).await;
    let last = rig.get("/workflows/w/diff").await.json();
    assert_eq!((&last["from"], &last["to"]), (&2.into(), &3.into()));
    assert_eq!(last["tasks"], serde_json::json!({"added": ["c"], "removed": [], "changed": ["b"]}));
    let all = rig.get("/workflows/w/diff?from=1&to=3").await.json();
    assert_eq!(all["tasks"]["changed"], serde_json::json!([]));
    assert_eq!(
        all["diff"],
        "--- w version 1\n+++ w version 3\n@@ -1,4 +1,5 @@\n name: w\n tasks:\n   a: {noop: {}}\n\
         +  c: {noop: {}}\n   b: {noop: {}, depends_on: [a]}\n"
    );
    let back = rig.get("/workflows/w/diff?from=3&to=1").await.json();
    assert_eq!(back["tasks"]["removed"], serde_json::json!(["c"]));
    assert_eq!(rig.get("/workflows/w/diff?from=2&to=2").await.json()["diff"], "");
    for (path, code) in [
        ("/workflows/x/diff", "workflow_not_found"),
        ("/workflows/w/diff?to=9", "workflow_not_found"),
        ("/workflows/w/diff?from=0", "workflow_not_found"),
        ("/workflows/w/diff?to=1", "workflow_not_found"),
        ("/workflows/w/diff?to=0", "workflow_not_found"),
        ("/workflows/w/diff?to=x", "bad_query"),
        ("/workflows/w/diff?of=1", "bad_query"),
    ] {
        assert_eq!(rig.get(path).await.code(), code, "{path}");
    }
}

#[tokio::test]
async fn a_definition_with_errors_says_where() {
    let rig = Rig::new().await;
    let answer = rig.deploy("name: w\ntasks:\n  a: {runn: x}\n").await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(answer.code(), "bad_definition");
    let problem = answer.json();
    assert_eq!(problem["errors"][0]["line"], 3);
    assert_eq!(problem["errors"][0]["column"], 7);
    assert_eq!(problem["errors"][0]["path"], "/tasks/a/runn");
    assert!(problem["errors"][0]["code"].is_string());
    assert_eq!(rig.get("/workflows/w").await.code(), "workflow_not_found");
}

#[tokio::test]
async fn json_is_taken_as_well() {
    let rig = Rig::new().await;
    let answer = rig.post("/workflows", r#"{"name": "j", "tasks": {"a": {"noop": {}}}}"#).await;
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
}

#[tokio::test]
async fn a_deleted_workflow_is_gone_and_comes_back() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    assert_eq!(rig.delete("/workflows/w").await.status, StatusCode::NO_CONTENT);
    assert_eq!(rig.delete("/workflows/w").await.code(), "workflow_not_found");
    assert_eq!(rig.post("/workflows/w/runs", "{}").await.code(), "workflow_not_found");
    assert_eq!(rig.get("/workflows").await.json()["items"], serde_json::json!([]));
    let back = rig.deploy(NOOPS).await;
    assert_eq!((back.status, back.json()["version"].as_u64()), (StatusCode::OK, Some(1)));
    let back = back.json();
    assert_eq!((&back["is_new"], &back["is_back"]), (&false.into(), &true.into()));
    assert!(rig.deploy(NOOPS).await.json().get("is_back").is_none(), "it is there");
    assert_eq!(rig.post("/workflows/w/runs", "{}").await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn force_is_said_by_naming_it() {
    let rig = Rig::new().await;
    // Nothing has room to run here.
    rig.deploy("name: w\ntasks: {a: {run: x}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let run = format!("/runs/{}", run["id"].as_str().unwrap());
    assert_eq!(rig.delete("/workflows/w?force=yes").await.code(), "bad_query");
    assert_eq!(rig.delete("/workflows/w?force=false").await.code(), "workflow_active");
    assert_eq!(rig.delete("/workflows/w?force").await.status, StatusCode::NO_CONTENT);
    assert_eq!(rig.get(&run).await.json()["status"], "cancelled");
    assert_eq!(rig.post(&format!("{run}/cancel?force"), "").await.code(), "run_state");
    assert_eq!(rig.post(&format!("{run}/tasks/a/cancel?force"), "").await.code(), "run_state");
}

#[tokio::test]
async fn lists_go_on_where_they_ended() {
    let rig = Rig::new().await;
    for name in ["a", "b", "c"] {
        rig.deploy(&NOOPS.replace("name: w", &format!("name: {name}"))).await;
    }
    let mut names = Vec::new();
    let mut path = "/workflows?limit=2".to_owned();
    loop {
        let page = rig.get(&path).await.json();
        let items = page["items"].as_array().unwrap();
        names.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/workflows?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(names, ["a", "b", "c"]);
}
