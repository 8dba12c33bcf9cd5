//! Plays one world: trouble for a while, then peace, in which everything has to come to its
//! end.

use crate::sim::desk::Desk;
use crate::sim::executors::Executors;
use crate::sim::library::Library;
use crate::sim::life::{Ask, Beginning, Life};
use crate::sim::outputs::Blobs;
use crate::sim::people;
use crate::sim::promise::{Broken, Check, Promise};
use crate::sim::promises::acts::Acts;
use crate::sim::promises::added::Added;
use crate::sim::promises::answers::Question;
use crate::sim::promises::explains;
use crate::sim::promises::gatekeeper::Gatekeeper;
use crate::sim::promises::limits::Bounds;
use crate::sim::promises::outside::check_views;
use crate::sim::promises::record::Record;
use crate::sim::promises::served::Served;
use crate::sim::scenario::Scenario;
use crate::sim::sketches::{random_library, wide_library};
use crate::sim::store::{Fate, FaultyStore};
use crate::sim::tally::Tally;
use crate::sim::trouble::Luck;
use crate::sim::watch::Watch;
use mainspring_core::ids::SchedulerId;
use mainspring_core::kernel::limit::LimitSetting;
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::input::{Command, Prefetched, Trigger};
use mainspring_engine::cycle::Reading;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Steps without trouble; a world that is not at rest by then goes round in circles. Chosen by the
/// largest one seen: a thousand child runs of child runs, with retries, take over 60,000.
const PEACE_STEPS: u32 = 600_000;
/// A wide world costs a thousand times as much per step.
const WIDE_STEPS: u32 = 150;
pub const BEGINNING: Timestamp = Timestamp(1_700_000_000_000_000);

/// A broken promise.
#[derive(Clone, Debug)]
pub struct Failure {
    pub scenario: Scenario,
    pub step: u32,
    pub broken: Broken,
    pub story: Story,
}

/// What happened, to be read by a person.
#[derive(Clone, Debug, Default)]
pub struct Story {
    pub workflows: Vec<String>,
    pub lines: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scenario, step, broken, .. } = self;
        writeln!(f, "seed {} broke a promise at step {step}: {broken}", scenario.seed)?;
        let from = self.story.lines.len().saturating_sub(60);
        for workflow in &self.story.workflows {
            writeln!(f, "--- workflow\n{workflow}")?;
        }
        writeln!(f, "--- the last steps\n{}", self.story.lines[from..].join("\n"))
    }
}

/// Plays a world to its end and says what it went through.
pub fn play(scenario: &Scenario) -> Result<Tally, Box<Failure>> {
    let (outcome, ..) = run(scenario, Telling::Silent);
    match outcome {
        Ok(tally) => Ok(tally),
        // Telling costs more than playing, so only what failed is told.
        Err(_) => match tell(scenario) {
            (Err(failure), _) => Err(failure),
            (Ok(_), _) => panic!("the world of seed {} does not replay", scenario.seed),
        },
    }
}

/// Plays a world and tells what happens.
pub fn tell(scenario: &Scenario) -> (Result<Tally, Box<Failure>>, Story) {
    run(scenario, Telling::Told)
}

fn run(scenario: &Scenario, telling: Telling) -> (Result<Tally, Box<Failure>>, Story) {
    let mut play = Play::new(scenario, telling);
    let played = catch_unwind(AssertUnwindSafe(|| play.whole()));
    let outcome = played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
        Err(Promise::NoPanic.broken(text))
    });
    let story = std::mem::take(&mut play.story);
    let outcome = match outcome {
        Ok(()) => {
            let mut tally = std::mem::take(&mut play.luck.tally);
            tally.count_all(("step", "", ""), u64::from(play.step));
            Ok(tally)
        }
        Err(broken) => Err(Box::new(Failure {
            scenario: scenario.clone(),
            step: play.step,
            broken,
            story: story.clone(),
        })),
    };
    (outcome, story)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    Silent,
    Told,
}

/// An input that waits for what it needs. What was read may be old when it arrives.
pub(super) struct Waiting {
    pub reading: Box<Reading<Ask>>,
    pub found: Option<Prefetched>,
}

pub(super) struct Play {
    pub luck: Luck,
    pub now: Timestamp,
    pub step: u32,
    steps: u32,
    pub wide: bool,
    pub scheduler: SchedulerId,
    pub limits: Vec<LimitSetting>,
    pub bounds: Bounds,
    pub gatekeeper: Gatekeeper,
    pub served: Served,
    /// How far the clock was set back in all.
    pub back: Span,
    pub library: Library,
    pub store: FaultyStore,
    pub executors: Executors,
    pub desk: Desk,
    pub blobs: Blobs,
    /// Steps until outputs can be read and kept again.
    pub away: u32,
    pub life: Option<Life>,
    /// Readings of the store under way: they outlive a world, not the process.
    pub readings: Vec<Waiting>,
    /// Runs that are about to be run anew.
    pub prepared: Vec<Trigger>,
    pub record: Record,
    pub acts: Acts,
    pub added: Added,
    /// Additions so far: each has names of its own.
    pub additions: u64,
    /// Orders that are about to be given: what they were made of may be old by then.
    pub late_orders: Vec<Command>,
    pub watch: Watch,
    pub questions: BTreeMap<Ask, Question>,
    pub next_ask: Ask,
    pub telling: Telling,
    pub story: Story,
}

