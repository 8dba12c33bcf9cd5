//! An executor whose tasks end when a test says so, and never because they are told to stop.

use mainspring_core::ids::Ticket;
use mainspring_core::kernel::row::Log;
use mainspring_core::work::{
    Ended, Launch, Life, Outcome, Question, Reattached, Report, ReportKind, Stop,
};
use mainspring_engine::{Executor, Reports};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch;

/// What every attempt writes.
const LOG: &str = "2026-01-31T12:00:00.000000Z o a line\n";

pub struct ByHand {
    reports: Arc<dyn Reports>,
    /// What it holds, by the names of tasks; an instance is `a[0]`.
    held: watch::Sender<BTreeMap<String, Ticket>>,
}

impl ByHand {
    pub fn new(reports: Arc<dyn Reports>) -> Self {
        Self { reports, held: watch::Sender::default() }
    }

    /// Waits until this task is at work.
    pub async fn started(&self, task: &str) {
        let mut held = self.held.subscribe();
        held.wait_for(|held| held.contains_key(task)).await.unwrap();
    }

    /// Waits until this task is no longer at work, and that is recorded.
    pub async fn gone(&self, task: &str) {
        let mut held = self.held.subscribe();
        held.wait_for(|held| !held.contains_key(task)).await.unwrap();
    }

    /// Ends an attempt, and waits until the next one of this task is at work.
    pub async fn end_and_again(&self, task: &str, outcome: Outcome) {
        let mut held = self.held.subscribe();
        let ticket = held.borrow()[task];
        self.end(task, outcome);
        let is_next =
            |held: &BTreeMap<String, Ticket>| held.get(task).is_some_and(|next| *next != ticket);
        held.wait_for(is_next).await.unwrap();
    }

    pub fn end(&self, task: &str, outcome: Outcome) {
        let ticket = self.held.borrow()[task];
        let log = Some(Log::Inline(LOG.as_bytes().into()));
        let ended = Ended { log, ..Ended::of(outcome) };
        self.reports.report(Report { ticket, what: ReportKind::Ended(ended) });
    }
}

impl Executor for ByHand {
    fn start(&self, launch: Launch) {
        self.reports.report(Report { ticket: launch.ticket, what: ReportKind::Started });
        let name = match launch.instance {
            None => launch.task.to_string(),
            Some((index, _)) => format!("{}[{index}]", launch.task),
        };
        self.held.send_modify(|held| {
            held.insert(name, launch.ticket);
        });
    }

    fn stop(&self, _: Stop) {}

    fn reattach(&self, question: Question, _: Life) {
        let what = ReportKind::Reattached(question.number, Reattached::Running);
        self.reports.report(Report { ticket: question.ticket, what });
    }

    fn settle(&self, ticket: Ticket) {
        self.held.send_modify(|held| held.retain(|_, known| *known != ticket));
    }

    fn held(&self) -> Vec<Ticket> {
        self.held.borrow().values().copied().collect()
    }

    fn shut_down(&self) {
        self.held.send_modify(BTreeMap::clear);
    }
}
