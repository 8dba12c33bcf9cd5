//! The world's thread: takes the mail, turns the cycle, hands batches to the store and
//! effects to the hands. After a failed commit it throws the world away and loads it again:
//! recovery is the same code as start.

use crate::act::Orders;
use crate::clock::Clock;
use crate::cycle::{Cycle, Done, Offered, Reading, Step};
use crate::engine::{EngineConfig, Load, NotDone, Stopped};
use crate::inbox::{Ask, Control, Drain, Inbox, Mail, Request};
use crate::loading::{self, Loaded};
use crate::prefetch;
use crate::trouble::Trouble;
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::{Change, Effect};
use mainspring_core::world::input::{Input, Prefetched};
use mainspring_store::{CommitError, Fence, ReadError};
use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Requests taken from the inbox at once; the rest wait where they are counted.
const REQUESTS_AT_ONCE: usize = 1_024;
/// Readings of the store under way; beyond them requests wait where they are counted.
const READINGS_MAX: usize = 256;
/// Callers do not feel a store that is away for less than this; after it they are refused.
const HICCUP: Duration = Duration::from_secs(2);
/// With a timer pending the thread looks at least this often, so that a suspended machine
/// is noticed: the monotonic clock it sleeps by stands still meanwhile.
const LOOK_AT_LEAST: Duration = Duration::from_secs(30);

pub(crate) struct Driver {
    pub config: EngineConfig,
    pub inbox: Arc<Inbox>,
    pub orders: mpsc::Sender<Orders>,
    pub runtime: tokio::runtime::Handle,
    clock: Clock,
    fence: Fence,
    /// None while it is being loaded again.
    cycle: Option<Cycle<Ask>>,
    backlog: Mail,
    trouble: Option<Trouble>,
    /// Since when there is no world; none while there is one.
    unloaded: Option<Instant>,
    /// Since when there is a world, or was.
    loaded_at: Instant,
    /// What loads it again. It ends with this thread: a load that began after that would take the
    /// store away from whoever comes next.
    loading: JoinSet<()>,
    /// Attempts whose work is over, of which the world that was thrown away had heard.
    over: BTreeSet<AttemptId>,
    draining: Option<Drain>,
    /// Told when nothing is live any more and nothing is left to commit, while draining.
    quiet: watch::Sender<bool>,
    /// Whether there is a world. Said before anybody hears that an outcome is not known.
    loaded: watch::Sender<bool>,
    stopping: bool,
}

impl Driver {
    pub fn new(
        config: EngineConfig,
        inbox: Arc<Inbox>,
        orders: mpsc::Sender<Orders>,
        (clock, loaded): (Clock, Loaded),
    ) -> Self {
        let mut driver = Self {
            config,
            inbox,
            orders,
            runtime: tokio::runtime::Handle::current(),
            clock,
            fence: loaded.registration.fence,
            cycle: None,
            backlog: Mail::default(),
            trouble: None,
            unloaded: None,
            loaded_at: Instant::now(),
            loading: JoinSet::new(),
            over: BTreeSet::new(),
            draining: None,
            quiet: watch::Sender::new(false),
            loaded: watch::Sender::new(false),
            stopping: false,
        };
        driver.take_up(loaded);
        driver
    }

    /// Goes on with a world that was made of what is stored.
    fn take_up(&mut self, loaded: Loaded) {
        let Loaded { registration, mut world } = loaded;
        world.still_over(&std::mem::take(&mut self.over));
        self.fence = registration.fence;
        (self.unloaded, self.loaded_at) = (None, Instant::now());
        self.config.observer.loaded(registration.next_stamp.saturating_sub(1));
        let only = world.live().map(|ticket| ticket.attempt).collect();
        self.hand_over(Orders { only: Some(only), ..Orders::default() });
        self.cycle = Some(Cycle::new(world));
        self.drain_world();
        self.loaded.send_replace(true);
    }

