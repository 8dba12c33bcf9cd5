//! `/healthz`, `/readyz`, `/metrics`: for whoever runs the server.

use crate::app::App;
use crate::problem::{Code, Problem};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A store that answered is not asked again for so long: the question costs a write on its disk,
/// and probes come often.
const ANSWER_HOLDS: Duration = Duration::from_secs(10);

/// When the store last answered, and how often it had failed by then.
#[derive(Debug, Default)]
pub struct Pulse(Mutex<Option<(Instant, u64)>>);

impl Pulse {
    async fn feel(&self, app: &App) -> Result<(), Problem> {
        let failures = app.hub.counts.store_failures.load(Ordering::Relaxed);
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let holds =
            |(at, before): (Instant, u64)| before == failures && at.elapsed() < ANSWER_HOLDS;
        if last.is_some_and(holds) {
            return Ok(());
        }
        app.store.ping().await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), failures));
        Ok(())
    }
}

/// The process answers.
#[utoipa::path(get, path = "/healthz", operation_id = "alive", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// The server takes work: it is not shutting down, and its store answers. After the store has
/// failed, that is found out by asking it, not by the next commit of somebody else.
#[utoipa::path(get, path = "/readyz", operation_id = "ready", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn readyz(State(app): State<App>) -> Result<&'static str, Problem> {
    if !app.is_ready.load(Ordering::Relaxed) {
        return Err(Problem::new(Code::Stopping, "no new work is taken"));
    }
    // Nothing is decided before everything is loaded again, even if the store answers by now.
    if !app.engine.is_loaded() {
        let why = app.hub.trouble();
        let detail = format!("it failed, and what it holds is being loaded again: {why}");
        return Err(Problem::new(Code::StoreUnavailable, detail));
    }
    app.pulse.feel(&app).await?;
    Ok("ready\n")
}

/// Figures for Prometheus.
#[utoipa::path(get, path = "/metrics", operation_id = "metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain; version=0.0.4")))]
pub async fn metrics(
    State(app): State<App>,
    crate::auth::who::Viewer(_): crate::auth::who::Viewer,
) -> impl IntoResponse {
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text(&app.hub))
}
