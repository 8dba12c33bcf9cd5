//! The second step of a task: what lands its work once that is done. It is in its task's row, with
//! numbers of its own, and goes through the same facts as a task does.

use crate::error::TaskError;
use crate::ids::AttemptId;
use crate::kernel::fact::Fact;
use crate::kernel::row::{Attempt, AttemptEnd};
use crate::kernel::transition::{Event, transition};
use crate::spec::definition::Finalize;
use crate::time::{Span, Timestamp};
use crate::work::CacheNote;
use serde::{Deserialize, Serialize};

/// What the row of a task says beyond its fact, from the end of its work on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finalizer {
    /// `None` while it is queued. It is settled when its task is, and in the same way.
    pub fact: Fact,
    /// When the work was done: the oldest goes first.
    pub since: Timestamp,
    /// Of a merge whose definition names no queue: that of its repository and target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Box<str>>,
    /// Set exactly while it is live: those that have ended are in the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<LiveAttempt>,
    /// Counted failures.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tries: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub losses: u32,
    /// Refused starts in a row, how long they and the waits after them took together, and why the
    /// last one was, or what was in its way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refusals: u32,
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub refused_for: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<str>>,
    /// How often in a row something was in its way that a person has to see to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hindrances: u32,
    /// How its last attempt failed; once it has failed for good, what its task failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<TaskError>>,
    /// What the whole is to be remembered under once it has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheNote>,
}

/// An attempt that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveAttempt {
    pub number: u32,
    pub id: AttemptId,
    pub dispatched_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
}

impl LiveAttempt {
    pub fn ended(self, at: Timestamp, end: AttemptEnd) -> Attempt {
        Attempt { finished_at: Some(at), end: Some(end), ..self.shown() }
    }

    /// As one among others.
    pub fn shown(self) -> Attempt {
        let Self { number, id, dispatched_at, started_at } = self;
        Attempt { number, id, dispatched_at, started_at, finished_at: None, end: None }
    }
}

impl Finalizer {
    pub fn queued(since: Timestamp, cache: Option<CacheNote>) -> Self {
        Self {
            fact: Fact::None,
            since,
            queue: None,
            attempt: None,
            tries: 0,
            losses: 0,
            refusals: 0,
            refused_for: Span::ZERO,
            refused: None,
            hindrances: 0,
            error: None,
            cache,
        }
    }

    /// Follows the one transition function. Callers looked at the fact first.
    pub fn step(&mut self, event: Event) {
        self.fact = transition(self.fact, event).expect("callers looked at the fact first");
    }

    /// An attempt that took its number ends the row of refused starts before it.
    pub fn forget_refusals(&mut self) {
        (self.refusals, self.refused_for, self.refused) = (0, Span::ZERO, None);
    }

    /// Where it waits its turn.
    pub fn queue<'a>(&'a self, finalize: &'a Finalize) -> Option<&'a str> {
        self.queue.as_deref().or(finalize.queue.as_deref())
    }

    /// How it stands, in a word.
    pub const fn word(&self) -> &'static str {
        match self.fact {
            Fact::None => "queued",
            fact => fact.word(),
        }
    }
}

/// Which step of its task an attempt is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Work,
    Finalize,
}

impl Step {
    pub const ALL: &[Self] = &[Self::Work, Self::Finalize];

    /// As the role of an attempt.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Finalize => "finalize",
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_nothing(span: &Span) -> bool {
    *span == Span::ZERO
}
