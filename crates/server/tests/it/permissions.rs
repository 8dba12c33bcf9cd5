//! Every route against every kind of caller, from the OpenAPI file itself: a route that is
//! forgotten here cannot be forgotten there.

use crate::rig::{Rig, request};
use axum::http::{Method, StatusCode};
use mainspring_core::kernel::record::Role;
use mainspring_core::time::Timestamp;
use mainspring_server::routes::router::described;

/// Routes that ask for no token.
const OPEN: &[(&str, &str)] = &[("get", "/healthz"), ("get", "/readyz"), ("post", "/session")];
/// What needs the role admin; other changes need operator, everything else viewer.
const ADMIN: &[(&str, &str)] = &[
    ("post", "/runs/{id}/tasks"),
    ("post", "/workflows"),
    ("delete", "/workflows/{name}"),
    ("get", "/tokens"),
    ("post", "/tokens"),
    ("delete", "/tokens/{id}"),
    ("get", "/audit"),
];

fn routes() -> Vec<(String, String)> {
    let api = serde_json::to_value(described().1).unwrap();
    let mut routes = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            if ["get", "post", "put", "delete", "patch"].contains(&method.as_str()) {
                routes.push((method.clone(), path.clone()));
            }
        }
    }
    assert!(routes.len() >= 27, "{routes:?}");
    routes
}

fn needed(method: &str, path: &str) -> Role {
    match (method, path) {
        route if ADMIN.contains(&route) => Role::Admin,
        ("get", _) | (_, "/session") => Role::Viewer,
        _ => Role::Operator,
    }
}

fn concrete(path: &str) -> String {
    path.replace("{id}", "00000000-0000-7000-8000-000000000000")
        .replace("{name}", "w")
        .replace("{number}", "1")
}

async fn status(rig: &Rig, (method, path): &(String, String), secret: Option<&str>) -> StatusCode {
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
    let bearer = secret.map(|secret| format!("Bearer {secret}"));
    let headers: Vec<(&str, &str)> =
        bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    // Streams are not read to their end: their head is enough.
    rig.send(request(method, &concrete(path), &headers, "")).await.status()
}

#[tokio::test]
async fn nobody_gets_in_without_a_token() {
    let (rig, _) = Rig::guarded().await;
    let expired = rig.token(Role::Admin, Some(Timestamp(1)));
    for route in routes() {
        if OPEN.contains(&(route.0.as_str(), route.1.as_str())) {
            continue;
        }
        let forged = format!("mst_{}", "0".repeat(64));
        for secret in [None, Some("x"), Some(forged.as_str()), Some(expired.as_str())] {
            let status = status(&rig, &route, secret).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{route:?} with {secret:?}");
        }
    }
}

#[tokio::test]
async fn each_role_may_do_what_it_may_and_no_more() {
    let (rig, secrets) = Rig::guarded().await;
    for route in routes() {
        if OPEN.contains(&(route.0.as_str(), route.1.as_str())) {
            continue;
        }
        let needed = needed(&route.0, &route.1);
        for (role, secret) in [Role::Viewer, Role::Operator, Role::Admin].into_iter().zip(&secrets)
        {
            let status = status(&rig, &route, Some(secret)).await;
            let refused = status == StatusCode::FORBIDDEN;
            assert_eq!(refused, role < needed, "{route:?} as {}: {status}", role.word());
            assert!(!status.is_server_error(), "{route:?}: {status}");
        }
    }
}

#[tokio::test]
async fn a_browser_trades_a_token_for_a_cookie_and_gives_it_back() {
    let (rig, [viewer, ..]) = Rig::guarded().await;
    let json = [("content-type", "application/json")];
    let body = format!(r#"{{"token": "{viewer}"}}"#);
    let answer = rig.ask(request(Method::POST, "/session", &json, body)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let cookie = answer.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!answer.text.contains(&viewer) && !cookie.contains(&viewer));
    let pair = cookie.split(';').next().unwrap();
    let with_cookie = |method, path| request(method, path, &[("cookie", pair)], "");
    assert_eq!(rig.ask(with_cookie(Method::GET, "/runs")).await.status, StatusCode::OK);
    let gone = rig.ask(with_cookie(Method::DELETE, "/session")).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    let after = rig.ask(with_cookie(Method::GET, "/runs")).await;
    assert_eq!(after.status, StatusCode::UNAUTHORIZED);
    let wrong = rig.ask(request(Method::POST, "/session", &json, r#"{"token": "x"}"#)).await;
    assert_eq!(wrong.code(), "unauthorized");
}

#[tokio::test]
async fn tokens_are_made_listed_and_revoked() {
    let rig = Rig::new().await;
    let made = rig.post("/tokens", r#"{"name": "ci", "role": "operator"}"#).await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.text);
    let made = made.json();
    let bearer = format!("Bearer {}", made["secret"].as_str().unwrap());
    let with = |method, path: &str| request(method, path, &[("authorization", &bearer)], "");
    assert_eq!(rig.ask(with(Method::GET, "/runs")).await.status, StatusCode::OK);
    assert_eq!(rig.get("/runs").await.code(), "unauthorized", "from now on a token is needed");
    let admin = format!("Bearer {}", rig.token(Role::Admin, None));
    let as_admin = |method, path: &str| request(method, path, &[("authorization", &admin)], "");
    let listed = rig.ask(as_admin(Method::GET, "/tokens")).await;
    assert!(!listed.text.contains("mst_"), "secrets are shown once");
    let path = format!("/tokens/{}", made["id"].as_str().unwrap());
    assert_eq!(rig.ask(as_admin(Method::DELETE, &path)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(rig.ask(with(Method::GET, "/runs")).await.code(), "unauthorized");
    assert_eq!(rig.ask(as_admin(Method::DELETE, &path)).await.code(), "token_not_found");
}
