//! Decide, commit, act, answer: as a plain struct, with no thread and no waiting in it. The
//! driver turns it with a real clock and a real store, the simulator with its own.
//!
//! While one batch commits the next gathers. When it has gathered enough it is handed over before
//! the first is durable, so that the store need not wait for this thread between two commits.
//! Nothing is acted on or answered before what it follows from is durable, and batches become
//! durable in their order or not at all.
//!
//! ```text
//!  offered ─► gathering ─► handed over ─► … ─► durable ─► effects, answers
//!                          (`AHEAD` at most)
//! ```

use crate::events::Event;
use mainspring_core::ids::Ticket;
use mainspring_core::time::Timestamp;
use mainspring_core::work::{Reattached, ReportKind};
use mainspring_core::world::World;
use mainspring_core::world::batch::{Change, Effect};
use mainspring_core::world::input::{Input, Need, Prefetched, Refusal, Reply};
use std::collections::VecDeque;

/// How far decisions may run ahead of what is durable.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Batches handed over and not durable.
    pub ahead: usize,
    /// Rows that a batch has to have to be handed over behind another one.
    pub least: usize,
}

impl Default for Pace {
    /// Chosen by the rate of a fan-out of a hundred at once: fewer batches leave the store idle
    /// between two commits; with smaller ones, what comes a moment later waits for a commit of its
    /// own.
    fn default() -> Self {
        Self { ahead: 3, least: 24 }
    }
}

/// What an input met with.
#[derive(Debug)]
pub enum Offered<A> {
    /// Applied or refused; the answer comes from `step` or `committed`.
    Taken,
    /// Something has to be read first. Offer it again with what was found.
    Needs(Box<Reading<A>>),
}

/// An input that waits for what it needs.
#[derive(Debug)]
pub struct Reading<A> {
    pub needs: Vec<Need>,
    pub input: Input,
    pub ask: Option<A>,
    /// The world that asked. Only that one knows what has changed since.
    epoch: u64,
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
    /// Batches that are being committed, each with its number, oldest first.
    in_flight: VecDeque<(u64, Done<A>)>,
    pace: Pace,
    /// Readings of the store that this world waits for.
    readings: usize,
}

impl<A> Cycle<A> {
    pub fn new(world: World) -> Self {
        Self {
            world,
            gathering: Vec::new(),
            late: Vec::new(),
            in_flight: VecDeque::new(),
            pace: Pace::default(),
            readings: 0,
        }
    }

    pub fn at_pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// For orders that no request carries.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    pub fn is_committing(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Another batch may be handed over now.
    fn may_take(&self) -> bool {
        let enough = || self.world.drafted() >= self.pace.least;
        match self.in_flight.len() {
            0 => true,
            handed_over => handed_over < self.pace.ahead && enough(),
        }
    }

    /// Readings of the store under way.
    pub fn readings(&self) -> usize {
        self.readings
    }

    /// Answers wait for the next step.
    pub fn has_unsaid(&self) -> bool {
        !self.gathering.is_empty() || !self.late.is_empty()
    }

    /// Applies an input, unless something has to be read first.
    pub fn offer(&mut self, now: Timestamp, input: Input, ask: Option<A>) -> Offered<A> {
        let needs = self.world.needs(&input);
        if !needs.is_empty() {
            return self.read_first(needs, input, ask);
        }
        self.apply(now, input, Prefetched::default(), ask)
    }

    /// Applies an input with what was found for its needs. What was read for a world that
    /// is gone may be older than this one, which could not tell: it is read again.
    pub fn offer_found(
        &mut self,
        now: Timestamp,
        reading: Reading<A>,
        found: Prefetched,
    ) -> Offered<A> {
        if reading.epoch != self.world.epoch() {
            return self.offer(now, reading.input, reading.ask);
        }
        self.readings -= 1;
        self.apply(now, reading.input, found, reading.ask)
    }

    /// A run that is to be read because its time has come.
    pub fn stirred(&mut self, now: Timestamp) -> Option<Box<Reading<A>>> {
        let run = self.world.next_stirred(now)?;
        match self.offer(now, Input::Rouse(run), None) {
            Offered::Needs(reading) => Some(reading),
            Offered::Taken => None,
        }
    }

    /// Nothing will come of a reading. Gives back whoever waits for it.
    pub fn give_up(&mut self, reading: Reading<A>) -> Option<A> {
        if reading.epoch == self.world.epoch() {
            self.readings -= 1;
        }
        reading.ask
    }

