//! A simulated executor: holds attempts, lets them start and end when chance says so, and
//! keeps outcomes until they are settled, as the contract wants it.

use crate::sim::library::HEAVY;
use crate::sim::outputs::Blobs;
use crate::sim::promise::{Check, Promise};
use crate::sim::trouble::{Luck, Trouble};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::{AttemptId, RunId, Ticket};
use mainspring_core::json::Json;
use mainspring_core::output::Output;
use mainspring_core::work::{
    Ended, Launch, Life, Outcome, Question, Reattached, Report, ReportKind, Work,
};
use mainspring_core::work_git::Lands;
use std::collections::{BTreeMap, BTreeSet};

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
    run: RunId,
    state: State,
    stopping: bool,
    /// Ends only when it is stopped.
    endless: bool,
    kind: Kind,
    /// The question that what happens next will answer: asked while it was being started.
    asked: Option<u64>,
}

/// What it is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Merge,
    Other,
}

impl Held {
    /// Something may happen to it by itself.
    fn is_moving(&self) -> bool {
        match self.state {
            State::Starting => true,
            State::Running => self.stopping || !self.endless,
            State::Refused | State::Ended(_) => false,
        }
    }
}

#[derive(Debug, Default)]
pub struct Executors {
    held: BTreeMap<AttemptId, Held>,
    /// How often each attempt really began, over all lives.
    pub begun: BTreeMap<AttemptId, u32>,
    pub reports: Vec<Report>,
    /// Reports of this life that were heard.
    pub heard: Vec<Report>,
    /// What each attempt that succeeded put out, over all lives.
    pub put_out: BTreeMap<AttemptId, Option<Output>>,
    /// Attempts that were not taken, over all lives.
    pub refused: BTreeSet<AttemptId>,
    /// Merges that something was in the way of, over all lives.
    pub hindered: BTreeSet<AttemptId>,
    /// Somebody has what merges land on, and has not given it back.
    checked_out: bool,
    /// Makes every element of every list another one.
    values: u64,
}

impl Executors {
    pub fn start(&mut self, launch: &Launch, run: RunId) {
        let (ticket, state) = (launch.ticket, State::Starting);
        let kind = match launch.work {
            Work::GitMerge(_) => Kind::Merge,
            _ => Kind::Other,
        };
        let held = Held { ticket, run, state, stopping: false, endless: false, kind, asked: None };
        self.held.entry(ticket.attempt).or_insert(held);
    }

    pub fn stop(&mut self, ticket: Ticket) {
        if let Some(held) = self.held.get_mut(&ticket.attempt) {
            held.stopping = true;
        }
    }

