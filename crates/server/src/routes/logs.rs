//! `/runs/{id}/tasks/{name}/logs`: what an attempt wrote, as text, or line by line as it comes.

use crate::app::App;
use crate::auth::who::Viewer;
use crate::byte_range::ByteRange;
use crate::events::follow::{Wanted, follow};
use crate::events::follow_text::follow_text;
use crate::events::stream::Heard;
use crate::extract::{Path, Query};
use crate::find::{Found, run_id};
use crate::log_body::{Part, Rendered, Stamps, begun, broken, bytes_in, lines_in};
use crate::problem::{Code, Problem};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mainspring_core::ids::{AttemptId, RunId, RunKey};
use mainspring_core::world::input::Named;
use mainspring_engine::logs::{LOST_LOG, LogError, LogText};
use serde::Deserialize;
use utoipa::IntoParams;

const TAIL_MAX: u64 = 100_000;

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LogsQuery {
    /// Of a fan-out, the instance with this index, from 0: a fan-out has no log of its own.
    index: Option<u32>,
    /// The attempt's number; the last one if not said.
    attempt: Option<u32>,
    /// Only so many lines from the end.
    #[param(maximum = 100_000)]
    tail: Option<u64>,
    /// Time and stream before each line.
    #[param(value_type = Option<String>, pattern = "^(true|false)?$")]
    timestamps: Option<bool>,
    /// `true`: go on as it is written, through later attempts, until the task is settled; with
    /// `attempt` only that one, until it ends. `tail` counts from what is there at the beginning.
    /// As server-sent events, each line with its time and stream, so that `timestamps` is refused;
    /// as text for whoever accepts only `text/plain`.
    #[param(value_type = Option<String>, pattern = "^(true|false)?$")]
    follow: Option<bool>,
}

/// How a log is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// What there is by now.
    Text,
    FollowedText,
    Events,
}

impl LogsQuery {
    fn form(&self, headers: &HeaderMap) -> Result<Form, Problem> {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let accepts = |kind: &str| accept.is_some_and(|accept| accept.contains(kind));
        let wants_events = accepts("text/event-stream");
        if self.follow != Some(true) && !wants_events {
            return Ok(Form::Text);
        }
        if !wants_events && accepts("text/plain") && !accepts("*/*") {
            return Ok(Form::FollowedText);
        }
        match self.timestamps {
            None => Ok(Form::Events),
            Some(_) => {
                let detail = "timestamps: each event has the time and the stream of its line; \
                              leave it out, or ask for text with `Accept: text/plain`";
                Err(Problem::new(Code::BadQuery, detail))
            }
        }
    }

    fn stamps(&self) -> Stamps {
        if self.timestamps == Some(true) { Stamps::TimeAndStream } else { Stamps::None }
    }
}

/// Shows the log of an attempt of a task, or with `index` of one instance of a fan-out.
#[utoipa::path(get, path = "/runs/{id}/tasks/{name}/logs", operation_id = "taskLog", tag = "tasks",
    params(("id" = RunId, Path), ("name" = String, Path), LogsQuery),
    responses((status = 200, description = "the text, or events `line`, and `end` or `error`",
            content((String = "text/plain"), (Heard = "text/event-stream"))),
        (status = 206, body = String, content_type = "text/plain", description = "the range asked for")))]
pub async fn logs(
    State(app): State<App>,
    Viewer(who): Viewer,
    Path((id, name)): Path<(String, String)>,
    Query(query): Query<LogsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if query.tail.is_some_and(|tail| tail > TAIL_MAX) {
        return Err(Problem::new(Code::BadQuery, format!("tail: at most {TAIL_MAX}")));
    }
    let range = ByteRange::asked(&headers);
    let found = app.found(run_id(&id)?).await?;
    whose(&found, &name, query.index)?;
    let form = query.form(&headers)?;
    if form != Form::Text {
        let wanted = wanted(&app, &found, name, &query).await?;
        return match form {
            Form::Events => follow(app, who, wanted, &headers),
            _ => Ok(growing(follow_text(app, who, wanted, query.stamps())?)),
        };
    }
    let task = found.named(&name, query.index)?;
    let Some(attempt) = app.attempt(&found, task, query.attempt).await? else {
        return Ok(nothing(range));
    };
    let shown =
        Shown { app, place: (found.run.head.key, attempt.id), stamps: query.stamps(), pass: 0 };
    let shown = match query.tail {
        None => shown,
        Some(count) => shown.last(count).await?,
    };
    let Some(rendered) = shown.open().await? else { return Ok(nothing(range)) };
    match range {
        None => {
            let body = begun(rendered).await.map_err(LogError::from)?;
            Ok(numbered(text(StatusCode::OK, body), shown.pass))
        }
        Some(range) => partial(&shown, rendered, range).await,
    }
}

