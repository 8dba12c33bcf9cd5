//! What is waiting for the world. Reports and answers of the store are never refused: there
//! are never more than live attempts and one commit. Requests are bounded.
//!
//! ```text
//!  executors ─► reports ┐
//!  store ─────► control ┼─► one lock, one condition ─► world thread takes all at once
//!  requests ──► bounded ┘
//! ```

use crate::cycle::Reading;
use crate::engine::NotDone;
use mainspring_core::work::Report;
use mainspring_core::world::input::{Input, Prefetched, Reply, Verb};
use mainspring_core::world::snapshot::RunSnapshot;
use mainspring_exec::Reports;
use mainspring_store::{CommitError, ReadError, Registration};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Requests that may wait; beyond them a caller is told to come back later.
const REQUESTS_MAX: usize = 4_096;

pub(crate) type Ask = oneshot::Sender<Result<Reply, NotDone>>;

#[derive(Debug)]
pub(crate) struct Request {
    pub input: Input,
    pub ask: Option<Ask>,
}

/// News from the engine's own helpers.
#[derive(Debug)]
pub(crate) enum Control {
    CommitDone(Result<(), CommitError>),
    Found(Reading<Ask>, Box<Result<Prefetched, ReadError>>),
    Loaded(Result<(Registration, Vec<RunSnapshot>), ReadError>),
    Stop,
}

#[derive(Debug, Default)]
pub(crate) struct Mail {
    pub control: Vec<Control>,
    pub reports: VecDeque<Report>,
    /// Cancels pass everything else a person asks for.
    pub cancels: VecDeque<Request>,
    pub requests: VecDeque<Request>,
}

impl Mail {
    /// Whether there is anything for someone who has room for so many requests.
    fn is_empty(&self, room: usize) -> bool {
        self.control.is_empty()
            && self.reports.is_empty()
            && self.cancels.is_empty()
            && (room == 0 || self.requests.is_empty())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    mail: Mutex<Mail>,
    arrived: Condvar,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Mail> {
        // A panic elsewhere does not make what is queued here untrue.
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn control(&self, control: Control) {
        self.lock().control.push(control);
        self.arrived.notify_one();
    }

    /// Refuses when too many wait.
    pub fn request(&self, request: Request) -> Result<(), NotDone> {
        let mut mail = self.lock();
        let is_cancel =
            matches!(&request.input, Input::Command(command) if command.verb == Verb::Cancel);
        if is_cancel {
            mail.cancels.push_back(request);
        } else if mail.requests.len() >= REQUESTS_MAX {
            return Err(NotDone::Busy);
        } else {
            mail.requests.push_back(request);
        }
        drop(mail);
        self.arrived.notify_one();
        Ok(())
    }

    /// Takes everything, but at most `room` requests, waiting for something for at most
    /// `patience`. What is left keeps callers from pouring in more.
    pub fn take(&self, room: usize, patience: Option<Duration>) -> Mail {
        let mut mail = self.lock();
        if mail.is_empty(room) {
            mail = match patience {
                None => {
                    let waited = self.arrived.wait_while(mail, |mail| mail.is_empty(room));
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Some(patience) => {
                    let waited =
                        self.arrived.wait_timeout_while(mail, patience, |mail| mail.is_empty(room));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        let left = mail.requests.len().min(room);
        let left = mail.requests.split_off(left);
        let taken = std::mem::take(&mut *mail);
        mail.requests = left;
        taken
    }
}

impl Reports for Inbox {
    fn report(&self, report: Report) {
        self.lock().reports.push_back(report);
        self.arrived.notify_one();
    }
}
