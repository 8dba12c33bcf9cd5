//! A task's log, line by line as it is written, through all attempts from the current one on,
//! until the task is settled.

use super::reader::ends;
use super::stream::{json, lapse, response};
use crate::app::App;
use crate::auth::who::Who;
use crate::find::Found;
use crate::log_body::broken;
use crate::problem::{Code, Problem};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::Event;
use futures_util::stream::{self, StreamExt as _};
use mainspring_core::ids::{AttemptId, RunId, RunKey};
use mainspring_core::kernel::row::Attempt;
use mainspring_core::time::Timestamp;
use mainspring_core::view::word::Word;
use mainspring_core::world::input::Named;
use mainspring_engine::logs::{Line, LogError, LogText, stream_word};
use serde::Serialize;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use tokio::sync::watch;

/// How often a live log is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Lines taken at once, and bytes of them: all that is held for a reader who does not read.
const LINES: usize = 500;
const BYTES: usize = 64 * 1024;

#[derive(Debug, Serialize)]
struct OneLine<'a> {
    attempt: u32,
    at: Timestamp,
    stream: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unended: bool,
}

#[derive(Debug, Serialize)]
struct End {
    status: &'static str,
}

pub fn follow(
    app: App,
    who: Who,
    (run, named): (RunId, Named),
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let seat = app.room.for_stream()?;
    let allowed = lapse(app.clone(), who);
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let last = last.and_then(|text| {
        let (attempt, line) = text.split_once(':')?;
        Some((attempt.parse().ok()?, line.parse().ok()?))
    });
    let follower = Follower {
        draining: app.draining.subscribe(),
        app,
        run,
        named,
        known: None,
        reading: None,
        skip: last,
        waiting: VecDeque::new(),
        ended: false,
    };
    let lines = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    Ok(response(seat, lines.take_until(allowed)))
}

struct Follower {
    app: App,
    run: RunId,
    named: Named,
    known: Option<Known>,
    reading: Option<Reading>,
    /// Attempt and line that the caller heard last.
    skip: Option<(u32, u64)>,
    waiting: VecDeque<Event>,
    draining: watch::Receiver<bool>,
    ended: bool,
}

/// The task or instance as of some commit, of whatever run.
#[derive(Clone)]
struct Known {
    stamp: u64,
    key: RunKey,
    attempt: Option<Attempt>,
    settled: Option<Word>,
}

/// One attempt's log.
struct Reading {
    attempt: Attempt,
    log: Option<LogText>,
    /// Lines told of it.
    told: u64,
    /// It was opened after the attempt had ended: everything is there.
    is_whole: bool,
}