/// Says how many lines come before the first: whoever shows the end of a log can number it.
fn numbered(mut response: Response, pass: u64) -> Response {
    if pass > 0 {
        response.headers_mut().insert("log-lines-before", HeaderValue::from(pass));
    }
    response
}

/// A fan-out's instances write, each its own log.
fn whose(found: &Found, name: &str, index: Option<u32>) -> Result<(), Problem> {
    let no = found.task_no(name)?;
    if index.is_some() || found.definition.task(no).fan_out.is_none() {
        return Ok(());
    }
    let detail = format!("index: task '{name}' is a fan-out: say which instance's log, from 0");
    Err(Problem::new(Code::BadQuery, detail))
}

/// A log can be followed before its first line is written: also that of an instance which has yet
/// to start. An attempt that is named must be there.
async fn wanted(
    app: &App,
    found: &Found,
    name: String,
    query: &LogsQuery,
) -> Result<Wanted, Problem> {
    match (found.named(&name, query.index), query.attempt) {
        (Ok(task), Some(_)) => {
            app.attempt(found, task, query.attempt).await?;
        }
        (Err(problem), None) if problem.code == Code::NotStarted.word() => {}
        (named, _) => {
            named?;
        }
    }
    let named = Named { task: name.into(), index: query.index };
    let (attempt, tail) = (query.attempt, query.tail);
    Ok(Wanted { run: found.run.head.id, named, attempt, tail })
}

/// A log as it is asked for. It may be too large to be held: what has to know its end first
/// opens it twice.
struct Shown {
    app: App,
    place: (RunKey, AttemptId),
    stamps: Stamps,
    /// Lines passed over.
    pass: u64,
}

impl Shown {
    async fn open(&self) -> Result<Option<Rendered>, Problem> {
        let (store, logs) = (&*self.app.store, &self.app.config.logs);
        let Some(mut log) = LogText::open(store, logs, self.place).await? else { return Ok(None) };
        let pass = self.pass;
        let passed = tokio::task::spawn_blocking(move || log.pass(pass).map(|()| log)).await;
        let log = passed.map_err(|_| broken())?.map_err(LogError::from)?;
        Ok(Some(Rendered::new(log, self.stamps)))
    }

    /// The same without all but its last lines.
    async fn last(self, count: u64) -> Result<Self, Problem> {
        let (store, logs) = (&*self.app.store, &self.app.config.logs);
        let Some(log) = LogText::open(store, logs, self.place).await? else { return Ok(self) };
        let counted = tokio::task::spawn_blocking(move || lines_in(log)).await;
        let lines = counted.map_err(|_| broken())?.map_err(LogError::from)?;
        Ok(Self { pass: lines.saturating_sub(count), ..self })
    }
}

impl From<LogError> for Problem {
    fn from(error: LogError) -> Self {
        match error {
            error if error.is_loss() => {
                Self::new(Code::ContentLost, format!("{error}: {LOST_LOG}"))
            }
            LogError::Store(error) => error.into(),
            error @ LogError::Blob(_) => Self::new(Code::StoreUnavailable, error.to_string()),
            error @ (LogError::Io(_) | LogError::Gone { .. }) => {
                Self::new(Code::Internal, error.to_string())
            }
        }
    }
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

/// Text that nobody on the way holds back, be it to compress it.
fn growing(body: Body) -> Response {
    let mut response = text(StatusCode::OK, body);
    let headers = response.headers_mut();
    headers.remove(header::ACCEPT_RANGES);
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("identity"));
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    headers.insert(unbuffered, HeaderValue::from_static("no"));
    response
}

fn nothing(range: Option<ByteRange>) -> Response {
    match range {
        None => text(StatusCode::OK, Body::empty()),
        Some(_) => outside(0),
    }
}

/// Whoever waits for more learns how much there is.
fn outside(total: u64) -> Response {
    let problem = Problem::new(Code::BadRange, format!("there are {total} bytes"));
    ([(header::CONTENT_RANGE, format!("bytes */{total}"))], problem).into_response()
}

/// The text is made twice: once to know how long it is, once to send a part of it.
async fn partial(shown: &Shown, rendered: Rendered, range: ByteRange) -> Result<Response, Problem> {
    let counted = tokio::task::spawn_blocking(move || bytes_in(rendered)).await;
    let total = counted.map_err(|_| broken())?.map_err(LogError::from)?;
    let Some((first, end)) = range.of(total) else { return Ok(outside(total)) };
    let again = shown.open().await?.ok_or_else(broken)?;
    let body = begun(Part::of(again, first, end)).await.map_err(LogError::from)?;
    let mut response = text(StatusCode::PARTIAL_CONTENT, body);
    let range = format!("bytes {first}-{end}/{total}");
    let range = range.parse().expect("digits and our own words");
    response.headers_mut().insert(header::CONTENT_RANGE, range);
    Ok(response)
}
