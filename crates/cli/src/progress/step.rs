//! A step of a task, in words. The first word of a line is the state, so that lines can be
//! searched for it.

use crate::client::wire::{Error, Task};
use crate::fan::{Fan, counted};
use crate::out;
use crate::time_text::clock;
use mainspring_core::time::{Span, Timestamp};
use std::sync::Arc;

/// Width of the longest state.
const STATE_WIDTH: usize = 10;

#[derive(Clone, Debug)]
pub struct Step {
    pub task: Arc<str>,
    /// Attempt numbers used so far.
    pub attempts: u32,
    /// Counted failures, and how many there may be.
    pub tries: (u32, u32),
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    Started,
    /// Its work is done, and what lands it follows.
    WorkDone(Option<Span>),
    /// What lands it has started.
    Landing,
    /// A fan-out has begun, with so many instances.
    Opened(u32),
    /// Another tenth of a large fan-out's instances has an outcome.
    Advanced(Fan),
    /// After an attempt that did not succeed; the next one starts at this time.
    Retrying(Error, Timestamp),
    /// The attempt could not be started; it is tried again at this time.
    Refused(String, Timestamp),
    Success(Option<Span>),
    /// Its instances have succeeded, or need not have.
    Gathered(Fan, Option<Span>),
    /// The success of an earlier run was taken.
    Cached,
    /// That of the run that this one runs anew.
    Copied,
    Failed(Error),
    /// So many instances failed beside those that were named.
    MoreFailed(u32),
    NeverStarted(String),
    Cancelled,
    Skipped,
    /// Parked, for this.
    Waiting(String),
}

impl Step {
    /// One line, without its newline.
    pub fn line(&self, now: Timestamp) -> String {
        let Self { task, attempts, tries: (tries, tries_max), what } = self;
        let when = |at: Timestamp| format!("in {} (at {}Z)", rounded(at.since(now)), clock(at));
        match what {
            What::Started if *attempts > 1 => {
                state("started", &format!("{task}, attempt {attempts}"))
            }
            What::Started => state("started", task),
            What::WorkDone(Some(took)) => state("worker_done", &format!("{task} in {took}")),
            What::WorkDone(None) => state("worker_done", task),
            What::Landing => {
                state("started", &format!("{task}, its finalizer, attempt {attempts}"))
            }
            What::Opened(count) => state("started", &format!("{task}, {}", counted(*count))),
            What::Advanced(fan) => state("running", &format!("{task} {}", fan.text())),
            What::Retrying(error, at) if error.class == "worker_lost" => {
                let why = said(error);
                state(
                    "retrying",
                    &format!("{task} {}: attempt {attempts} was lost: {why}", when(*at)),
                )
            }
            What::Retrying(error, at) => {
                let tried = format!("try {tries} of {tries_max} failed");
                state("retrying", &format!("{task} {}: {tried}: {}", when(*at), said(error)))
            }
            What::Refused(why, at) => state(
                "delayed",
                &format!("{task} {}: it could not start: {}", when(*at), out::tame(why)),
            ),
            What::Success(Some(took)) => state("success", &format!("{task} in {took}")),
            What::Success(None) => state("success", task),
            What::Gathered(fan, took) => state("success", &gathered(task, *fan, *took)),
            What::Cached => state("success", &format!("{task} (cached)")),
            What::Copied => state("success", &format!("{task} (copied)")),
            What::Failed(error) => state("failed", &format!("{task}: {}", said(error))),
            What::MoreFailed(1) => state("failed", &format!("… and 1 more instance of {task}")),
            What::MoreFailed(more) => {
                state("failed", &format!("… and {more} more instances of {task}"))
            }
            What::NeverStarted(why) => {
                state("failed", &format!("{task}: it could not start: {}", out::tame(why)))
            }
            What::Cancelled => state("cancelled", task),
            What::Skipped => state("skipped", task),
            What::Waiting(why) => state("waiting", &format!("{task} {why}")),
        }
    }

    pub fn is_failure(&self) -> bool {
        matches!(self.what, What::Failed(_) | What::NeverStarted(_))
    }

    /// It is shown by other means where there is a picture of what runs.
    pub fn is_in_picture(&self) -> bool {
        matches!(self.what, What::Started | What::Landing | What::Opened(_) | What::Advanced(_))
    }
}

/// All of them, and those that did not succeed.
fn gathered(task: &str, fan: Fan, took: Option<Span>) -> String {
    let mut text = format!("{task}, {}", counted(fan.total));
    if fan.failed > 0 {
        text.push_str(&format!(", {} failed", fan.failed));
    }
    if let Some(took) = took {
        text.push_str(&format!(" in {took}"));
    }
    text
}

/// To tenths of a second: the rest is how long it took to hear of it.
fn rounded(span: Span) -> Span {
    const TENTH: u64 = 100_000;
    Span(span.0.saturating_add(TENTH / 2) / TENTH * TENTH)
}

fn said(error: &Error) -> String {
    format!("{}: {}", error.class, out::tame(&error.message))
}

/// A state in its colour, in a column of its own, then the rest.
pub fn state(word: &str, rest: &str) -> String {
    let padded = format!("{word:STATE_WIDTH$}");
    let painted = match word {
        "success" => out::green(&padded),
        "failed" => out::red(&padded),
        "retrying" | "blocked" | "cancelled" | "cancelling" | "delayed" | "waiting" => {
            out::yellow(&padded)
        }
        _ => out::dim(&padded),
    };
    format!("{painted} {rest}")
}

/// Lines for tasks that will not run, which no event told of; at most `max` of them.
pub fn what_became(tasks: &[Task], max: usize) -> Vec<String> {
    let never_ran = |task: &&Task| {
        let word = matches!(task.status.as_str(), "blocked" | "skipped" | "cancelled");
        // A fan-out has no attempts of its own, whatever it did.
        word && task.reason.is_some() && task.attempt == 0 && task.instances.is_none()
    };
    let all = tasks.iter().filter(never_ran);
    let mut lines: Vec<String> = all
        .clone()
        .take(max)
        .map(|task| {
            let reason = task.reason.as_deref().unwrap_or_default();
            state(&task.status, &format!("{} ({})", out::tame(&task.name), out::tame(reason)))
        })
        .collect();
    let more = all.count().saturating_sub(max);
    if more > 0 {
        lines.push(state("", &format!("… and {more} more that did not run")));
    }
    lines
}
