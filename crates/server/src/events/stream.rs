//! `GET /events`: server-sent events.

use super::pace::Pace;
use super::place::Place;
use super::reader::{Reader, Told, Wanted};
use crate::app::App;
use crate::auth::who::{Pass, Viewer, Who};
use crate::extract::Query;
use crate::find::run_id;
use crate::problem::Problem;
use crate::room::Seat;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt as _};
use mainspring_core::ids::RunId;
use serde::Deserialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use utoipa::{IntoParams, ToSchema};

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Only this run, and its tasks too.
    #[param(value_type = Option<RunId>)]
    run: Option<String>,
    /// Only runs of this workflow.
    workflow: Option<String>,
}

/// One event of a stream.
#[derive(Debug, ToSchema)]
pub struct Heard {
    /// What it tells.
    pub event: String,
    /// JSON.
    pub data: String,
    /// For `Last-Event-ID`, to go on behind it.
    pub id: Option<String>,
}

/// Streams states as they change: `ready` or `reset` first, then `run` and, with `?run=`,
/// before it `tasks` with all that have changed; at most ten messages a second about a run. States
/// in between may be skipped, final ones never.
#[utoipa::path(get, path = "/events", operation_id = "events", tag = "events", params(EventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "the id of the last event heard")),
    responses((status = 200, body = Heard, content_type = "text/event-stream")))]
pub async fn events(
    State(app): State<App>,
    Viewer(who): Viewer,
    Query(query): Query<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = query.run.as_deref().map(run_id).transpose()?;
    if let Some(run) = run {
        app.found(run).await?;
    }
    let seat = app.room.for_stream(who.pass)?;
    let wanted = Wanted { run, workflow: query.workflow };
    let last = headers.get(LAST_EVENT_ID).map(|value| value.to_str().map_err(drop));
    let last = last.map(|text| text.and_then(str::parse::<Place>));
    let allowed = lapse(app.clone(), who);
    let (reader, first) = Reader::open(app, wanted, last);
    Ok(response(seat, told(reader, first).take_until(allowed)))
}

/// Comes to an end when whoever listens may no longer.
pub async fn lapse(app: App, who: Who) {
    match who.pass {
        Pass::Owner => std::future::pending().await,
        Pass::Nothing => app.tokens.until(|| app.asks_for_tokens()).await,
        Pass::Token(id) => app.tokens.lapse(id).await,
    }
}

/// A stream that proxies do not hold back.
pub fn response(
    seat: Seat,
    events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static,
) -> Response {
    let events = events.inspect(move |_| _ = &seat);
    let unbuffered =
        [(HeaderName::from_static("x-accel-buffering"), "no"), (header::CACHE_CONTROL, "no-store")];
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    (unbuffered, Sse::new(events.fuse()).keep_alive(keep_alive)).into_response()
}

fn told(reader: Reader, first: Told) -> impl Stream<Item = Result<Event, Infallible>> {
    let begin = VecDeque::from([(reader.stamp(), first)]);
    let begin = (reader, begin, Pace::default());
    stream::unfold(begin, |(mut reader, mut waiting, mut pace)| async move {
        while waiting.is_empty() {
            sleep_until(pace.wave(Instant::now())).await;
            // A store that cannot be read ends the stream: the reader takes it up again.
            waiting = reader.next().await.ok()??.into();
        }
        let (stamp, told) = waiting.pop_front()?;
        // A wave about many runs has one message about each, and counts as one.
        if told.is_about_a_run() && (reader.watches_one() || waiting.is_empty()) {
            sleep_until(pace.message(Instant::now())).await;
        }
        // Within one commit the place is the one before it: a cut in the middle repeats some.
        let id = match waiting.front() {
            None => Some(reader.place(reader.stamp())),
            Some((next, _)) => (*next > stamp).then(|| reader.place(stamp)),
        };
        Some((Ok(event(&told, id)), (reader, waiting, pace)))
    })
}

fn event(told: &Told, id: Option<Place>) -> Event {
    let event = match told {
        Told::Ready => Event::default().event("ready").data("{}"),
        Told::Reset => Event::default().event("reset").data("{}"),
        Told::Run(run) => json("run", run),
        Told::Tasks(tasks) => json("tasks", tasks),
    };
    match id {
        Some(id) => event.id(id.to_string()),
        None => event,
    }
}

pub fn json(name: &str, value: &impl serde::Serialize) -> Event {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned());
    Event::default().event(name).data(text)
}
