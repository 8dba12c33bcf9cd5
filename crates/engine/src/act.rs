//! Carries out effects, in order, on a thread of its own: rendering what an executor is told
//! costs as much as its payload, and the world waits for no one.

use crate::desk::Desk;
use crate::events::Observer;
use crate::shelf::Shelf;
use crate::starts::Starts;
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::work::{ExecutorKind, Launch, Life, Question};
use mainspring_core::world::batch::Effect;
use mainspring_exec::Executor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, mpsc};

/// Who carries out which kind of work.
pub type Executors = BTreeMap<ExecutorKind, Arc<dyn Executor>>;

/// By who is to carry them out.
pub(crate) type Launches = BTreeMap<ExecutorKind, Vec<Launch>>;

/// So many are handed to an executor together. It begins with them while the next are rendered.
const LAUNCHES_AT_ONCE: usize = 64;

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
    /// Rendered, and not handed to their executors yet.
    pub launches: Launches,
    pub shelf: Shelf,
    pub starts: Arc<Starts>,
    pub desk: Desk,
    pub observer: Arc<dyn Observer>,
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
            self.launch_all();
            for ticket in orders.forget {
                self.desk.take_back(ticket.attempt);
                self.executors.values().for_each(|executor| executor.settle(ticket));
                self.shelf.settled(ticket.attempt);
            }
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Start(start) => match self.starts.render_at_once(&start) {
                None => self.desk.start(start),
                Some(rendered) => {
                    let launch = self.starts.announce(&start, rendered);
                    launch.into_iter().for_each(|launch| self.launch(*launch));
                }
            },
            Effect::Evaluate(question) => self.desk.ask(question),
            Effect::Stop(_, stop) if self.desk.take_back(stop.ticket.attempt) => {
                self.starts.never_began(stop.ticket);
            }
            Effect::Stop(kind, stop) => {
                self.launch_all();
                self.shelf.stop(&stop);
                self.executor(kind).stop(stop);
            }
            Effect::Reattach(kind, question) => {
                self.launch_all();
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
            Effect::KillUnconfirmed(what) => self.observer.kill_unconfirmed(&what),
            Effect::RunEnded(run) => {
                self.desk.run_ended(run);
                self.starts.keeping.run_ended(run);
            }
        }
    }

    fn launch(&mut self, launch: Launch) {
        let kind = launch.work.executor();
        let launches = self.launches.entry(kind).or_default();
        launches.push(launch);
        if launches.len() >= LAUNCHES_AT_ONCE {
            let launches = std::mem::take(launches);
            self.executor(kind).start_all(launches);
        }
    }

    /// Calls about one attempt take effect in their order: before anything else is said of one it
    /// is started.
    fn launch_all(&mut self) {
        for (kind, launches) in std::mem::take(&mut self.launches) {
            self.executor(kind).start_all(launches);
        }
    }

    fn executor(&self, kind: ExecutorKind) -> &Arc<dyn Executor> {
        self.starts.executor(kind)
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