    pub fn reattach(&mut self, question: Question, life: Life) {
        let ticket = question.ticket;
        let held = self.held.get_mut(&ticket.attempt);
        let answer = match held.map(|held| (&held.state, &mut held.asked)) {
            Some((State::Starting, asked)) => {
                *asked = Some(question.number);
                return;
            }
            Some((State::Refused, _)) => return self.report(ticket, refused()),
            Some((State::Running, _)) => Reattached::Running,
            Some((State::Ended(ended), _)) => Reattached::Ended(ended.clone()),
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

    pub fn holds(&self, ticket: Ticket) -> bool {
        self.held.contains_key(&ticket.attempt)
    }

    /// Something may happen to one of them.
    pub fn is_moving(&self) -> bool {
        self.held.values().any(Held::is_moving)
    }

    /// Everything that is at work in the world.
    pub fn at_work(&self) -> impl Iterator<Item = Ticket> {
        let running = self.held.values().filter(|held| matches!(held.state, State::Running));
        running.map(|held| held.ticket)
    }

    /// The process was killed: so are its children, and nothing is remembered.
    pub fn die(&mut self) {
        self.held.clear();
        self.reports.clear();
        self.heard.clear();
    }

    /// Somebody says something about an attempt, be it held here or not.
    pub fn report(&mut self, ticket: Ticket, what: ReportKind) {
        if matches!(what, ReportKind::Refused(_)) {
            self.refused.insert(ticket.attempt);
        }
        self.reports.push(Report { ticket, what });
    }

    /// Something happens to one attempt. False when there is none to which it could.
    pub fn advance(
        &mut self,
        luck: &mut Luck,
        blobs: &Blobs,
    ) -> Result<bool, crate::sim::promise::Broken> {
        let count = self.held.values().filter(|held| held.is_moving()).count();
        if count == 0 {
            return Ok(false);
        }
        let pick = luck.pick(count);
        let held = self.held.values().filter(|held| held.is_moving()).nth(pick);
        let held = held.expect("counted").clone();
        match held.state {
            State::Starting if held.stopping => {
                luck.tally.count(("moment", "stop before start", ""));
                self.end(held.ticket, false, Outcome::Stopped);
            }
            State::Starting => self.begin(luck, held.ticket)?,
            State::Running => {
                let outcome = self.outcome(luck, &held, blobs);
                self.end(held.ticket, true, outcome);
            }
            State::Refused | State::Ended(_) => {}
        }
        Ok(true)
    }

    fn begin(&mut self, luck: &mut Luck, ticket: Ticket) -> Check {
        let endless = luck.strikes(Trouble::Endless, 12);
        let held = self.held.get_mut(&ticket.attempt).expect("the caller found it");
        if held.kind == Kind::Merge && in_the_way(&mut self.checked_out, luck) {
            // As one that is refused, it leaves nothing.
            self.refused.insert(ticket.attempt);
            self.hindered.insert(ticket.attempt);
            self.end(ticket, false, hindered());
            return Ok(());
        }
        if luck.strikes(Trouble::StartRefused, 12) {
            (held.state, held.asked) = (State::Refused, None);
            self.report(ticket, refused());
            return Ok(());
        }
        if luck.below(12) == 0 {
            let error = TaskError::new(ErrorClass::Logic, "command not found");
            self.end(ticket, false, Outcome::Failed(error));
            return Ok(());
        }
        (held.state, held.endless) = (State::Running, endless);
        match held.asked.take() {
            Some(number) => {
                self.report(ticket, ReportKind::Reattached(number, Reattached::Running));
            }
            // The end says it too.
            None if luck.strikes(Trouble::StartUnheard, 6) => {}
            None => self.report(ticket, ReportKind::Started),
        }
        let times = self.begun.entry(ticket.attempt).or_default();
        *times += 1;
        Promise::BegunOnce.ensure(*times == 1, || format!("{ticket:?} was begun {times} times"))
    }

    fn end(&mut self, ticket: Ticket, started: bool, outcome: Outcome) {
        let repository = repository_of(ticket.attempt).to_owned();
        let lands = Some(Box::new(Lands { repository, into: None }));
        let ended = Ended { started, lands, ..Ended::of(outcome) };
        let held = self.held.get_mut(&ticket.attempt).expect("the caller found it");
        held.state = State::Ended(ended.clone());
        let what = match held.asked.take() {
            Some(number) => ReportKind::Reattached(number, Reattached::Ended(ended)),
            None => ReportKind::Ended(ended),
        };
        self.report(ticket, what);
    }

    fn outcome(&mut self, luck: &mut Luck, held: &Held, blobs: &Blobs) -> Outcome {
        let n = luck.below(12);
        if held.stopping && n < 8 {
            return Outcome::Stopped;
        }
        if held.stopping {
            // Even one that is being stopped may get there first.
            luck.tally.count(("moment", "end while stopping", ""));
        }
        if held.kind == Kind::Merge && in_the_way(&mut self.checked_out, luck) {
            self.hindered.insert(held.ticket.attempt);
            return hindered();
        }
        let output = match n {
            _ if luck.strikes(Trouble::HeavyOutput, luck.heavy_odds) => {
                Some(Output::Inline(HEAVY.clone()))
            }
            0 | 1 => return Outcome::Failed(TaskError::exit(1)),
            2 => {
                let error = TaskError::new(ErrorClass::WorkerLost, "the worker died");
                return Outcome::Failed(error);
            }
            8 => return Outcome::Failed(TaskError::new(ErrorClass::Transient, "try again")),
            3 | 9 => None,
            _ => Some(blobs.keep(held.run, self.value(luck))),
        };
        self.put_out.insert(held.ticket.attempt, output.clone());
        Outcome::Success(output)
    }

    /// Most often a list, as those who fan out below want it. A row has room for some, memory
    /// for fewer.
    fn value(&mut self, luck: &mut Luck) -> Json {
        self.values += 1;
        let first = self.values * 10;
        let long = [0, 0, 0, 300, 500][luck.pick(5)];
        let filler = if long > 0 { format!("\"{}\",", "x".repeat(long)) } else { String::new() };
        let text = match luck.below(8) {
            0 => format!("{{\"n\":[{filler}{first}]}}"),
            1 => format!("{first}"),
            _ => {
                let items = (1..luck.below(7)).map(|nth| (first + nth).to_string());
                let items = items.collect::<Vec<_>>().join(",");
                let filler = if items.is_empty() { "" } else { &*filler };
                format!("[{filler}{items}]")
            }
        };
        Json::parse(&text).expect("valid")
    }
}

/// Where an attempt works, if that is in git: in one of few, so that merges meet.
pub fn repository_of(attempt: AttemptId) -> &'static str {
    let odd = attempt.to_string().bytes().last().is_some_and(|byte| byte % 2 == 1);
    if odd { "/srv/app" } else { "/srv/docs" }
}

/// Whoever has something checked out keeps it for a while. Peace brings nobody else, and those who
/// are there leave sooner or later.
fn in_the_way(checked_out: &mut bool, luck: &mut Luck) -> bool {
    if luck.at_peace {
        *checked_out = *checked_out && luck.below(2) == 0;
        return *checked_out;
    }
    let is_in_the_way = luck.strikes(Trouble::Hindered, if *checked_out { 1 } else { 3 });
    *checked_out = is_in_the_way && luck.below(8) != 0;
    is_in_the_way
}

fn hindered() -> Outcome {
    Outcome::Hindered("it is checked out".into())
}

fn refused() -> ReportKind {
    ReportKind::Refused("none to be had".into())
}
