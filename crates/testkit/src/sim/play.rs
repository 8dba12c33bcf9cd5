//! Plays one world from its seed: trouble for a while, then peace, in which everything has
//! to come to its end.

use crate::sim::executors::Executors;
use crate::sim::life::{Ask, Beginning, Definitions, Life, Order};
use crate::sim::people;
use crate::sim::promises::{Promises, check_limits, check_views};
use crate::sim::sketches::random_sketch;
use crate::sim::store::{Fate, FaultyStore};
use mainspring_core::ids::{RunId, SchedulerId};
use mainspring_core::sketch::sketch;
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::batch::Effect;
use mainspring_core::world::chance::Chance;
use mainspring_core::world::input::{Deploy, Input, Refusal, Reply, Verb};
use mainspring_engine::cycle::{Done, Offered};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Steps with everything that can go wrong.
const TROUBLE_STEPS: u32 = 400;
/// Steps without; a world that is not at rest by then is stuck.
const PEACE_STEPS: u32 = 60_000;

/// What a world went through.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub steps: u32,
    pub runs: u32,
    pub commits: u32,
    pub failed_commits: u32,
    pub crashes: u32,
    pub attempts: u32,
}

/// A broken promise.
#[derive(Clone, Debug)]
pub struct Failure {
    pub seed: u64,
    pub step: u32,
    pub what: String,
    pub sketches: Vec<String>,
    /// The last things that happened.
    pub trail: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} broke a promise at step {}: {}", self.seed, self.step, self.what)?;
        for sketch in &self.sketches {
            writeln!(f, "--- workflow\n{sketch}")?;
        }
        writeln!(f, "--- the last steps\n{}", self.trail.join("\n"))
    }
}

/// Plays the world of a seed to its end.
pub fn play(seed: u64) -> Result<Report, Box<Failure>> {
    let mut play = Play::new(seed);
    play.whole().map_err(|what| {
        let from = play.trail.len().saturating_sub(60);
        Box::new(Failure {
            seed,
            step: play.report.steps,
            what,
            sketches: play.sketches.clone(),
            trail: play.trail.split_off(from),
        })
    })?;
    Ok(play.report)
}

struct Play {
    chance: Chance,
    now: Timestamp,
    scheduler: SchedulerId,
    limits: Vec<(String, u32)>,
    sketches: Vec<String>,
    definitions: Definitions,
    store: FaultyStore,
    executors: Executors,
    life: Option<Life>,
    promises: Promises,
    /// What each open question asked, and of which run.
    asked: BTreeMap<Ask, Option<(RunId, Verb)>>,
    next_ask: Ask,
    report: Report,
    trail: Vec<String>,
}

type Check = Result<(), String>;

