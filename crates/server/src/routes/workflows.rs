//! `/workflows` and `/workflows/{name}`: list, show, delete.

use super::page::{Page, limit};
use crate::app::App;
use crate::auth::who::{Admin, Viewer};
use crate::change::Held;
use crate::cursor;
use crate::definitions::{self, Version};
use crate::extract::{Path, Query};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use mainspring_core::json::Json as RawJson;
use mainspring_core::kernel::row::WorkflowRow;
use mainspring_core::time::Timestamp;
use mainspring_core::world::input::{ActiveRuns, DeleteWorkflow, Input};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// A workflow as it stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Workflow {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The number of its latest version.
    pub version: u32,
    pub kind: &'static str,
    pub labels: BTreeMap<String, String>,
    /// How many tasks the latest version has.
    pub tasks: usize,
    /// JSON Schema of a run's input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<RawJson>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Workflow {
    pub fn of(row: &WorkflowRow, latest: &Version) -> Self {
        let definition = &latest.definition;
        Self {
            name: row.name.to_string(),
            description: definition.description.as_deref().map(str::to_owned),
            version: row.latest,
            kind: "dag",
            labels: definition.labels.clone().into_iter().collect(),
            tasks: definition.tasks.len(),
            input: definition.input_schema.clone(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Items on a page, from 1 to 1,000; 50 if not said.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^([0-7][0-9a-fA-F])*$")]
    cursor: Option<String>,
}

/// Lists workflows by name.
#[utoipa::path(get, path = "/workflows", operation_id = "listWorkflows", tag = "workflows", params(ListQuery),
    responses((status = 200, body = Page<Workflow>)))]
pub async fn list(
    State(app): State<App>,
    Viewer(_): Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<Workflow>>, Problem> {
    let limit = limit(query.limit)?;
    let after = query.cursor.as_deref().map(cursor::decode_name).transpose()?;
    let rows = app.store.workflows(after.as_deref(), limit + 1).await?;
    let mut shown = Vec::with_capacity(rows.len());
    for row in rows {
        let latest = app.version(&row.name, row.latest).await?;
        shown.push(Workflow::of(&row, &latest));
    }
    Ok(Json(Page::of(shown, limit, |it| cursor::encode_name(&it.name), |it| it)))
}

/// Shows a workflow.
#[utoipa::path(get, path = "/workflows/{name}", operation_id = "getWorkflow", tag = "workflows", params(("name" = String, Path)),
    responses((status = 200, body = Workflow)))]
pub async fn get(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(name): Path<String>,
) -> Result<Json<Workflow>, Problem> {
    let row = app.workflow(&name).await?;
    let latest = app.version(&name, row.latest).await?;
    Ok(Json(Workflow::of(&row, &latest)))
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteQuery {
    /// `true`, or no value at all: cancel its active runs first.
    #[param(value_type = Option<String>, pattern = "^(true|false)?$")]
    force: Option<bool>,
}

/// Hides a workflow. Its history stays until retention takes it.
#[utoipa::path(delete, path = "/workflows/{name}", operation_id = "deleteWorkflow", tag = "workflows",
    params(("name" = String, Path), DeleteQuery),
    responses((status = 204)))]
pub async fn delete(
    State(app): State<App>,
    Admin(who): Admin,
    Path(name): Path<Arc<str>>,
    Query(query): Query<DeleteQuery>,
) -> Result<StatusCode, Problem> {
    let active = match query.force {
        Some(true) => ActiveRuns::Cancel,
        _ => ActiveRuns::Refuse,
    };
    let record = who.record("workflow.delete", format!("workflow {name}"));
    let delete = DeleteWorkflow { name: Arc::clone(&name), active, by: who.name.to_string() };
    let done = app.submit(record, Input::DeleteWorkflow(delete), Held::default()).await;
    done.map_err(|problem| definitions::named(problem, &name))?;
    Ok(StatusCode::NO_CONTENT)
}
