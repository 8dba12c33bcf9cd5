//! A server that carries on one run: everything can be looked at, and only that run changed.

use crate::rig::{NOOPS, Rig};
use axum::http::StatusCode;
use mainspring_core::ids::RunId;
use mainspring_server::Scope;

#[tokio::test]
async fn only_the_one_run_is_changed() {
    let run = RunId::from_bytes([7; 16]);
    let rig = Rig::within(Scope::OneRun(run)).await;
    let refused = [
        rig.deploy(NOOPS).await,
        rig.post(&format!("/runs/{}/cancel", RunId::from_bytes([8; 16])), "").await,
        rig.post("/tokens", r#"{"name": "x", "role": "viewer"}"#).await,
    ];
    for answer in refused {
        assert_eq!(answer.code(), "one_run");
        assert_eq!(answer.status, StatusCode::CONFLICT);
        assert!(answer.text.contains(&run.to_string()), "{}", answer.text);
    }
    let own = rig.post(&format!("/runs/{run}/cancel"), "").await;
    assert_eq!(own.code(), "run_not_found", "asked of the engine");
    assert_eq!(rig.get("/runs").await.status, StatusCode::OK);
    assert_eq!(rig.get("/workflows").await.status, StatusCode::OK);
}
