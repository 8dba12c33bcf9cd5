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
use mainspring_core::limits::LABELS_MAX;
use mainspring_core::time::Timestamp;
use mainspring_core::view::shapes::{RunView, run_listed};
use mainspring_store::RunsQuery;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa::openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type};

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// Only these states: separated by commas, or each in a parameter of its own.
    #[serde(default)]
    #[param(value_type = Option<Vec<RunStatus>>, style = Form, explode = false, min_items = 1)]
    status: Vec<String>,
    /// Only runs of this workflow.
    workflow: Option<String>,
    /// Accepted at this moment or later.
    #[param(value_type = Option<Timestamp>)]
    since: Option<String>,
    /// Accepted before this moment.
    #[param(value_type = Option<Timestamp>)]
    until: Option<String>,
    /// Only runs with this label, `key=value`; given more than once, with all of them.
    #[serde(default)]
    #[param(schema_with = labels_schema, style = Form, explode = true)]
    label: Vec<String>,
    /// Only children of this run.
    #[param(value_type = Option<RunId>)]
    parent: Option<String>,
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
            statuses: statuses(&self.status)?,
            workflow: self.workflow.clone(),
            since: self.since.as_deref().map(|text| moment("since", text)).transpose()?,
            until: self.until.as_deref().map(|text| moment("until", text)).transpose()?,
            labels: labels(&self.label)?,
            parent: self.parent.as_deref().map(parent).transpose()?,
            after: self.cursor.as_deref().map(cursor::decode_run).transpose()?,
            limit,
        })
    }
}

fn parent(text: &str) -> Result<RunId, Problem> {
    text.parse().map_err(|_| {
        Problem::new(Code::BadQuery, format!("parent: '{text}' is no run's id, which is a UUID"))
    })
}

pub fn labels_schema() -> Array {
    let label = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[^=]+="));
    ArrayBuilder::new().items(label).min_items(Some(1)).max_items(Some(LABELS_MAX)).build()
}

fn statuses(given: &[String]) -> Result<Vec<RunStatus>, Problem> {
    let one = |word: &str| {
        let known = RunStatus::ALL.iter().copied().find(|status| status.word() == word);
        known.ok_or_else(|| {
            let all: Vec<&str> = RunStatus::ALL.iter().map(|status| status.word()).collect();
            let detail = format!("status: '{word}' is none of {}", all.join(", "));
            Problem::new(Code::BadQuery, detail)
        })
    };
    given.iter().flat_map(|text| text.split(',')).map(one).collect()
}

pub fn moment(field: &str, text: &str) -> Result<Timestamp, Problem> {
    text.parse().map_err(|_| {
        let detail = format!("{field}: '{text}' is no moment like 2026-01-31T12:00:00Z");
        Problem::new(Code::BadQuery, detail)
    })
}

/// No run has more of them than this.
pub fn labels(pairs: &[String]) -> Result<Vec<(String, String)>, Problem> {
    if pairs.len() > LABELS_MAX {
        let detail = format!("label: at most {LABELS_MAX}, as many as a run can have");
        return Err(Problem::new(Code::BadQuery, detail));
    }
    pairs.iter().map(|pair| label(pair)).collect()
}

fn label(pair: &str) -> Result<(String, String), Problem> {
    match pair.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(Problem::new(Code::BadQuery, format!("label: '{pair}' is not `key=value`"))),
    }
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
    Ok(Json(Page::of(rows, limit, cursor, |(head, progress)| run_listed(&head, &progress))))
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
