//! The single steps of a world: what happens next, as chance will have it.

use crate::sim::desk::Paper;
use crate::sim::executors::Executors;
use crate::sim::life::{Ask, Order, Turned};
use crate::sim::outputs::{Reach, Shelf};
use crate::sim::people;
use crate::sim::play::{BEGINNING, Play, Telling, Waiting};
use crate::sim::promise::{Broken, Check, Promise};
use crate::sim::promises::acts::check_launch;
use crate::sim::promises::answers;
use crate::sim::promises::outside::{check_begun, check_gone, check_timeouts, check_versions};
use crate::sim::promises::record::Outside;
use crate::sim::sleepers::asleep;
use crate::sim::store::{Fate, Heard};
use crate::sim::trouble::Trouble;
use mainspring_core::ids::TaskRef;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::kernel::wait::Awaited;
use mainspring_core::launch::{NotLaunched, StartAttempt};
use mainspring_core::limits::{BATCH_CHANGES_MAX, GROUP_NOOPS_AT_ONCE};
use mainspring_core::time::Span;
use mainspring_core::work::{Ended, Outcome, Report, ReportKind};
use mainspring_core::world::batch::Effect;
use mainspring_core::world::input::{Input, Named, Reply, SetRate, SetTier};
use mainspring_engine::cycle::Done;
use std::sync::Arc;

/// What the input that fills a batch may add: noops of a group, a few rows of a run, and runs
/// that end.
const LAST_INPUT: usize = GROUP_NOOPS_AT_ONCE as usize + 50;

/// How often something else is tried when nothing comes of what chance had picked.
const TRIES: usize = 3;

impl Play {
    /// What chance picks next: something of which anything can come, most often.
    fn pick(&mut self) -> u64 {
        let mut pick = self.luck.below(121);
        for _ in 1..TRIES {
            if self.is_moot(pick) {
                pick = self.luck.below(121);
            }
        }
        pick
    }

    fn is_moot(&self, pick: u64) -> bool {
        let life = self.life.as_ref();
        match pick {
            0..=22 => self.executors.reports.is_empty(),
            23..=42 => !self.executors.is_moving(),
            53..=64 => !self.store.is_pending(),
            65..=79 => life.is_none_or(|life| life.orders.is_empty()),
            84..=86 => self.readings.is_empty(),
            100..=105 => !self.desk.has_papers(),
            106..=111 => !self.desk.has_answers(),
            _ => false,
        }
    }

