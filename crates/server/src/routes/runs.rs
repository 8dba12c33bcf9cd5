//! `/runs` and `/runs/{id}`: list and show.

use super::page::{Page, limit};
use crate::app::App;
use crate::auth::who::Viewer;
use crate::cursor;
use crate::extract::{Path, Query};
use crate::find::run_id;
use crate::problem::{Code, Problem};
use axum::Json;
use axum::extract::State;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::{RunHead, RunProgress, RunStatus};
use mainspring_core::time::Timestamp;
use mainspring_core::view::shapes::{RunView, run_view};
use mainspring_store::RunsQuery;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only these states, separated by commas.
    #[param(value_type = Option<Vec<RunStatus>>, style = Form, explode = false, min_items = 1)]
    status: Option<String>,
    /// Only runs of this workflow.
    workflow: Option<String>,
    /// Accepted at this moment or later.
    #[param(value_type = Option<Timestamp>)]
    since: Option<String>,
    /// Accepted before this moment.
    #[param(value_type = Option<Timestamp>)]
    until: Option<String>,
    /// Only runs with these labels: `key=value`, separated by commas.
    #[param(pattern = "^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$")]
    label: Option<String>,
    /// Items on a page, from 1 to 1,000; 50 if not said.
    #[param(minimum = 1, maximum = 1_000)]
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    #[param(pattern = "^[0-9a-fA-F]{48}$")]
    cursor: Option<String>,
}

impl ListQuery {
    fn to_query(&self, limit: usize) -> Result<RunsQuery, Problem> {
        Ok(RunsQuery {
            statuses: self.status.as_deref().map(statuses).transpose()?.unwrap_or_default(),
            workflow: self.workflow.clone(),
            since: self.since.as_deref().map(|text| moment("since", text)).transpose()?,
            until: self.until.as_deref().map(|text| moment("until", text)).transpose()?,
            labels: self.label.as_deref().map(labels).transpose()?.unwrap_or_default(),
            after: self.cursor.as_deref().map(cursor::decode_run).transpose()?,
            limit,
        })
    }
}

fn statuses(text: &str) -> Result<Vec<RunStatus>, Problem> {
    let one = |word: &str| {
        let known = RunStatus::ALL.iter().copied().find(|status| status.word() == word);
        known.ok_or_else(|| {
            let all: Vec<&str> = RunStatus::ALL.iter().map(|status| status.word()).collect();
            let detail = format!("status: '{word}' is none of {}", all.join(", "));
            Problem::new(Code::BadQuery, detail)
        })
    };
    text.split(',').map(one).collect()
}

fn moment(field: &str, text: &str) -> Result<Timestamp, Problem> {
    text.parse().map_err(|_| {
        let detail = format!("{field}: '{text}' is no moment like 2026-01-31T12:00:00Z");
        Problem::new(Code::BadQuery, detail)
    })
}

fn labels(text: &str) -> Result<Vec<(String, String)>, Problem> {
    let one = |pair: &str| match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Problem::new(Code::BadQuery, format!("label: '{pair}' is not `key=value`"))),
    };
    text.split(',').map(one).collect()
}

/// Lists runs, newest first, with the counts that are stored.
#[utoipa::path(get, path = "/runs", operation_id = "listRuns", tag = "runs", params(ListQuery),
    responses((status = 200, body = Page<RunView>)))]
pub async fn list(
    State(app): State<App>,
    Viewer(_): Viewer,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<RunView>>, Problem> {
    let limit = limit(query.limit)?;
    let rows = app.store.runs(query.to_query(limit + 1)?).await?;
    let cursor = |(head, _): &(RunHead, RunProgress)| cursor::encode_run(head.created_at, head.id);
    Ok(Json(Page::of(rows, limit, cursor, |(head, progress)| run_view(&head, &progress))))
}

/// Shows a run with the counts of its tasks by state.
#[utoipa::path(get, path = "/runs/{id}", operation_id = "getRun", tag = "runs", params(("id" = RunId, Path)),
    responses((status = 200, body = RunView)))]
pub async fn get(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(id): Path<String>,
) -> Result<Json<RunView>, Problem> {
    let found = app.found(run_id(&id)?).await?;
    Ok(Json(found.show().0))
}
