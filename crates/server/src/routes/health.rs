//! `/healthz`, `/readyz`, `/metrics`: for whoever runs the server.

use crate::app::App;
use crate::problem::{Code, Problem};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use std::sync::atomic::Ordering;

/// The process answers.
#[utoipa::path(get, path = "/healthz", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// The server takes work: it is not shutting down, and its store answers.
#[utoipa::path(get, path = "/readyz", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain"), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn readyz(State(app): State<App>) -> Result<&'static str, Problem> {
    if !app.is_ready.load(Ordering::Relaxed) {
        return Err(Problem::new(Code::Stopping, "no new work is taken"));
    }
    app.store.ping().await?;
    Ok("ready\n")
}

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain; version=0.0.4"), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn metrics(
    State(app): State<App>,
    crate::auth::who::Viewer(_): crate::auth::who::Viewer,
) -> impl IntoResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text(&app.hub))
}
