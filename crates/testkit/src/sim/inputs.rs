//! The ways into the world: what people and executors say, and what had to be read first.

use crate::sim::life::{Ask, find};
use crate::sim::people;
use crate::sim::play::{Play, Waiting};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::anew::Anew;
use crate::sim::promises::answers::{Asked, Difference, Question};
use crate::sim::sketches::random_addition;
use crate::sim::store::Fate;
use crate::sim::trouble::Trouble;
use mainspring_core::ids::{RunId, TaskNo, Ticket};
use mainspring_core::kernel::row::{RunProgress, TaskRow};
use mainspring_core::plan::dag::kept::Pinned;
use mainspring_core::time::Timestamp;
use mainspring_core::work::Report;
use mainspring_core::world::World;
use mainspring_core::world::input::{
    Addition, Answered, Command, Inherited, Input, Order, Prefetched, SetTier, Trigger, Verb,
};
use mainspring_core::world::run::Run;
use mainspring_engine::cycle::{Cycle, Offered, Reading};
use mainspring_store::StoredRun;
use std::sync::Arc;

/// Runs of one world, at most.
const RUNS: usize = 6;
/// Additions to them.
const ADDITIONS: u64 = 8;

impl Play {
    /// Something is deployed and runs.
    pub fn open(&mut self) -> Check {
        for ask in [Self::deploy, Self::ask_for_run] {
            ask(self, 0)?;
            while !self.readings.is_empty() {
                self.arrive()?;
            }
            self.turn()?;
            self.finish_commit(Fate::Durable)?;
        }
        Ok(())
    }

    pub fn deploy(&mut self, pick: usize) -> Check {
        if self.is_full() {
            return Ok(());
        }
        self.note(|| format!("deploy text {pick}"));
        let ask = self.question(Asked::Deploy);
        self.offer(Input::Deploy(self.library.deploy(pick)), ask)
    }

    pub fn trigger(&mut self) -> Check {
        if self.record.accepted.len() >= RUNS || self.is_full() {
            return Ok(());
        }
        let pick = self.luck.pick(self.library.texts().len());
        let workflow = self.library.workflow(pick);
        if self.store.model.version(&workflow, None).is_none() && self.luck.below(10) != 0 {
            return self.deploy(pick);
        }
        self.ask_for_run(pick)
    }

    fn ask_for_run(&mut self, pick: usize) -> Check {
        let workflow = self.library.workflow(pick);
        let mut trigger = people::trigger(&mut self.luck, workflow);
        if self.library.has_group(pick) {
            trigger.group = Some(people::group(&mut self.luck));
        }
        self.note(|| format!("trigger {}", trigger.workflow));
        let ask = self.question(Asked::Trigger);
        self.offer(Input::Trigger(trigger), ask)
    }

    /// Somebody reads a run that is over, to run it anew, and asks for that then or later.
    pub fn rerun(&mut self) -> Check {
        if self.wide || self.is_full() || self.record.accepted.len() >= RUNS + 2 {
            return Ok(());
        }
        self.prepare_rerun();
        if self.prepared.is_empty() || self.luck.strikes(Trouble::ReadLate, 2) {
            return Ok(());
        }
        let pick = self.luck.pick(self.prepared.len());
        let trigger = self.prepared.swap_remove(pick);
        self.note(|| format!("run anew: {:?}", trigger.again));
        let ask = self.question(Asked::Rerun);
        self.offer(Input::Trigger(trigger), ask)
    }

    /// Somebody makes up more tasks for a run, and adds them then or later.
    pub fn add(&mut self) -> Check {
        if self.wide || self.is_full() {
            return Ok(());
        }
        self.prepare_addition();
        if self.late_orders.is_empty() || self.luck.strikes(Trouble::ReadLate, 3) {
            return Ok(());
        }
        let pick = self.luck.pick(self.late_orders.len());
        let command = self.late_orders.swap_remove(pick);
        self.order(command)
    }

    fn prepare_addition(&mut self) {
        let accepted = &self.record.accepted;
        if accepted.is_empty() || self.additions >= ADDITIONS {
            return;
        }
        let run = *accepted.iter().nth(self.luck.pick(accepted.len())).expect("counted");
        let stored = self.store.model.run(run).expect("accepted runs are stored");
        let definition = self.library.of(&self.store.model, &stored.head);
        let names = definition.tasks.iter().map(|task| task.name.to_string()).collect();
        let text = random_addition(&mut self.luck, names, self.additions);
        self.additions += 1;
        let head = &stored.head;
        let version = self.library.version(&self.store.model, &head.workflow, Some(head.version));
        let version = version.expect("a run's version is stored with it or before it");
        let before = self.store.model.additions(head.key);
        let all = before.iter().map(|row| &*row.text).chain([text.as_str()]);
        let definition = self.library.extended(&version, all);
        let after = stored.progress.additions;
        let addition = Addition { text: text.as_str().into(), definition, after };
        let order = Order::Add(Box::new(addition));
        self.late_orders.push(Command { run, order, by: "someone".to_owned() });
    }

