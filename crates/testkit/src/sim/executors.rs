//! A simulated executor: holds attempts, lets them start and end when chance says so, and
//! keeps outcomes until they are settled, as the contract wants it.

use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::json::Json;
use mainspring_core::work::{Ended, Life, Outcome, Question, Reattached, Report, ReportKind};
use mainspring_core::world::chance::Chance;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum State {
    Starting,
    Running,
    /// Also an outcome: kept, and said again, until it is settled.
    Refused,
    Ended(Ended),
}

#[derive(Clone, Debug)]
struct Held {
    ticket: Ticket,
    state: State,
    stopping: bool,
}

#[derive(Debug, Default)]
pub struct Executors {
    held: BTreeMap<AttemptId, Held>,
    /// How often each attempt really began, over all lives.
    pub begun: BTreeMap<AttemptId, u32>,
    pub reports: Vec<Report>,
}

impl Executors {
    pub fn start(&mut self, ticket: Ticket) {
        let held = Held { ticket, state: State::Starting, stopping: false };
        self.held.entry(ticket.attempt).or_insert(held);
    }

    pub fn stop(&mut self, ticket: Ticket) {
        if let Some(held) = self.held.get_mut(&ticket.attempt) {
            held.stopping = true;
        }
    }

    pub fn reattach(&mut self, question: Question, life: Life) {
        let ticket = question.ticket;
        let answer = match self.held.get(&ticket.attempt).map(|held| &held.state) {
            Some(State::Starting) => return,
            Some(State::Refused) => return self.report(ticket, refused()),
            Some(State::Running) => Reattached::Running,
            Some(State::Ended(ended)) => Reattached::Ended(ended.clone()),
            None if life == Life::This => Reattached::NeverStarted,
            None => Reattached::Unknown { log: None },
        };
        self.report(ticket, ReportKind::Reattached(question.number, answer));
    }

    pub fn settle(&mut self, ticket: Ticket) {
        self.held.remove(&ticket.attempt);
    }

    pub fn held(&self) -> Vec<Ticket> {
        self.held.values().map(|held| held.ticket).collect()
    }

    /// Whether work of this attempt is going on in the world.
    pub fn is_alive(&self, attempt: AttemptId) -> bool {
        self.held.get(&attempt).is_some_and(|held| matches!(held.state, State::Running))
    }

    /// The process was killed: so are its children, and nothing is remembered.
    pub fn die(&mut self) {
        self.held.clear();
        self.reports.clear();
    }

    fn report(&mut self, ticket: Ticket, what: ReportKind) {
        self.reports.push(Report { ticket, what });
    }

    /// Something happens to one attempt. False when there is none to which it could.
    pub fn advance(&mut self, chance: &mut Chance) -> bool {
        let moving = |held: &&Held| matches!(held.state, State::Starting | State::Running);
        let count = self.held.values().filter(moving).count() as u64;
        if count == 0 {
            return false;
        }
        let pick = usize::try_from(chance.below(count)).expect("small");
        let held = self.held.values().filter(moving).nth(pick).expect("counted").clone();
        match held.state {
            State::Starting if held.stopping => self.end(held.ticket, false, Outcome::Stopped),
            State::Starting => self.begin(chance, held.ticket),
            State::Running => {
                let outcome = outcome(chance, held.stopping);
                self.end(held.ticket, true, outcome);
            }
            State::Refused | State::Ended(_) => {}
        }
        true
    }

    fn begin(&mut self, chance: &mut Chance, ticket: Ticket) {
        match chance.below(12) {
            0 => {
                if let Some(held) = self.held.get_mut(&ticket.attempt) {
                    held.state = State::Refused;
                }
                self.report(ticket, refused());
            }
            1 => {
                let error = TaskError::new(ErrorClass::Logic, "command not found");
                self.end(ticket, false, Outcome::Failed(error));
            }
            _ => {
                *self.begun.entry(ticket.attempt).or_default() += 1;
                if let Some(held) = self.held.get_mut(&ticket.attempt) {
                    held.state = State::Running;
                }
                // A start report may get lost: the end says it too.
                if chance.below(6) != 0 {
                    self.report(ticket, ReportKind::Started);
                }
            }
        }
    }

    fn end(&mut self, ticket: Ticket, started: bool, outcome: Outcome) {
        let ended = Ended { outcome, started, log: None };
        if let Some(held) = self.held.get_mut(&ticket.attempt) {
            held.state = State::Ended(ended.clone());
        }
        self.report(ticket, ReportKind::Ended(ended));
    }
}

fn refused() -> ReportKind {
    ReportKind::Refused("none to be had".into())
}

fn outcome(chance: &mut Chance, stopping: bool) -> Outcome {
    match chance.below(10) {
        // Even one that is being stopped may get there first.
        n if stopping && n < 7 => Outcome::Stopped,
        0..=2 => Outcome::Failed(TaskError::exit(1)),
        3 => Outcome::Failed(TaskError::new(ErrorClass::WorkerLost, "the worker died")),
        4 => Outcome::Success(Some(Json::parse("{\"n\":1}").expect("valid"))),
        _ => Outcome::Success(None),
    }
}
