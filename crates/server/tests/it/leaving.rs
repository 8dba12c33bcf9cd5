//! Clients that leave while their change is being made durable, and changes of which nobody
//! knows whether they were made: either way what follows is the same as for anybody else.

use crate::rig::{Answer, NOOPS, Rig, request};
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use mainspring_testkit::shaky::{Fate, Fault};
use serde_json::Value;

/// Asks, and is gone before the commit is over.
async fn ask_and_leave(rig: &Rig, asked: Request<Body>) {
    rig.store.set(Fault::CommitsWait);
    tokio::select! {
        answer = rig.ask(asked) => panic!("answered before the commit: {answer:?}"),
        () = rig.store.commit_waits() => {}
    }
}

fn with_key(path: &str, body: &'static str) -> Request<Body> {
    request(Method::POST, path, &[("idempotency-key", "once")], body)
}

/// Asks until the request before with the same key is over.
async fn ask_again(rig: &Rig, path: &str, body: &'static str) -> Answer {
    loop {
        let answer = rig.ask(with_key(path, body)).await;
        if answer.status != StatusCode::CONFLICT {
            return answer;
        }
        assert_eq!(answer.code(), "key_in_flight");
        tokio::task::yield_now().await;
    }
}

async fn runs(rig: &Rig) -> Vec<Value> {
    rig.get("/runs").await.json()["items"].as_array().unwrap().clone()
}

/// A rig with two tokens of admins that are stored: how the first is called, both secrets.
async fn with_tokens() -> (Rig, String, [String; 2]) {
    let rig = Rig::new().await;
    let first = rig.post("/tokens", r#"{"name": "first", "role": "admin"}"#).await.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let secret = text(&first["secret"]);
    let second = make_token(&rig, &secret, "second").await;
    let (id, secrets) = (text(&first["id"]), [secret, text(&second["secret"])]);
    (rig, id, secrets)
}

fn by(secret: &str, method: Method, path: &str, body: String) -> Request<Body> {
    let bearer = format!("Bearer {secret}");
    request(method, path, &[("authorization", &bearer)], body)
}

/// Changes of tokens are made one after the other: those before are over when this is.
async fn make_token(rig: &Rig, secret: &str, name: &str) -> Value {
    let body = format!(r#"{{"name": "{name}", "role": "admin"}}"#);
    let made = rig.ask(by(secret, Method::POST, "/tokens", body)).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    made.json()
}

async fn status_of(rig: &Rig, secret: &str) -> StatusCode {
    rig.ask(by(secret, Method::GET, "/runs", String::new())).await.status
}

#[tokio::test]
async fn a_key_makes_one_run_however_often_its_client_leaves() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    ask_and_leave(&rig, with_key("/workflows/w/runs", "{}")).await;
    for _ in 0..2 {
        let again = rig.ask(with_key("/workflows/w/runs", "{}")).await;
        assert_eq!(again.code(), "key_in_flight", "the first is still under way");
    }
    rig.store.set(Fault::None);
    let answer = ask_again(&rig, "/workflows/w/runs", "{}").await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
    let runs = runs(&rig).await;
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["id"], answer.json()["id"]);
}

#[tokio::test]
async fn a_key_makes_one_run_when_nobody_knows_whether_it_was_made() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    rig.store.next(&[Fate::DurableButReportedFailed]);
    let lost = rig.ask(with_key("/workflows/w/runs", "{}")).await;
    assert_eq!(lost.code(), "unknown_outcome");
    let answer = ask_again(&rig, "/workflows/w/runs", "{}").await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
    assert_eq!(runs(&rig).await.len(), 1);
}

#[tokio::test]
async fn a_token_revoked_by_someone_who_left_is_revoked() {
    let (rig, id, [first, second]) = with_tokens().await;
    let revoke = by(&second, Method::DELETE, &format!("/tokens/{id}"), String::new());
    ask_and_leave(&rig, revoke).await;
    assert_eq!(status_of(&rig, &first).await, StatusCode::OK, "it is not durable yet");
    rig.store.set(Fault::None);
    make_token(&rig, &second, "third").await;
    assert_eq!(status_of(&rig, &first).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_token_whose_revocation_was_not_heard_of_is_revoked() {
    let (rig, id, [first, second]) = with_tokens().await;
    rig.store.next(&[Fate::DurableButReportedFailed]);
    let revoke = by(&second, Method::DELETE, &format!("/tokens/{id}"), String::new());
    assert_eq!(rig.ask(revoke).await.code(), "unknown_outcome");
    make_token(&rig, &second, "third").await;
    assert_eq!(status_of(&rig, &first).await, StatusCode::UNAUTHORIZED);
    rig.store.next(&[Fate::Lost]);
    let id = rig.app.tokens.bearers()[0].id;
    let revoke = by(&second, Method::DELETE, &format!("/tokens/{id}"), String::new());
    assert_eq!(rig.ask(revoke).await.code(), "unknown_outcome");
    make_token(&rig, &second, "fourth").await;
    assert_eq!(status_of(&rig, &second).await, StatusCode::OK, "nothing came of it");
}

const NEWER: &str = "name: w\ntasks:\n  a: {noop: {}}\n";

#[tokio::test]
async fn what_was_deployed_by_someone_who_left_is_what_runs() {
    for fate in [Fate::Durable, Fate::DurableButReportedFailed] {
        let rig = Rig::new().await;
        rig.run().await;
        if fate == Fate::Durable {
            ask_and_leave(&rig, with_key("/workflows", NEWER)).await;
            rig.store.set(Fault::None);
        } else {
            rig.store.next(&[fate]);
            assert_eq!(rig.ask(with_key("/workflows", NEWER)).await.code(), "unknown_outcome");
        }
        assert!(ask_again(&rig, "/workflows", NEWER).await.status.is_success());
        let run = rig.post("/workflows/w/runs", "{}").await.json();
        assert_eq!(run["version"], 2, "{fate:?}");
    }
}
