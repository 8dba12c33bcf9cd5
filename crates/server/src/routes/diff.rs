//! `/workflows/{name}/diff`: what changed from one version to another.

use crate::app::App;
use crate::auth::who::Viewer;
use crate::definitions::Version;
use crate::extract::{Path, Query};
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::spec::definition::Definition;
use mainspring_core::view::compared::{TaskChanges, task_changes};
use serde::{Deserialize, Serialize};
use similar::TextDiff;
use std::sync::Arc;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// Lines shown around each change.
const CONTEXT_LINES: usize = 3;
/// For texts of megabytes that have little in common: what is found later is no better to read.
const COMPARE_TIME_MAX: Duration = Duration::from_secs(1);

/// What changed from one version to another.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DiffView {
    pub workflow: String,
    pub from: u32,
    pub to: u32,
    pub tasks: TaskChanges,
    /// Of the two texts, unified; empty if they are the same.
    pub diff: String,
}

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub number: u32,
    pub text: &'a str,
    pub definition: &'a Definition,
}

impl DiffView {
    /// Takes a while for long texts.
    pub fn of(workflow: &str, from: Side<'_>, to: Side<'_>) -> Self {
        let name = |side: Side<'_>| format!("{workflow} version {}", side.number);
        let compared =
            TextDiff::configure().timeout(COMPARE_TIME_MAX).diff_lines(from.text, to.text);
        let mut unified = compared.unified_diff();
        unified.context_radius(CONTEXT_LINES).header(&name(from), &name(to));
        Self {
            workflow: workflow.to_owned(),
            from: from.number,
            to: to.number,
            tasks: task_changes(from.definition, to.definition),
            diff: if from.text == to.text { String::new() } else { unified.to_string() },
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DiffQuery {
    /// The number before `to` if not said.
    from: Option<u32>,
    /// The latest if not said.
    to: Option<u32>,
}

/// Which versions to compare, when the latest is known.
pub fn sides(from: Option<u32>, to: Option<u32>, latest: u32) -> Result<(u32, u32), &'static str> {
    let to = to.unwrap_or(latest);
    match from.or(to.checked_sub(1)) {
        Some(0) if from.is_none() => Err("there is no version before the first: name two"),
        Some(from) => Ok((from, to)),
        None => Err("versions are numbered from 1"),
    }
}

/// Compares two versions of a workflow: their texts, and which tasks were added, removed or
/// changed.
#[utoipa::path(get, path = "/workflows/{name}/diff", operation_id = "diffVersions", tag = "workflows",
    params(("name" = String, Path), DiffQuery),
    responses((status = 200, body = DiffView)))]
pub async fn diff(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(name): Path<String>,
    Query(query): Query<DiffQuery>,
) -> Result<Json<DiffView>, Problem> {
    let latest = app.workflow(&name).await?.latest;
    let (from, to) = sides(query.from, query.to, latest)
        .map_err(|why| Problem::new(Code::WorkflowNotFound, why))?;
    let (from, to) = (app.version(&name, from).await?, app.version(&name, to).await?);
    let compare = move || DiffView::of(&name, side(&from), side(&to));
    let compared = tokio::task::spawn_blocking(compare).await;
    compared.map(Json).map_err(|_| Problem::new(Code::Internal, "the texts cannot be compared"))
}

fn side(version: &Arc<Version>) -> Side<'_> {
    let row = &version.row;
    Side { number: row.number, text: &row.text, definition: &version.definition }
}
