//! Follows a run to its end, or until it has to be left.

use super::kin::Kin;
use super::life::{Life, News};
use crate::out;
use crate::progress::{Board, Reporter, Standing as _};
use crate::signals::{Asked, Signals};
use mainspring_core::ids::{RunId, RunKey};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Unconfirmed;
use mainspring_core::world::input::{Command, Input, Order, Verb};
use mainspring_engine::{Engine, NotDone, Stopped};
use mainspring_store::Store;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

const TICK: Duration = Duration::from_millis(100);
/// Tasks named at once in a message.
const NAMED_MAX: usize = 10;
/// Batches of events taken at once.
const NEWS_AT_ONCE: usize = 64;

/// Why following ended.
#[derive(Debug)]
pub enum Ending {
    /// It has one of the three final states.
    Final(RunStatus),
    /// It is to be left at once.
    Left,
    StoreFailed(String),
}

#[derive(Debug)]
pub struct Follow {
    pub run: RunId,
    pub board: Board,
    /// Runs that it began, and those that they did.
    kin: Kin,
    pub reporter: Reporter,
    asked_to_end: u32,
    /// What was said about the store already.
    troubles: BTreeSet<String>,
    /// Events may have been missed: look at what is stored.
    look: bool,
}

impl Follow {
    /// `asked` is what was asked before there was a run to cancel.
    pub fn new((run, key): (RunId, RunKey), board: Board, asked: Option<Asked>) -> Self {
        let (troubles, reporter) = (BTreeSet::new(), Reporter::new());
        let asked_to_end = u32::from(asked.is_some());
        let kin = Kin::of(run, key);
        Self { run, board, kin, reporter, asked_to_end, troubles, look: true }
    }

    pub async fn until_over(&mut self, life: &mut Life, signals: &mut Signals) -> Ending {
        let Life { engine, news, ground, .. } = life;
        let engine: &Engine = engine;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut cancel: Pin<Box<dyn Future<Output = ()>>> = match self.asked_to_end {
            0 => Box::pin(std::future::pending()),
            _ => {
                self.say_cancelling();
                Box::pin(cancel_run(engine, self.run))
            }
        };
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                _ = news.recv_many(&mut batch, NEWS_AT_ONCE) => {
                    self.take(&mut batch, &*ground.store).await;
                }
                asked = signals.next() => {
                    if self.is_to_leave(asked) {
                        self.leave();
                        return Ending::Left;
                    }
                    cancel = Box::pin(cancel_run(engine, self.run));
                }
                () = &mut cancel => cancel = Box::pin(std::future::pending()),
                _ = tick.tick() => {
                    if self.look && let Ok(Some(stored)) = ground.store.run(self.run).await {
                        self.look = false;
                        let now = mainspring_exec::now();
                        for step in self.board.catch_up(stored) {
                            self.reporter.step(&step, now);
                        }
                    }
                    self.kin.tick(&self.board, &mut self.reporter);
                }
                stopped = engine.stopped() => {
                    // What was committed before is waiting to be told.
                    while let Ok(one) = news.try_recv() {
                        batch.push(one);
                    }
                    self.take(&mut batch, &*ground.store).await;
                    self.reporter.finish();
                    return match self.board.status() {
                        Some(status) if status.is_final() => Ending::Final(status),
                        _ => Ending::StoreFailed(why(stopped)),
                    };
                }
            }
            if let Some(status) = self.board.status().filter(|status| status.is_final()) {
                self.reporter.finish();
                return Ending::Final(status);
            }
        }
    }

    async fn take(&mut self, batch: &mut Vec<News>, store: &dyn Store) {
        let now = mainspring_exec::now();
        for news in batch.drain(..) {
            match news {
                News::Committed(events) => {
                    for event in events {
                        for step in self.kin.apply(&mut self.board, event, store).await {
                            self.reporter.step(&step, now);
                        }
                    }
                }
                News::StoreFailed(error) => self.store_failed(&error),
                News::KillUnconfirmed(what) => self.say_unconfirmed(&what),
            }
        }
        self.reporter.flush();
    }

    fn store_failed(&mut self, error: &str) {
        self.look = true;
        if self.troubles.insert(error.to_owned()) {
            let head = out::yellow("the store fails");
            self.reporter.line(&format!("{head}, trying again: {error}"));
        }
    }

    fn say_unconfirmed(&mut self, what: &Unconfirmed) {
        let Unconfirmed { run, task, .. } = what;
        let head = out::yellow("not known to be gone");
        self.reporter.line(&format!(
            "{head}: task {task} of {run} was told to end 5m ago; \
             `mainspring cancel {run} --force` gives it up as abandoned"
        ));
    }

    fn is_to_leave(&mut self, asked: Asked) -> bool {
        self.asked_to_end += 1;
        if asked == Asked::Leave || self.asked_to_end > 1 {
            return true;
        }
        self.say_cancelling();
        false
    }

    fn say_cancelling(&mut self) {
        let family = self.kin.family(&self.board);
        let live = family.live();
        let names: Vec<&str> = live.iter().map(|task| task.name).take(NAMED_MAX).collect();
        let more = match live.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let waits = match names.as_slice() {
            [] => "nothing is running".to_owned(),
            names => format!("waiting for {}{more}; again to kill at once", names.join(", ")),
        };
        let head = out::yellow("cancelling");
        self.reporter.line(&format!("{head} the run: {waits}"));
        self.reporter.flush();
    }

    fn leave(&mut self) {
        self.reporter.line(&format!("{} everything that runs", out::yellow("killing")));
        self.reporter.finish();
    }
}

fn why(stopped: Stopped) -> String {
    match stopped {
        Stopped::Asked => "the engine was stopped".to_owned(),
        Stopped::Fenced => "another process took over this data folder".to_owned(),
        Stopped::Store(error) => error,
    }
}

/// Until it is durable, or there is nothing left to cancel.
async fn cancel_run(engine: &Engine, run: RunId) {
    loop {
        let command = Command { run, order: Order::Run(Verb::Cancel), by: "cli".to_owned() };
        match engine.submit(Input::Command(command)).await {
            Ok(_) | Err(NotDone::Refused(_) | NotDone::Stopped) => return,
            Err(
                NotDone::Busy
                | NotDone::StoreAway
                | NotDone::UnknownOutcome
                | NotDone::Unreadable(_),
            ) => {
                tokio::time::sleep(TICK).await;
            }
        }
    }
}
