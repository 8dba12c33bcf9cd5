//! Carries out effects, in order, on a thread of its own: rendering what an executor is told
//! costs as much as its payload, and the world waits for no one.

use crate::inbox::Inbox;
use crate::shelf::Shelf;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::launch::StartAttempt;
use mainspring_core::work::{Ended, ExecutorKind, Life, Outcome, Question, Report, ReportKind};
use mainspring_core::world::batch::Effect;
use mainspring_exec::{Executor, Reports};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    pub inbox: Arc<Inbox>,
    pub shelf: Shelf,
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
                self.executors.values().for_each(|executor| executor.settle(ticket));
                self.shelf.settled(ticket.attempt);
            }
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Start(start) => self.start(&start),
            Effect::Stop(kind, stop) => self.executor(kind).stop(stop),
            Effect::Reattach(kind, question) => {
                let former = self.former.contains(&question.ticket.attempt);
                let life = if former { Life::Former } else { Life::This };
                self.executor(kind).reattach(question, life);
            }
            Effect::Settle(kind, ticket) => {
                self.former.remove(&ticket.attempt);
                self.executor(kind).settle(ticket);
                self.shelf.settled(ticket.attempt);
            }
            // For whoever listens to events; nothing to carry out.
            Effect::RunEnded(_) => {}
        }
    }

    fn executor(&self, kind: ExecutorKind) -> &Arc<dyn Executor> {
        self.executors.get(&kind).expect("every kind of work has its executor")
    }

    fn start(&self, start: &StartAttempt) {
        // What people write goes into it: one task that cannot be rendered must not keep all
        // others from starting.
        let rendered = catch_unwind(AssertUnwindSafe(|| start.render())).unwrap_or_else(|_| {
            let what = "its work could not be put together: a bug in Mainspring, see its log";
            Err(TaskError::new(ErrorClass::Logic, what.to_owned()))
        });
        match rendered {
            Ok(launch) => self.executor(launch.work.executor()).start(launch),
            Err(error) => self.inbox.report(Report {
                ticket: start.ticket,
                what: ReportKind::Ended(Ended {
                    outcome: Outcome::Failed(error),
                    started: false,
                    log: None,
                }),
            }),
        }
    }

    /// After a reload: what the store does not know of must not go on. It is asked after as
    /// well, so that one that has ended already is reported once more and forgotten.
    fn stop_strays(&self, known: &BTreeSet<AttemptId>) {
        use mainspring_core::kernel::row::Stopping;
        use mainspring_core::work::Stop;
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
