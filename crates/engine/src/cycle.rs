//! Decide, commit, act, answer: as a plain struct, with no thread and no waiting in it. The
//! driver turns it with a real clock and a real store, the simulator with its own.
//!
//! While one batch commits the next gathers. Nothing is acted on or answered before what it
//! follows from is durable.

use crate::events::Event;
use mainspring_core::ids::Ticket;
use mainspring_core::time::Timestamp;
use mainspring_core::work::{Reattached, ReportKind};
use mainspring_core::world::World;
use mainspring_core::world::batch::{Change, Effect};
use mainspring_core::world::input::{Input, Need, Prefetched, Refusal, Reply};

/// What an input met with.
#[derive(Debug)]
pub enum Offered<A> {
    /// Applied or refused; the answer comes from `step` or `committed`.
    Taken,
    /// Something has to be read first. Offer it again with what was found.
    Needs(Vec<Need>, Input, Option<A>),
}

/// What is to be done now.
#[derive(Debug)]
pub enum Step<A> {
    /// Nothing, before `World::next_wake` or another input.
    Rest,
    /// Make these durable and say so with `committed`.
    Commit(Vec<Change>),
    /// Nothing to make durable: carry these out at once.
    Act(Done<A>),
}

/// What may be done once a commit is durable.
#[derive(Debug)]
pub struct Done<A> {
    pub effects: Vec<Effect>,
    /// Attempts that whoever holds them may forget.
    pub forget: Vec<Ticket>,
    pub answers: Vec<(A, Result<Reply, Refusal>)>,
    pub events: Vec<Event>,
}

/// `A` stands for whoever waits for an answer.
#[derive(Debug)]
pub struct Cycle<A> {
    world: World,
    /// Answers to what was applied since the last batch was taken.
    gathering: Vec<(A, Result<Reply, Refusal>)>,
    /// Attempts whose end was reported too late to matter.
    late: Vec<Ticket>,
    /// The batch that is being committed.
    in_flight: Option<Done<A>>,
}

impl<A> Cycle<A> {
    pub fn new(world: World) -> Self {
        Self { world, gathering: Vec::new(), late: Vec::new(), in_flight: None }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn is_committing(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Answers wait for the next step.
    pub fn has_unsaid(&self) -> bool {
        !self.gathering.is_empty() || !self.late.is_empty()
    }

    /// Applies an input, unless something has to be read first.
    pub fn offer(&mut self, now: Timestamp, input: Input, ask: Option<A>) -> Offered<A> {
        let needs = self.world.needs(&input);
        if !needs.is_empty() {
            return Offered::Needs(needs, input, ask);
        }
        self.offer_with(now, input, Prefetched::default(), ask)
    }

    /// Applies an input with what was found for its needs.
    pub fn offer_with(
        &mut self,
        now: Timestamp,
        input: Input,
        found: Prefetched,
        ask: Option<A>,
    ) -> Offered<A> {
        let again = match &input {
            Input::Command(_) => Some(input.clone()),
            _ => None,
        };
        let ended = ended(&input);
        let answer = self.world.apply(now, input, found);
        match (&answer, again, ended) {
            (Err(Refusal::Outdated), Some(input), _) => {
                let needs = self.world.needs(&input);
                return Offered::Needs(needs, input, ask);
            }
            (Err(Refusal::Stale), _, Some(ticket)) => self.late.push(ticket),
            _ => {}
        }
        if let Some(ask) = ask {
            self.gathering.push((ask, answer));
        }
        Offered::Taken
    }

    /// No reading of the store is under way: outdated ones need no longer be recognised,
    /// unless a run has just left memory whose end is not durable yet.
    pub fn nothing_is_being_read(&mut self) {
        if !self.is_committing() {
            self.world.forget_departed();
        }
    }

    /// Turns the wheel: what is due becomes decided, what is decided becomes a batch.
    pub fn step(&mut self, now: Timestamp) -> Step<A> {
        self.world.wake(now);
        if self.is_committing() {
            return Step::Rest;
        }
        let due = self.world.deadline().is_some_and(|deadline| deadline <= now);
        if !due {
            return self.step_without_changes();
        }
        let batch = self.world.take_batch(now);
        let done = Done {
            effects: batch.effects,
            forget: std::mem::take(&mut self.late),
            answers: std::mem::take(&mut self.gathering),
            events: batch.changes.iter().filter_map(Event::of).collect(),
        };
        if batch.changes.is_empty() {
            return Step::Act(done);
        }
        self.in_flight = Some(done);
        Step::Commit(batch.changes)
    }

    /// Answers that follow from nothing that is not durable already.
    fn step_without_changes(&mut self) -> Step<A> {
        if !self.has_unsaid() {
            return Step::Rest;
        }
        Step::Act(Done {
            effects: Vec::new(),
            forget: std::mem::take(&mut self.late),
            answers: std::mem::take(&mut self.gathering),
            events: Vec::new(),
        })
    }

    /// The batch is durable.
    pub fn committed(&mut self) -> Done<A> {
        self.in_flight.take().expect("a commit was under way")
    }

    /// The batch is not durable, or not known to be. Everything since is dropped; whoever
    /// waits learns that the outcome is unknown. The world is of no use any more.
    pub fn abandon(self) -> Vec<A> {
        let in_flight = self.in_flight.into_iter().flat_map(|done| done.answers);
        in_flight.chain(self.gathering).map(|(ask, _)| ask).collect()
    }
}

/// An executor keeps an outcome until it is told that it is durable. If the report of an end
/// comes too late to matter, that has to be said too.
fn ended(input: &Input) -> Option<Ticket> {
    let Input::Report(report) = input else { return None };
    match &report.what {
        ReportKind::Ended(_)
        | ReportKind::Refused(_)
        | ReportKind::Reattached(_, Reattached::Ended(_)) => Some(report.ticket),
        ReportKind::Started
        | ReportKind::Reattached(
            _,
            Reattached::Running | Reattached::NeverStarted | Reattached::Unknown { .. },
        ) => None,
    }
}
