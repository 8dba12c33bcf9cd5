//! An order at work, until its end is stored.

use super::filter::BulkBody;
use super::item::{Outcome, Pause};
use super::view::{BulkView, asked};
use crate::app::{App, now};
use crate::auth::who::Who;
use crate::problem::Problem;
use mainspring_core::ids::{BulkId, RunId};
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkEnd, BulkRow, BulkRuns};
use mainspring_core::kernel::record::Admin;
use mainspring_core::world::input::Input;
use mainspring_engine::NotDone;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Orders of one request under way: others have to get a word in.
const AT_ONCE: usize = 4;
/// The code of what does not apply to a run as it is.
const RUN_STATE: &str = "run_state";

/// Whether some of it may have been done already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Past {
    /// It was accepted just now.
    None,
    /// A former life of the server was at work on it.
    Former,
}

#[derive(Debug)]
pub struct Bulk {
    pub id: BulkId,
    pub who: Who,
    pub body: BulkBody,
    pub past: Past,
    progress: watch::Sender<BulkView>,
}

impl Bulk {
    pub fn of(row: &BulkRow, past: Past) -> Result<Self, Problem> {
        let progress = watch::Sender::new(BulkView::of(row)?);
        Ok(Self { id: row.id, who: Who::former(&row.by), body: asked(row)?, past, progress })
    }

    /// For whoever looks on.
    pub fn watch(&self) -> watch::Receiver<BulkView> {
        self.progress.subscribe()
    }

    fn note(&self, run: RunId, outcome: Outcome) {
        self.progress.send_modify(|progress| progress.tally.note(run, outcome));
    }

    /// A few at a time, until none is left or the server ends; then their children, one after the
    /// other. What is left is for the next life of the server.
    pub async fn work(self: Arc<Self>, app: App, meant: BulkRuns) {
        let queue = Arc::new(Mutex::new((0, Arc::clone(&meant.runs))));
        let hands: Vec<_> = (0..AT_ONCE)
            .map(|_| tokio::spawn(hand(Arc::clone(&self), app.clone(), Arc::clone(&queue))))
            .collect();
        let mut is_whole = true;
        for hand in hands {
            is_whole &= hand.await.unwrap_or(false);
        }
        for run in meant.below.iter().copied() {
            if !is_whole {
                return;
            }
            let outcome = match self.carry_out(&app, run).await {
                // It was done with its parent.
                Outcome::Refused(problem) if problem.code == RUN_STATE => Outcome::Done,
                outcome => outcome,
            };
            is_whole &= !matches!(outcome, Outcome::Left);
            self.note(run, outcome);
        }
        if is_whole {
            self.end(&app).await;
        }
    }

    /// Nobody hears that it is over before that is durable.
    async fn end(&self, app: &App) {
        let mut over = self.progress.borrow().clone();
        let at = now();
        over.finished_at = Some(at);
        let result = serde_json::to_value(&over.tally).expect("plain data serializes");
        let end = BulkEnd { at, result: Json::from_value(&result) };
        let mut pause = Pause::default();
        loop {
            let input = Input::Admin(Admin::EndBulk(self.id, end.clone()));
            match app.engine.submit(input).await {
                Ok(_) => break,
                Err(NotDone::Stopped) => return,
                // Said twice it is the same.
                Err(_) => {}
            }
            if pause.wait(app).await.is_break() {
                return;
            }
        }
        self.progress.send_replace(over);
        app.bulks.remove(self.id);
    }
}

/// Those whose turn is still to come.
type Queue = Mutex<(usize, Arc<[RunId]>)>;

fn next(queue: &Queue) -> Option<RunId> {
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let (at, runs) = &mut *queue;
    let next = runs.get(*at).copied();
    *at += 1;
    next
}

/// Takes one run after the other. False when it had to leave some.
async fn hand(bulk: Arc<Bulk>, app: App, queue: Arc<Queue>) -> bool {
    while let Some(run) = next(&queue) {
        let outcome = bulk.carry_out(&app, run).await;
        let is_left = matches!(outcome, Outcome::Left);
        bulk.note(run, outcome);
        if is_left {
            return false;
        }
    }
    true
}
