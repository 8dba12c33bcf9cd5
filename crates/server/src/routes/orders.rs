//! Orders about a run or a task: cancel, pause, resume, retry. Each is answered once it is
//! durable, with the run or task as it stands then.

use super::once::Asked;
use crate::app::App;
use crate::auth::who::{Operator, Who};
use crate::extract::{Path, Query};
use crate::find::{IndexQuery, run_id};
use crate::idempotency::IdempotencyKeyHeader;
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::RunId;
use mainspring_core::view::shapes::{RunView, TaskView};
use mainspring_core::world::input::{Named, Order, Verb};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CancelQuery {
    /// `true`: do not wait until the work is gone; it is recorded as abandoned.
    #[param(value_type = Option<String>, pattern = "^(true|false)?$")]
    force: Option<bool>,
}

/// Which of a task's instances is cancelled, and how.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CancelTaskQuery {
    /// Of a fan-out, the instance with this index, from 0; the fan-out as a whole if not said.
    index: Option<u32>,
    /// `true`: do not wait until the work is gone; it is recorded as abandoned.
    #[param(value_type = Option<String>, pattern = "^(true|false)?$")]
    force: Option<bool>,
}

fn cancel_verb(force: Option<bool>) -> Verb {
    if force == Some(true) { Verb::ForceCancel } else { Verb::Cancel }
}

/// Which tasks to retry.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryBody {
    /// All that failed or were cancelled if not said.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>, min_items = 1)]
    tasks: Option<Vec<Arc<str>>>,
}

/// No order takes a body but a retry.
fn empty(asked: &Asked) -> Result<(), Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    asked.body.json::<Nothing>().map(drop)
}

async fn order_run(
    app: &App,
    who: &Who,
    asked: &Asked,
    (action, run): (&'static str, RunId),
    order: Order,
) -> Result<Json<RunView>, Problem> {
    asked.order((app, who), (action, format!("run {run}")), (run, order)).await?;
    Ok(Json(app.found(run).await?.show().0))
}

/// An order about a task or an instance.
struct TaskOrder<'a> {
    action: &'static str,
    run: &'a str,
    named: Named,
    verb: Verb,
}

impl TaskOrder<'_> {
    async fn submit(self, app: &App, who: &Who, asked: &Asked) -> Result<Json<TaskView>, Problem> {
        let Self { action, run, named, verb } = self;
        let run = run_id(run)?;
        let Named { task, index } = named.clone();
        let which = index.map(|index| format!("[{index}]")).unwrap_or_default();
        let target = format!("run {run} task {task}{which}");
        asked.order((app, who), (action, target), (run, Order::Task(named, verb))).await?;
        let found = app.found(run).await?;
        // Its group may have gone back since: then there is only that to show.
        let named = found.named(&task, index).or_else(|_| found.named(&task, None))?;
        Ok(Json(app.task(&found, named).await?))
    }
}

/// Cancels a run: no new attempt starts, live ones are stopped.
#[utoipa::path(post, path = "/runs/{id}/cancel", operation_id = "cancelRun", tag = "runs",
    params(("id" = RunId, Path), CancelQuery, IdempotencyKeyHeader),
    responses((status = 200, body = RunView)))]
pub async fn cancel(
    State(app): State<App>,
    Operator(who): Operator,
    Path(id): Path<String>,
    Query(query): Query<CancelQuery>,
    asked: Asked,
) -> Result<Json<RunView>, Problem> {
    empty(&asked)?;
    let action = if query.force == Some(true) { "run.cancel_force" } else { "run.cancel" };
    order_run(&app, &who, &asked, (action, run_id(&id)?), Order::Run(cancel_verb(query.force)))
        .await
}

/// Pauses a run: no new attempt starts, live ones go on.
#[utoipa::path(post, path = "/runs/{id}/pause", operation_id = "pauseRun", tag = "runs",
    params(("id" = RunId, Path), IdempotencyKeyHeader),
    responses((status = 200, body = RunView)))]
pub async fn pause(
    State(app): State<App>,
    Operator(who): Operator,
    Path(id): Path<String>,
    asked: Asked,
) -> Result<Json<RunView>, Problem> {
    empty(&asked)?;
    order_run(&app, &who, &asked, ("run.pause", run_id(&id)?), Order::Run(Verb::Pause)).await
}

/// Lifts a run's pause.
#[utoipa::path(post, path = "/runs/{id}/resume", operation_id = "resumeRun", tag = "runs",
    params(("id" = RunId, Path), IdempotencyKeyHeader),
    responses((status = 200, body = RunView)))]
