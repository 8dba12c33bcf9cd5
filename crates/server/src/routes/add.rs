//! `POST /runs/{id}/tasks`: tasks are added to a run that lives.

use super::deploy::{bad_definition, check_media_type, fault};
use crate::app::App;
use crate::auth::who::{Admin, Who};
use crate::change::Held;
use crate::extract::{Body, Path};
use crate::find::{Found, run_id};
use crate::idempotency::{Claim, IdempotencyKeyHeader, Turn, claim};
use crate::problem::{Fault, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use mainspring_core::ids::RunId;
use mainspring_core::spec::{Added, Context, RunSoFar, ServerTiers, parse_added_bytes};
use mainspring_core::view::shapes::RunView;
use mainspring_core::world::input::{Addition, Command, Input, Order, Refusal};
use mainspring_engine::definitions::additions;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A run that tasks were added to.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AddedView {
    #[serde(flatten)]
    pub run: RunView,
    /// What is allowed and probably not meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub warnings: Vec<Fault>,
}

/// Adds tasks to a run that is not final.
#[utoipa::path(post, path = "/runs/{id}/tasks", operation_id = "addTasks", tag = "runs",
    request_body(content((String = "application/yaml"), (serde_json::Value = "application/json"))),
    params(("id" = RunId, Path), IdempotencyKeyHeader),
    responses((status = 201, body = AddedView, description = "they are there")))]
pub async fn add(
    State(app): State<App>,
    Admin(who): Admin,
    Path(id): Path<String>,
    key: IdempotencyKeyHeader,
    body: Body,
) -> Result<(StatusCode, Json<AddedView>), Problem> {
    let run = run_id(&id)?;
    check_media_type(&body)?;
    let warnings = match claim(&app, &who, &key, (&format!("add {run}"), &body.bytes)).await? {
        Turn::Again(_) => Vec::new(),
        Turn::New(claim) => carry_out(&app, &who, (run, &body), claim).await?,
    };
    let (run, _) = app.found(run).await?.show();
    Ok((StatusCode::CREATED, Json(AddedView { run, warnings })))
}

/// One addition at a time: each is checked against what those before it have made of the run.
async fn carry_out(
    app: &App,
    who: &Who,
    (run, body): (RunId, &Body),
    claim: Option<Claim>,
) -> Result<Vec<Fault>, Problem> {
    let turn = app.turn_to_add().await?;
    let found = app.found(run).await?;
    let status = found.run.progress.status;
    if status.is_final() {
        return Err(Refusal::RunIs(status).into());
    }
    let (after, definition) = (found.run.progress.additions, Arc::clone(&found.definition));
    let Added { tasks, warnings } = read(app, found, body).await?;
    let record = who.record_with(
        "run.add_tasks",
        format!("run {run}, {} tasks", tasks.len()),
        claim.as_ref(),
    );
    let definition = Arc::new(definition.extended(tasks));
    let addition = Addition { text: body.text()?.into(), definition, after };
    let order = Order::Add(Box::new(addition));
    let command = Command { run, order, by: who.name.to_string() };
    let held = Held { claim, turn: Some(turn) };
    app.submit(record, Input::Command(command), held).await?;
    Ok(warnings.iter().map(fault).collect())
}

async fn read(app: &App, found: Found, body: &Body) -> Result<Added, Problem> {
    let rows = additions(&*app.store, &found.run.head, &found.run.progress).await?;
    let added_bytes = rows.iter().map(|row| row.text.len()).sum();
    let (bytes, tiers) = (body.bytes.clone(), app.server_tiers().await?);
    let parse = move || {
        let context = Context { server_tiers: ServerTiers::Known(&tiers) };
        let text = &*found.version.row.text;
        let run = RunSoFar { text, definition: &found.definition, added_bytes };
        parse_added_bytes(&bytes, run, &context)
    };
    app.room.compute(parse).await?.map_err(|found| bad_definition(&found))
}