    fn prepare_rerun(&mut self) {
        let accepted = self.record.accepted.iter();
        let stored = accepted.filter_map(|run| self.store.model.run(*run));
        let over: Vec<StoredRun> = stored.filter(|run| run.progress.status.is_final()).collect();
        if over.is_empty() {
            return;
        }
        let former = over[self.luck.pick(over.len())].clone();
        let was = self.library.of(&self.store.model, &former.head);
        let workflow = &former.head.workflow;
        let latest = self.library.version(&self.store.model, workflow, None);
        let latest = latest.filter(|_| self.luck.below(2) == 0);
        let version = latest.as_ref().map_or(former.head.version, |version| version.number);
        let is_same = version == former.head.version;
        let definition = match latest {
            Some(latest) if !is_same => latest.definition,
            _ => Arc::clone(&was),
        };
        let pinned = if is_same { Pinned::Same } else { Pinned::Other };
        let count = definition.tasks.len();
        let from = (self.luck.below(6) > 0).then(|| TaskNo::from_position(self.luck.pick(count)));
        let rows = self.store.model.additions(former.head.key);
        let added = (is_same && !rows.is_empty())
            .then(|| Inherited { rows, definition: Arc::clone(&definition) });
        let asked = people::Anew { former: &former, was: &was, definition: &definition, added };
        let trigger = asked.trigger(&mut self.luck, (from, pinned), &self.blobs);
        let trigger = Trigger { version: Some(version), ..trigger };
        let what = match (from, pinned) {
            (_, Pinned::Other) => "anew with another version",
            (Some(_), _) => "anew from a task",
            (None, _) => "anew",
        };
        self.luck.tally.count(("run", what, ""));
        let id = trigger.again.as_ref().map(|again| again.id);
        let anew = Anew { former, was, from, pinned };
        self.record.anew.extend(id.map(|id| (id, anew)));
        self.prepared.push(trigger);
    }

    pub fn command(&mut self) -> Check {
        let count = self.record.accepted.len();
        if count == 0 || self.is_full() {
            return Ok(());
        }
        let pick = self.luck.pick(count);
        let run = *self.record.accepted.iter().nth(pick).expect("counted");
        let stored = self.store.model.run(run).expect("accepted runs are stored");
        let definition = self.library.of(&self.store.model, &stored.head);
        match people::command(&mut self.luck, run, &definition, &stored.tasks) {
            Some(command) => self.order(command),
            None => Ok(()),
        }
    }

    pub fn order(&mut self, command: Command) -> Check {
        self.note(|| format!("{:?} of run {}", command.order, command.run));
        let ask = self.question(Asked::Command(command.clone()));
        self.offer(Input::Command(command), ask)
    }

    /// Somebody sets a limit, or the configuration is read anew.
    pub fn change_limits(&mut self) -> Check {
        if self.is_full() {
            return Ok(());
        }
        if self.luck.below(3) > 0 {
            let set = people::tier(&mut self.luck);
            return self.set_tier(set);
        }
        self.limits = people::limits(&mut self.luck);
        let limits = self.limits.clone();
        self.note(|| format!("configured: {limits:?}"));
        self.luck.tally.count(("limit", "configured", ""));
        let Some(life) = &mut self.life else { return Ok(()) };
        life.cycle.world_mut().configure(&self.limits);
        self.bounds.configure(&self.limits);
        Ok(())
    }

    pub fn set_tier(&mut self, set: SetTier) -> Check {
        self.note(|| format!("{set:?}"));
        let ask = self.question(Asked::Tier);
        self.offer(Input::SetTier(set), ask)
    }

    pub fn report(&mut self, report: Report) -> Check {
        let current = self.is_current(report.ticket);
        let ask = self.question(Asked::Report);
        self.offer(Input::Report(report), ask)?;
        let applied = self.questions.get(&ask).and_then(|question| question.applied);
        let changed = matches!(applied, Some((_, Difference::Some)));
        Promise::Fenced.ensure(current || !changed, || "a stale report was taken".to_owned())
    }

    /// An answer reaches the world. Only one to a question that is still open counts.
    pub fn answer(&mut self, given: Answered) -> Check {
        let open = self.is_open(&given);
        let ask = self.question(Asked::Answer);
        self.offer(Input::Answer(given), ask)?;
        let applied = self.questions.get(&ask).and_then(|question| question.applied);
        let changed = matches!(applied, Some((_, Difference::Some)));
        Promise::Heeded.ensure(open || !changed, || "a stale answer was taken".to_owned())
    }

    fn is_open(&self, given: &Answered) -> bool {
        let (epoch, number) = given.number;
        let world = self.life.as_ref().map(|life| life.cycle.world());
        let world = world.filter(|world| world.epoch() == epoch);
        let mut runs = world.into_iter().flat_map(World::runs);
        let run = runs.find(|run| run.head.key == given.run);
        run.is_some_and(|run| run.asked.values().any(|asked| *asked == number))
    }

