//! What is made sure of about tokens: a way in is left, nobody is taken for another, and whoever
//! may no longer listen is not told any more.

use crate::rig::{NOOPS, Rig, request};
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, StatusCode};
use futures_util::StreamExt as _;
use mainspring_core::kernel::record::Role;
use mainspring_core::time::Timestamp;
use mainspring_server::auth::sessions::SESSIONS_MAX;
use mainspring_server::auth::who::Peer;
use mainspring_store::Store as _;
use tower::ServiceExt as _;

fn by(secret: &str, method: Method, path: &str, body: &'static str) -> Request<Body> {
    let bearer = format!("Bearer {secret}");
    request(method, path, &[("authorization", &bearer)], body)
}

fn path_of(rig: &Rig, name: &str) -> String {
    let rows = rig.app.tokens.bearers();
    format!("/tokens/{}", rows.iter().find(|row| &*row.name == name).unwrap().id)
}

#[tokio::test]
async fn a_server_that_others_can_reach_never_opens_by_losing_tokens() {
    let rig = Rig::exposed().await;
    assert_eq!(rig.get("/runs").await.code(), "unauthorized", "there was never one");
    let viewer = rig.token(Role::Viewer, None);
    let admin = rig.token(Role::Admin, None);
    rig.token(Role::Admin, Some(Timestamp(1)));
    let revoke = |name| by(&admin, Method::DELETE, &path_of(&rig, name), "");
    let own = rig.app.tokens.bearers();
    let own = own.iter().find(|row| row.role == Role::Admin && row.expires_at.is_none()).unwrap();
    let own = format!("/tokens/{}", own.id);
    let refused = rig.ask(by(&admin, Method::DELETE, &own, "")).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "last_admin"));
    assert_eq!(rig.ask(revoke("viewer")).await.status, StatusCode::NO_CONTENT);
    assert_eq!(rig.ask(by(&viewer, Method::GET, "/runs", "")).await.code(), "unauthorized");
    let second = r#"{"name": "second", "role": "admin"}"#;
    assert_eq!(rig.ask(by(&admin, Method::POST, "/tokens", second)).await.status, 201);
    assert_eq!(rig.ask(by(&admin, Method::DELETE, &own, "")).await.status, 204);
    assert_eq!(rig.get("/runs").await.code(), "unauthorized");
}

#[tokio::test]
async fn on_the_own_machine_the_last_token_may_go() {
    let rig = Rig::new().await;
    let admin = rig.token(Role::Admin, None);
    let revoked = rig.ask(by(&admin, Method::DELETE, &path_of(&rig, "admin"), "")).await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT, "{}", revoked.text);
    assert_eq!(rig.get("/runs").await.status, StatusCode::OK);
}

#[tokio::test]
async fn no_two_tokens_have_one_name_at_a_time_and_records_tell_them_apart() {
    let rig = Rig::new().await;
    let admin = rig.token(Role::Admin, None);
    let make = async |body| rig.ask(by(&admin, Method::POST, "/tokens", body)).await;
    for reserved in [
        r#"{"name": "owner", "role": "admin"}"#,
        r#"{"name": "anonymous", "role": "admin"}"#,
        r#"{"name": "checkpoint build", "role": "admin"}"#,
    ] {
        assert_eq!(make(reserved).await.code(), "name_taken");
    }
    let ci = r#"{"name": "ci", "role": "admin"}"#;
    let first = make(ci).await.json();
    assert_eq!(make(ci).await.code(), "name_taken");
    let path = format!("/tokens/{}", first["id"].as_str().unwrap());
    assert_eq!(rig.ask(by(&admin, Method::DELETE, &path, "")).await.status, 204);
    let second = make(ci).await.json();
    let secret = second["secret"].as_str().unwrap();
    assert_eq!(rig.ask(by(secret, Method::POST, "/workflows", NOOPS)).await.status, 201);
    let audit = rig.ask(by(&admin, Method::GET, "/audit", "")).await.json();
    let by = audit["items"][0]["by"].as_str().unwrap();
    assert_eq!(by, format!("ci (token {})", second["id"].as_str().unwrap()));
}

#[tokio::test]
async fn a_key_is_refused_where_the_answer_is_given_once() {
    let rig = Rig::new().await;
    let body = r#"{"name": "ci", "role": "admin"}"#;
    let keyed = request(Method::POST, "/tokens", &[("idempotency-key", "k")], body);
    assert_eq!(rig.ask(keyed).await.code(), "bad_request");
    assert!(!rig.app.tokens.are_there());
}

