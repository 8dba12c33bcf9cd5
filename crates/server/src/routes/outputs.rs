//! `/runs/{id}/output` and `/runs/{id}/tasks/{name}/output`: what was put out, whole, whatever its
//! size. Views show only where a large one is.

use crate::app::App;
use crate::auth::who::Viewer;
use crate::extract::{Path, Query};
use crate::find::{IndexQuery, run_id};
use crate::log_body::begun;
use crate::problem::{Code, Problem};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use mainspring_core::ids::RunId;
use mainspring_core::output::Output;
use mainspring_engine::outputs::{LOST_OUTPUT, OutputError, OutputText};
use std::io::{self, Read as _};

/// Read before it is sent.
const CHUNK_BYTES: u64 = 64 * 1024;

/// Gives what a run put out: what the workflow's `outputs` came to.
#[utoipa::path(get, path = "/runs/{id}/output", operation_id = "runOutput", tag = "runs",
    params(("id" = RunId, Path)),
    responses((status = 200, body = serde_json::Value, content_type = "application/json")))]
pub async fn of_run(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let progress = &found.run.progress;
    let Some(output) = &progress.output else {
        let detail = match progress.status.is_final() {
            true => "the run put out nothing: its workflow has no `outputs`, or it did not succeed",
            false => "the run has not ended: outputs are there when it has succeeded",
        };
        return Err(Problem::new(Code::NoOutput, detail));
    };
    send(&app, found.run.head.id, output).await
}

/// Gives what a task put out, or with `index` one instance of a fan-out. That of a fan-out as a
/// whole is the list of its instances' outputs.
#[utoipa::path(get, path = "/runs/{id}/tasks/{name}/output", operation_id = "taskOutput", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), IndexQuery),
    responses((status = 200, body = serde_json::Value, content_type = "application/json")))]
pub async fn of_task(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((id, name)): Path<(String, String)>,
    Query(query): Query<IndexQuery>,
) -> Result<Response, Problem> {
    let found = app.found(run_id(&id)?).await?;
    let task = found.named(&name, query.index)?;
    let row = app.row(&found, task).await?;
    let Some(output) = row.and_then(|row| row.output) else {
        let detail = format!("task '{name}' has put out nothing");
        return Err(Problem::new(Code::NoOutput, detail));
    };
    send(&app, found.run.head.id, &output).await
}

impl From<OutputError> for Problem {
    fn from(error: OutputError) -> Self {
        if error.is_loss() {
            return Self::new(Code::ContentLost, format!("{error}: {LOST_OUTPUT}"));
        }
        let code = match &error {
            OutputError::Blob(_) | OutputError::Unread { .. } => Code::StoreUnavailable,
            OutputError::Gone { .. } => Code::ContentLost,
            OutputError::Ending => Code::Stopping,
        };
        Self::new(code, error.to_string())
    }
}

async fn send(app: &App, run: RunId, output: &Output) -> Result<Response, Problem> {
    let text = OutputText::open(&app.config.logs.blobs, run, output).await?;
    let bytes = text.size();
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_LENGTH, bytes.to_string()),
    ];
    let body = begun(Chunks(Some(text))).await;
    let body = body.map_err(|source| OutputError::Unread { bytes, source })?;
    Ok((headers, body).into_response())
}

struct Chunks(Option<OutputText>);

impl Iterator for Chunks {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.0.as_mut()?;
        let mut chunk = Vec::new();
        match text.take(CHUNK_BYTES).read_to_end(&mut chunk) {
            Ok(0) => None,
            Ok(_) => Some(Ok(chunk.into())),
            Err(error) => {
                self.0 = None;
                Some(Err(error))
            }
        }
    }
}
