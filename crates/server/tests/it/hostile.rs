//! Requests that mean harm, or come from programs that are broken.

use crate::rig::{NOOPS, Rig, request};
use axum::body::Body;
use axum::http::{Method, StatusCode};
use futures_util::stream::{self, FuturesUnordered, StreamExt as _};
use mainspring_testkit::shaky::{FULL, Fault};

#[tokio::test]
async fn what_is_too_large_or_too_deep_is_refused() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let large = format!(r#"{{"input": {{"x": "{}"}}}}"#, "x".repeat(5 * 1024 * 1024));
    let answer = rig.post("/workflows/w/runs", &large).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large")
    );
    for depth in [100, 100_000] {
        let deep = format!(r#"{{"input": {}1{}}}"#, "[".repeat(depth), "]".repeat(depth));
        let answer = rig.post("/workflows/w/runs", &deep).await;
        assert!(answer.status.is_client_error(), "{}", answer.text);
    }
    let deep = format!("name: w\ntasks: {}", "[".repeat(100_000));
    assert_eq!(rig.deploy(&deep).await.code(), "bad_definition");
}

#[tokio::test]
async fn what_is_not_what_it_says_is_refused() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    for body in ["", "{", "[]", "null", "{\"nope\": 1}", "{\"priority\": \"x\"}", "\u{0}"] {
        let answer = rig.post("/workflows/w/runs", body).await;
        let fine = body.is_empty() && answer.status == StatusCode::ACCEPTED;
        assert!(fine || answer.code() == "bad_body", "{body:?}: {}", answer.text);
    }
    let bytes = [("content-type", "application/octet-stream")];
    let answer = rig.ask(request(Method::POST, "/workflows", &bytes, "x")).await;
    assert_eq!(answer.code(), "media_type");
    let answer = rig.ask(request(Method::POST, "/workflows/w/runs", &bytes, "x")).await;
    assert_eq!(answer.code(), "media_type");
    let yaml = [("content-type", "application/yaml")];
    let answer = rig.ask(request(Method::POST, "/workflows", &yaml, vec![0xff, 0xfe])).await;
    assert_eq!(answer.code(), "bad_definition");
}

#[tokio::test]
async fn queries_are_known_or_refused() {
    let rig = Rig::new().await;
    let id = rig.run().await;
    for query in
        ["nope=1", "limit=0", "limit=1001", "limit=-1", "limit=x", "status=nope", "since=x"]
    {
        assert_eq!(rig.get(&format!("/runs?{query}")).await.code(), "bad_query", "{query}");
    }
    for cursor in ["x", "00", "%00", "zz"] {
        assert_eq!(
            rig.get(&format!("/runs?cursor={cursor}")).await.code(),
            "bad_cursor",
            "{cursor}"
        );
    }
    assert_eq!(rig.get(&format!("/runs/{id}/tasks?status=nope")).await.code(), "bad_query");
    assert_eq!(
        rig.get(&format!("/runs/{id}/tasks/a/logs?tail=99999999")).await.code(),
        "bad_query"
    );
}

#[tokio::test]
async fn paths_lead_nowhere_else() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    for path in [
        "/..",
        "/workflows/..",
        "/workflows/../runs",
        "/workflows/%2e%2e",
        "/workflows/a%2fb",
        "/workflows/%00",
        "/runs/%ff",
        "//runs",
        "/runs/",
        "/api/v1/runs",
        "/workflows/w/runs/x",
    ] {
        let answer = rig.get(path).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        answer.code();
    }
    assert_eq!(
        rig.ask(request(Method::PATCH, "/runs", &[], "")).await.code(),
        "method_not_allowed"
    );
    assert_eq!(
        rig.ask(request(Method::DELETE, "/runs", &[], "")).await.code(),
        "method_not_allowed"
    );
}

#[tokio::test]
async fn other_sites_change_nothing() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    let evil: &[&[(&str, &str)]] = &[
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
    ];
    for headers in evil {
        let answer = rig.ask(request(Method::POST, "/workflows/w/runs", headers, "{}")).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::FORBIDDEN, "cross_origin")
        );
    }
    let rebound = [("host", "evil.example")];
    let answer = rig.ask(request(Method::GET, "/runs", &rebound, "")).await;
    assert_eq!(answer.code(), "host_refused");
    assert_eq!(rig.get("/runs").await.json()["items"], serde_json::json!([]));
    let own = [("origin", "http://127.0.0.1:8070")];
    let answer = rig.ask(request(Method::POST, "/workflows/w/runs", &own, "{}")).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.text);
}

#[tokio::test]
async fn every_answer_has_an_id_and_is_not_to_be_guessed_at() {
    let rig = Rig::new().await;
    let answer = rig.ask(request(Method::GET, "/runs", &[("x-request-id", "mine-1")], "")).await;
    assert_eq!(answer.headers["x-request-id"], "mine-1");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    let forged = rig.ask(request(Method::GET, "/runs", &[("x-request-id", "a b\"<c>")], "")).await;
    assert_ne!(forged.headers["x-request-id"], "a b\"<c>");
}

#[tokio::test]
async fn a_server_that_ends_takes_no_more_requests() {
    let rig = Rig::new().await;
    rig.app.is_ready.store(false, std::sync::atomic::Ordering::Relaxed);
    let answer = rig.get("/runs").await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, "stopping")
    );
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(rig.get("/healthz").await.status, StatusCode::OK);
    assert_eq!(rig.get("/readyz").await.code(), "stopping");
}

#[tokio::test]
async fn bodies_that_never_come_take_no_room_from_others() {
    let rig = Rig::new().await;
    let never = || Body::from_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let unfinished = |_| rig.ask(request(Method::POST, "/workflows", &[], never()));
    let mut unfinished: FuturesUnordered<_> = (0..32).map(unfinished).collect();
    let large = format!("{NOOPS}# {}\n", "x".repeat(100_000));
    let chunked = stream::iter([Ok::<_, std::io::Error>(large)]);
    let asked = rig.ask(request(Method::POST, "/workflows", &[], Body::from_stream(chunked)));
    tokio::select! {
        // These first: they are under way when the one that is whole comes.
        biased;
        answer = unfinished.next() => panic!("answered without a body: {answer:?}"),
        answer = asked => assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text),
    }
}

/// Whoever asks is told why, and hears of the recovery although nobody commits anything.
#[tokio::test]
async fn a_full_disk_is_not_ready_and_recovers_by_itself() {
    let rig = Rig::new().await;
    rig.deploy(NOOPS).await;
    assert_eq!(rig.get("/readyz").await.status, StatusCode::OK);
    rig.store.set(Fault::Full);
    let refused = rig.post("/workflows/w/runs", "{}").await;
    assert_eq!(refused.code(), "unknown_outcome");
    let answer = rig.get("/readyz").await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.text.contains(FULL), "{}", answer.text);
    rig.store.set(Fault::None);
    rig.app.engine.loaded().await;
    assert_eq!(rig.get("/readyz").await.status, StatusCode::OK);
}
