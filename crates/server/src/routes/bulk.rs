//! `POST /runs/bulk`: one action on many runs. `GET /runs/bulk/{id}`: how far it is.

use crate::app::App;
use crate::auth::who::{Operator, Viewer};
use crate::bulk::begin::missing;
use crate::bulk::filter::BulkBody;
use crate::bulk::told::follow;
use crate::bulk::view::BulkView;
use crate::config::Scope;
use crate::events::stream::Heard;
use crate::extract::{Body, Path, Query};
use crate::idempotency::{IdempotencyKeyHeader, Turn, claim};
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use mainspring_core::ids::BulkId;
use mainspring_core::kernel::record::KeyAnswer;
use mainspring_core::time::Timestamp;
use mainspring_core::view::shapes::{RunView, run_listed};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// What would be done.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BulkPreview {
    pub matched: u64,
    /// The newest of them, at most 20.
    pub first: Vec<RunView>,
    /// Runs accepted from this moment on are not among them: said as `until` of the filter, it
    /// keeps out what came since.
    pub until: Timestamp,
}

/// What keys are told apart by; not that of the orders on its runs, whose keys nobody else names.
const ROUTE: &str = "runs bulk";

/// Does something to all runs that a filter names. It is stored before it is answered, and goes on
/// when the server is started anew.
#[utoipa::path(post, path = "/runs/bulk", operation_id = "bulkRuns", tag = "runs",
    params(IdempotencyKeyHeader), request_body = BulkBody,
    responses((status = 202, body = BulkView, description = "it is at work"),
        (status = 200, body = BulkPreview, description = "with `dry_run`: nothing was done")))]
pub async fn start(
    State(app): State<App>,
    Operator(who): Operator,
    key: IdempotencyKeyHeader,
    body: Body,
) -> Result<Response, Problem> {
    let asked: BulkBody = body.json()?;
    asked.check()?;
    if asked.dry_run {
        let meant = app.meant(&asked).await?;
        let first = meant.first.iter().map(|(head, progress)| run_listed(head, progress)).collect();
        let (matched, until) = (meant.count(), meant.until);
        return Ok(Json(BulkPreview { matched, first, until }).into_response());
    }
    if let Scope::OneRun(run) = app.config.scope {
        let detail = format!("`mainspring run` is at work here, on run {run} and on nothing else");
        return Err(Problem::new(Code::OneRun, detail));
    }
    let bulk = match claim(&app, &who, &key, (ROUTE, &body.bytes)).await? {
        Turn::Again(KeyAnswer::Bulk(bulk)) => bulk,
        Turn::Again(_) => return Err(Problem::new(Code::KeyReused, "it was no such request's")),
        Turn::New(claim) => app.begin_bulk(&who, &asked, claim).await?,
    };
    let view = app.bulk(bulk).await?.borrow().clone();
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BulkQuery {
    /// `true`: as server-sent events, until it is over.
    #[param(value_type = Option<String>, pattern = "^(true|false)?$")]
    follow: Option<bool>,
}

/// Shows how far a request on many runs has come. One that is over is known for seven days.
#[utoipa::path(get, path = "/runs/bulk/{bulk}", operation_id = "getBulk", tag = "runs",
    params(("bulk" = String, Path, description = "`id` of the answer to the request"), BulkQuery),
    responses((status = 200, description = "how far it is, or events `progress`",
        content((BulkView = "application/json"), (Heard = "text/event-stream")))))]
pub async fn get(
    State(app): State<App>,
    Viewer(who): Viewer,
    Path(id): Path<String>,
    Query(query): Query<BulkQuery>,
) -> Result<Response, Problem> {
    let id: BulkId = id.parse().map_err(|_| missing())?;
    let progress = app.bulk(id).await?;
    match query.follow {
        Some(true) => follow(app, who, progress),
        _ => Ok(Json(progress.borrow().clone()).into_response()),
    }
}
