//! `POST /workflows/{name}/runs`: a run is accepted.

use crate::app::App;
use crate::auth::who::{Operator, Who};
use crate::change::Held;
use crate::definitions::{Version, deleted};
use crate::extract::{Body, Path};
use crate::idempotency::{Claim, IdempotencyKeyHeader, Turn, claim};
use crate::length::{LABEL_CHARS_MAX, fits};
use crate::problem::{Code, Problem};
use crate::whole::{whole, whole_or_none};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use mainspring_core::evaluate::group_key;
use mainspring_core::ids::RunId;
use mainspring_core::json::Json as RawJson;
use mainspring_core::kernel::record::KeyAnswer;
use mainspring_core::limits::{LABELS_MAX, PRIORITY_MAX};
use mainspring_core::view::shapes::{RunView, run_view};
use mainspring_core::world::input::{Input, Reply, Trigger};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

/// What to run it with.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerBody {
    /// Checked against the workflow's schema; defaults are filled in.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    input: Option<RawJson>,
    #[serde(default)]
    #[schema(schema_with = labels_schema)]
    labels: BTreeMap<String, String>,
    /// Higher first.
    #[serde(default, deserialize_with = "whole")]
    #[schema(minimum = -1_000_000, maximum = 1_000_000)]
    priority: i32,
    /// The latest if not said.
    #[serde(default, deserialize_with = "whole_or_none")]
    version: Option<u32>,
}

fn labels_schema() -> Object {
    let text = |pattern: &str| {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(LABEL_CHARS_MAX))
            .pattern(Some(pattern))
    };
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .max_properties(Some(LABELS_MAX))
        .property_names(Some(text("^[^\\u0000=]+$")))
        .additional_properties(Some(text("^[^\\u0000]*$")))
        .build()
}

/// Starts a run.
#[utoipa::path(post, path = "/workflows/{name}/runs", operation_id = "triggerRun", tag = "workflows",
    params(("name" = String, Path), IdempotencyKeyHeader),
    request_body = TriggerBody,
    responses((status = 202, body = RunView)))]
pub async fn trigger(
    State(app): State<App>,
    Operator(who): Operator,
    Path(name): Path<Arc<str>>,
    key: IdempotencyKeyHeader,
    body: Body,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let route = format!("trigger {name}");
    let turn = claim(&app, &who, &key, (&route, &body.bytes)).await?;
    let run = match turn {
        Turn::Again(KeyAnswer::Run(run)) => run,
        Turn::Again(_) => return Err(Problem::new(Code::KeyReused, "it was no run's")),
        Turn::New(claim) => start(&app, &who, (name, body.json()?), claim).await?,
    };
    Ok((StatusCode::ACCEPTED, Json(accepted(&app, run).await?)))
}

async fn start(
    app: &App,
    who: &Who,
    (name, body): (Arc<str>, TriggerBody),
    claim: Option<Claim>,
) -> Result<RunId, Problem> {
    check(&body)?;
    let version: Arc<Version> = match body.version {
        None => app.latest(&name).await?,
        Some(number) => app.version(&name, number).await?,
    };
    let input = version.check_input(&body.input.unwrap_or_else(RawJson::empty_object))?;
    let group = group(app, &version, &input).await?;
    let record = who.record_with("run.trigger", format!("workflow {name}"), claim.as_ref());
    let trigger = Trigger {
        workflow: Arc::clone(&name),
        version: Some(version.row.number),
        input,
        labels: body.labels,
        priority: body.priority,
        triggered_by: who.name.to_string(),
        workdir: app.config.workdir.to_string_lossy().into_owned(),
        group,
        again: None,
    };
    let held = Held { claim, ..Held::default() };
    let done = app.submit(record, Input::Trigger(trigger), held).await;
    match done.map_err(|problem| deleted(problem, &name))? {
        Reply::Accepted { run } => Ok(run),
        _ => unreachable!("a trigger is answered by a run"),
    }
}

/// The key of the run's concurrency group. Expressions may take their time.
pub(super) async fn group(
    app: &App,
    version: &Arc<Version>,
    input: &RawJson,
) -> Result<Option<Arc<str>>, Problem> {
    if version.definition.concurrency_group.is_none() {
        return Ok(None);
    }
    let (version, input) = (Arc::clone(version), input.clone());
    let worked_out = app.room.compute(move || group_key(&version.definition, &input)).await?;
    worked_out.map_err(|bad| Problem::new(Code::BadInput, bad.to_string()))
}

fn check(body: &TriggerBody) -> Result<(), Problem> {
    let wrong = |detail: String| Err(Problem::new(Code::BadBody, detail));
    if body.priority.unsigned_abs() > PRIORITY_MAX.unsigned_abs() {
        return wrong(format!("priority: from -{PRIORITY_MAX} to {PRIORITY_MAX}"));
    }
    if body.labels.len() > LABELS_MAX {
        return wrong(format!("labels: at most {LABELS_MAX}"));
    }
    match body.labels.iter().find_map(|(key, value)| wrong_label(key, value)) {
        None => Ok(()),
        Some(what) => wrong(format!("labels: {what}")),
    }
}

/// What is wrong with a label. Runs are looked for by `key=value`.
fn wrong_label(key: &str, value: &str) -> Option<String> {
    // As much as is needed to find it.
    let shown: String = key.chars().take(40).collect();
    let shown = shown.escape_debug();
    if key.is_empty() {
        Some("a key is empty: give each label a name".to_owned())
    } else if key.contains('=') {
        let use_another = "runs are looked for by key=value, so a key cannot hold one";
        Some(format!("key '{shown}' holds '=': {use_another}"))
    } else if key.contains('\0') || value.contains('\0') {
        Some(format!("'{shown}' holds a NUL character: leave it out"))
    } else if !fits(key, LABEL_CHARS_MAX) {
        let length = key.chars().count();
        Some(format!("key '{shown}…' has {length} characters; at most {LABEL_CHARS_MAX} are taken"))
    } else if !fits(value, LABEL_CHARS_MAX) {
        let length = value.chars().count();
        Some(format!(
            "the value of '{shown}' has {length} characters; at most {LABEL_CHARS_MAX} are taken"
        ))
    } else {
        None
    }
}

/// The run as it stands by now: its first commit is durable.
pub(super) async fn accepted(app: &App, run: RunId) -> Result<RunView, Problem> {
    if let Some((head, progress)) = app.hub.state(run) {
        return Ok(run_view(&head, &progress));
    }
    let missing = || Problem::new(Code::RunNotFound, format!("run {run} is no longer there"));
    let stored = app.store.outline(run).await?.ok_or_else(missing)?;
    Ok(run_view(&stored.head, &stored.progress))
}
