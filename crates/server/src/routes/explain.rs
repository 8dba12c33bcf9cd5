//! `/runs/{id}/explain`: why each task that has no outcome is not running now.

use crate::app::{App, now};
use crate::auth::who::Viewer;
use crate::extract::{Path, Query};
use crate::find::run_id;
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::view::explain::Wanted;
use mainspring_core::view::explain::shapes::Explanation;
use mainspring_engine::explain::{Subject, TASKS_MAX, explained};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which tasks are explained.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExplainQuery {
    /// This task alone; of a fan-out, with up to 100 of its instances instead of 10.
    task: Option<String>,
    /// `next` of the page before: tasks from this one on.
    from: Option<String>,
}

/// Says for each task of a run that has no outcome every reason why it is not running now, as data
/// and as a sentence. At most 100 tasks; `next` is where it goes on.
#[utoipa::path(get, path = "/runs/{id}/explain", operation_id = "explainRun", tag = "runs",
    params(("id" = RunId, Path), ExplainQuery),
    responses((status = 200, body = Explanation)))]
pub async fn explain(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(id): Path<String>,
    Query(query): Query<ExplainQuery>,
) -> Result<Json<Explanation>, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let wanted = match (&query.task, &query.from) {
        (Some(_), Some(_)) => {
            return Err(Problem::new(Code::BadQuery, "task or from: one of them"));
        }
        (Some(task), None) => Wanted::Only(found.task_no(task)?),
        (None, Some(task)) => Wanted::From(found.task_no(task)?, TASKS_MAX),
        (None, None) => Wanted::From(TaskNo(0), TASKS_MAX),
    };
    let limits = app.tiers().await?;
    let subject = Subject { run: &found.run, definition: &found.definition };
    let answer = explained(&*app.store, subject, wanted, (Some(&limits), now())).await?;
    Ok(Json(answer))
}
