//! A request at work, and all that are remembered.

use super::filter::{Action, BulkBody, Meant};
use super::item::Outcome;
use crate::app::{App, now};
use crate::auth::who::Who;
use crate::problem::{Code, Problem};
use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use utoipa::ToSchema;

/// Orders of one request under way: others have to get a word in.
const AT_ONCE: usize = 4;
/// Requests at work.
const AT_WORK_MAX: usize = 8;
/// Requests that are remembered, those that are over included.
const REMEMBERED_MAX: usize = 100;
/// The code of what does not apply to a run as it is.
const RUN_STATE: &str = "run_state";
/// Problems that are told one by one; the rest are counted.
const TOLD_MAX: usize = 20;

/// How far a request on many runs has come.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BulkView {
    pub id: String,
    pub action: Action,
    /// Runs that were meant when it was asked for.
    pub matched: u64,
    pub done: u64,
    /// Runs that it did not apply to any more.
    pub refused: u64,
    pub failed: u64,
    /// How often each code was the answer.
    pub reasons: BTreeMap<&'static str, u64>,
    /// The first that were not done.
    pub problems: Vec<BulkProblem>,
    pub started_at: Timestamp,
    /// Absent while it is at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

/// Why something was not done.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BulkProblem {
    pub run: RunId,
    pub code: &'static str,
    pub detail: String,
}

/// The caller's key, and what was asked under it.
pub type BulkKey = (Arc<str>, Arc<str>, [u8; 32]);

#[derive(Debug)]
pub struct Bulk {
    pub id: String,
    pub who: Who,
    pub body: BulkBody,
    key: Option<BulkKey>,
    progress: watch::Sender<BulkView>,
}

impl Bulk {
    pub fn view(&self) -> BulkView {
        self.progress.borrow().clone()
    }

    /// For whoever looks on.
    pub fn watch(&self) -> watch::Receiver<BulkView> {
        self.progress.subscribe()
    }

    fn is_over(&self) -> bool {
        self.progress.borrow().finished_at.is_some()
    }

    fn note(&self, run: RunId, outcome: Outcome) {
        self.progress.send_modify(|progress| progress.note(run, outcome));
    }

    /// A few at a time, until none is left or the server ends; then their children, one after the
    /// other.
    async fn work(self: Arc<Self>, app: App, meant: Meant) {
        let queue = Arc::new(Mutex::new(meant.ids.into_iter()));
        let hands: Vec<_> = (0..AT_ONCE)
            .map(|_| tokio::spawn(hand(Arc::clone(&self), app.clone(), Arc::clone(&queue))))
            .collect();
        let mut is_whole = true;
        for hand in hands {
            is_whole &= hand.await.unwrap_or(false);
        }
        for run in meant.below {
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
            self.progress.send_modify(|progress| progress.finished_at = Some(now()));
        }
    }
}

impl BulkView {
    fn note(&mut self, run: RunId, outcome: Outcome) {
        let problem = match outcome {
            Outcome::Done => {
                self.done += 1;
                return;
            }
            Outcome::Left => return,
            Outcome::Refused(problem) => {
                self.refused += 1;
                problem
            }
            Outcome::Failed(problem) => {
                self.failed += 1;
                problem
            }
        };
        *self.reasons.entry(problem.code).or_default() += 1;
        if self.problems.len() < TOLD_MAX {
            let Problem { code, detail, .. } = problem;
            self.problems.push(BulkProblem { run, code, detail });
        }
    }
}

/// Takes one run after the other. False when it had to leave some.
async fn hand(bulk: Arc<Bulk>, app: App, queue: Arc<Mutex<std::vec::IntoIter<RunId>>>) -> bool {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(run) = next else { return true };
        let outcome = bulk.carry_out(&app, run).await;
        let is_left = matches!(outcome, Outcome::Left);
        bulk.note(run, outcome);
        if is_left {
            return false;
        }
    }
}

/// Requests by id, oldest first.
#[derive(Debug, Default)]
pub struct Bulks(Mutex<BTreeMap<String, Arc<Bulk>>>);

impl Bulks {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Bulk>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn get(&self, id: &str) -> Result<Arc<Bulk>, Problem> {
        let missing = || {
            let detail = "it is remembered while this server lives, and not for ever";
            Problem::new(Code::BulkNotFound, detail)
        };
        self.all().get(id).cloned().ok_or_else(missing)
    }

    /// The same request under the same key.
    pub fn known(&self, key: &BulkKey) -> Result<Option<Arc<Bulk>>, Problem> {
        Self::among(&self.all(), key)
    }

    fn among(
        all: &BTreeMap<String, Arc<Bulk>>,
        (principal, name, body): &BulkKey,
    ) -> Result<Option<Arc<Bulk>>, Problem> {
        let mut keyed = all.values().filter_map(|bulk| Some((bulk, bulk.key.as_ref()?)));
        let found = keyed.find(|(_, (by, known, _))| by == principal && known == name);
        match found {
            Some((_, (.., known))) if known != body => {
                let detail = "each request that is to be carried out needs a key of its own";
                Err(Problem::new(Code::KeyReused, detail))
            }
            found => Ok(found.map(|(bulk, _)| Arc::clone(bulk))),
        }
    }

    /// Adds it, unless the same request under the same key was added while this one was looking
    /// for its runs: then that one is given back.
    fn add(&self, bulk: &Arc<Bulk>) -> Result<Option<Arc<Bulk>>, Problem> {
        let mut all = self.all();
        let first = bulk.key.as_ref().map(|key| Self::among(&all, key)).transpose()?.flatten();
        if first.is_some() {
            return Ok(first);
        }
        if all.values().filter(|bulk| !bulk.is_over()).count() >= AT_WORK_MAX {
            let detail = format!("{AT_WORK_MAX} such requests are at work: wait for one to end");
            return Err(Problem::new(Code::Busy, detail));
        }
        // Ids begin with their time.
        let oldest = all.iter().find(|(_, bulk)| bulk.is_over()).map(|(id, _)| id.clone());
        if let Some(oldest) = oldest.filter(|_| all.len() >= REMEMBERED_MAX) {
            all.remove(&oldest);
        }
        all.insert(bulk.id.clone(), Arc::clone(bulk));
        Ok(None)
    }
}

impl App {
    /// Sets to work on these runs.
    pub fn begin_bulk(
        &self,
        (who, key): (Who, Option<BulkKey>),
        body: BulkBody,
        meant: Meant,
    ) -> Result<Arc<Bulk>, Problem> {
        let id = crate::auth::secret::id(now()).to_string();
        let progress = BulkView {
            id: id.clone(),
            action: body.action,
            matched: meant.count(),
            done: 0,
            refused: 0,
            failed: 0,
            reasons: BTreeMap::new(),
            problems: Vec::new(),
            started_at: now(),
            finished_at: None,
        };
        let bulk = Arc::new(Bulk { id, who, body, key, progress: watch::Sender::new(progress) });
        if let Some(first) = self.bulks.add(&bulk)? {
            return Ok(first);
        }
        let (app, at_work) = (self.clone(), Arc::clone(&bulk));
        tokio::spawn(at_work.work(app, meant));
        Ok(bulk)
    }
}
