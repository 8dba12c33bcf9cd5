//! `/runs/{id}/attempts` and `/runs/{id}/tasks/{name}/attempts`: what was tried, and how it ended.

use super::page::{Page, PageQuery};
use crate::app::App;
use crate::auth::who::Viewer;
use crate::cursor;
use crate::extract::{Path, Query};
use crate::find::{Found, run_id};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::row::AttemptRow;
use mainspring_core::view::shapes::{AttemptView, attempts};
use serde::Serialize;
use utoipa::ToSchema;

/// An attempt, and the task it is one of.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskAttempt {
    pub task: String,
    #[serde(flatten)]
    pub attempt: AttemptView,
}

/// Its task, and which of the task's attempts it is. A task's attempts only grow in number, so
/// that a place in the list stays where it is.
type Place = (TaskNo, u32);

/// What comes after the page before.
fn page<T>(
    query: &PageQuery,
    all: impl Iterator<Item = (Place, AttemptView)>,
    show: impl Fn(TaskNo, AttemptView) -> T,
) -> Result<Json<Page<T>>, Problem> {
    let (limit, after) = (query.limit()?, query.last()?);
    let number = |(no, which): Place| (u64::from(no.0) << 32) | u64::from(which);
    let rest = all.filter(|(place, _)| after.is_none_or(|after| number(*place) > after));
    let rows: Vec<_> = rest.take(limit + 1).collect();
    let cursor = |(place, _): &(Place, AttemptView)| cursor::encode_number(number(*place));
    Ok(Json(Page::of(rows, limit, cursor, |((no, _), attempt)| show(no, attempt))))
}

/// Lists the attempts of all tasks of a run, in the order of its definition; of each task the
/// current one last.
#[utoipa::path(get, path = "/runs/{id}/attempts", operation_id = "listRunAttempts", tag = "runs",
    params(("id" = RunId, Path), PageQuery),
    responses((status = 200, body = Page<TaskAttempt>)))]
pub async fn of_run(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(id): Path<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<TaskAttempt>>, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let history = app.store.attempts(found.run.head.key).await?;
    let mut tasks: Vec<TaskNo> = found.run.tasks.iter().map(|row| row.task.no).collect();
    tasks.sort_unstable();
    let all = tasks.into_iter().flat_map(|no| of(&found, &history, no));
    let definition = &found.version.definition;
    let name = |no| definition.task(no).name.to_string();
    page(&query, all, |no, attempt| TaskAttempt { task: name(no), attempt })
}

/// Lists a task's attempts, the current one last.
#[utoipa::path(get, path = "/runs/{id}/tasks/{name}/attempts", operation_id = "listAttempts", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), PageQuery),
    responses((status = 200, body = Page<AttemptView>)))]
pub async fn of_task(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((id, name)): Path<(String, String)>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<AttemptView>>, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let no = found.task_no(&name)?;
    let history = app.store.attempts(found.run.head.key).await?;
    page(&query, of(&found, &history, no), |_, attempt| attempt)
}

/// A task's attempts; the history of a run is in order of its tasks.
fn of(
    found: &Found,
    history: &[AttemptRow],
    no: TaskNo,
) -> impl Iterator<Item = (Place, AttemptView)> {
    let from = history.partition_point(|past| past.task.no < no);
    let to = history.partition_point(|past| past.task.no <= no);
    let row = found.row(no);
    let all = row.map(|row| attempts(&history[from..to], row)).unwrap_or_default();
    (0..).zip(all).map(move |(which, attempt)| ((no, which), attempt))
}