    pub fn trouble(&mut self) -> Check {
        self.away = self.away.saturating_sub(1);
        match self.pick() {
            0..=22 => self.deliver(),
            23..=42 => self.executors.advance(&mut self.luck, &self.blobs).map(drop),
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
            100..=105 => self.work(),
            106..=111 => self.hear(),
            118..=120 if self.luck.strikes(Trouble::Additions, 1) => self.add(),
            115..=117 if self.luck.strikes(Trouble::Reruns, 1) => self.rerun(),
            113 | 114 if self.luck.strikes(Trouble::Limits, 2) => self.change_limits(),
            112 if self.luck.strikes(Trouble::StoreAway, 2) => {
                self.away = u32::try_from(self.luck.below(60)).expect("small");
                self.note(|| "outputs are out of reach".to_owned());
                Ok(())
            }
            99 if self.luck.strikes(Trouble::ClockAhead, 1) => {
                self.now = self.now + Span::from_secs(self.luck.below(400));
                self.note(|| "the clock jumps ahead".to_owned());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reports come in any order, some of them twice, and some again much later.
    pub fn deliver(&mut self) -> Check {
        if self.is_full() {
            return Ok(());
        }
        let Some(report) = self.next_report() else { return Ok(()) };
        self.note(|| {
            let what: String = format!("{:?}", report.what).chars().take(160).collect();
            let place = place(report.ticket.task);
            format!("report on {place} of run {}: {what}", report.ticket.run.0)
        });
        self.report(report)
    }

    fn next_report(&mut self) -> Option<Report> {
        let Executors { reports, heard, .. } = &mut self.executors;
        if !heard.is_empty() && self.luck.strikes(Trouble::ReportLate, 12) {
            return Some(heard[self.luck.pick(heard.len())].clone());
        }
        if reports.is_empty() {
            return None;
        }
        let pick = first_of(reports, self.luck.pick(reports.len()));
        if self.luck.strikes(Trouble::ReportTwice, 10) {
            return Some(reports[pick].clone());
        }
        let report = reports.remove(pick);
        heard.push(report.clone());
        Some(report)
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
        let turned = life.turn(self.now, &mut self.store);
        while let Some(reading) = life.cycle.stirred(self.now) {
            self.readings.push(Waiting { reading, found: None });
        }
        let is_roused = || {
            let mut waiting = self.readings.iter();
            waiting.any(|waiting| matches!(waiting.reading.input, Input::Rouse(_)))
        };
        match turned {
            Turned::Waiting => Ok(()),
            Turned::Resting if is_roused() => Ok(()),
            Turned::Resting => check_timeouts(&self.store.model, &self.library, self.now),
            Turned::Committing => {
                self.record.batch_taken();
                self.bounds.batch_taken();
                // A batch takes everything that is decided, unless it is full.
                if life.cycle.world().deadline().is_some() {
                    self.luck.tally.count(("moment", "batch cut", ""));
                }
                let changes = self.store.last_pending();
                if self.store.pending() > 1 {
                    self.luck.tally.count(("moment", "handed over behind another", ""));
                }
                let bounded = changes <= BATCH_CHANGES_MAX + LAST_INPUT;
                Promise::Bounded.ensure(bounded, || format!("{changes} changes"))
            }
            Turned::Acting(done) => self.done(done),
        }
    }

    pub fn finish_commit(&mut self, fate: Fate) -> Check {
        if !self.store.is_pending() {
            return Ok(());
        }
        self.luck.tally.count(("commit", fate.name(), ""));
        let heard = self.store.finish(fate)?;
        self.batch_ended();
        self.check_durable()?;
        self.note(|| format!("a commit ends: {}", fate.name()));
        if heard == Heard::Durable {
            let life = self.life.as_mut().expect("a commit belongs to a life");
            let done = life.cycle.committed();
            self.done(done)
        } else {
            self.drop_pending();
            let life = self.life.take();
            self.begin_life(life);
            Ok(())
        }
    }

    fn batch_ended(&mut self) {
        self.record.batch_ended();
        self.bounds.batch_ended();
    }

    fn drop_pending(&mut self) {
        self.store.drop_pending();
        self.record.batches_dropped();
        self.bounds.batches_dropped();
    }

    fn check_durable(&mut self) -> Check {
        let (model, library) = (&self.store.model, &self.library);
        let (executors, blobs, now) = (&self.executors, &self.blobs, self.now);
        let outside = Outside { library, executors, blobs, now };
        self.record.check_commit(model, outside, &mut self.luck.tally)?;
        check_gone(model, &self.executors, &self.record)?;
        check_begun(model, &self.executors)?;
        check_versions(model, library)?;
        self.gatekeeper.check(model, library, &mut self.luck.tally)?;
        self.served.check(model, library)?;
        self.added.check(model)?;
        self.bounds.check(model, library, self.back)
    }

    /// Durable: orders are queued, questions answered.
    fn done(&mut self, done: Done<Ask>) -> Check {
        let mut answered = Vec::with_capacity(done.answers.len());
        for (ask, answer) in done.answers {
            let twice = || Promise::AnsweredOnce.broken("a question was answered twice");
            let question = self.questions.remove(&ask).ok_or_else(twice)?;
            if let Ok(Reply::Accepted { run }) = &answer {
                self.record.accepted.insert(*run);
            }
            self.added.answered(&question, &answer);
            answered.push((question, answer));
        }
        answers::check(&answered, &self.store.model, &self.library, &mut self.luck.tally)?;
        let life = self.life.as_mut().expect("what is done was done by a life");
        life.orders.extend(done.effects.into_iter().map(Order::Effect));
        life.orders.extend(done.forget.into_iter().map(Order::Forget));
        Ok(())
    }

    pub fn carry_out(&mut self) -> Check {
        let Some(life) = &mut self.life else { return Ok(()) };
        let Some(order) = life.orders.pop_front() else { return Ok(()) };
        self.acts.check(&order, &self.store.model, &self.executors, &self.record)?;
        if self.telling == Telling::Told {
            let text: String = told(&order).chars().take(200).collect();
            self.note(|| format!("act {text}"));
        }
        if matches!(order, Order::Effect(Effect::KillUnconfirmed(_))) {
            self.luck.tally.count(("moment", "kill unconfirmed", ""));
        }
        let Some(life) = &self.life else { return Ok(()) };
        match life.work(order, &mut self.executors, &mut self.desk) {
            Some(start) => self.launch(&start),
            None => Ok(()),
        }
    }

    /// What is told to an executor, or why nothing is.
    fn launch(&mut self, start: &StartAttempt) -> Check {
        let what = match start.render(&self.shelf()) {
            Ok(launch) => {
                check_launch(&self.store.model, &self.blobs, start, &launch)?;
                self.executors.start(&launch, start.around.run);
                return Ok(());
            }
            Err(NotLaunched::Later(what)) => ReportKind::Refused(what.into()),
            Err(NotLaunched::Failed(error)) => {
                let outcome = Outcome::Failed(error);
                ReportKind::Ended(Ended::unstarted(outcome))
            }
        };
        self.executors.report(start.ticket, what);
        Ok(())
    }

    fn shelf(&self) -> Shelf<'_> {
        let away = self.away > 0 && !self.luck.at_peace;
        let reach = if away { Reach::Away } else { Reach::There };
        Shelf { store: &self.store, library: &self.library, blobs: &self.blobs, reach }
    }

    /// Something is worked out at the desk.
    pub fn work(&mut self) -> Check {
        let away = self.away > 0 && !self.luck.at_peace;
        let reach = if away { Reach::Away } else { Reach::There };
        let shelf = Shelf { store: &self.store, library: &self.library, blobs: &self.blobs, reach };
        match self.desk.work(&mut self.luck, &shelf) {
            Some(Paper::Start(start)) => {
                self.note(|| format!("started from the desk: {}", place(start.ticket.task)));
                self.launch(&start)
            }
            Some(Paper::Answered) | None => Ok(()),
        }
    }

    /// Answers come in any order, some of them twice, and some again much later.
    pub fn hear(&mut self) -> Check {
        if self.is_full() {
            return Ok(());
        }
        let Some(given) = self.desk.next_answer(&mut self.luck) else { return Ok(()) };
        self.note(|| {
            let what: String = format!("{:?}", given.answer).chars().take(160).collect();
            format!("answer {:?} for run {}: {what}", given.number, given.run.0)
        });
        self.answer(given)
    }

    fn pass_time(&mut self) {
        let wake = self.life.as_ref().and_then(|life| life.cycle.world().next_wake());
        self.now = match wake {
            Some(wake) if self.luck.below(2) == 0 => self.now.max(wake),
            _ => self.now + Span::from_ms(self.luck.below(3_000)),
        };
    }

    /// kill -9, before or after the pending commit reached the disk.
    fn kill(&mut self) -> Check {
        // Those that reached the disk are the first ones.
        while self.store.is_pending() && self.luck.below(2) == 0 {
            self.store.finish(Fate::Durable)?;
            self.batch_ended();
            self.check_durable()?;
        }
        self.drop_pending();
        self.executors.die();
        self.desk.die();
        self.check_durable()?;
        self.life = None;
        self.readings.clear();
        self.prepared.clear();
        self.late_orders.clear();
        self.questions.clear();
        if self.luck.strikes(Trouble::ClockBack, 4) {
            let back = Span::from_secs(self.luck.below(600));
            let before = self.now;
            self.now = (self.now - back).max(BEGINNING - Span::from_secs(3_600));
            self.back = Span(self.back.0 + before.since(self.now).0);
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
            let tasks =
                run.all_rows().filter(|row| row.hold.is_some() && !run.is_settled(row.task));
            let named = |row: &TaskRow| Named {
                task: Arc::clone(&run.blueprint.definition.task(row.task.no).name),
                index: row.task.index,
            };
            held.extend(tasks.map(|row| (run.head.id, Some(named(row)))));
        }
        let world = life.cycle.world();
        let asleep = asleep(world, &self.store.model, &self.library);
        held.extend(asleep.iter().filter_map(|run| run.held.clone()));
        if let Some((run, task)) = held.into_iter().next() {
            self.order(people::resume(run, task))?;
            return Ok(true);
        }
        let waiting = life.cycle.world().runs().find_map(|run| {
            let mut rows = run.all_rows();
            let by_itself = |row: &&TaskRow| {
                matches!(row.awaited(), None | Some(Awaited::Time | Awaited::Child { .. }))
            };
            let row = rows.find(|row| !by_itself(row))?;
            let named = Named {
                task: Arc::clone(&run.blueprint.definition.task(row.task.no).name),
                index: row.task.index,
            };
            Some((run.head.id, named, row.awaited()?.clone()))
        });
        let waiting = waiting.or_else(|| asleep.into_iter().find_map(|run| run.waits));
        if let Some((run, named, on)) = waiting
            && let Some(command) = people::end_wait(&mut self.luck, run, named, &on)
        {
            self.order(command)?;
            return Ok(true);
        }
        if let Some(name) = self.bounds.closed() {
            let name = name.into();
            self.set_tier(SetTier { name, limit: Some(1), rate: SetRate::Keep })?;
            return Ok(true);
        }
        let wake = life.cycle.world().next_wake();
        self.now = wake.map_or(self.now, |wake| self.now.max(wake));
        Ok(wake.is_some())
    }
}

/// `3`, or `3/1` for an instance.
fn place(task: TaskRef) -> String {
    let no = task.no.0;
    task.index.map_or_else(|| no.to_string(), |index| format!("{no}/{index}"))
}

/// An order in few words: what surrounds a start or a question is long.
fn told(order: &Order) -> String {
    match order {
        Order::Effect(Effect::Start(start)) => {
            format!("start {} of run {}", place(start.ticket.task), start.ticket.run.0)
        }
        Order::Effect(Effect::Evaluate(question)) => {
            format!("ask {:?} {:?} of run {}", question.number, question.what, question.run.0)
        }
        order => format!("{order:?}"),
    }
}

/// Reports come in any order, but for one: that a start was refused is in the queue before anybody
/// can ask after it and hear that it was never started.
fn first_of(reports: &[Report], pick: usize) -> usize {
    let Report { ticket, .. } = reports[pick];
    let is_refused =
        |report: &Report| report.ticket == ticket && matches!(report.what, ReportKind::Refused(_));
    reports[..pick].iter().position(is_refused).unwrap_or(pick)
}
