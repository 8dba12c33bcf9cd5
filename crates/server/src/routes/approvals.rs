//! `/approvals` and the decisions on them. The list comes from rows: it is the same on every
//! server, whoever owns the runs.

use super::once::Asked;
use super::page::{Page, limit};
use crate::app::App;
use crate::auth::who::{Operator, Viewer, Who};
use crate::cursor;
use crate::extract::{Path, Query};
use crate::find::{IndexQuery, run_id};
use crate::idempotency::IdempotencyKeyHeader;
use crate::length::{COMMENT_CHARS_MAX, fits};
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::wait::Verdict;
use mainspring_core::time::Timestamp;
use mainspring_core::view::awaits::Awaits;
use mainspring_core::view::shapes::TaskView;
use mainspring_core::world::input::{Named, Order, Ruling};
use mainspring_store::StoredApproval;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ApprovalsQuery {
    /// Items on a page, from 1 to 1,000; 50 if not said.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9a-fA-F]{56}$")]
    cursor: Option<String>,
}

/// Something that waits for a person.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ApprovalView {
    pub run: RunId,
    pub workflow: String,
    pub task: String,
    /// Of an instance of a fan-out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    pub message: String,
    /// Who may decide, if not everybody who may steer runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, required = false)]
    pub by: Option<Vec<String>>,
    pub since: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// What happens when nobody decides until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<&'static str>,
    /// `approved` or `rejected`, while the task is held: it takes effect when that is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<&'static str>,
}

/// What to say to it.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionBody {
    /// Kept with the decision.
    #[serde(default)]
    #[schema(max_length = 4_096)]
    comment: Option<String>,
}

/// Lists what waits for a person, in the order in which it began to wait.
#[utoipa::path(get, path = "/approvals", operation_id = "listApprovals", tag = "tasks",
    params(ApprovalsQuery), responses((status = 200, body = Page<ApprovalView>)))]
pub async fn list(
    State(app): State<App>,
    Viewer(_): Viewer,
    Query(query): Query<ApprovalsQuery>,
) -> Result<Json<Page<ApprovalView>>, Problem> {
    let limit = limit(query.limit)?;
    let after = query.cursor.as_deref().map(cursor::decode_approval).transpose()?;
    let rows = app.store.approvals(after, limit + 1).await?;
    let mut shown = Vec::with_capacity(rows.len());
    for approval in rows {
        let place = approval.place;
        shown.push((place, view(&app, approval).await?));
    }
    let cursor = |(place, _): &(_, _)| cursor::encode_approval(*place);
    Ok(Json(Page::of(shown, limit, cursor, |(_, view)| view)))
}

async fn view(app: &App, approval: StoredApproval) -> Result<ApprovalView, Problem> {
    let StoredApproval { place, run, workflow, version, row } = approval;
    let version = app.version(&workflow, version).await?;
    let position = place.task.no.position();
    let definition = match position < version.definition.tasks.len() {
        true => Arc::clone(&version.definition),
        // One that was added.
        false => app.found(run).await?.definition,
    };
    let task = definition.tasks.get(position);
    let awaits = task.and_then(|task| Awaits::of(task, &row));
    let (Some(task), Some(awaits)) = (task, awaits) else {
        let detail = format!("run {run} is listed among approvals, and waits for none");
        return Err(Problem::new(Code::Internal, detail));
    };
    Ok(ApprovalView {
        run,
        workflow: workflow.to_string(),
        task: task.name.to_string(),
        index: place.task.index,
        message: awaits.message.unwrap_or_default(),
        by: awaits.by,
        since: awaits.since,
        until: awaits.until,
        on_timeout: awaits.on_timeout,
        decided: awaits.decided,
    })
}

/// Approves what waits for it: a task, an instance, or every instance of a fan-out that waits.
#[utoipa::path(post, path = "/runs/{id}/tasks/{name}/approve", operation_id = "approveTask", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), IndexQuery, IdempotencyKeyHeader),
    request_body = DecisionBody,
    responses((status = 200, body = TaskView)))]
pub async fn approve(
    State(app): State<App>,
    Operator(who): Operator,
    Path((id, task)): Path<(String, Arc<str>)>,
    Query(IndexQuery { index }): Query<IndexQuery>,
    asked: Asked,
) -> Result<Json<TaskView>, Problem> {
    let ruling = ruling(Verdict::Approved, &who, &asked)?;
    rule((&app, &who), &asked, (&id, Named { task, index }), ruling).await
}

/// Rejects what waits for an approval.
#[utoipa::path(post, path = "/runs/{id}/tasks/{name}/reject", operation_id = "rejectTask", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), IndexQuery, IdempotencyKeyHeader),
    request_body = DecisionBody,
    responses((status = 200, body = TaskView)))]
pub async fn reject(
    State(app): State<App>,
    Operator(who): Operator,
    Path((id, task)): Path<(String, Arc<str>)>,
    Query(IndexQuery { index }): Query<IndexQuery>,
    asked: Asked,
) -> Result<Json<TaskView>, Problem> {
    let ruling = ruling(Verdict::Rejected, &who, &asked)?;
    rule((&app, &who), &asked, (&id, Named { task, index }), ruling).await
}

fn ruling(verdict: Verdict, who: &Who, asked: &Asked) -> Result<Ruling, Problem> {
    let DecisionBody { comment } = asked.body.json()?;
    if comment.as_ref().is_some_and(|comment| !fits(comment, COMMENT_CHARS_MAX)) {
        let detail = format!("comment: at most {COMMENT_CHARS_MAX} characters");
        return Err(Problem::new(Code::BadBody, detail));
    }
    Ok(Ruling { verdict, comment, role: who.role })
}

async fn rule(
    (app, who): (&App, &Who),
    asked: &Asked,
    (run, named): (&str, Named),
    ruling: Ruling,
) -> Result<Json<TaskView>, Problem> {
    let action = match ruling.verdict {
        Verdict::Approved => "task.approve",
        Verdict::Rejected => "task.reject",
    };
    let run = run_id(run)?;
    let Named { task, index } = named.clone();
    let which = index.map(|index| format!("[{index}]")).unwrap_or_default();
    let target = format!("run {run} task {task}{which}");
    asked.order((app, who), (action, target), (run, Order::Rule(named, ruling))).await?;
    let found = app.found(run).await?;
    // Its group may have gone back since: then there is only that to show.
    let named = found.named(&task, index).or_else(|_| found.named(&task, None))?;
    Ok(Json(app.task(&found, named).await?))
}
