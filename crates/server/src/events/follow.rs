//! A task's log, line by line as it is written: through all attempts from the current one on, until
//! the task is settled, or of one attempt until that ends.
//!
//! ```text
//!  store ─► which attempt, is it over ─► log ─► lines ─┬─► server-sent events
//!                 ▲          nothing new: after a while │   (here)
//!                 └─────────────────────────────────────┴─► text (follow_text)
//! ```

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
use mainspring_core::kernel::row::{Attempt, TaskRow};
use mainspring_core::time::Timestamp;
use mainspring_core::view::shapes::attempts;
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

/// Whose log, and how much of it.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub run: RunId,
    pub named: Named,
    /// Only this attempt.
    pub attempt: Option<u32>,
    /// Of what is there at the beginning only so many lines.
    pub tail: Option<u64>,
}

/// What a follower has to say.
#[derive(Debug)]
pub(super) enum Told {
    Line {
        line: Line,
        /// Of which attempt, and which line of its log, from 1.
        place: (u32, u64),
    },
    /// That was all, and how it ended.
    End(&'static str),
    Trouble(Problem),
}

/// As server-sent events.
pub fn follow(
    app: App,
    who: Who,
    wanted: Wanted,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let seat = app.room.for_stream(who.pass)?;
    let allowed = lapse(app.clone(), who);
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let last = last.and_then(|text| {
        let (attempt, line) = text.split_once(':')?;
        Some((attempt.parse().ok()?, line.parse().ok()?))
    });
    let follower = Follower::new(app, wanted, last);
    let lines = stream::unfold(follower, |mut follower| async move {
        let told = follower.next().await?;
        Some((Ok(event(&told)), follower))
    });
    Ok(response(seat, lines.take_until(allowed)))
}

pub(super) struct Follower {
    app: App,
    run: RunId,
    named: Named,
    /// The number of the only attempt that is wanted.
    only: Option<u32>,
    /// Applies to what is there at the first look.
    tail: Option<u64>,
    known: Option<Known>,
    reading: Option<Reading>,
    /// Attempt and line that the caller heard last.
    skip: Option<(u32, u64)>,
    pub waiting: VecDeque<Told>,
    draining: watch::Receiver<bool>,
    ended: bool,
}

/// The task or instance as of some commit, of whatever run.
#[derive(Clone)]
struct Known {
    stamp: u64,
    key: RunKey,
    attempt: Option<Attempt>,
    /// How what is followed ended.
    settled: Option<&'static str>,
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
    /// Whoever heard something before goes on behind that.
    pub fn new(app: App, wanted: Wanted, heard: Option<(u32, u64)>) -> Self {
        let Wanted { run, named, attempt, tail } = wanted;
        Self {
            draining: app.draining.subscribe(),
            app,
            run,
            named,
            only: attempt,
            tail: tail.filter(|_| heard.is_none()),
            known: None,
            reading: None,
            skip: heard,
            waiting: VecDeque::new(),
            ended: false,
        }
    }

    pub async fn next(&mut self) -> Option<Told> {
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
                    return Some(Told::Trouble(problem));
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
        let tail = self.tail.take();
        let reading = self.reading.take().or_else(|| known.attempt.clone().map(Reading::new));
        let Some(mut reading) = reading else { return Ok(self.end_if(known.settled)) };
        let current = known.attempt.as_ref().filter(|it| it.id == reading.attempt.id);
        let is_over = current.is_none_or(|attempt| attempt.end.is_some());
        if let Some(tail) = tail {
            let place = (known.key, reading.attempt.id);
            reading.told = lines_by_now(&self.app, place, is_over).await?.saturating_sub(tail);
        }
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

    fn end_if(&mut self, settled: Option<&'static str>) -> bool {
        let Some(status) = settled else { return false };
        self.ended = true;
        self.waiting.push_back(Told::End(status));
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
        let (attempt, settled) = standing(&self.app, &found, &self.named, self.only).await?;
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
        let count = lines.len();
        for line in lines {
            reading.told += 1;
            let place = (reading.attempt.number, reading.told);
            if self.skip.is_none_or(|last| place > last) {
                self.waiting.push_back(Told::Line { line, place });
            }
        }
        Ok(count)
    }
}

/// The attempt to read, and how the task ended if it has, or the only attempt that is wanted. An instance that never starts ends with
/// its group.
async fn standing(
    app: &App,
    found: &Found,
    Named { task, index }: &Named,
    only: Option<u32>,
) -> Result<(Option<Attempt>, Option<&'static str>), Problem> {
    let looked_up = match found.named(task, *index) {
        Ok(task) => app.task_and_row(found, task).await,
        Err(problem) => Err(problem),
    };
    match looked_up {
        Ok((view, Some(row))) if only.is_some() => {
            let attempt = app.attempt(found, row.task, only).await?;
            let is_over = attempt.as_ref().is_some_and(|it| it.end.is_some());
            let settled = match is_over || view.status.is_settled() {
                true => ended(app, found, &row, only).await?,
                false => None,
            };
            Ok((attempt, settled))
        }
        Ok((view, row)) => {
            let attempt = match &row {
                None => None,
                Some(row) => app.last_attempt(found.run.head.key, row).await?,
            };
            let settled = Some(view.status).filter(|word| word.is_settled());
            Ok((attempt, settled.map(Word::text)))
        }
        Err(problem) if problem.code == Code::NotStarted.word() => {
            let group = app.task(found, found.named(task, None)?).await?;
            Ok((None, group.status.is_settled().then_some(Word::Cancelled.text())))
        }
        Err(problem) => Err(problem),
    }
}

/// How an attempt ended, in the word of the list of attempts.
async fn ended(
    app: &App,
    found: &Found,
    row: &TaskRow,
    number: Option<u32>,
) -> Result<Option<&'static str>, Problem> {
    let history = app.store.attempts_of(found.run.head.key, row.task).await?;
    let mut shown = attempts(&history, row).into_iter().rev();
    Ok(shown.find(|shown| Some(shown.attempt) == number).map(|shown| shown.status))
}

async fn lines_by_now(
    app: &App,
    place: (RunKey, AttemptId),
    is_whole: bool,
) -> Result<u64, Problem> {
    let Some(mut log) = LogText::open(&*app.store, &app.config.logs, place).await? else {
        return Ok(0);
    };
    let count = move || -> io::Result<u64> {
        let mut lines = 0;
        while let Some(line) = next_line(&mut log, is_whole) {
            line?;
            lines += 1;
        }
        Ok(lines)
    };
    let counted = tokio::task::spawn_blocking(count).await;
    Ok(counted.map_err(|_| broken())?.map_err(LogError::from)?)
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

fn event(told: &Told) -> Event {
    let (line, (attempt, number)) = match told {
        Told::Line { line, place } => (line, *place),
        Told::End(status) => return json("end", &End { status }),
        Told::Trouble(problem) => return json("error", problem),
    };
    let shown = OneLine {
        attempt,
        at: line.at,
        stream: stream_word(line.stream),
        text: &line.text,
        unended: !line.complete,
    };
    json("line", &shown).id(format!("{attempt}:{number}"))
}

fn next_line(log: &mut LogText, is_whole: bool) -> Option<io::Result<Line>> {
    if is_whole { log.next() } else { log.next_written() }
}

fn take(mut log: LogText, is_whole: bool) -> io::Result<(Vec<Line>, LogText)> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    while lines.len() < LINES && bytes < BYTES {
        let Some(line) = next_line(&mut log, is_whole) else { break };
        let line = line?;
        bytes += line.text.len();
        lines.push(line);
    }
    Ok((lines, log))
}
