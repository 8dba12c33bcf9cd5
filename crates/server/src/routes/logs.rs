//! `/runs/{id}/tasks/{name}/logs`: what an attempt wrote, as text, or line by line as it comes.

use crate::app::App;
use crate::auth::who::Viewer;
use crate::events::follow::follow;
use crate::events::stream::Heard;
use crate::extract::{Path, Query};
use crate::find::{Found, run_id};
use crate::problem::{Code, Problem};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::row::Attempt;
use mainspring_engine::logs::{Line, LogError, LogText, Stream, stream_word};
use serde::Deserialize;
use std::io;
use utoipa::IntoParams;

/// Gathered before it is sent.
const CHUNK_BYTES: usize = 64 * 1024;
const TAIL_MAX: usize = 100_000;

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LogsQuery {
    /// The attempt's number; the last one if not said.
    attempt: Option<u32>,
    /// Only so many lines from the end.
    #[param(maximum = 100_000)]
    tail: Option<usize>,
    /// Time and stream before each line.
    timestamps: Option<bool>,
    /// `true`: as server-sent events, through later attempts, until the task is settled.
    follow: Option<bool>,
}

/// Shows the log of an attempt.
#[utoipa::path(get, path = "/runs/{id}/tasks/{name}/logs", operation_id = "taskLog", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), LogsQuery),
    responses((status = 200, description = "the text, or events `line` and `end`",
            content((String = "text/plain"), (Heard = "text/event-stream"))),
        (status = 206, body = String, content_type = "text/plain", description = "the range asked for")))]
pub async fn logs(
    State(app): State<App>,
    Viewer(_): Viewer,
    Path((id, name)): Path<(String, String)>,
    Query(query): Query<LogsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if query.tail.is_some_and(|tail| tail > TAIL_MAX) {
        return Err(Problem::new(Code::BadQuery, format!("tail: at most {TAIL_MAX}")));
    }
    let range = range(&headers)?;
    let found = app.found(run_id(&id)?).await?;
    let no = found.task_no(&name)?;
    if query.follow == Some(true) || wants_events(&headers) {
        return Ok(follow(app, (found.run.head.id, no), &headers).into_response());
    }
    let Some(attempt) = choose(&app, &found, no, query.attempt).await? else {
        return Ok(text(StatusCode::OK, Body::empty()));
    };
    let place = (found.run.head.key, attempt.id);
    let log = LogText::open(&*app.store, &app.config.data, place).await?;
    let Some(log) = log else { return Ok(text(StatusCode::OK, Body::empty())) };
    let lines: Box<dyn Iterator<Item = io::Result<Line>> + Send> = match query.tail {
        None => Box::new(log),
        Some(count) => {
            let last = tokio::task::spawn_blocking(move || log.last(count)).await;
            let (_, kept) = last.map_err(|_| broken())?.map_err(LogError::from)?;
            Box::new(kept.into_iter().map(Ok))
        }
    };
    let stamps = query.timestamps == Some(true);
    let rendered = Rendered { lines, stamps, open: None, done: false };
    match range {
        None => Ok(text(StatusCode::OK, streamed(rendered))),
        Some(range) => partial(rendered, range).await,
    }
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

fn broken() -> Problem {
    Problem::new(Code::Internal, "the log could not be read")
}

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Store(error) => error.into(),
            error @ (LogError::Io(_) | LogError::Gone { .. }) => {
                Self::new(Code::Internal, error.to_string())
            }
        }
    }
}

/// None when the task has not run. A refused start leaves its number to the next attempt.
async fn choose(
    app: &App,
    found: &Found,
    no: TaskNo,
    wanted: Option<u32>,
) -> Result<Option<Attempt>, Problem> {
    let current = found.row(no).and_then(|row| row.attempt.clone());
    let Some(wanted) = wanted else { return Ok(current) };
    if current.as_ref().is_some_and(|attempt| attempt.number == wanted) {
        return Ok(current);
    }
    let history = app.store.attempts(found.run.head.key).await?;
    let own = history.into_iter().filter(|past| past.task.no == no).map(|past| past.attempt);
    let past = own.filter(|attempt| attempt.number == wanted).last();
    let missing = || Problem::new(Code::AttemptNotFound, format!("there is no attempt {wanted}"));
    past.ok_or_else(missing).map(Some)
}

