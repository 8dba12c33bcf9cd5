//! What is wrong with a request is said by its name, with what is taken instead.

use crate::rig::{Answer, Rig, request};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode, Version};

#[track_caller]
fn says(answer: &Answer, code: &str, words: &[&str]) {
    assert_eq!(answer.code(), code, "{}", answer.text);
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    for word in words {
        assert!(detail.contains(word), "{word} is not in: {detail}");
    }
}

#[tokio::test]
async fn a_workflow_that_is_not_there_is_named() {
    let rig = Rig::new().await;
    says(&rig.delete("/workflows/nope").await, "workflow_not_found", &["'nope'", "/workflows"]);
    let run = rig.run().await;
    assert_eq!(rig.delete("/workflows/w").await.status, StatusCode::NO_CONTENT);
    says(&rig.delete("/workflows/w").await, "workflow_not_found", &["'w'"]);
    let words = ["'w' was deleted", "deploy it again"];
    says(&rig.post(&format!("/runs/{run}/rerun"), "{}").await, "workflow_not_found", &words);
    let pinned = rig.post("/workflows/w/runs", r#"{"version": 1}"#).await;
    says(&pinned, "workflow_not_found", &words);
}

#[tokio::test]
async fn a_label_that_is_wrong_is_named_with_why() {
    let rig = Rig::new().await;
    rig.run().await;
    let long = "x".repeat(257);
    for (label, words) in [
        (r#""": "v""#.to_owned(), &["a key is empty"][..]),
        (r#""a=b": "v""#.to_owned(), &["'a=b'", "key=value"]),
        (r#""k": "\u0000""#.to_owned(), &["'k'", "NUL"]),
        (r#""k\u0000": "v""#.to_owned(), &["'k\\0'", "NUL"]),
        (format!(r#""k": "{long}""#), &["'k'", "257 characters", "at most 256"]),
        (format!(r#""{long}": "v""#), &["xxx", "257 characters", "at most 256"]),
    ] {
        let body = format!(r#"{{"labels": {{{label}}}}}"#);
        says(&rig.post("/workflows/w/runs", &body).await, "bad_body", words);
    }
    let good = rig.post("/workflows/w/runs", r#"{"labels": {"k": "a=b"}}"#).await;
    assert_eq!(good.status, StatusCode::ACCEPTED);
    assert_eq!(rig.get("/runs?label=k=a=b").await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_version_of_a_rerun_is_a_word() {
    let rig = Rig::new().await;
    let run = rig.run().await;
    let path = format!("/runs/{run}/rerun");
    for wrong in ["7", r#""7""#, "true"] {
        let answer = rig.post(&path, &format!(r#"{{"version": {wrong}}}"#)).await;
        says(&answer, "bad_body", &["version", wrong, "`same`", "`latest`"]);
    }
    for right in ["null", r#""same""#, r#""latest""#] {
        let answer = rig.post(&path, &format!(r#"{{"version": {right}}}"#)).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
    }
}

#[tokio::test]
async fn a_number_that_is_none_is_named_with_what_is_taken() {
    let rig = Rig::new().await;
    let run = rig.run().await;
    let logs = format!("/runs/{run}/tasks/a/logs");
    for (path, words) in [
        ("/runs?limit=abc".to_owned(), ["limit: 'abc'", "whole number"]),
        (format!("{logs}?index=-1"), ["index: '-1'", "0 to 4294967295"]),
        (format!("{logs}?tail=-1"), ["tail: '-1'", "from 0"]),
        ("/workflows/w/diff?from=-1".to_owned(), ["from: '-1'", "from 0"]),
    ] {
        says(&rig.get(&path).await, "bad_query", &words);
    }
}

#[tokio::test]
async fn a_task_that_is_not_there_is_said_before_the_state_of_its_run() {
    let rig = Rig::new().await;
    let run = rig.run().await;
    for verb in ["approve", "reject", "cancel", "pause", "resume", "retry"] {
        let task = async |name| rig.post(&format!("/runs/{run}/tasks/{name}/{verb}"), "").await;
        says(&task("zz").await, "task_not_found", &["'zz'"]);
        assert_ne!(task("a").await.code(), "task_not_found", "{verb}");
    }
}

#[tokio::test]
async fn a_request_of_http_1_1_names_its_host() {
    let rig = Rig::new().await;
    let ask = |version: Version, path: &str| {
        let request = Request::builder().version(version).uri(path);
        request.body(Body::empty()).unwrap()
    };
    for path in ["/runs", "/healthz", "/"] {
        let answer = rig.ask(ask(Version::HTTP_11, path)).await;
        says(&answer, "bad_request", &["`Host`"]);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    }
    assert_eq!(rig.ask(ask(Version::HTTP_10, "/runs")).await.status, StatusCode::OK);
    assert_eq!(
        rig.ask(ask(Version::HTTP_11, "http://127.0.0.1/runs")).await.status,
        StatusCode::OK
    );
    assert_eq!(rig.ask(request(Method::GET, "/runs", &[], "")).await.status, StatusCode::OK);
}
