//! `POST /runs/{id}/signal`: a key and a value for whatever waits for it.

use crate::app::App;
use crate::auth::who::{Operator, Who};
use crate::change::Held;
use crate::extract::{Body, Path};
use crate::find::run_id;
use crate::idempotency::{Claim, IdempotencyKeyHeader, Turn, claim};
use crate::length::fits;
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::RunId;
use mainspring_core::json::Json as RawJson;
use mainspring_core::limits::{SIGNAL_BYTES_MAX, SIGNAL_KEY_CHARS_MAX};
use mainspring_core::view::shapes::RunView;
use mainspring_core::world::input::{Command, Input, Order, Signal};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType};

/// What a run is told.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalBody {
    /// What waits for a signal names it.
    #[schema(value_type = String, min_length = 1, max_length = 128)]
    key: Arc<str>,
    /// Becomes the output of what waits for it; null if not said. At most 64 KiB.
    #[serde(default)]
    #[schema(schema_with = any)]
    value: Option<RawJson>,
}

fn any() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .description(Some(
            "Becomes the output of what waits for it; null if not said. At most 64 KiB.",
        ))
        .build()
}

/// Sends a signal to a run that is not final. It is kept if nothing waits for it yet.
#[utoipa::path(post, path = "/runs/{id}/signal", operation_id = "signalRun", tag = "runs",
    params(("id" = RunId, Path), IdempotencyKeyHeader),
    request_body = SignalBody,
    responses((status = 200, body = RunView)))]
pub async fn signal(
    State(app): State<App>,
    Operator(who): Operator,
    Path(id): Path<String>,
    key: IdempotencyKeyHeader,
    body: Body,
) -> Result<Json<RunView>, Problem> {
    let run = run_id(&id)?;
    let route = format!("signal {run}");
    match claim(&app, &who, &key, (&route, &body.bytes)).await? {
        Turn::Again(_) => {}
        Turn::New(claim) => send(&app, &who, (run, body.json()?), claim).await?,
    }
    Ok(Json(app.found(run).await?.show().0))
}

async fn send(
    app: &App,
    who: &Who,
    (run, body): (RunId, SignalBody),
    claim: Option<Claim>,
) -> Result<(), Problem> {
    let SignalBody { key, value } = body;
    if key.is_empty() || !fits(&key, SIGNAL_KEY_CHARS_MAX) {
        let detail = format!("key: from 1 to {SIGNAL_KEY_CHARS_MAX} characters");
        return Err(Problem::new(Code::BadBody, detail));
    }
    let value = value.unwrap_or_else(RawJson::null);
    if value.as_str().len() > SIGNAL_BYTES_MAX {
        let detail = format!("value: at most {SIGNAL_BYTES_MAX} bytes; put it in a file");
        return Err(Problem::new(Code::BadBody, detail));
    }
    let record = who.record_with("run.signal", format!("run {run} key {key}"), claim.as_ref());
    let order = Order::Signal(Signal { key, value });
    let command = Command { run, order, by: who.name.to_string() };
    let held = Held { claim, ..Held::default() };
    app.submit(record, Input::Command(command), held).await.map(drop)
}
