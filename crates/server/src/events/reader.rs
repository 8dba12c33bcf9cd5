//! One reader of the stream: a cursor, and what it has been told of the run it watches.

use super::hub::{News, State};
use super::place::{KEPT_MAX, Place};
use crate::app::{App, now};
use crate::problem::Problem;
use mainspring_core::ids::RunId;
use mainspring_core::view::shapes::{RunView, TaskView, run_listed};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::watch;

/// Runs read from the store at once when a reader has to catch up.
const CATCH_UP: usize = 1_000;

/// Tasks told of in one message: a megabyte or so, and more than change in a tenth of a second.
const TASKS_MAX: usize = 2_000;

/// Which runs a reader wants to hear of.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub run: Option<RunId>,
    pub workflow: Option<String>,
}

impl Wanted {
    fn includes(&self, (head, _): &State) -> bool {
        self.run.is_none_or(|run| run == head.id)
            && self.workflow.as_deref().is_none_or(|workflow| *workflow == *head.workflow)
    }
}

/// One thing to tell.
#[derive(Debug)]
pub enum Told {
    /// Where the reader is, when there is nothing else to say it with.
    Ready,
    /// Something may have been missed: read the lists again.
    Reset,
    Run(Box<RunView>),
    Tasks(Box<SomeTasks>),
}

impl Told {
    /// Whether it counts against how often a run may be told of.
    pub fn is_about_a_run(&self) -> bool {
        match self {
            Self::Ready | Self::Reset => false,
            Self::Run(_) | Self::Tasks(_) => true,
        }
    }
}

/// Tasks of one run that have changed.
#[derive(Clone, Debug, Serialize)]
pub struct SomeTasks {
    pub run: RunId,
    pub tasks: Vec<TaskView>,
}

#[derive(Debug)]
pub struct Reader {
    app: App,
    wanted: Wanted,
    stamp: u64,
    watch: watch::Receiver<u64>,
    draining: watch::Receiver<bool>,
    /// Tasks of the run that is watched, as they were last told.
    told: BTreeMap<String, String>,
}

impl Reader {
    /// Takes up where the caller was, or here and now. Returns the first thing to tell.
    pub fn open(app: App, wanted: Wanted, last: Option<Result<Place, ()>>) -> (Self, Told) {
        let watch = app.hub.watch();
        let (draining, scheduler) = (app.draining.subscribe(), app.scheduler);
        let here = *watch.borrow();
        let kept = KEPT_MAX.min(app.config.retention);
        let is_known = |place: &Place| {
            let is_fresh = now().since(place.at) <= kept;
            place.scheduler == scheduler && place.stamp <= here && is_fresh
        };
        let (stamp, told) = match last {
            None => (here, Told::Ready),
            Some(Ok(place)) if is_known(&place) => (place.stamp, Told::Ready),
            Some(_) => (here, Told::Reset),
        };
        (Self { app, wanted, stamp, watch, draining, told: BTreeMap::new() }, told)
    }

    /// Where a reader is who was told everything up to this stamp.
    pub fn place(&self, stamp: u64) -> Place {
        Place { scheduler: self.app.scheduler, stamp, at: now() }
    }

    /// Whether all that it is told is about the same run.
    pub fn watches_one(&self) -> bool {
        self.wanted.run.is_some()
    }

    /// Where it is once it was told everything that `next` gave.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Waits for news, each with the stamp of its commit, in their order. None when the server
    /// shuts down.
    pub async fn next(&mut self) -> Result<Option<Vec<(u64, Told)>>, Problem> {
        loop {
            let states = match self.app.hub.since(self.stamp) {
                News::States(states, last) => {
                    self.stamp = last;
                    states
                }
                News::Behind => self.catch_up().await?,
            };
            let mut told = Vec::new();
            for state in &states {
                if self.wanted.includes(state) {
                    self.tell(state, &mut told).await?;
                }
            }
            if !told.is_empty() {
                return Ok(Some(told));
            }
            if *self.watch.borrow_and_update() > self.stamp {
                continue;
            }
            tokio::select! {
                changed = self.watch.changed() => if changed.is_err() { return Ok(None) },
                () = ends(&mut self.draining) => return Ok(None),
            }
        }
    }

    async fn catch_up(&mut self) -> Result<Vec<State>, Problem> {
        let store = &self.app.store;
        // Before the store is asked: a commit in between may be missing in its answer.
        let seen = *self.watch.borrow();
        let runs = store.changed(self.app.scheduler, self.stamp, CATCH_UP).await?;
        match runs.last() {
            Some((_, progress)) => self.stamp = progress.stamp,
            // Nothing is stored after it: whatever the hub drops next is new.
            None => self.stamp = self.stamp.max(seen),
        }
        Ok(runs.into_iter().map(|(head, progress)| (Arc::new(head), Arc::new(progress))).collect())
    }

    async fn tell(&mut self, state: &State, told: &mut Vec<(u64, Told)>) -> Result<(), Problem> {
        let (head, progress) = state;
        let stamp = progress.stamp;
        let Some(run) = self.wanted.run else {
            told.push((stamp, Told::Run(Box::new(run_listed(head, progress)))));
            return Ok(());
        };
        let (mut shown, tasks) = self.app.found(run).await?.show();
        let mut changed = Vec::new();
        for mut task in tasks {
            // Payloads are for those who ask for the task. Of a fan-out there is its own view, with
            // the counts of its instances: what is kept for it does not grow with their number.
            (task.input, task.output) = (None, None);
            let text = serde_json::to_string(&task).unwrap_or_default();
            if self.told.get(&task.name) != Some(&text) {
                self.told.insert(task.name.clone(), text);
                changed.push(task);
            }
        }
        for tasks in changed.chunks(TASKS_MAX) {
            let tasks = tasks.to_vec();
            told.push((stamp, Told::Tasks(Box::new(SomeTasks { run, tasks }))));
        }
        shown.output = None;
        shown.input = run_listed(&state.0, &state.1).input;
        // Last, so that whoever stops listening at a final run has heard of its tasks.
        told.push((stamp, Told::Run(Box::new(shown))));
        Ok(())
    }
}

/// Waits until the server shuts down.
pub async fn ends(draining: &mut watch::Receiver<bool>) {
    // An error means that the server is gone already.
    drop(draining.wait_for(|draining| *draining).await);
}
