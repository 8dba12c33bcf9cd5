//! What is waiting for the world. Reports and answers of the store are never refused: there
//! are never more than live attempts and the few batches on their way. Requests are bounded.
//!
//! ```text
//!  executors ─► reports ┐
//!  store ─────► control ┼─► one lock, one condition ─► world thread takes all at once
//!  requests ──► bounded ┘
//! ```

use crate::cycle::Reading;
use crate::engine::NotDone;
use crate::loading::Loaded;
use mainspring_core::kernel::limit::LimitSetting;
use mainspring_core::work::Report;
use mainspring_core::world::input::{Answered, Input, Prefetched, Reply};
use mainspring_exec::Reports;
use mainspring_store::{CommitError, ReadError};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Requests that may wait; beyond them a caller is told to come back later. A tenth of a second
/// of work at full load: whoever waits longer is better told so.
const REQUESTS_MAX: usize = 1_024;

pub(crate) type Ask = oneshot::Sender<Result<Reply, NotDone>>;

#[derive(Debug)]
pub(crate) struct Request {
    pub input: Input,
    pub ask: Option<Ask>,
}

/// News from the engine's own helpers.
#[derive(Debug)]
pub(crate) enum Control {
    /// Of a world, by its epoch.
    CommitDone(u64, Result<(), CommitError>),
    Found(Box<Reading<Ask>>, Box<Result<Prefetched, ReadError>>),
    Loaded(Result<Box<Loaded>, ReadError>),
    /// The configuration's limits, read anew.
    Limits(Vec<LimitSetting>),
    Drain(Drain),
    /// The blob store failed for longer than anybody is to wait; says why.
    GiveUp(String),
    Stop,
}

/// Two steps of a planned end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Drain {
    /// No new attempt starts.
    StartNothing,
    /// What is live is stopped.
    StopAll,
}

#[derive(Debug, Default)]
pub(crate) struct Mail {
    pub control: Vec<Control>,
    pub reports: VecDeque<Report>,
    /// To what the world asked: never more than it has asked.
    pub answers: VecDeque<Answered>,
    /// Cancels pass everything else a person asks for.
    pub cancels: VecDeque<Request>,
    pub requests: VecDeque<Request>,
}

impl Mail {
    /// Whether there is anything for someone who has room for so many requests.
    fn is_empty(&self, room: usize) -> bool {
        self.control.is_empty()
            && self.reports.is_empty()
            && self.answers.is_empty()
            && self.cancels.is_empty()
            && (room == 0 || self.requests.is_empty())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    desk: Mutex<Desk>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Desk {
    mail: Mail,
    /// Someone waits for mail. Waking nobody is a system call too, and at full load there is
    /// nobody to wake.
    awaited: bool,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        // A panic elsewhere does not make what is queued here untrue.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, mut desk: MutexGuard<'_, Desk>) {
        let awaited = std::mem::take(&mut desk.awaited);
        drop(desk);
        if awaited {
            self.arrived.notify_one();
        }
    }

    pub fn control(&self, control: Control) {
        let mut desk = self.lock();
        desk.mail.control.push(control);
        self.put(desk);
    }

    pub fn answer(&self, answer: Answered) {
        let mut desk = self.lock();
        desk.mail.answers.push_back(answer);
        self.put(desk);
    }

    /// Refuses when too many wait.
    pub fn request(&self, request: Request) -> Result<(), NotDone> {
        let mut desk = self.lock();
        if is_cancel(&request.input) {
            desk.mail.cancels.push_back(request);
        } else if desk.mail.requests.len() >= REQUESTS_MAX {
            return Err(NotDone::Busy);
        } else {
            desk.mail.requests.push_back(request);
        }
        self.put(desk);
        Ok(())
    }

    /// Takes everything, but at most `room` requests, waiting for something for at most
    /// `patience`. What is left keeps callers from pouring in more.
    pub fn take(&self, room: usize, patience: Option<Duration>) -> Mail {
        let mut desk = self.lock();
        let until = patience.and_then(|patience| Instant::now().checked_add(patience));
        while desk.mail.is_empty(room) {
            desk.awaited = true;
            desk = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.arrived.wait(desk).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => break,
                Some(left) => {
                    let waited = self.arrived.wait_timeout(desk, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        desk.awaited = false;
        let left = desk.mail.requests.len().min(room);
        let left = desk.mail.requests.split_off(left);
        let taken = std::mem::take(&mut desk.mail);
        desk.mail.requests = left;
        taken
    }
}

fn is_cancel(input: &Input) -> bool {
    match input {
        Input::Command(command) => command.order.is_cancel(),
        Input::Recorded(_, input) => is_cancel(input),
        Input::Deploy(_)
        | Input::Trigger(_)
        | Input::DeleteWorkflow(_)
        | Input::Rouse(_)
        | Input::Forget(_)
        | Input::Admin(_)
        | Input::SetTier(_)
        | Input::Tiers
        | Input::RunLimits
        | Input::Answer(_)
        | Input::Report(_) => false,
    }
}

impl Reports for Inbox {
    fn report(&self, report: Report) {
        let mut desk = self.lock();
        desk.mail.reports.push_back(report);
        self.put(desk);
    }

    fn report_all(&self, reports: Vec<Report>) {
        let mut desk = self.lock();
        desk.mail.reports.extend(reports);
        self.put(desk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::ids::RunId;
    use mainspring_core::kernel::record::Record;
    use mainspring_core::world::input::{Command, Order, Verb};

    fn command(verb: Verb) -> Input {
        let run = RunId::from_bytes([1; 16]);
        Input::Command(Command { run, order: Order::Run(verb), by: "someone".to_owned() })
    }

    fn recorded(input: Input) -> Input {
        let record = Record {
            by: "someone".into(),
            from: "127.0.0.1".into(),
            action: "run.cancel",
            target: "run".to_owned(),
            key: None,
        };
        Input::Recorded(Box::new(record), Box::new(input))
    }

    #[test]
    fn only_cancels_are_taken_when_too_many_requests_wait() {
        let inbox = Inbox::default();
        let ask = |input| inbox.request(Request { input, ask: None });
        for _ in 0..REQUESTS_MAX {
            ask(recorded(command(Verb::Pause))).expect("there is room");
        }
        for input in [command(Verb::Retry), recorded(command(Verb::Retry))] {
            assert!(matches!(ask(input), Err(NotDone::Busy)));
        }
        for verb in [Verb::Cancel, Verb::ForceCancel] {
            ask(command(verb)).expect("a cancel passes");
            ask(recorded(command(verb))).expect("a cancel passes, recorded or not");
        }
        let mail = inbox.take(0, None);
        assert_eq!((mail.cancels.len(), mail.requests.len()), (4, 0));
    }
}
