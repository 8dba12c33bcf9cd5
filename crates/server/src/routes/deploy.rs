//! `POST /workflows`: a definition becomes a version.

use super::workflows::Workflow;
use crate::app::App;
use crate::auth::who::Admin;
use crate::change::Held;
use crate::extract::Body;
use crate::idempotency::{IdempotencyKeyHeader, Turn, claim};
use crate::problem::{Code, Fault, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use mainspring_core::kernel::record::KeyAnswer;
use mainspring_core::kernel::row::WorkflowRow;
use mainspring_core::spec::diagnostic::Diagnostic;
use mainspring_core::spec::{self, Context, Parsed, ServerTiers};
use mainspring_core::world::input::{Deploy, Input, Reply};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// A workflow after a deploy.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Deployed {
    #[serde(flatten)]
    pub workflow: Workflow,
    /// Whether this made a new version; the same text twice makes none.
    pub is_new: bool,
    /// Whether this brought back a workflow that was deleted. Whoever asks again with the same key
    /// is not told once more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub is_back: bool,
    /// What is allowed and probably not meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub warnings: Vec<Fault>,
}

/// Creates or updates a workflow from YAML or JSON.
#[utoipa::path(post, path = "/workflows", operation_id = "deployWorkflow", tag = "workflows",
    request_body(content((String = "application/yaml"), (serde_json::Value = "application/json"))),
    params(IdempotencyKeyHeader),
    responses((status = 201, body = Deployed, description = "a new version"),
        (status = 200, body = Deployed, description = "the version was there already")))]
pub async fn deploy(
    State(app): State<App>,
    Admin(who): Admin,
    key: IdempotencyKeyHeader,
    body: Body,
) -> Result<(StatusCode, Json<Deployed>), Problem> {
    let turn = claim(&app, &who, &key, ("deploy", &body.bytes)).await?;
    let parsed = read(&app, &body).await?;
    let name = Arc::clone(&parsed.definition.name);
    let (number, is_new, is_back) = match turn {
        Turn::Again(KeyAnswer::Version { number, is_new }) => (number, is_new, false),
        Turn::Again(_) => return Err(Problem::new(Code::KeyReused, "it was no deploy's")),
        Turn::New(claim) => {
            let record = who.record_with("workflow.deploy", name.to_string(), claim.as_ref());
            let deploy = Deploy {
                definition: Arc::new(parsed.definition),
                text: body.text()?.into(),
                hash: parsed.hash,
            };
            let held = Held { claim, ..Held::default() };
            let before = app.store.workflow(&name).await?;
            let is_back = before.is_some_and(|row| row.deleted_at.is_some());
            match app.submit(record, Input::Deploy(deploy), held).await? {
                Reply::Deployed { version, is_new } => (version, is_new, is_back),
                _ => unreachable!("a deploy is answered by a version"),
            }
        }
    };
    let workflow = as_of(&app, &name, number).await?;
    let warnings = parsed.warnings.iter().map(fault).collect();
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(Deployed { workflow, is_new, is_back, warnings })))
}

/// The workflow as this version left it, whatever has been deployed or hidden since: the same
/// request has the same answer.
async fn as_of(app: &App, name: &str, number: u32) -> Result<Workflow, Problem> {
    let version = app.version(name, number).await?;
    let missing = || Problem::new(Code::WorkflowNotFound, format!("there is no '{name}'"));
    let row = app.store.workflow(name).await?.ok_or_else(missing)?;
    let updated_at = version.row.created_at;
    Ok(Workflow::of(&WorkflowRow { latest: number, updated_at, ..row }, &version))
}

/// JSON is YAML, so that both are read alike.
async fn read(app: &App, body: &Body) -> Result<Parsed, Problem> {
    check_media_type(body)?;
    let bytes = body.bytes.clone();
    let tiers = app.server_tiers().await?;
    let parse = move || {
        let context = Context { server_tiers: ServerTiers::Known(&tiers) };
        spec::parse_bytes(&bytes, &context)
    };
    app.room.compute(parse).await?.map_err(|found| bad_definition(&found))
}

pub(super) fn check_media_type(body: &Body) -> Result<(), Problem> {
    const TAKEN: &[&str] = &[
        "",
        "application/yaml",
        "application/x-yaml",
        "text/yaml",
        "text/plain",
        "application/json",
    ];
    if !TAKEN.contains(&body.media_type.as_str()) {
        let detail = format!("`{}`: send application/yaml or application/json", body.media_type);
        return Err(Problem::new(Code::MediaType, detail));
    }
    Ok(())
}

pub(super) fn bad_definition(found: &[Diagnostic]) -> Problem {
    let faults: Vec<Fault> = found.iter().map(fault).collect();
    let first = faults.first().map_or_else(String::new, |fault| fault.message.clone());
    let detail = match faults.len() {
        0 | 1 => first,
        many => format!("{first} (and {} more)", many - 1),
    };
    Problem::new(Code::BadDefinition, detail).with(faults)
}

pub(super) fn fault(found: &Diagnostic) -> Fault {
    Fault {
        code: Some(found.code.word()),
        message: found.message.clone(),
        path: Some(found.path.clone()),
        line: u32::try_from(found.span.line).ok(),
        column: u32::try_from(found.span.column).ok(),
        hint: found.hint.clone(),
    }
}