    fn is_current(&self, ticket: Ticket) -> bool {
        let mut live = self.life.iter().flat_map(|life| life.cycle.world().live());
        live.any(|known| known == ticket)
    }

    /// No more input before the next batch.
    pub fn is_full(&mut self) -> bool {
        let full = self.life.as_ref().is_some_and(|life| life.cycle.world().is_full());
        if full {
            self.luck.tally.count(("moment", "full", ""));
        }
        full
    }

    fn question(&mut self, asked: Asked) -> Ask {
        let ask = self.next_ask;
        self.next_ask += 1;
        self.questions.insert(ask, Question { asked, applied: None });
        ask
    }

    fn offer(&mut self, input: Input, ask: Ask) -> Check {
        self.apply(&input.clone(), |cycle, now| cycle.offer(now, input, Some(ask)), ask)
    }

    /// A reading gets on: it is read, or what was read arrives.
    pub fn arrive(&mut self) -> Check {
        if self.readings.is_empty() {
            return Ok(());
        }
        let pick = self.luck.pick(self.readings.len());
        let waiting = &mut self.readings[pick];
        if waiting.found.is_none() {
            let found = find(&self.store.model, &self.library, &waiting.reading.needs);
            waiting.found = Some(found);
            if self.luck.strikes(Trouble::ReadLate, 2) {
                return Ok(());
            }
        }
        let Waiting { reading, found } = self.readings.swap_remove(pick);
        self.note(|| "what was read arrives".to_owned());
        let found = found.unwrap_or_default();
        let Some(ask) = reading.ask else { return self.rouse(reading, found) };
        let input = reading.input.clone();
        let readings = self.readings.len();
        self.apply(&input, |cycle, now| cycle.offer_found(now, *reading, found), ask)?;
        if self.readings.len() > readings {
            self.luck.tally.count(("refusal", "outdated", ""));
        }
        Ok(())
    }

    /// What was read of a run that slept until now.
    fn rouse(&mut self, reading: Box<Reading<Ask>>, found: Prefetched) -> Check {
        let Some(life) = &mut self.life else { return Ok(()) };
        self.luck.tally.count(("moment", "roused by its timer", ""));
        match life.cycle.offer_found(self.now, *reading, found) {
            Offered::Needs(reading) => self.readings.push(Waiting { reading, found: None }),
            Offered::Taken => {}
        }
        Ok(())
    }

    /// Whatever way an input takes into the world, it is noted what it did there.
    fn apply(
        &mut self,
        input: &Input,
        offer: impl FnOnce(&mut Cycle<Ask>, Timestamp) -> Offered<Ask>,
        ask: Ask,
    ) -> Check {
        let Some(life) = &mut self.life else { return Ok(()) };
        if life.cycle.is_committing() {
            self.luck.tally.count(("moment", "gathered while committing", ""));
        }
        if let Input::Command(command) = input
            && let Some(stored) = self.store.model.run(command.run)
        {
            let definition = self.library.of(&self.store.model, &stored.head);
            if let Some((verb, tasks)) = people::meant(&command.order, &definition) {
                self.record.ordered(command.run, verb, tasks.as_deref());
                if verb == Verb::Retry {
                    self.watch.retry(tasks);
                }
            }
            if let Some((task, verdict)) = people::ruled(&command.order, &definition) {
                self.record.ruled(command.run, task, verdict);
            }
        }
        if let Input::SetTier(set) = input
            && people::is_settable(set)
        {
            self.bounds.set(set);
            let what = if set.limit == Some(0) { "closed" } else { "set" };
            self.luck.tally.count(("limit", what, ""));
        }
        let of_live = again_of(input).filter(|of| is_there(life.cycle.world(), *of));
        let before = state(life.cycle.world());
        match offer(&mut life.cycle, self.now) {
            Offered::Needs(reading) => self.readings.push(Waiting { reading, found: None }),
            Offered::Taken => {
                let same = state(life.cycle.world()) == before;
                let difference = if same { Difference::None } else { Difference::Some };
                Promise::Copied.ensure(same || of_live.is_none(), || {
                    format!("{of_live:?} is not over, and is run anew")
                })?;
                if let Some(question) = self.questions.get_mut(&ask) {
                    question.applied = Some((self.now, difference));
                }
            }
        }
        Ok(())
    }
}

/// The run that an input wants to run anew.
fn again_of(input: &Input) -> Option<RunId> {
    let Input::Trigger(Trigger { again: Some(again), .. }) = input else { return None };
    Some(again.of)
}

fn is_there(world: &World, id: RunId) -> bool {
    world.runs().any(|run| run.head.id == id)
}

/// Everything in memory that a refusal may not change. Outputs of what is settled are there while
/// somebody may read them, and read again when a retry may need them.
type State = Vec<(RunProgress, Vec<TaskRow>)>;

fn state(world: &World) -> State {
    let rows = |run: &Run| {
        let without_output = |row: &TaskRow| TaskRow { output: None, ..row.clone() };
        run.all_rows().map(without_output).collect()
    };
    world.runs().map(|run| (run.progress.clone(), rows(run))).collect()
}
