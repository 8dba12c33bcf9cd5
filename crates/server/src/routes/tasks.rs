//! `/runs/{id}/tasks`: a run's tasks.

use super::page::{Page, limit};
use crate::app::App;
use crate::auth::who::Viewer;
use crate::cursor;
use crate::extract::{Path, Query};
use crate::find::{IndexQuery, run_id};
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::RunId;
use mainspring_core::view::shapes::TaskView;
use mainspring_core::view::word::Word;
use serde::Deserialize;
use utoipa::IntoParams;

/// What lists of tasks and of instances may ask for.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only these states: separated by commas, or each in a parameter of its own.
    #[serde(default)]
    #[param(value_type = Option<Vec<Word>>, style = Form, explode = false, min_items = 1)]
    pub(super) status: Vec<String>,
    /// Items on a page, from 1 to 1,000; 50 if not said.
    #[param(minimum = 1, maximum = 1_000)]
    pub(super) limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9a-fA-F]{16}$")]
    pub(super) cursor: Option<String>,
}

pub fn statuses(given: &[String]) -> Result<Vec<Word>, Problem> {
    let one = |word: &str| {
        let known = Word::ALL.iter().copied().find(|known| known.text() == word);
        known.ok_or_else(|| {
            let all: Vec<&str> = Word::ALL.iter().map(|word| word.text()).collect();
            let detail = format!("status: '{word}' is none of {}", all.join(", "));
            Problem::new(Code::BadQuery, detail)
        })
    };
    given.iter().flat_map(|text| text.split(',')).map(one).collect()
}

/// Lists a run's tasks in the order of its definition.
#[utoipa::path(get, path = "/runs/{id}/tasks", operation_id = "listTasks", tag = "tasks",
    params(("id" = RunId, Path), ListQuery),
    responses((status = 200, body = Page<TaskView>)))]
pub async fn list(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(id): Path<String>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<TaskView>>, Problem> {
    let limit = limit(query.limit)?;
    let wanted = statuses(&query.status)?;
    let after = query.cursor.as_deref().map(cursor::decode_number).transpose()?;
    let from = usize::try_from(after.map_or(0, |at| at.saturating_add(1))).unwrap_or(usize::MAX);
    let (_, tasks) = app.found(run_id(&id)?).await?.show();
    let tasks = tasks.into_iter().enumerate().skip(from);
    let chosen = tasks.filter(|(_, it)| wanted.is_empty() || wanted.contains(&it.status));
    let rows: Vec<(usize, TaskView)> = chosen.take(limit + 1).collect();
    let cursor = |(position, _): &(usize, TaskView)| cursor::encode_number(*position as u64);
    Ok(Json(Page::of(rows, limit, cursor, |(_, task)| task)))
}

/// Shows a task, or with `index` one instance of a fan-out.
#[utoipa::path(get, path = "/runs/{id}/tasks/{name}", operation_id = "getTask", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), IndexQuery),
    responses((status = 200, body = TaskView)))]
pub async fn get(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((id, name)): Path<(String, String)>,
    Query(query): Query<IndexQuery>,
) -> Result<Json<TaskView>, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let task = found.named(&name, query.index)?;
    Ok(Json(app.task(&found, task).await?))
}
