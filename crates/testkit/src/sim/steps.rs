//! The single steps of a world: what happens next, as chance will have it.

use crate::sim::life::{Ask, Order, Turned, find};
use crate::sim::people;
use crate::sim::play::{BEGINNING, Play, Waiting};
use crate::sim::promise::{Broken, Check, Promise};
use crate::sim::promises::answers::{self, Asked, Difference, Question};
use crate::sim::promises::outside::{check_gone, check_limits, check_timeouts};
use crate::sim::store::Fate;
use crate::sim::trouble::Trouble;
use mainspring_core::ids::Ticket;
use mainspring_core::kernel::row::{RunProgress, TaskRow};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::work::Report;
use mainspring_core::world::World;
use mainspring_core::world::input::{Command, Input, Verb};
use mainspring_engine::cycle::{Cycle, Done, Offered};

/// Runs of one world, at most.
const RUNS: usize = 6;

impl Play {
    pub fn trouble(&mut self) -> Check {
        match self.luck.below(100) {
            0..=22 => self.deliver(),
            23..=42 => self.executors.advance(&mut self.luck).map(drop),
            43..=52 => self.turn(),
            53..=64 => self.commit(),
            65..=79 => self.carry_out(),
            80..=83 => {
                self.pass_time();
                Ok(())
            }
            84..=86 => self.arrive(),
            87 => {
                let pick = self.luck.pick(self.library.texts().len());
                self.deploy(pick)
            }
            88..=90 => self.trigger(),
            91..=97 => self.command(),
            98 if self.luck.strikes(Trouble::Kill, 3) => self.kill(),
            99 if self.luck.strikes(Trouble::ClockAhead, 1) => {
                self.now = self.now + Span::from_secs(self.luck.below(400));
                self.note(|| "the clock jumps ahead".to_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }

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

    /// Reports come in any order, and some of them twice.
    pub fn deliver(&mut self) -> Check {
        let count = self.executors.reports.len();
        if count == 0 || self.is_full() {
            return Ok(());
        }
        let pick = self.luck.pick(count);
        let report = if self.luck.strikes(Trouble::ReportTwice, 10) {
            self.executors.reports[pick].clone()
        } else {
            self.executors.reports.remove(pick)
        };
        self.note(|| {
            let what: String = format!("{:?}", report.what).chars().take(160).collect();
            format!("report on {} of run {}: {what}", report.ticket.task.no.0, report.ticket.run.0)
        });
        self.report(report)
    }

    fn report(&mut self, report: Report) -> Check {
        let current = self.is_current(report.ticket);
        let ask = self.question(Asked::Report);
        self.offer(Input::Report(report), ask)?;
        let applied = self.questions.get(&ask).and_then(|question| question.applied);
        let changed = matches!(applied, Some((_, Difference::Some)));
        Promise::Fenced.ensure(current || !changed, || "a stale report was taken".to_owned())
    }

    fn is_current(&self, ticket: Ticket) -> bool {
        let mut live = self.life.iter().flat_map(|life| life.cycle.world().live());
        live.any(|known| known == ticket)
    }

    /// No more input before the next batch.
    fn is_full(&mut self) -> bool {
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
        let ask = reading.ask.expect("every input here has someone who asks");
        let (input, found) = (reading.input.clone(), found.unwrap_or_default());
        let readings = self.readings.len();
        self.apply(&input, |cycle, now| cycle.offer_found(now, reading, found), ask)?;
        if self.readings.len() > readings {
            self.luck.tally.count(("refusal", "outdated", ""));
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
        if let Input::Command(command) = input {
            self.record.ordered(command);
            if command.verb == Verb::Retry {
                self.watch.retry(command.task);
            }
        }
        let before = state(life.cycle.world());
        match offer(&mut life.cycle, self.now) {
            Offered::Needs(reading) => self.readings.push(Waiting { reading, found: None }),
            Offered::Taken => {
                let same = state(life.cycle.world()) == before;
                let difference = if same { Difference::None } else { Difference::Some };
                if let Some(question) = self.questions.get_mut(&ask) {
                    question.applied = Some((self.now, difference));
                }
            }
        }
        Ok(())
    }

    pub fn commit(&mut self) -> Check {
        if !self.store.is_pending() || self.luck.strikes(Trouble::CommitSlow, 3) {
            return Ok(());
        }
        let fate = if self.luck.strikes(Trouble::CommitLost, 18) {
            Fate::Lost
        } else if self.luck.strikes(Trouble::CommitUnsure, 18) {
            Fate::DurableButReportedFailed
        } else {
            Fate::Durable
        };
        self.finish_commit(fate)
    }

    /// The cycle turns also while a commit is under way: time goes on.
    pub fn turn(&mut self) -> Check {
        let Some(life) = &mut self.life else { return Ok(()) };
        match life.turn(self.now, &mut self.store) {
            Turned::Waiting => Ok(()),
            Turned::Resting => check_timeouts(&self.store.model, &self.library, self.now),
            Turned::Committing => {
                self.record.batch_taken();
                // A batch takes everything that is decided, unless it is full.
                if life.cycle.world().deadline().is_some() {
                    self.luck.tally.count(("moment", "batch cut", ""));
                }
                Ok(())
            }
            Turned::Acting(done) => self.done(done),
        }
    }

    pub fn finish_commit(&mut self, fate: Fate) -> Check {
        if !self.store.is_pending() {
            return Ok(());
        }
        self.luck.tally.count(("commit", fate.name(), ""));
        let result = self.store.finish(fate);
        self.check_durable()?;
        self.note(|| format!("a commit ends: {}", fate.name()));
        if result.is_ok() {
            let life = self.life.as_mut().expect("a commit belongs to a life");
            let done = life.cycle.committed();
            self.done(done)
        } else {
            let life = self.life.take();
            self.begin_life(life);
            Ok(())
        }
    }

    fn check_durable(&mut self) -> Check {
        let (model, library) = (&self.store.model, &self.library);
        self.record.check_commit(model, library, self.now, &mut self.luck.tally)?;
        check_gone(model, &self.executors)?;
        check_limits(model, library, &self.limits)
    }

    /// Durable: orders are queued, questions answered.
    fn done(&mut self, done: Done<Ask>) -> Check {
        let mut answered = Vec::with_capacity(done.answers.len());
        for (ask, answer) in done.answers {
            let twice = || Promise::AnsweredOnce.broken("a question was answered twice");
            let question = self.questions.remove(&ask).ok_or_else(twice)?;
            if let Ok(mainspring_core::world::input::Reply::Accepted { run }) = &answer {
                self.record.accepted.insert(*run);
            }
            answered.push((question, answer));
        }
        answers::check(&answered, &self.store.model, &mut self.luck.tally)?;
        let life = self.life.as_mut().expect("what is done was done by a life");
        life.orders.extend(done.effects.into_iter().map(Order::Effect));
        life.orders.extend(done.forget.into_iter().map(Order::Forget));
        Ok(())
    }

    pub fn carry_out(&mut self) -> Check {
        let Some(life) = &mut self.life else { return Ok(()) };
        let Some(order) = life.orders.pop_front() else { return Ok(()) };
        self.acts.check(&order, &self.store.model, &self.executors, &self.record)?;
        life.work(&order, &mut self.executors);
        self.note(|| {
            let text = format!("{order:?}");
            format!("act {}", text.chars().take(160).collect::<String>())
        });
        Ok(())
    }

    fn pass_time(&mut self) {
        let wake = self.life.as_ref().and_then(|life| life.cycle.world().next_wake());
        self.now = match wake {
            Some(wake) if self.luck.below(2) == 0 => self.now.max(wake),
            _ => self.now + Span::from_ms(self.luck.below(3_000)),
        };
    }

    fn deploy(&mut self, pick: usize) -> Check {
        if self.is_full() {
            return Ok(());
        }
        self.note(|| format!("deploy text {pick}"));
        let ask = self.question(Asked::Deploy);
        self.offer(Input::Deploy(self.library.deploy(pick)), ask)
    }

    fn trigger(&mut self) -> Check {
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
        let trigger = people::trigger(&mut self.luck, workflow);
        self.note(|| format!("trigger {}", trigger.workflow));
        let ask = self.question(Asked::Trigger);
        self.offer(Input::Trigger(trigger), ask)
    }

    fn command(&mut self) -> Check {
        let count = self.record.accepted.len();
        if count == 0 || self.is_full() {
            return Ok(());
        }
        let pick = self.luck.pick(count);
        let run = *self.record.accepted.iter().nth(pick).expect("counted");
        let stored = self.store.model.run(run).expect("accepted runs are stored");
        let tasks = self.library.of(&self.store.model, &stored.head).tasks.len() as u64;
        match people::command(&mut self.luck, run, tasks) {
            Some(command) => self.order(command),
            None => Ok(()),
        }
    }

    fn order(&mut self, command: Command) -> Check {
        self.note(|| format!("{:?} task {:?} of run {}", command.verb, command.task, command.run));
        let ask = self.question(Asked::Command(command.clone()));
        self.offer(Input::Command(command), ask)
    }

    /// kill -9, before or after the pending commit reached the disk.
    fn kill(&mut self) -> Check {
        if self.store.is_pending() {
            let fate = if self.luck.below(2) == 0 { Fate::Lost } else { Fate::Durable };
            let _ = self.store.finish(fate);
        }
        self.executors.die();
        self.check_durable()?;
        self.life = None;
        self.readings.clear();
        self.questions.clear();
        if self.luck.strikes(Trouble::ClockBack, 4) {
            let back = Span::from_secs(self.luck.below(600));
            self.now = (self.now - back).max(BEGINNING - Span::from_secs(3_600));
        }
        self.note(|| "kill -9".to_owned());
        self.begin_life(None);
        Ok(())
    }

    /// Lifts holds, or lets time pass. False when there is nothing to wait for.
    pub fn wait_or_rest(&mut self) -> Result<bool, Broken> {
        let Some(life) = &self.life else { return Ok(false) };
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
            self.order(people::resume(*run, *task))?;
            return Ok(true);
        }
        let wake = life.cycle.world().next_wake();
        self.now = wake.map_or(self.now, |wake| self.now.max(wake));
        Ok(wake.is_some())
    }
}

/// Everything in memory that a refusal may not change.
type State = Vec<(RunProgress, Vec<TaskRow>)>;

fn state(world: &World) -> State {
    let runs = world.runs();
    runs.map(|run| (run.progress.clone(), run.rows.iter().cloned().collect())).collect()
}
