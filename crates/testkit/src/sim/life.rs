//! One life of a world: the cycle, and what it has ordered and not yet done.

use crate::sim::desk::Desk;
use crate::sim::executors::Executors;
use crate::sim::library::Library;
use crate::sim::store::FaultyStore;
use mainspring_core::ids::{AttemptId, RunId, SchedulerId, Ticket};
use mainspring_core::kernel::limit::{LimitSetting, Source};
use mainspring_core::launch::StartAttempt;
use mainspring_core::time::Timestamp;
use mainspring_core::work::{Ended, Life as Which, Outcome, Question, ReportKind};
use mainspring_core::world::batch::Effect;
use mainspring_core::world::input::{Need, Prefetched};
use mainspring_core::world::snapshot::RunSnapshot;
use mainspring_core::world::{World, WorldConfig};
use mainspring_engine::cycle::{Cycle, Done, Pace, Step};
use mainspring_store::{Fence, Model};
use std::collections::{BTreeSet, VecDeque};

/// Whoever asked, by number.
pub type Ask = u64;

#[derive(Debug)]
pub enum Order {
    Effect(Effect),
    Forget(Ticket),
    OnlyThese(BTreeSet<AttemptId>),
}

pub struct Life {
    pub cycle: Cycle<Ask>,
    pub fence: Fence,
    pub orders: VecDeque<Order>,
    /// Attempts that a former life of the process dispatched.
    former: BTreeSet<AttemptId>,
}

pub struct Beginning<'a> {
    pub scheduler: SchedulerId,
    pub limits: &'a [LimitSetting],
    pub seed: u64,
    pub now: Timestamp,
}

/// What a turn of the cycle came to.
pub enum Turned {
    /// Nothing is left to be done before the next input or timer.
    Resting,
    /// It waits for its commit, or a start waits for one to ride on.
    Waiting,
    Committing,
    Acting(Done<Ask>),
}

impl Life {
    /// What start, restart and reload have in common.
    pub fn begin(
        beginning: &Beginning<'_>,
        model: &mut Model,
        library: &Library,
        former: Option<BTreeSet<AttemptId>>,
    ) -> Self {
        let registration = model.register(beginning.scheduler);
        let stored = model.limits();
        let set = stored.set.into_iter().map(|row| LimitSetting {
            name: row.name,
            bound: row.bound,
            source: Source::Api,
        });
        let mut world = World::new(&WorldConfig {
            scheduler: beginning.scheduler,
            ordinal: registration.ordinal,
            epoch: registration.fence.epoch,
            next_run: registration.next_run,
            next_stamp: registration.next_stamp,
            seed: beginning.seed,
            limits: beginning.limits.iter().cloned().chain(set).collect(),
            ledgers: stored.ledgers,
            drowsy_max: match beginning.seed / 3 % 4 {
                0 => usize::MAX,
                few => few as usize - 1,
            },
            now: beginning.now,
        });
        let mut unfinished = model.unfinished(beginning.scheduler);
        // Parents come before their children.
        unfinished.sort_by_key(|(key, _)| *key);
        for (_, id) in unfinished {
            let snapshot = snapshot(model, library, id).expect("listed runs exist");
            let workflow = library.known(model, &snapshot.head.workflow);
            world.know(workflow.expect("a run's workflow is stored before it"));
            world.load(beginning.now, snapshot);
        }
        let live: BTreeSet<AttemptId> = world.live().map(|ticket| ticket.attempt).collect();
        Self {
            // Whatever is handed over behind another batch must be right however small it is.
            cycle: Cycle::new(world)
                .at_pace(Pace { ahead: 1 + beginning.seed as usize % 3, least: 1 }),
            fence: registration.fence,
            orders: VecDeque::from([Order::OnlyThese(live.clone())]),
            former: former.unwrap_or(live),
        }
    }

    /// What outlives the world but not the process.
    pub fn abandon(self) -> (Vec<Ask>, BTreeSet<AttemptId>, VecDeque<Order>) {
        (self.cycle.abandon(), self.former, self.orders)
    }

    /// Turns the cycle once.
    pub fn turn(&mut self, now: Timestamp, store: &mut FaultyStore) -> Turned {
        match self.cycle.step(now) {
            Step::Rest if self.cycle.is_committing() => Turned::Waiting,
            Step::Rest if self.cycle.world().deadline().is_some() => Turned::Waiting,
            Step::Rest => Turned::Resting,
            Step::Act(done) => Turned::Acting(done),
            Step::Commit(changes) => {
                store.begin(self.fence, changes);
                Turned::Committing
            }
        }
    }

    /// Carries out an order. A start that needs nothing but what is at hand is given back: it is
    /// made now.
    pub fn work(
        &self,
        order: Order,
        executors: &mut Executors,
        desk: &mut Desk,
    ) -> Option<StartAttempt> {
        match order {
            Order::Effect(Effect::Start(start)) if !Desk::is_slow(&start) => return Some(start),
            Order::Effect(Effect::Start(start)) => desk.start(start),
            Order::Effect(Effect::Evaluate(question)) => desk.ask(question),
            Order::Effect(Effect::Stop(_, stop)) if desk.take_back(stop.ticket.attempt) => {
                executors.report(stop.ticket, ReportKind::Ended(never_began()));
            }
            Order::Effect(Effect::Stop(_, stop)) => executors.stop(stop.ticket),
            Order::Effect(Effect::Reattach(_, question)) => {
                desk.take_back(question.ticket.attempt);
                let former = self.former.contains(&question.ticket.attempt);
                executors.reattach(question, if former { Which::Former } else { Which::This });
            }
            Order::Effect(Effect::Settle(_, ticket)) | Order::Forget(ticket) => {
                desk.take_back(ticket.attempt);
                executors.settle(ticket);
            }
            Order::Effect(Effect::KillUnconfirmed(_) | Effect::RunEnded(_)) => {}
            Order::OnlyThese(known) => {
                desk.keep_only(&known);
                for ticket in executors.held() {
                    if !known.contains(&ticket.attempt) {
                        executors.stop(ticket);
                        executors.reattach(Question { ticket, number: 0 }, Which::This);
                    }
                }
            }
        }
        None
    }
}

/// Stopped before any executor had it.
fn never_began() -> Ended {
    Ended::unstarted(Outcome::Stopped)
}

/// Reads what an input needs, as it is now.
pub fn find(model: &Model, library: &Library, needs: &[Need]) -> Prefetched {
    let mut found = Prefetched::default();
    for need in needs {
        match need {
            Need::Run(id) => {
                found.run = snapshot(model, library, *id);
                let name = found.run.as_ref().map(|run| &run.head.workflow);
                found.workflow = name.and_then(|name| library.known(model, name));
            }
            Need::Asleep(ids) => {
                found.asleep = ids.iter().filter_map(|id| snapshot(model, library, *id)).collect();
            }
            Need::Workflow(name) => found.workflow = library.known(model, name),
            Need::Version(workflow, number) => {
                found.version = library.version(model, workflow, Some(*number));
            }
        }
    }
    found
}

fn snapshot(model: &Model, library: &Library, id: RunId) -> Option<RunSnapshot> {
    let stored = model.run(id)?;
    Some(RunSnapshot {
        definition: library.of(model, &stored.head),
        signals: model.signals(stored.head.key),
        head: stored.head,
        progress: stored.progress,
        tasks: stored.tasks,
    })
}