    fn read_first(&mut self, needs: Vec<Need>, input: Input, ask: Option<A>) -> Offered<A> {
        self.readings += 1;
        Offered::Needs(Box::new(Reading { needs, input, ask, epoch: self.world.epoch() }))
    }

    fn apply(
        &mut self,
        now: Timestamp,
        input: Input,
        found: Prefetched,
        ask: Option<A>,
    ) -> Offered<A> {
        let again = reads_runs(&input).then(|| input.clone());
        let ended = ended(&input);
        let answer = self.world.apply(now, input, found);
        match (&answer, again, ended) {
            (Err(Refusal::Outdated), Some(input), _) => {
                let needs = self.world.needs(&input);
                return self.read_first(needs, input, ask);
            }
            (Err(Refusal::Stale), _, Some(ticket)) => self.late.push(ticket),
            _ => {}
        }
        if let Some(ask) = ask {
            self.gathering.push((ask, answer));
        }
        Offered::Taken
    }

    /// Turns the wheel: what is due becomes decided, what is decided becomes a batch.
    pub fn step(&mut self, now: Timestamp) -> Step<A> {
        self.world.wake(now);
        if !self.may_take() {
            return Step::Rest;
        }
        let due = self.world.deadline().is_some_and(|deadline| deadline <= now);
        if !due {
            return if self.is_committing() { Step::Rest } else { self.step_without_changes() };
        }
        let batch = self.world.take_batch(now);
        let done = Done {
            effects: batch.effects,
            forget: std::mem::take(&mut self.late),
            answers: std::mem::take(&mut self.gathering),
            events: Event::of(&batch.changes, batch.heads),
        };
        // Without a change of its own it may still follow from what is being committed.
        if batch.changes.is_empty() && !self.is_committing() {
            return Step::Act(done);
        }
        self.in_flight.push_back((batch.number, done));
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

    /// What is to be carried out once the batch handed over last is durable, and not before;
    /// asked for by a driver who does so without coming back to `committed` first.
    pub fn take_orders(&mut self) -> (Vec<Effect>, Vec<Ticket>) {
        let (_, done) = self.in_flight.back_mut().expect("a commit is under way");
        (std::mem::take(&mut done.effects), std::mem::take(&mut done.forget))
    }

    /// The oldest batch under way is durable. Unless something is being read, nothing that is
    /// read from here on can be older than a run that left memory with it.
    pub fn committed(&mut self) -> Done<A> {
        let (number, done) = self.in_flight.pop_front().expect("a commit was under way");
        if self.readings == 0 {
            self.world.forget_departed(number);
        }
        done
    }

    /// The oldest batch under way is not durable, or not known to be. Everything since is
    /// dropped; whoever waits learns that the outcome is unknown. The world is of no use any more.
    pub fn abandon(self) -> Vec<A> {
        let in_flight = self.in_flight.into_iter().flat_map(|(_, done)| done.answers);
        in_flight.chain(self.gathering).map(|(ask, _)| ask).collect()
    }
}

/// Only these depend on a reading that may be outdated.
fn reads_runs(input: &Input) -> bool {
    match input {
        Input::Command(_) | Input::Rouse(_) | Input::DeleteWorkflow(_) => true,
        Input::Recorded(_, input) => reads_runs(input),
        Input::Deploy(_)
        | Input::Trigger(_)
        | Input::Forget(_)
        | Input::Admin(_)
        | Input::SetTier(_)
        | Input::Tiers
        | Input::RunLimits
        | Input::Answer(_)
        | Input::Report(_) => false,
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
        | ReportKind::Over
        | ReportKind::Reattached(
            _,
            Reattached::Running | Reattached::NeverStarted | Reattached::Unknown { .. },
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::ids::{RunId, SchedulerId};
    use mainspring_core::json::Json;
    use mainspring_core::kernel::record::Record;
    use mainspring_core::kernel::row::RunStatus;
    use mainspring_core::sketch::sketch;
    use mainspring_core::world::WorldConfig;
    use mainspring_core::world::input::{Command, Deploy, Order, Trigger, Verb};
    use mainspring_core::world::snapshot::RunSnapshot;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn cycle(epoch: u64) -> Cycle<()> {
        Cycle::new(World::new(&WorldConfig {
            scheduler: SchedulerId::from_bytes([1; 16]),
            ordinal: 1,
            epoch,
            next_run: 1,
            next_stamp: 1,
            seed: 1,
            limits: Vec::new(),
            ledgers: Vec::new(),
            drowsy_max: usize::MAX,
            now: Timestamp(0),
        }))
    }

    /// The commit of another version may have been durable although it was reported failed:
    /// taken as it is, this answer would give two texts one number.
    #[test]
    fn what_was_read_for_a_world_that_is_gone_is_read_again() {
        let definition = Arc::new(sketch("a"));
        let deploy = Input::Deploy(Deploy { definition, text: "a".into(), hash: [1; 32] });
        let offered = cycle(1).offer(Timestamp(0), deploy, Some(()));
        let Offered::Needs(reading) = offered else { panic!("its latest version is needed") };
        let mut next = cycle(2);
        let offered = next.offer_found(Timestamp(0), *reading, Prefetched::default());
        let Offered::Needs(reading) = offered else { panic!("it is read again") };
        let offered = next.offer_found(Timestamp(0), *reading, Prefetched::default());
        assert!(matches!(offered, Offered::Taken));
        let Step::Commit(changes) = next.step(Timestamp(0)) else { panic!("it is applied") };
        let numbers = changes.iter().filter_map(|change| match change {
            Change::NewVersion(version) => Some(version.number),
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [1]);
    }

    /// Offers an input and reads what it needs at once.
    fn ask(cycle: &mut Cycle<()>, input: Input, found: Prefetched) {
        if let Offered::Needs(reading) = cycle.offer(Timestamp(0), input, None) {
            let offered = cycle.offer_found(Timestamp(0), *reading, found);
            assert!(matches!(offered, Offered::Taken));
        }
    }

    fn command(run: RunId) -> Input {
        let by = "someone".to_owned();
        Input::Command(Command { run, order: Order::Run(Verb::Pause), by })
    }

    fn recorded(input: Input) -> Input {
        let record = Record {
            by: "someone".into(),
            from: "127.0.0.1".into(),
            action: "run.pause",
            target: "run".to_owned(),
            key: None,
        };
        Input::Recorded(Box::new(record), Box::new(input))
    }

    /// It left memory with a batch that is not durable yet, so the store still shows it as it
    /// was before. That some other reading has ended meanwhile changes nothing.
    #[test]
    fn a_run_that_is_just_ending_is_not_taken_for_somebody_elses() {
        let mut cycle = cycle(1);
        let definition = Arc::new(sketch("a noop"));
        let deploy =
            Deploy { definition: Arc::clone(&definition), text: "a".into(), hash: [1; 32] };
        ask(&mut cycle, Input::Deploy(deploy), Prefetched::default());
        ask(&mut cycle, Input::Trigger(trigger()), Prefetched::default());
        let Step::Commit(changes) = cycle.step(Timestamp(0)) else { panic!("a run ends") };
        let run = changes.iter().find_map(|change| match change {
            Change::NewRun(head, progress) => Some((head.clone(), progress.clone())),
            _ => None,
        });
        let (head, mut progress) = run.expect("it is new");
        let (id, status) = (head.id, progress.status);
        assert_eq!(status, RunStatus::Success);
        let events = &cycle.in_flight.back().expect("it is being committed").1.events;
        let told = events.iter().filter_map(|event| match event {
            Event::Run(head, progress) => Some((head.id, progress.status)),
            Event::Task(..) => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), [(id, status)]);
        ask(&mut cycle, command(RunId::from_bytes([7; 16])), Prefetched::default());

        // Durable before this batch: the run, not ended.
        (progress.status, progress.stamp) = (RunStatus::Running, 0);
        let (tasks, signals) = (Vec::new(), Vec::new());
        let older = RunSnapshot { head, progress, definition, tasks, signals };
        for input in [command(id), recorded(command(id))] {
            let Offered::Needs(reading) = cycle.offer(Timestamp(0), input, Some(())) else {
                panic!("the run is not in memory any more")
            };
            let found = Prefetched { run: Some(older.clone()), ..Prefetched::default() };
            let offered = cycle.offer_found(Timestamp(0), *reading, found);
            assert!(matches!(offered, Offered::Needs(_)), "it is read again");
        }
    }

    fn trigger() -> Trigger {
        Trigger {
            workflow: "sketch".into(),
            version: None,
            input: Json::empty_object(),
            labels: BTreeMap::new(),
            priority: 0,
            triggered_by: "test".to_owned(),
            workdir: "/".to_owned(),
            group: None,
            again: None,
        }
    }
}