/// The streams are read to their ends, which only come because the token goes.
#[tokio::test]
async fn streams_end_with_the_token_they_were_opened_with() {
    let (rig, _hand) = Rig::at_work().await;
    let admin = rig.token(Role::Admin, None);
    let viewer = rig.token(Role::Viewer, None);
    rig.ask(by(&admin, Method::POST, "/workflows", "name: w\ntasks: {a: {run: x}}\n")).await;
    let run = rig.ask(by(&admin, Method::POST, "/workflows/w/runs", "{}")).await.json();
    let logs = format!("/runs/{}/tasks/a/logs?follow=true", run["id"].as_str().unwrap());
    let events = rig.send(by(&viewer, Method::GET, "/events", "")).await;
    let logs = rig.send(by(&viewer, Method::GET, &logs, "")).await;
    assert_eq!((events.status(), logs.status()), (StatusCode::OK, StatusCode::OK));
    let revoke = by(&admin, Method::DELETE, &path_of(&rig, "viewer"), "");
    assert_eq!(rig.ask(revoke).await.status, StatusCode::NO_CONTENT);
    let heard = to_bytes(events.into_body(), usize::MAX).await.unwrap();
    assert!(!heard.windows(9).any(|part| part == b"event:run"));
    to_bytes(logs.into_body(), usize::MAX).await.unwrap();
}

/// They were let in because no token was asked for. The owner's stream goes on.
#[tokio::test]
async fn streams_opened_without_a_token_end_when_there_is_one() {
    let (rig, _hand) = Rig::at_work().await;
    rig.deploy("name: w\ntasks: {a: {run: x}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let logs = format!("/runs/{}/tasks/a/logs?follow=true", run["id"].as_str().unwrap());
    let owner = Peer { address: "socket".into(), is_owner: true };
    let mut own = request(Method::GET, "/events", &[], "");
    own.extensions_mut().insert(ConnectInfo(owner));
    let own = rig.router.clone().oneshot(own).await.unwrap();
    let mut own = own.into_body().into_data_stream();
    let events = rig.send(request(Method::GET, "/events", &[], "")).await;
    let logs = rig.send(request(Method::GET, &logs, &[], "")).await;
    assert_eq!((events.status(), logs.status()), (StatusCode::OK, StatusCode::OK));
    let made = rig.post("/tokens", r#"{"name": "first", "role": "admin"}"#).await;
    let secret = made.json()["secret"].as_str().unwrap().to_owned();
    to_bytes(events.into_body(), usize::MAX).await.unwrap();
    to_bytes(logs.into_body(), usize::MAX).await.unwrap();
    let mut heard = String::new();
    rig.ask(by(&secret, Method::POST, "/workflows/w/runs", "{}")).await;
    while !heard.contains("event: run\n") {
        let part = own.next().await.expect("it goes on").unwrap();
        heard.push_str(std::str::from_utf8(&part).unwrap());
    }
}

#[tokio::test]
async fn sessions_of_a_token_are_bounded_and_those_that_are_over_go() {
    let rig = Rig::new().await;
    let admin = rig.token(Role::Admin, None);
    let login = async || {
        let json = [("content-type", "application/json")];
        let body = format!(r#"{{"token": "{admin}"}}"#);
        let answer = rig.ask(request(Method::POST, "/session", &json, body)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned()
    };
    let with = async |cookie: &str| {
        rig.ask(request(Method::GET, "/runs", &[("cookie", cookie)], "")).await.status
    };
    let first = login().await;
    let second = login().await;
    for _ in 2..SESSIONS_MAX {
        login().await;
    }
    assert_eq!(with(&first).await, StatusCode::OK);
    login().await;
    assert_eq!(with(&first).await, StatusCode::UNAUTHORIZED, "the oldest went");
    assert_eq!(with(&second).await, StatusCode::OK);
    let stored = rig.store.memory.tokens().await.unwrap();
    assert_eq!(stored.len(), SESSIONS_MAX, "the token itself is only in memory here");
    let last = stored.iter().map(|row| row.expires_at.unwrap()).max().unwrap();
    let over = rig.app.tokens.ended_sessions(last);
    assert_eq!(over.len(), SESSIONS_MAX);
    rig.app.end_sessions(over).await.unwrap();
    assert_eq!(with(&second).await, StatusCode::UNAUTHORIZED);
    assert!(rig.store.memory.tokens().await.unwrap().is_empty());
}