impl Follower {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.ended || self.is_cut_off().await {
                return None;
            }
            match self.look().await {
                Ok(true) => {}
                Ok(false) => tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = ends(&mut self.draining) => {}
                },
                Err(problem) => {
                    self.ended = true;
                    return Some(json("error", &problem));
                }
            }
        }
    }

    /// The server shuts down. The log of a task that is settled is told to its end.
    async fn is_cut_off(&mut self) -> bool {
        let is_draining = *self.draining.borrow();
        is_draining && !self.known().await.is_ok_and(|known| known.settled.is_some())
    }

    /// Reads on. False if there is nothing more for now.
    async fn look(&mut self) -> Result<bool, Problem> {
        // Asked before the log is read: if the attempt had ended by then, all of it is there.
        let known = self.known().await?;
        let reading = self.reading.take().or_else(|| known.attempt.clone().map(Reading::new));
        let Some(mut reading) = reading else { return Ok(self.end_if(known.settled)) };
        let current = known.attempt.as_ref().filter(|it| it.id == reading.attempt.id);
        let is_over = current.is_none_or(|attempt| attempt.end.is_some());
        let count = self.read(&mut reading, known.key, is_over).await?;
        if count > 0 || !is_over {
            self.reading = Some(reading);
            return Ok(count > 0);
        }
        if current.is_none() && known.attempt.is_some() {
            return Ok(true);
        }
        self.reading = Some(reading);
        Ok(self.end_if(known.settled))
    }

    fn end_if(&mut self, settled: Option<Word>) -> bool {
        let Some(word) = settled else { return false };
        self.ended = true;
        self.waiting.push_back(json("end", &End { status: word.text() }));
        true
    }

    /// Read again only when the run may have changed.
    async fn known(&mut self) -> Result<Known, Problem> {
        if let Some(known) = &self.known
            && !self.app.hub.may_have_changed(self.run, known.stamp)
        {
            return Ok(known.clone());
        }
        // Before the store is asked: its answer is not older.
        let seen = *self.app.hub.watch().borrow();
        let found = self.app.found(self.run).await?;
        let (attempt, settled) = standing(&self.app, &found, &self.named).await?;
        let known = Known {
            stamp: seen.max(found.run.progress.stamp),
            key: found.run.head.key,
            attempt,
            settled,
        };
        self.known = Some(known.clone());
        Ok(known)
    }

    /// Takes some lines of an attempt's log, and says how many.
    async fn read(
        &mut self,
        reading: &mut Reading,
        key: RunKey,
        is_over: bool,
    ) -> Result<usize, Problem> {
        if reading.log.is_none() || (is_over && !reading.is_whole) {
            reading.is_whole = is_over;
            reading.log = open(&self.app, (key, reading.attempt.id), reading.told).await?;
        }
        let Some(log) = reading.log.take() else { return Ok(0) };
        let is_whole = reading.is_whole;
        let taken = tokio::task::spawn_blocking(move || take(log, is_whole)).await;
        let (lines, log) = taken.map_err(|_| broken())?.map_err(LogError::from)?;
        reading.log = Some(log);
        for line in &lines {
            reading.told += 1;
            let place = (reading.attempt.number, reading.told);
            if self.skip.is_none_or(|last| place > last) {
                self.waiting.push_back(event(line, place));
            }
        }
        Ok(lines.len())
    }
}

/// The attempt to read, and how the task ended if it has. An instance that never starts ends with
/// its group.
async fn standing(
    app: &App,
    found: &Found,
    Named { task, index }: &Named,
) -> Result<(Option<Attempt>, Option<Word>), Problem> {
    let looked_up = match found.named(task, *index) {
        Ok(task) => app.task_and_row(found, task).await,
        Err(problem) => Err(problem),
    };
    match looked_up {
        Ok((view, row)) => {
            let attempt = match &row {
                None => None,
                Some(row) => app.last_attempt(found.run.head.key, row).await?,
            };
            Ok((attempt, Some(view.status).filter(|word| word.is_settled())))
        }
        Err(problem) if problem.code == Code::NotStarted.word() => {
            let group = app.task(found, found.named(task, None)?).await?;
            Ok((None, group.status.is_settled().then_some(Word::Cancelled)))
        }
        Err(problem) => Err(problem),
    }
}

/// Past the lines that are told already.
async fn open(
    app: &App,
    place: (RunKey, AttemptId),
    told: u64,
) -> Result<Option<LogText>, Problem> {
    let Some(mut log) = LogText::open(&*app.store, &app.config.logs, place).await? else {
        return Ok(None);
    };
    let passed = tokio::task::spawn_blocking(move || log.pass(told).map(|()| log)).await;
    Ok(Some(passed.map_err(|_| broken())?.map_err(LogError::from)?))
}

impl Reading {
    fn new(attempt: Attempt) -> Self {
        Self { attempt, log: None, told: 0, is_whole: false }
    }
}

fn event(line: &Line, (attempt, number): (u32, u64)) -> Event {
    let shown = OneLine {
        attempt,
        at: line.at,
        stream: stream_word(line.stream),
        text: &line.text,
        unended: !line.complete,
    };
    json("line", &shown).id(format!("{attempt}:{number}"))
}

fn take(mut log: LogText, is_whole: bool) -> io::Result<(Vec<Line>, LogText)> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    while lines.len() < LINES && bytes < BYTES {
        let next = if is_whole { log.next() } else { log.next_written() };
        let Some(line) = next else { break };
        let line = line?;
        bytes += line.text.len();
        lines.push(line);
    }
    Ok((lines, log))
}