fn text(status: StatusCode, body: Body) -> Response {
    // Logs hold whatever a program wrote: never to be taken for a page.
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::ACCEPT_RANGES, "bytes"),
    ];
    (status, headers, body).into_response()
}

/// Lines as text, in chunks.
struct Rendered {
    lines: Box<dyn Iterator<Item = io::Result<Line>> + Send>,
    stamps: bool,
    /// The stream whose last line has not ended yet.
    open: Option<Stream>,
    done: bool,
}

impl Rendered {
    fn add(&mut self, line: &Line, text: &mut String) {
        if self.open.is_some_and(|stream| stream != line.stream) {
            text.push('\n');
            self.open = None;
        }
        if self.open.is_none() && self.stamps {
            text.push_str(&format!("{} {} ", line.at, stream_word(line.stream)));
        }
        text.push_str(&line.text);
        self.open = (!line.complete).then_some(line.stream);
        if line.complete {
            text.push('\n');
        }
    }
}

impl Iterator for Rendered {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = String::new();
        while !self.done && text.len() < CHUNK_BYTES {
            match self.lines.next() {
                Some(Ok(line)) => self.add(&line, &mut text),
                Some(Err(error)) => {
                    self.done = true;
                    return Some(Err(error));
                }
                None => {
                    self.done = true;
                    if self.open.take().is_some() {
                        text.push('\n');
                    }
                }
            }
        }
        (!text.is_empty()).then(|| Ok(text.into()))
    }
}

/// Read on a thread that may wait for the disk, a chunk at a time, no faster than it is taken.
fn streamed(rendered: Rendered) -> Body {
    let stream = futures_util::stream::unfold(rendered, |mut rendered| async {
        let next = tokio::task::spawn_blocking(move || (rendered.next(), rendered)).await;
        match next {
            Ok((Some(chunk), rendered)) => Some((chunk, rendered)),
            Ok((None, _)) | Err(_) => None,
        }
    });
    // Whoever compresses it asks once more after its end.
    Body::from_stream(stream.fuse())
}

/// First byte and last byte, both included.
fn range(headers: &HeaderMap) -> Result<Option<(u64, u64)>, Problem> {
    let Some(value) = headers.get(header::RANGE) else { return Ok(None) };
    let spec = value.to_str().ok().and_then(|text| text.strip_prefix("bytes="));
    let parsed = spec.and_then(|spec| {
        let (first, last) = spec.split_once('-')?;
        let first = first.trim().parse().ok()?;
        let last = match last.trim() {
            "" => u64::MAX,
            last => last.parse().ok()?,
        };
        (first <= last).then_some((first, last))
    });
    let wrong = || Problem::new(Code::BadRange, "one range like `bytes=0-99` or `bytes=100-`");
    parsed.ok_or_else(wrong).map(Some)
}

/// The text is made twice: once to know how long it is, once to send a part of it.
async fn partial(rendered: Rendered, (first, last): (u64, u64)) -> Result<Response, Problem> {
    let cut = tokio::task::spawn_blocking(move || -> io::Result<(Vec<u8>, u64)> {
        let (mut kept, mut total) = (Vec::new(), 0_u64);
        for chunk in rendered {
            let chunk = chunk?;
            let end = total + chunk.len() as u64;
            let from = first.clamp(total, end) - total;
            let to = last.saturating_add(1).clamp(total, end) - total;
            let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            kept.extend_from_slice(chunk.get(within(from)..within(to)).unwrap_or_default());
            total = end;
        }
        Ok((kept, total))
    });
    let (kept, total) = cut.await.map_err(|_| broken())?.map_err(LogError::from)?;
    if first >= total {
        return Err(Problem::new(Code::BadRange, format!("there are {total} bytes")));
    }
    let end = last.min(total - 1);
    let mut response = text(StatusCode::PARTIAL_CONTENT, Body::from(kept));
    let range = format!("bytes {first}-{end}/{total}");
    let range = range.parse().expect("digits and our own words");
    response.headers_mut().insert(header::CONTENT_RANGE, range);
    Ok(response)
}