    fn drain_world(&mut self) {
        let (Some(drain), Some(cycle)) = (self.draining, &mut self.cycle) else { return };
        cycle.world_mut().start_nothing_more();
        if drain == Drain::StopAll {
            cycle.world_mut().stop_all(self.clock.now());
        }
    }

    /// Whether a planned end may come now.
    pub fn quiet(&self) -> watch::Receiver<bool> {
        self.quiet.subscribe()
    }

    pub fn loaded(&self) -> watch::Receiver<bool> {
        self.loaded.subscribe()
    }

    fn tell_if_quiet(&self) {
        let Some(cycle) = self.cycle.as_ref().filter(|_| self.draining.is_some()) else { return };
        let world = cycle.world();
        let is_quiet =
            world.live_count() == 0 && world.deadline().is_none() && !cycle.is_committing();
        self.quiet.send_if_modified(|quiet| std::mem::replace(quiet, is_quiet) != is_quiet);
    }

    /// Attempts that are live in what was loaded.
    pub fn live(&self) -> BTreeSet<AttemptId> {
        let world = self.cycle.iter().flat_map(|cycle| cycle.world().live());
        world.map(|ticket| ticket.attempt).collect()
    }

    pub fn run(mut self) -> Stopped {
        loop {
            let (room, patience) = (self.room(), self.patience());
            let mail = self.inbox.take(room, patience);
            self.backlog.reports.extend(mail.reports);
            self.backlog.answers.extend(mail.answers);
            self.backlog.cancels.extend(mail.cancels);
            self.backlog.requests.extend(mail.requests);
            for control in mail.control {
                if let Some(stopped) = self.control(control) {
                    return stopped;
                }
            }
            self.apply_backlog();
            self.refuse_while_away();
            self.turn();
            self.tell_if_quiet();
            let committing = self.cycle.as_ref().is_some_and(Cycle::is_committing);
            if self.stopping && !committing {
                return self.left();
            }
        }
    }

    /// How it ends when it was asked to. Without a world there is something that could not be
    /// recorded.
    fn left(&self) -> Stopped {
        match (&self.cycle, &self.trouble) {
            (None, Some(trouble)) => Stopped::Store(trouble.why.clone()),
            _ => Stopped::Asked,
        }
    }

    fn room(&self) -> usize {
        let Some(cycle) = &self.cycle else {
            return if self.is_away() { REQUESTS_AT_ONCE } else { 0 };
        };
        let ready = self.backlog.requests.is_empty() && cycle.readings() < READINGS_MAX;
        if ready { REQUESTS_AT_ONCE } else { 0 }
    }

    /// How long to wait for mail; for ever when only mail can change anything.
    fn patience(&mut self) -> Option<Duration> {
        if let Some(since) = self.unloaded {
            let left = HICCUP.saturating_sub(since.elapsed());
            return (self.config.store_patience.is_none() && !self.is_away()).then_some(left);
        }
        let now = self.clock.now();
        let cycle = self.cycle.as_ref().filter(|cycle| !cycle.is_committing())?;
        let wake = cycle.world().next_wake()?;
        Some(wake.since(now).to_std().min(LOOK_AT_LEAST))
    }

    fn control(&mut self, control: Control) -> Option<Stopped> {
        match control {
            Control::CommitDone(epoch, result) => return self.commit_done(epoch, result),
            Control::Loaded(Ok(mut loaded)) => {
                // They may have been read anew while it was made.
                loaded.world.configure(&self.config.limits);
                self.take_up(*loaded);
            }
            Control::Loaded(Err(error)) => return self.store_failed(&error.to_string()),
            Control::Found(reading, found) => self.found(*reading, *found),
            Control::Limits(limits) => {
                if let Some(cycle) = &mut self.cycle {
                    cycle.world_mut().configure(&limits);
                }
                self.config.limits = limits;
            }
            Control::Drain(drain) => {
                self.draining = self.draining.max(Some(drain));
                self.drain_world();
            }
            Control::GiveUp(why) => return Some(Stopped::Store(why)),
            Control::Stop => self.stopping = true,
        }
        None
    }

