//! The executor that benchmarks measure: it does nothing, on a thread of its own, so that
//! dispatch, executor and report are all passed through.
//!
//! ```text
//!  start ─► waiting (a vector) ══► thread: takes the whole vector ─► Started, Ended … in one go
//! ```

use crate::contract::{Executor, Reports};
use mainspring_core::ids::Ticket;
use mainspring_core::work::{
    Ended, Launch, Life, Outcome, Question, Reattached, Report, ReportKind, Stop,
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Answers every start with Started and Ended, success without output.
#[derive(Debug)]
pub struct EchoExecutor {
    inbox: Arc<Inbox>,
}

#[derive(Debug, Default)]
struct Inbox {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    reports: Vec<Report>,
    closed: bool,
}

impl EchoExecutor {
    pub fn new(reports: Arc<dyn Reports>) -> std::io::Result<Self> {
        let inbox = Arc::new(Inbox::default());
        let worker = Arc::clone(&inbox);
        std::thread::Builder::new().name("echo".to_owned()).spawn(move || {
            while let Some(batch) = worker.take() {
                reports.report_all(batch);
            }
        })?;
        Ok(Self { inbox })
    }
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, reports: impl IntoIterator<Item = Report>) {
        self.state().reports.extend(reports);
        self.filled.notify_one();
    }

    fn take(&self) -> Option<Vec<Report>> {
        let mut state = self.state();
        while state.reports.is_empty() {
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Some(std::mem::take(&mut state.reports))
    }

    fn close(&self) {
        self.state().closed = true;
        self.filled.notify_one();
    }
}

/// All that is ever heard of an attempt.
fn life_of(ticket: Ticket) -> [Report; 2] {
    let ended = Ended::of(Outcome::Success(None));
    [ReportKind::Started, ReportKind::Ended(ended)].map(|what| Report { ticket, what })
}

impl Executor for EchoExecutor {
    fn start(&self, launch: Launch) {
        self.inbox.put(life_of(launch.ticket));
    }

    fn start_all(&self, launches: Vec<Launch>) {
        self.inbox.put(launches.iter().flat_map(|launch| life_of(launch.ticket)));
    }

    /// Everything has ended as soon as it started; the report is on its way.
    fn stop(&self, _: Stop) {}

    /// Echoes cost nothing: what a failed commit dropped is simply done again.
    fn reattach(&self, question: Question, life: Life) {
        let answer = match life {
            Life::This => Reattached::NeverStarted,
            Life::Former => Reattached::Unknown { log: None },
        };
        let what = ReportKind::Reattached(question.number, answer);
        self.inbox.put([Report { ticket: question.ticket, what }]);
    }

    fn settle(&self, _: Ticket) {}

    fn held(&self) -> Vec<Ticket> {
        Vec::new()
    }

    fn shut_down(&self) {
        self.inbox.close();
    }
}

impl Drop for EchoExecutor {
    fn drop(&mut self) {
        self.inbox.close();
    }
}