impl Play {
    fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let limits = [("total", 1 + chance.below(5)), ("executor:process", 1 + chance.below(4))]
            .map(|(name, max)| (name.to_owned(), u32::try_from(max).expect("small")));
        let sketches: Vec<String> =
            (0..1 + chance.below(2)).map(|_| random_sketch(&mut chance)).collect();
        let definitions = sketches.iter().enumerate().map(|(no, text)| {
            let name: Arc<str> = format!("w{no}").into();
            let mut definition = sketch(text);
            definition.name = Arc::clone(&name);
            (name, Arc::new(definition))
        });
        Self {
            definitions: definitions.collect(),
            now: Timestamp(1_700_000_000_000_000),
            scheduler: SchedulerId::from_bytes([1; 16]),
            limits: limits.to_vec(),
            sketches,
            store: FaultyStore::default(),
            executors: Executors::default(),
            life: None,
            promises: Promises::default(),
            asked: BTreeMap::new(),
            next_ask: 0,
            report: Report::default(),
            trail: Vec::new(),
            chance,
        }
    }

    fn whole(&mut self) -> Check {
        self.live(None);
        for _ in 0..TROUBLE_STEPS {
            self.report.steps += 1;
            self.trouble()?;
            self.verify()?;
        }
        self.make_peace()?;
        self.promises.check_final(&self.store.model, &self.definitions, self.now)?;
        let held = self.executors.held();
        if !held.is_empty() {
            return Err(format!("executors still hold {held:?}"));
        }
        self.report.attempts = self.executors.begun.values().sum();
        match self.executors.begun.iter().find(|(_, times)| **times > 1) {
            Some((attempt, times)) => Err(format!("{attempt:?} was begun {times} times")),
            None => Ok(()),
        }
    }

    fn note(&mut self, what: impl Into<String>) {
        self.trail.push(format!("{:>5} {}", self.report.steps, what.into()));
    }

    /// Begins a life. Definitions are deployed anew each time: a world knows them from then on.
    fn live(&mut self, before: Option<Life>) {
        let former = before.map(Life::abandon);
        let (former, orders) = match former {
            None => (None, None),
            Some((asks, former, orders)) => {
                for ask in &asks {
                    self.asked.remove(ask);
                }
                (Some(former), Some(orders))
            }
        };
        let beginning = Beginning {
            scheduler: self.scheduler,
            limits: &self.limits,
            seed: self.chance.draw(),
            now: self.now,
        };
        let mut life = Life::begin(&beginning, &mut self.store.model, &self.definitions, former);
        // Orders that follow from durable decisions were on their way and still are.
        if let Some(mut orders) = orders {
            orders.append(&mut life.orders);
            life.orders = orders;
        }
        for definition in self.definitions.values() {
            let deploy = Input::Deploy(Deploy {
                definition: Arc::clone(definition),
                text: "simulated".into(),
                hash: [1; 32],
            });
            if let Offered::Needs(reading) = life.cycle.offer(self.now, deploy, None) {
                let _ = life.cycle.offer_found(self.now, reading, Default::default());
            }
        }
        self.life = Some(life);
    }

    fn trouble(&mut self) -> Check {
        match self.chance.below(100) {
            0..=24 => self.deliver(),
            25..=44 => drop(self.executors.advance(&mut self.chance)),
            45..=64 => return self.commit_or_turn(),
            65..=79 => return self.carry_out(),
            80..=84 => self.pass_time(),
            85..=87 => self.read(),
            88..=90 => self.trigger(),
            91..=97 => self.command(),
            98 => self.crash(),
            _ => {
                self.note("the clock jumps");
                self.now = self.now + Span::from_secs(self.chance.below(400));
            }
        }
        Ok(())
    }

    /// No more trouble: holds are lifted, everything is delivered, time passes when nothing
    /// else is left to do.
    fn make_peace(&mut self) -> Check {
        for _ in 0..PEACE_STEPS {
            self.report.steps += 1;
            if !self.executors.reports.is_empty() {
                self.deliver();
            } else if self.life.as_ref().is_some_and(|life| !life.readings.is_empty()) {
                self.read();
            }
            self.carry_out()?;
            self.finish_commit_or_turn(Fate::Durable)?;
            let moved = self.executors.advance(&mut self.chance);
            self.verify()?;
            if !moved && self.is_idle() && !self.wait_or_rest() {
                return Ok(());
            }
        }
        let unfinished = self.store.model.unfinished(self.scheduler);
        Err(format!("stuck: {} runs are not final", unfinished.len()))
    }

    /// Nothing is under way.
    fn is_idle(&self) -> bool {
        let life = self.life.as_ref();
        self.executors.reports.is_empty()
            && !self.store.is_pending()
            && life.is_some_and(|life| {
                life.orders.is_empty() && life.readings.is_empty() && !life.cycle.has_unsaid()
            })
    }

    /// Lifts holds, or lets time pass. False when there is nothing to wait for.
    fn wait_or_rest(&mut self) -> bool {
        let Some(life) = &mut self.life else { return false };
        let mut held = Vec::new();
        for run in life.cycle.world().runs() {
            if run.progress.hold.is_some() {
                held.push((run.head.id, None));
            }
            let tasks = run
                .rows
                .iter()
                .filter(|row| row.hold.is_some() && !run.plan.is_settled(&run.rows, row.task.no));
            held.extend(tasks.map(|row| (run.head.id, Some(row.task.no))));
        }
        if let Some((run, task)) = held.first() {
            let offered = life.cycle.offer(self.now, people::resume(*run, *task), None);
            life.offered(offered);
            return true;
        }
        match life.cycle.world().next_wake() {
            Some(wake) => {
                self.now = self.now.max(wake);
                true
            }
            None => false,
        }
    }

    /// Reports come in any order, and some of them twice.
    fn deliver(&mut self) {
        let count = self.executors.reports.len() as u64;
        if count == 0 {
            return;
        }
        let pick = usize::try_from(self.chance.below(count)).expect("small");
        let report = if self.chance.below(10) == 0 {
            self.executors.reports[pick].clone()
        } else {
            self.executors.reports.remove(pick)
        };
        self.note(format!("report {:?} {:?}", report.ticket.task.no, report.what));
        if let Some(life) = &mut self.life {
            let offered = life.cycle.offer(self.now, Input::Report(report), None);
            life.offered(offered);
        }
    }

    fn commit_or_turn(&mut self) -> Check {
        let fate = match self.chance.below(20) {
            0 => Fate::Lost,
            1 => Fate::DurableButReportedFailed,
            _ => Fate::Durable,
        };
        self.finish_commit_or_turn(fate)
    }

    fn finish_commit_or_turn(&mut self, fate: Fate) -> Check {
        if !self.store.is_pending() {
            let Some(life) = &mut self.life else { return Ok(()) };
            let done = life.turn(self.now, &mut self.store);
            return done.map_or(Ok(()), |done| self.done(done));
        }
        self.report.commits += 1;
        let result = self.store.finish(fate);
        self.check_durable()?;
        match result {
            Ok(()) => {
                let life = self.life.as_mut().expect("a commit belongs to a life");
                let done = life.cycle.committed();
                self.done(done)
            }
            Err(_) => {
                self.report.failed_commits += 1;
                self.note(format!("a commit fails: {fate:?}"));
                let life = self.life.take();
                self.live(life);
                Ok(())
            }
        }
    }

    fn check_durable(&mut self) -> Check {
        let model = &self.store.model;
        self.promises.check_stored(model, &self.definitions, &self.executors)?;
        check_limits(model, &self.definitions, &self.limits)
    }

    /// Durable: orders are queued, questions answered.
    fn done(&mut self, done: Done<Ask>) -> Check {
        for (ask, answer) in done.answers {
            let asked = self.asked.remove(&ask).ok_or("a question was answered twice")?;
            self.answered(asked, answer)?;
        }
        let life = self.life.as_mut().expect("what is done was done by a life");
        life.orders.extend(done.effects.into_iter().map(Order::Effect));
        life.orders.extend(done.forget.into_iter().map(Order::Forget));
        Ok(())
    }

    fn answered(&mut self, asked: Option<(RunId, Verb)>, answer: Result<Reply, Refusal>) -> Check {
        match (asked, answer) {
            (_, Ok(Reply::Accepted { run })) => {
                self.report.runs += 1;
                self.promises.accepted.insert(run);
                match self.store.model.run(run) {
                    Some(_) => Ok(()),
                    None => Err(format!("run {run} was accepted before it was durable")),
                }
            }
            _ => Ok(()),
        }
    }

    fn carry_out(&mut self) -> Check {
        let Some(life) = &mut self.life else { return Ok(()) };
        if let Some(Order::Effect(Effect::Start(start))) = life.orders.front() {
            let ticket = start.ticket;
            let stored = (&self.store.model, &self.definitions);
            // Told twice what it holds already, an executor does nothing.
            if !self.executors.held().contains(&ticket) {
                self.promises.check_start(stored, ticket, self.now)?;
            }
        }
        if let Some(Order::Effect(effect)) = life.work(&mut self.executors) {
            let text = format!("{effect:?}");
            let short: String = text.chars().take(60).collect();
            self.note(format!("act {short}"));
        }
        Ok(())
    }

    fn pass_time(&mut self) {
        let wake = self.life.as_ref().and_then(|life| life.cycle.world().next_wake());
        self.now = match wake {
            Some(wake) if self.chance.below(2) == 0 => self.now.max(wake),
            _ => self.now + Span::from_ms(self.chance.below(3_000)),
        };
    }

    fn read(&mut self) {
        let Some(life) = &mut self.life else { return };
        let count = life.readings.len() as u64;
        if count > 0 {
            let pick = usize::try_from(self.chance.below(count)).expect("small");
            life.read(pick, self.now, &self.store.model, &self.definitions);
        }
    }

    fn ask(&mut self, input: Input, about: Option<(RunId, Verb)>) {
        let ask = self.next_ask;
        self.next_ask += 1;
        self.asked.insert(ask, about);
        if let Some(life) = &mut self.life {
            let offered = life.cycle.offer(self.now, input, Some(ask));
            life.offered(offered);
        }
    }

    fn trigger(&mut self) {
        if self.promises.accepted.len() >= 6 {
            return;
        }
        let count = self.definitions.len() as u64;
        let pick = usize::try_from(self.chance.below(count)).expect("small");
        let workflow = self.definitions.keys().nth(pick).cloned().expect("counted");
        let input = people::trigger(&mut self.chance, &workflow);
        self.note("trigger");
        self.ask(input, None);
    }

    fn command(&mut self) {
        let count = self.promises.accepted.len() as u64;
        if count == 0 {
            return;
        }
        let pick = usize::try_from(self.chance.below(count)).expect("small");
        let run = *self.promises.accepted.iter().nth(pick).expect("counted");
        let input = people::command(&mut self.chance, run, 7);
        let Input::Command(command) = &input else { return };
        let verb = command.verb;
        self.note(format!("{verb:?} {:?}", command.task));
        if verb == Verb::Retry {
            self.promises.retried.insert(run);
        }
        self.ask(input, Some((run, verb)));
    }

    /// kill -9, before or after the pending commit reached the disk.
    fn crash(&mut self) {
        self.report.crashes += 1;
        if self.store.is_pending() {
            let fate = if self.chance.below(2) == 0 { Fate::Lost } else { Fate::Durable };
            let _ = self.store.finish(fate);
        }
        self.note("kill -9");
        self.executors.die();
        self.life = None;
        self.asked.clear();
        self.live(None);
    }

    fn verify(&mut self) -> Check {
        let Some(life) = &self.life else { return Ok(()) };
        let world = life.cycle.world();
        world.verify(self.now)?;
        let at_rest = !life.cycle.is_committing() && world.deadline().is_none();
        if at_rest { check_views(world, &self.store.model, self.now) } else { Ok(()) }
    }
}