    fn commit_done(&mut self, epoch: u64, result: Result<(), CommitError>) -> Option<Stopped> {
        match result {
            Err(CommitError::Fenced) => Some(Stopped::Fenced),
            Err(error @ CommitError::Fsync { .. }) => Some(Stopped::Store(error.to_string())),
            // With the first batch that failed went its world, and those handed over behind it.
            _ if self.cycle.as_ref().is_none_or(|cycle| cycle.world().epoch() != epoch) => None,
            Err(error @ CommitError::Failed { .. }) => self.store_failed(&error.to_string()),
            Ok(()) => {
                self.trouble = None;
                let done = self.cycle.as_mut().map(Cycle::committed);
                self.finish(done.expect("looked at above"));
                None
            }
        }
    }

    /// The store has been away for so long that callers are told. One whose engine gives up by
    /// itself hears it then.
    fn is_away(&self) -> bool {
        let is_long = self.unloaded.is_some_and(|since| since.elapsed() >= HICCUP);
        is_long && self.config.store_patience.is_none()
    }

    /// Reports wait for the store; people do not.
    fn refuse_while_away(&mut self) {
        if !self.is_away() {
            return;
        }
        let cancels = self.backlog.cancels.drain(..);
        for request in cancels.chain(self.backlog.requests.drain(..)) {
            if let Some(ask) = request.ask {
                let _ = ask.send(Err(NotDone::StoreAway));
            }
        }
    }

    /// Drops what is not durable and loads again, later each time. Why there is no world is known
    /// before anybody can find out that there is none.
    fn store_failed(&mut self, error: &str) -> Option<Stopped> {
        let loaded_at = self.cycle.is_some().then_some(self.loaded_at);
        let trouble = Trouble::after(self.trouble.take(), loaded_at, Instant::now(), error);
        let trouble = self.trouble.insert(trouble);
        let (pause, lasted) = (trouble.pause, trouble.since.elapsed());
        let gives_up = self.config.store_patience.is_some_and(|patience| lasted >= patience);
        if gives_up || self.stopping {
            self.abandon();
            return Some(Stopped::Store(error.to_owned()));
        }
        self.config.observer.store_failed(error);
        self.abandon();
        self.load_after(pause);
        None
    }

    /// Throws the world away.
    fn abandon(&mut self) {
        self.loaded.send_replace(false);
        self.unloaded.get_or_insert_with(Instant::now);
        let Some(cycle) = self.cycle.take() else { return };
        self.over = cycle.world().over().clone();
        // Runs that were accepted in this life are carried on as well.
        if let Load::Only(ids) = &mut self.config.load {
            let asleep = cycle.world().asleep().map(|(_, asleep)| asleep.id);
            let active = cycle.world().runs().map(|run| run.head.id).chain(asleep);
            let new: Vec<_> = active.filter(|id| !ids.contains(id)).collect();
            ids.extend(new);
        }
        for ask in cycle.abandon() {
            let _ = ask.send(Err(NotDone::UnknownOutcome));
        }
    }

    fn load_after(&mut self, pause: Duration) {
        let (store, inbox) = (Arc::clone(&self.config.store), Arc::clone(&self.inbox));
        let making = self.config.making(self.clock.now());
        let load = async move {
            tokio::time::sleep(pause).await;
            let loaded = loading::load(&*store, making).await;
            inbox.control(Control::Loaded(loaded.map(Box::new)));
        };
        self.loading = JoinSet::new();
        self.loading.spawn_on(load, &self.runtime);
    }

