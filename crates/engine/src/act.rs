//! Carries out effects, in order, on a thread of its own: rendering what an executor is told
//! costs as much as its payload, and the world waits for no one.

use crate::desk::Desk;
use crate::shelf::Shelf;
use crate::starts::Starts;
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::work::{ExecutorKind, Life, Question};
use mainspring_core::world::batch::Effect;
use mainspring_exec::Executor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, mpsc};

/// Who carries out which kind of work.
pub type Executors = BTreeMap<ExecutorKind, Arc<dyn Executor>>;

/// One commit's worth of work.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub effects: Vec<Effect>,
    pub forget: Vec<Ticket>,
    /// Whatever executors hold beyond these is to be stopped.
    pub only: Option<BTreeSet<AttemptId>>,
}

pub(crate) struct Hands {
    pub executors: Executors,
    pub shelf: Shelf,
    pub starts: Arc<Starts>,
    pub desk: Desk,
    /// Attempts that a former life of this server dispatched.
    pub former: BTreeSet<AttemptId>,
}

impl Hands {
    pub fn work(mut self, orders: &mpsc::Receiver<Orders>) {
        while let Ok(orders) = orders.recv() {
            if let Some(known) = &orders.only {
                self.stop_strays(known);
            }
            for effect in orders.effects {
                self.carry_out(effect);
            }
            for ticket in orders.forget {
                self.desk.take_back(ticket.attempt);
                self.executors.values().for_each(|executor| executor.settle(ticket));
                self.shelf.settled(ticket.attempt);
            }
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Start(start) if Starts::is_slow(&start) => self.desk.start(start),
            Effect::Start(start) => {
                let rendered = self.starts.render(&start);
                self.starts.carry_out(&start, rendered);
            }
            Effect::Evaluate(question) => self.desk.ask(question),
            Effect::Stop(_, stop) if self.desk.take_back(stop.ticket.attempt) => {
                self.starts.never_began(stop.ticket);
            }
            Effect::Stop(kind, stop) => {
                self.shelf.stop(&stop);
                self.executor(kind).stop(stop);
            }
            Effect::Reattach(kind, question) => {
                self.desk.take_back(question.ticket.attempt);
                let former = self.former.contains(&question.ticket.attempt);
                let life = if former { Life::Former } else { Life::This };
                self.executor(kind).reattach(question, life);
            }
            Effect::Settle(kind, ticket) => {
                self.former.remove(&ticket.attempt);
                self.desk.take_back(ticket.attempt);
                self.executor(kind).settle(ticket);
                self.shelf.settled(ticket.attempt);
            }
            Effect::RunEnded(run) => {
                self.desk.run_ended(run);
                self.starts.keeping.run_ended(run);
            }
        }
    }

    fn executor(&self, kind: ExecutorKind) -> &Arc<dyn Executor> {
        self.executors.get(&kind).expect("every kind of work has its executor")
    }

    /// After a reload: what the store does not know of must not go on. It is asked after as
    /// well, so that one that has ended already is reported once more and forgotten.
    fn stop_strays(&self, known: &BTreeSet<AttemptId>) {
        use mainspring_core::kernel::row::Stopping;
        use mainspring_core::work::Stop;
        self.desk.keep_only(known);
        for executor in self.executors.values() {
            for ticket in executor.held() {
                if !known.contains(&ticket.attempt) {
                    executor.stop(Stop { ticket, why: Stopping::Cancel });
                    // Nobody waits for this answer, so its number does not matter.
                    executor.reattach(Question { ticket, number: 0 }, Life::This);
                }
            }
        }
    }
}
