//! `/workflows/{name}/versions`: what a workflow was and is.

use super::page::{Page, PageQuery};
use crate::app::App;
use crate::auth::who::Viewer;
use crate::cursor;
use crate::extract::{Path, Query};
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::kernel::row::VersionRow;
use mainspring_core::time::Timestamp;
use mainspring_store::VersionsQuery;
use serde::Serialize;
use utoipa::ToSchema;

/// One immutable version.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VersionView {
    pub workflow: String,
    pub version: u32,
    /// SHA-256 of the text.
    pub hash: String,
    /// As it was deployed; only when one version is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub created_at: Timestamp,
}

impl VersionView {
    fn of(row: &VersionRow) -> Self {
        Self {
            workflow: row.workflow.to_string(),
            version: row.number,
            hash: cursor::encode(&row.hash),
            text: None,
            created_at: row.created_at,
        }
    }
}

/// Lists the versions of a workflow, newest first.
#[utoipa::path(get, path = "/workflows/{name}/versions", operation_id = "listVersions", tag = "workflows",
    params(("name" = String, Path), PageQuery),
    responses((status = 200, body = Page<VersionView>)))]
pub async fn list(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(name): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<VersionView>>, Problem> {
    let limit = query.limit()?;
    app.workflow(&name).await?;
    let below = query.last()?.map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let query = VersionsQuery { workflow: &name, below, limit: limit + 1 };
    let rows = app.store.versions(query).await?;
    let cursor = |row: &VersionRow| cursor::encode_number(row.number.into());
    Ok(Json(Page::of(rows, limit, cursor, |row| VersionView::of(&row))))
}

/// Shows a version with its text. `latest` is the latest one.
#[utoipa::path(get, path = "/workflows/{name}/versions/{number}", operation_id = "getVersion", tag = "workflows",
    params(("name" = String, Path), ("number" = String, Path, description = "a number, or `latest`")),
    responses((status = 200, body = VersionView)))]
pub async fn get(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((name, number)): Path<(String, String)>,
) -> Result<Json<VersionView>, Problem> {
    let row = app.workflow(&name).await?;
    let number = match number.as_str() {
        "latest" => row.latest,
        text => text.parse().map_err(|_| {
            Problem::new(Code::WorkflowNotFound, "a version is a number, or `latest`")
        })?,
    };
    let version = app.version(&name, number).await?;
    let text = Some(version.row.text.to_string());
    Ok(Json(VersionView { text, ..VersionView::of(&version.row) }))
}