    /// Reports first: they free permits. Then cancels, then everything else.
    fn apply_backlog(&mut self) {
        while let Some(cycle) = &mut self.cycle {
            if cycle.world().is_full() {
                return;
            }
            let request = if let Some(report) = self.backlog.reports.pop_front() {
                Request { input: Input::Report(report), ask: None }
            } else if let Some(answer) = self.backlog.answers.pop_front() {
                Request { input: Input::Answer(answer), ask: None }
            } else if let Some(request) = self.backlog.cancels.pop_front() {
                request
            } else if let Some(request) = self.backlog.requests.pop_front() {
                request
            } else {
                return;
            };
            let now = self.clock.now();
            let offered = cycle.offer(now, request.input, request.ask);
            self.read_first(offered);
        }
    }

    fn found(&mut self, reading: Reading<Ask>, found: Result<Prefetched, ReadError>) {
        let answer = |ask: Option<Ask>, why| {
            if let Some(ask) = ask {
                let _ = ask.send(Err(why));
            }
        };
        let Some(cycle) = &mut self.cycle else {
            return answer(reading.ask, NotDone::UnknownOutcome);
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                return answer(cycle.give_up(reading), NotDone::Unreadable(error.to_string()));
            }
        };
        let now = self.clock.now();
        let offered = cycle.offer_found(now, reading, found);
        self.read_first(offered);
    }

    /// Runs that slept until now, as many at once as the store is asked for.
    fn read_stirred(&mut self, now: Timestamp) {
        while let Some(cycle) = self.cycle.as_mut().filter(|it| it.readings() < READINGS_MAX) {
            let Some(reading) = cycle.stirred(now) else { return };
            self.read(reading);
        }
    }

    fn read_first(&mut self, offered: Offered<Ask>) {
        if let Offered::Needs(reading) = offered {
            self.read(reading);
        }
    }

    fn read(&mut self, reading: Box<Reading<Ask>>) {
        let (store, inbox) = (Arc::clone(&self.config.store), Arc::clone(&self.inbox));
        self.runtime.spawn(async move {
            let found = prefetch::find(&*store, &reading.needs).await;
            inbox.control(Control::Found(reading, Box::new(found)));
        });
    }

    fn turn(&mut self) {
        loop {
            let now = self.clock.now();
            let Some(cycle) = &mut self.cycle else { return };
            if self.stopping {
                return;
            }
            let step = cycle.step(now);
            self.read_stirred(now);
            let Some(cycle) = &mut self.cycle else { return };
            match step {
                Step::Rest => return,
                Step::Act(done) => self.finish(done),
                Step::Commit(changes) => {
                    // Carried out by whoever learns first that they may be: a wake of this
                    // thread in between is time that every step of a chain would wait.
                    let follows = cycle.take_orders();
                    self.config.load.also(&changes);
                    self.commit(changes, follows);
                }
            }
        }
    }

    fn commit(&mut self, changes: Vec<Change>, (effects, forget): (Vec<Effect>, Vec<Ticket>)) {
        let (inbox, orders) = (Arc::clone(&self.inbox), self.orders.clone());
        let epoch = self.fence.epoch;
        let done = move |result: Result<(), CommitError>| {
            if result.is_ok() && !(effects.is_empty() && forget.is_empty()) {
                // The hands are gone only when the engine is, and then nothing is carried out.
                let _ = orders.send(Orders { effects, forget, only: None });
            }
            inbox.control(Control::CommitDone(epoch, result));
        };
        self.config.store.commit(self.fence, changes, Box::new(done));
    }

    /// Durable: act, tell, answer.
    fn finish(&mut self, done: Done<Ask>) {
        if !done.events.is_empty() {
            self.config.observer.committed(&done.events);
        }
        if !done.effects.is_empty() || !done.forget.is_empty() {
            self.hand_over(Orders { effects: done.effects, forget: done.forget, only: None });
        }
        for (ask, answer) in done.answers {
            let _ = ask.send(answer.map_err(NotDone::Refused));
        }
    }

    fn hand_over(&self, orders: Orders) {
        self.orders.send(orders).expect("the hands outlive the world's thread");
    }
}