impl Play {
    fn new(scenario: &Scenario, telling: Telling) -> Self {
        let mut luck = Luck::new(scenario.seed, &scenario.without);
        let limits = people::limits(&mut luck);
        let library = match scenario.wide() {
            Some(kind) => wide_library(kind),
            None => random_library(&mut luck, scenario.tasks),
        };
        let wide = scenario.wide().is_some();
        let texts = library.texts().iter();
        let told = texts.filter(|_| !wide && telling == Telling::Told);
        let story =
            Story { workflows: told.map(|text| text.sketch.clone()).collect(), lines: Vec::new() };
        Self {
            luck,
            now: BEGINNING,
            step: 0,
            steps: if wide { scenario.steps.min(WIDE_STEPS) } else { scenario.steps },
            wide,
            scheduler: SchedulerId::from_bytes([1; 16]),
            limits,
            bounds: Bounds::default(),
            gatekeeper: Gatekeeper::default(),
            served: Served::default(),
            back: Span::ZERO,
            library,
            store: FaultyStore::default(),
            executors: Executors::default(),
            desk: Desk::default(),
            blobs: Blobs::default(),
            away: 0,
            life: None,
            readings: Vec::new(),
            prepared: Vec::new(),
            record: Record::default(),
            acts: Acts::default(),
            added: Added::default(),
            additions: 0,
            late_orders: Vec::new(),
            watch: Watch::default(),
            questions: BTreeMap::new(),
            next_ask: 0,
            telling,
            story,
        }
    }

    fn whole(&mut self) -> Check {
        self.begin_life(None);
        if self.wide {
            // It has no steps to spare for getting there.
            self.open()?;
        }
        for _ in 0..self.steps {
            self.step += 1;
            self.trouble()?;
            self.verify()?;
        }
        self.luck.at_peace = true;
        self.make_peace()?;
        self.check_rest()
    }

    pub fn note(&mut self, what: impl FnOnce() -> String) {
        if self.telling == Telling::Told {
            let seconds = self.now.0 - BEGINNING.0;
            let line = format!("{:>5} {:>10.3}s {}", self.step, seconds as f64 / 1e6, what());
            self.story.lines.push(line);
        }
    }

    /// Begins a life, the first one or after another.
    pub fn begin_life(&mut self, before: Option<Life>) {
        let (former, orders) = match before.map(Life::abandon) {
            None => (None, None),
            Some((asks, former, orders)) => {
                for ask in &asks {
                    self.questions.remove(ask);
                }
                (Some(former), Some(orders))
            }
        };
        self.bounds.begin(&self.limits, &self.store.model);
        let beginning = Beginning {
            scheduler: self.scheduler,
            limits: &self.limits,
            seed: self.luck.draw(),
            now: self.now,
        };
        let mut life = Life::begin(&beginning, &mut self.store.model, &self.library, former);
        // Orders that follow from durable decisions were on their way and still are.
        if let Some(mut orders) = orders {
            orders.append(&mut life.orders);
            life.orders = orders;
        }
        self.watch.forget();
        self.life = Some(life);
    }

    /// No more trouble: holds are lifted, everything is delivered, time passes when nothing
    /// else is left to do.
    fn make_peace(&mut self) -> Check {
        for _ in 0..PEACE_STEPS {
            self.step += 1;
            if !self.executors.reports.is_empty() {
                self.deliver()?;
            } else if self.desk.has_answers() {
                self.hear()?;
            } else if !self.readings.is_empty() {
                self.arrive()?;
            }
            self.work()?;
            self.verify()?;
            self.carry_out()?;
            self.finish_commit(Fate::Durable)?;
            self.turn()?;
            let moved = self.executors.advance(&mut self.luck, &self.blobs)?;
            self.verify()?;
            if !moved && self.is_idle() && !self.wait_or_rest()? {
                return Ok(());
            }
        }
        let unfinished = self.store.model.unfinished(self.scheduler);
        Err(Promise::Rest.broken(format!("{} runs are not final", unfinished.len())))
    }

    /// Nothing is under way.
    fn is_idle(&self) -> bool {
        let life = self.life.as_ref();
        self.executors.reports.is_empty()
            && self.readings.is_empty()
            && self.desk.is_empty()
            && !self.store.is_pending()
            && life.is_some_and(|life| life.orders.is_empty() && !life.cycle.has_unsaid())
    }

    /// At the end of a world everything is final, answered and forgotten.
    fn check_rest(&self) -> Check {
        let unfinished = self.store.model.unfinished(self.scheduler);
        Promise::Rest.ensure(unfinished.is_empty(), || format!("{unfinished:?} are not final"))?;
        let held = self.executors.held();
        Promise::Forgotten.ensure(held.is_empty(), || format!("still held: {held:?}"))?;
        let open: Vec<&Question> = self.questions.values().collect();
        Promise::AnsweredOnce.ensure(open.is_empty(), || format!("never answered: {open:?}"))
    }

    fn verify(&mut self) -> Check {
        let Some(life) = &self.life else { return Ok(()) };
        let world = life.cycle.world();
        world.verify(self.now).map_err(|what| Promise::Indexes.broken(what))?;
        self.watch.look(world, &self.store.model, &mut self.luck.tally)?;
        let at_rest = !life.cycle.is_committing() && world.deadline().is_none();
        if !at_rest {
            return Ok(());
        }
        check_views(world, &self.store.model, self.now)?;
        let is_due = world.next_wake().is_some_and(|at| at <= self.now);
        // Of a sample of steps: it costs more than all the rest.
        let is_looked_at = !is_due && !self.wide && self.step.is_multiple_of(3);
        let (model, tally) = (&self.store.model, &mut self.luck.tally);
        if is_looked_at { explains::check(world, model, self.now, tally) } else { Ok(()) }
    }
}