pub async fn resume(
    State(app): State<App>,
    Operator(who): Operator,
    Path(id): Path<String>,
    asked: Asked,
) -> Result<Json<RunView>, Problem> {
    empty(&asked)?;
    order_run(&app, &who, &asked, ("run.resume", run_id(&id)?), Order::Run(Verb::Resume)).await
}

/// Opens a failed or cancelled run again: what failed or was cancelled runs again.
#[utoipa::path(post, path = "/runs/{id}/retry", operation_id = "retryRun", tag = "runs",
    params(("id" = RunId, Path), IdempotencyKeyHeader),
    request_body = RetryBody,
    responses((status = 200, body = RunView)))]
pub async fn retry(
    State(app): State<App>,
    Operator(who): Operator,
    Path(id): Path<String>,
    asked: Asked,
) -> Result<Json<RunView>, Problem> {
    let body: RetryBody = asked.body.json()?;
    let order = match body.tasks {
        None => Order::Run(Verb::Retry),
        Some(tasks) if tasks.is_empty() => {
            return Err(Problem::new(Code::BadBody, "tasks: name at least one, or leave it out"));
        }
        Some(tasks) => Order::RetryTasks(tasks),
    };
    order_run(&app, &who, &asked, ("run.retry", run_id(&id)?), order).await
}

/// Cancels a task and those below it that have not begun, or one instance of a fan-out.
#[utoipa::path(post, path = "/runs/{id}/tasks/{name}/cancel", operation_id = "cancelTask", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), CancelTaskQuery, IdempotencyKeyHeader),
    responses((status = 200, body = TaskView)))]
pub async fn cancel_task(
    State(app): State<App>,
    Operator(who): Operator,
    Path((id, task)): Path<(String, Arc<str>)>,
    Query(CancelTaskQuery { index, force }): Query<CancelTaskQuery>,
    asked: Asked,
) -> Result<Json<TaskView>, Problem> {
    empty(&asked)?;
    let action = if force == Some(true) { "task.cancel_force" } else { "task.cancel" };
    let (named, verb) = (Named { task, index }, cancel_verb(force));
    TaskOrder { action, run: &id, named, verb }.submit(&app, &who, &asked).await
}

/// Holds a task or an instance; a live attempt of it is stopped, uncounted.
#[utoipa::path(post, path = "/runs/{id}/tasks/{name}/pause", operation_id = "pauseTask", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), IndexQuery, IdempotencyKeyHeader),
    responses((status = 200, body = TaskView)))]
pub async fn pause_task(
    State(app): State<App>,
    Operator(who): Operator,
    Path((id, task)): Path<(String, Arc<str>)>,
    Query(IndexQuery { index }): Query<IndexQuery>,
    asked: Asked,
) -> Result<Json<TaskView>, Problem> {
    empty(&asked)?;
    let (action, named) = ("task.pause", Named { task, index });
    TaskOrder { action, run: &id, named, verb: Verb::Pause }.submit(&app, &who, &asked).await
}

/// Lifts the hold of a task or an instance.
#[utoipa::path(post, path = "/runs/{id}/tasks/{name}/resume", operation_id = "resumeTask", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), IndexQuery, IdempotencyKeyHeader),
    responses((status = 200, body = TaskView)))]
pub async fn resume_task(
    State(app): State<App>,
    Operator(who): Operator,
    Path((id, task)): Path<(String, Arc<str>)>,
    Query(IndexQuery { index }): Query<IndexQuery>,
    asked: Asked,
) -> Result<Json<TaskView>, Problem> {
    empty(&asked)?;
    let (action, named) = ("task.resume", Named { task, index });
    TaskOrder { action, run: &id, named, verb: Verb::Resume }.submit(&app, &who, &asked).await
}

/// Runs a failed or cancelled task or instance again, and what follows from it.
#[utoipa::path(post, path = "/runs/{id}/tasks/{name}/retry", operation_id = "retryTask", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), IndexQuery, IdempotencyKeyHeader),
    responses((status = 200, body = TaskView)))]
pub async fn retry_task(
    State(app): State<App>,
    Operator(who): Operator,
    Path((id, task)): Path<(String, Arc<str>)>,
    Query(IndexQuery { index }): Query<IndexQuery>,
    asked: Asked,
) -> Result<Json<TaskView>, Problem> {
    empty(&asked)?;
    let (action, named) = ("task.retry", Named { task, index });
    TaskOrder { action, run: &id, named, verb: Verb::Retry }.submit(&app, &who, &asked).await
}
