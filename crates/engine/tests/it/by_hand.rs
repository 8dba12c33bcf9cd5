//! An executor played by hand: says what it was told, and reports what a test wants reported.

use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::kernel::row::Log;
use mainspring_core::work::{
    ArtifactIn, Ended, Launch, Life, Outcome, Question, Reattached, Report, ReportKind, Stop, Work,
};
use mainspring_exec::{Executor, Reports};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Far longer than anything takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
struct State {
    /// What it holds, by task name; an end is kept until it is settled.
    held: BTreeMap<String, (Ticket, Option<Ended>)>,
    /// Files that were brought to the latest attempt of a task.
    brought: BTreeMap<String, Vec<ArtifactIn>>,
    /// How often each attempt was started.
    starts: BTreeMap<AttemptId, u32>,
    told: Vec<String>,
}

pub struct ByHand {
    state: Mutex<State>,
    changed: Condvar,
    reports: Arc<dyn Reports>,
}

impl ByHand {
    pub fn new(reports: Arc<dyn Reports>) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), reports }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("unpoisoned")
    }

    fn tell(&self, what: String) {
        self.state().told.push(what);
        self.changed.notify_all();
    }

    /// Waits until it has been told something, once for each time it is asked.
    pub fn wait_for(&self, what: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state();
        loop {
            if let Some(position) = state.told.iter().position(|told| told == what) {
                state.told.remove(position);
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "was never told '{what}', but {:?}", state.told);
            state = self.changed.wait_timeout(state, left).expect("unpoisoned").0;
        }
    }

    pub fn end(&self, task: &str, outcome: Outcome) {
        self.end_with(task, ended(outcome, None));
    }

    pub fn end_with(&self, task: &str, ended: Ended) {
        let mut state = self.state();
        let (ticket, kept) = state.held.get_mut(task).expect("it holds the task");
        *kept = Some(ended.clone());
        let ticket = *ticket;
        drop(state);
        self.reports.report(Report { ticket, what: ReportKind::Ended(ended) });
    }

    pub fn succeed(&self, task: &str) {
        self.end(task, Outcome::Success(None));
    }

    /// The attempt of a task that it holds.
    pub fn attempt(&self, task: &str) -> AttemptId {
        self.state().held.get(task).expect("it holds the task").0.attempt
    }

    /// Files for the latest attempt of a task.
    pub fn brought(&self, task: &str) -> Vec<ArtifactIn> {
        self.state().brought.get(task).cloned().unwrap_or_default()
    }

    pub fn starts_of_each_attempt(&self) -> Vec<u32> {
        self.state().starts.values().copied().collect()
    }
}

/// The end of an attempt that had started.
pub fn ended(outcome: Outcome, log: Option<Log>) -> Ended {
    Ended { log, ..Ended::of(outcome) }
}

impl Executor for ByHand {
    fn start(&self, launch: Launch) {
        let name = launch.task.to_string();
        let mut state = self.state();
        *state.starts.entry(launch.ticket.attempt).or_default() += 1;
        state.held.insert(name.clone(), (launch.ticket, None));
        if let Work::Process(work) = launch.work {
            state.brought.insert(name.clone(), work.artifacts_in);
        }
        drop(state);
        self.reports.report(Report { ticket: launch.ticket, what: ReportKind::Started });
        self.tell(format!("start {name}"));
    }

    fn stop(&self, stop: Stop) {
        let held = self.held_name(stop.ticket);
        self.tell(format!("stop {}", held.unwrap_or_default()));
    }

    fn reattach(&self, question: Question, life: Life) {
        let state = self.state();
        let known = state.held.values().find(|(ticket, _)| *ticket == question.ticket).cloned();
        drop(state);
        let answer = match (known, life) {
            (Some((_, Some(ended))), _) => Reattached::Ended(ended),
            (Some((_, None)), _) => Reattached::Running,
            (None, Life::This) => Reattached::NeverStarted,
            (None, Life::Former) => Reattached::Unknown { log: None },
        };
        let what = ReportKind::Reattached(question.number, answer);
        self.reports.report(Report { ticket: question.ticket, what });
        self.tell("reattach".to_owned());
    }

    fn settle(&self, ticket: Ticket) {
        if let Some(name) = self.held_name(ticket) {
            self.state().held.remove(&name);
            self.tell(format!("settle {name}"));
        }
    }

    fn held(&self) -> Vec<Ticket> {
        self.state().held.values().map(|(ticket, _)| *ticket).collect()
    }

    fn shut_down(&self) {
        self.state().held.clear();
    }
}

impl ByHand {
    fn held_name(&self, ticket: Ticket) -> Option<String> {
        let state = self.state();
        let mut held = state.held.iter();
        held.find(|(_, (known, _))| *known == ticket).map(|(name, _)| name.clone())
    }
}
