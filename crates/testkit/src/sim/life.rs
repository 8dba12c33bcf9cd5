//! One life of the process: the cycle, what it has ordered and not yet done, what it reads.

use crate::sim::executors::Executors;
use crate::sim::store::FaultyStore;
use mainspring_core::ids::{AttemptId, RunId, SchedulerId, Ticket};
use mainspring_core::spec::definition::Definition;
use mainspring_core::time::Timestamp;
use mainspring_core::work::{Life as Which, Question};
use mainspring_core::world::batch::Effect;
use mainspring_core::world::input::{Need, Prefetched};
use mainspring_core::world::snapshot::RunSnapshot;
use mainspring_core::world::{World, WorldConfig};
use mainspring_engine::cycle::{Cycle, Done, Offered, Reading, Step};
use mainspring_store::{Fence, Model};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Definitions by workflow name: a simulated store keeps no text.
pub type Definitions = BTreeMap<Arc<str>, Arc<Definition>>;

/// Whoever asked, by number.
pub type Ask = u64;

pub enum Order {
    Effect(Effect),
    Forget(Ticket),
    OnlyThese(BTreeSet<AttemptId>),
}

pub struct Life {
    pub cycle: Cycle<Ask>,
    pub fence: Fence,
    pub orders: VecDeque<Order>,
    pub readings: Vec<Reading<Ask>>,
    /// Attempts that a former life of the process dispatched.
    former: BTreeSet<AttemptId>,
}

pub struct Beginning<'a> {
    pub scheduler: SchedulerId,
    pub limits: &'a [(String, u32)],
    pub seed: u64,
    pub now: Timestamp,
}

impl Life {
    /// What start, restart and reload have in common.
    pub fn begin(
        beginning: &Beginning<'_>,
        model: &mut Model,
        definitions: &Definitions,
        former: Option<BTreeSet<AttemptId>>,
    ) -> Self {
        let registration = model.register(beginning.scheduler);
        let mut world = World::new(&WorldConfig {
            scheduler: beginning.scheduler,
            ordinal: registration.ordinal,
            epoch: registration.fence.epoch,
            next_run: registration.next_run,
            next_stamp: registration.next_stamp,
            seed: beginning.seed,
            limits: beginning.limits.to_vec(),
        });
        for (_, id) in model.unfinished(beginning.scheduler) {
            let snapshot = snapshot(model, definitions, id).expect("listed runs exist");
            world.load(beginning.now, snapshot);
        }
        let live: BTreeSet<AttemptId> = world.live().map(|ticket| ticket.attempt).collect();
        Self {
            cycle: Cycle::new(world),
            fence: registration.fence,
            orders: VecDeque::from([Order::OnlyThese(live.clone())]),
            readings: Vec::new(),
            former: former.unwrap_or(live),
        }
    }

    /// What outlives the world but not the process.
    pub fn abandon(self) -> (Vec<Ask>, BTreeSet<AttemptId>, VecDeque<Order>) {
        (self.cycle.abandon(), self.former, self.orders)
    }

    pub fn offered(&mut self, offered: Offered<Ask>) {
        if let Offered::Needs(reading) = offered {
            self.readings.push(reading);
        }
    }

    /// Ends one reading, in any order.
    pub fn read(&mut self, pick: usize, now: Timestamp, model: &Model, known: &Definitions) {
        let reading = self.readings.swap_remove(pick);
        let mut found = Prefetched::default();
        for need in &reading.needs {
            if let Need::Run(id) = need {
                found.run = snapshot(model, known, *id);
            }
        }
        let offered = self.cycle.offer_found(now, reading, found);
        self.offered(offered);
    }

    /// Turns the cycle once.
    pub fn turn(&mut self, now: Timestamp, store: &mut FaultyStore) -> Option<Done<Ask>> {
        match self.cycle.step(now) {
            Step::Rest => None,
            Step::Act(done) => Some(done),
            Step::Commit(changes) => {
                store.begin(self.fence, changes);
                None
            }
        }
    }

    /// Carries out the next order. False when there is none.
    pub fn work(&mut self, executors: &mut Executors) -> Option<Order> {
        let order = self.orders.pop_front()?;
        match &order {
            Order::Effect(Effect::Start(start)) => executors.start(start.ticket),
            Order::Effect(Effect::Stop(_, stop)) => executors.stop(stop.ticket),
            Order::Effect(Effect::Reattach(_, question)) => {
                let former = self.former.contains(&question.ticket.attempt);
                executors.reattach(*question, if former { Which::Former } else { Which::This });
            }
            Order::Effect(Effect::Settle(_, ticket)) | Order::Forget(ticket) => {
                executors.settle(*ticket);
            }
            Order::Effect(Effect::RunEnded(_)) => {}
            Order::OnlyThese(known) => {
                for ticket in executors.held() {
                    if !known.contains(&ticket.attempt) {
                        executors.stop(ticket);
                        executors.reattach(Question { ticket, number: 0 }, Which::This);
                    }
                }
            }
        }
        Some(order)
    }
}

fn snapshot(model: &Model, definitions: &Definitions, id: RunId) -> Option<RunSnapshot> {
    let stored = model.run(id)?;
    Some(RunSnapshot {
        definition: Arc::clone(definitions.get(&stored.head.workflow)?),
        head: stored.head,
        progress: stored.progress,
        tasks: stored.tasks,
    })
}
