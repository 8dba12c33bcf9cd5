//! `/runs/{id}/attempts` and `/runs/{id}/tasks/{name}/attempts`: what was tried, and how it ended.

use super::page::{Page, PageQuery};
use crate::app::App;
use crate::auth::who::Viewer;
use crate::cursor;
use crate::extract::{Path, Query};
use crate::find::run_id;
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::row::{AttemptRow, TaskRow};
use mainspring_core::view::shapes::{AttemptView, attempts};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// An attempt, and the task it is one of.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TaskAttempt {
    pub task: String,
    #[serde(flatten)]
    pub attempt: AttemptView,
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OwnQuery {
    /// Of a fan-out, the instance with this index, from 0: a fan-out has no attempts of its own.
    index: Option<u32>,
    /// Items on a page, from 1 to 1,000; 50 if not said.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9a-fA-F]{16}$")]
    cursor: Option<String>,
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
/// current one last. Those of a fan-out's instances are asked for one instance at a time.
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
    let mut rows: Vec<&TaskRow> = found.run.tasks.iter().collect();
    rows.sort_unstable_by_key(|row| row.task);
    let all = rows.into_iter().flat_map(|row| {
        let from = history.partition_point(|past| past.task < row.task);
        let to = history.partition_point(|past| past.task <= row.task);
        placed(row, &history[from..to])
    });
    let definition = &found.definition;
    let name = |no| definition.task(no).name.to_string();
    page(&query, all, |no, attempt| TaskAttempt { task: name(no), attempt })
}

/// Lists the attempts of a task, or with `index` of one instance of a fan-out, the current one
/// last.
#[utoipa::path(get, path = "/runs/{id}/tasks/{name}/attempts", operation_id = "listAttempts", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), OwnQuery),
    responses((status = 200, body = Page<AttemptView>)))]
pub async fn of_task(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((id, name)): Path<(String, String)>,
    Query(OwnQuery { index, limit, cursor }): Query<OwnQuery>,
) -> Result<Json<Page<AttemptView>>, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let task = found.named(&name, index)?;
    let row = app.row(&found, task).await?;
    let history = app.store.attempts_of(found.run.head.key, task).await?;
    let all = row.iter().flat_map(|row| placed(row, &history));
    page(&PageQuery { limit, cursor }, all, |_, attempt| attempt)
}

/// A task's attempts, with their places.
fn placed(row: &TaskRow, history: &[AttemptRow]) -> impl Iterator<Item = (Place, AttemptView)> {
    let no = row.task.no;
    (0..).zip(attempts(history, row)).map(move |(which, attempt)| ((no, which), attempt))
}
