//! Idempotency keys.

use crate::rig::{Answer, NOOPS, Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::kernel::record::Role;
use mainspring_server::auth::who::{Pass, Who};
use mainspring_server::idempotency::{IdempotencyKeyHeader, Turn, claim};

async fn trigger(rig: &Rig, key: &str, body: &'static str) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    rig.ask(request(Method::POST, "/workflows/w/runs", &headers, body)).await
}

#[tokio::test]
async fn the_same_request_gets_the_same_run() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let first = trigger(&rig, "k", "{}").await;
    let again = trigger(&rig, "k", "{}").await;
    assert_eq!((first.status, again.status), (StatusCode::ACCEPTED, StatusCode::ACCEPTED));
    assert_eq!(first.json()["id"], again.json()["id"]);
    let other = trigger(&rig, "other", "{}").await;
    assert_ne!(first.json()["id"], other.json()["id"]);
    let reused = trigger(&rig, "k", r#"{"priority": 1}"#).await;
    assert_eq!(
        (reused.status, reused.code().as_str()),
        (StatusCode::UNPROCESSABLE_ENTITY, "key_reused")
    );
    assert_eq!(rig.get("/runs").await.json()["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_key_whose_request_is_under_way_is_refused() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let who = Who {
        name: "anonymous".into(),
        role: Role::Admin,
        token: None,
        pass: Pass::Nothing,
        from: "127.0.0.1".into(),
    };
    let headers = [("idempotency-key".parse().unwrap(), "k".parse().unwrap())];
    let headers = axum::http::HeaderMap::from_iter(headers);
    let key = IdempotencyKeyHeader::read(&headers).unwrap();
    let held = claim(&rig.app, &who, &key, ("trigger w", b"{}")).await.unwrap();
    assert!(matches!(held, Turn::New(Some(_))));
    let refused = trigger(&rig, "k", "{}").await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "key_in_flight"));
    drop(held);
    assert_eq!(trigger(&rig, "k", "{}").await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn the_same_deploy_gets_the_same_answer_whatever_was_deployed_since() {
    let rig = Rig::new().await;
    let deploy = async |key: &str, text: &'static str| {
        let headers = [("content-type", "application/yaml"), ("idempotency-key", key)];
        rig.ask(request(Method::POST, "/workflows", &headers, text)).await
    };
    let first = deploy("1", NOOPS).await;
    assert_eq!(deploy("2", "name: w\ntasks:\n  a: {noop: {}}\n").await.json()["version"], 2);
    let again = deploy("1", NOOPS).await;
    assert_eq!((first.status, again.status), (StatusCode::CREATED, StatusCode::CREATED));
    assert_eq!(first.json(), again.json());
    assert_eq!(rig.delete("/workflows/w").await.status, StatusCode::NO_CONTENT);
    assert_eq!(first.json(), deploy("1", NOOPS).await.json(), "hidden since");
}

#[tokio::test]
async fn an_order_under_one_key_is_carried_out_once_and_answered_alike() {
    let (rig, _hand) = Rig::at_work().await;
    rig.deploy("name: w\ntasks:\n  a: {run: x}\n  b: {approval: {message: go}}\n").await;
    let run = rig.post("/workflows/w/runs", "{}").await.json();
    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    let ask = async |key: &str, order: &str, body: &'static str| {
        let headers = [("idempotency-key", key)];
        rig.ask(request(Method::POST, &format!("{path}/{order}"), &headers, body)).await
    };
    while rig.get(&format!("{path}/tasks/b")).await.json()["status"] != "waiting" {
        tokio::task::yield_now().await;
    }
    // Each of them does not apply a second time.
    let orders = [
        "tasks/b/pause",
        "tasks/b/resume",
        "tasks/b/approve",
        "pause",
        "resume",
        "tasks/a/cancel?force=true",
        "tasks/a/retry",
        "cancel",
    ];
    for (no, order) in orders.into_iter().enumerate() {
        let key = format!("k{no}");
        let first = ask(&key, order, "").await;
        assert_eq!(first.status, StatusCode::OK, "{order}: {}", first.text);
        let again = ask(&key, order, "").await;
        assert_eq!((again.status, again.json()), (StatusCode::OK, first.json()), "{order}");
        let other = ask(&format!("other {no}"), order, "").await;
        assert_eq!(other.status, StatusCode::CONFLICT, "{order}: {}", other.text);
    }
    let reused = ask("k2", "tasks/b/approve", r#"{"comment": "x"}"#).await;
    assert_eq!(reused.code(), "key_reused");
    let audit = rig.get("/audit").await.json();
    let of_orders = |item: &&serde_json::Value| {
        let action = item["action"].as_str().unwrap();
        action.starts_with("task.") || ["run.pause", "run.resume", "run.cancel"].contains(&action)
    };
    let told = audit["items"].as_array().unwrap().iter().filter(of_orders).count();
    assert_eq!(told, orders.len(), "{audit}");
}

#[tokio::test]
async fn a_refused_request_does_not_use_up_its_key() {
    let rig = Rig::new().await;
    assert_eq!(trigger(&rig, "k", "{}").await.code(), "workflow_not_found");
    rig.deploy(NOOPS).await;
    assert_eq!(trigger(&rig, "k", "{}").await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn keys_have_a_form() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    for wrong in ["", "a\tb"] {
        assert_eq!(trigger(&rig, wrong, "{}").await.code(), "bad_request", "{wrong:?}");
    }
    assert_eq!(trigger(&rig, &"k".repeat(256), "{}").await.code(), "bad_request");
}

/// Before the body is read, so that no way through an operation passes it over.
#[tokio::test]
async fn every_operation_that_takes_a_key_checks_its_form() {
    let rig = Rig::new().await;
    let api = rig.get("/openapi.json").await.json();
    let mut taking = 0;
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let parameters = operation["parameters"].as_array();
            let takes = |it: &serde_json::Value| it["name"] == "Idempotency-Key";
            if !parameters.is_some_and(|all| all.iter().any(takes)) {
                continue;
            }
            taking += 1;
            let path = path.replace("{id}", "nope").replace("{name}", "nope");
            let method: Method = method.to_uppercase().parse().unwrap();
            for key in ["", "a\tb", &"k".repeat(256)] {
                let headers = [("idempotency-key", key)];
                let asked = request(method.clone(), &path, &headers, r#"{"nope": 1}"#);
                let refused = rig.ask(asked).await;
                assert_eq!(refused.code(), "bad_request", "{path} {key:?}: {}", refused.text);
                assert!(refused.text.contains("Idempotency-Key"), "{path}: {}", refused.text);
            }
        }
    }
    assert!(taking > 10, "the file declares the header of {taking}");
}

/// What is given only once cannot be answered again: the key is refused, not passed over.
#[tokio::test]
async fn a_key_is_refused_where_the_answer_holds_a_secret() {
    let rig = Rig::new().await;
    let secret = rig.token(Role::Admin, None);
    let bearer = format!("Bearer {secret}");
    let headers = [("authorization", bearer.as_str()), ("idempotency-key", "k")];
    let session = format!(r#"{{"token": "{secret}"}}"#);
    let token = r#"{"name": "n", "role": "viewer"}"#.to_owned();
    for (path, body) in [("/session", session), ("/tokens", token)] {
        let refused = rig.ask(request(Method::POST, path, &headers, body.clone())).await;
        assert_eq!(refused.code(), "bad_request", "{path}");
        assert!(refused.text.contains("Idempotency-Key"), "{}", refused.text);
        let taken = rig.ask(request(Method::POST, path, &headers[..1], body)).await;
        assert!(taken.status.is_success(), "{path}: {}", taken.text);
    }
}
