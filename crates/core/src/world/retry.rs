//! Retry, of a run and of one task: what goes back, and what follows it.
//!
//! Back go the failed and cancelled tasks; below them those that ran because of the failure,
//! and everything settled below these. Blocked ones have no row and revive by themselves;
//! other successes stay.

use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::row::RunStatus;
use crate::kernel::transition::Event;
use crate::plan::dag::edge::Doom;
use crate::spec::definition::When;
use crate::time::Timestamp;
use crate::world::advance::supersede;
use crate::world::batch::Change;
use crate::world::input::{Refusal, Reply};
use crate::world::report::step;
use crate::world::run::Run;
use crate::world::state::World;
use std::collections::BTreeMap;

/// Why a task is on the way of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// It will be decided again, its own row (if any) was not an outcome of its own doing.
    Revived,
    /// It must go back because something above it did after it had run.
    SentBack,
}

impl World {
    pub(super) fn retry(
        &mut self,
        now: Timestamp,
        key: RunKey,
        named: Option<TaskNo>,
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        check_state(run, named)?;
        let roots: Vec<TaskNo> = match named {
            Some(no) => vec![no],
            None => failed_or_cancelled(run),
        };
        let back = what_goes_back(run, &roots)?;
        for (no, event) in back {
            self.send_back(key, no, event);
        }
        self.reopen(now, key);
        Ok(Reply::Done)
    }

    fn send_back(&mut self, key: RunKey, no: TaskNo, event: Event) {
        let mut superseded = None;
        self.change(key, no, |row| {
            superseded = supersede(row);
            step(row, event);
            row.tries = 0;
            row.losses = 0;
            row.refusals = 0;
            row.refused_since = None;
            row.settled_at = None;
            row.output = None;
        });
        if let Some(attempt) = superseded {
            self.draft.add(Change::NewAttempt(key, attempt));
        }
        self.draft.task(key, TaskRef::plain(no));
    }

    /// A final run opens again; its timeout counts from now.
    fn reopen(&mut self, now: Timestamp, key: RunKey) {
        // What waited for a permit may have to wait for its dependencies again.
        self.ready.remove_run(key);
        let run = self.run_mut(key);
        run.replan();
        if run.progress.status.is_final() {
            run.progress.status = RunStatus::Running;
            run.progress.cancel = None;
            run.progress.error = None;
            run.progress.finished_at = None;
            run.progress.opened_at = Some(now);
            self.arm_run(key);
        }
        self.draft.run(key);
        self.refill(key, now);
        self.ending.insert(key);
    }
}

fn check_state(run: &Run, named: Option<TaskNo>) -> Result<(), Refusal> {
    let status = run.progress.status;
    let allowed = match status {
        RunStatus::Failed | RunStatus::Cancelled => true,
        RunStatus::Running | RunStatus::Paused => named.is_some(),
        RunStatus::Pending | RunStatus::Cancelling | RunStatus::Success => false,
    };
    if !allowed {
        return Err(Refusal::RunIs(status));
    }
    let fact = named.map(|no| run.rows.fact(no));
    match fact {
        None | Some(Fact::Failed | Fact::Cancelled) => Ok(()),
        Some(_) => Err(Refusal::TaskNotFailed),
    }
}

fn failed_or_cancelled(run: &Run) -> Vec<TaskNo> {
    let rows = run.rows.iter();
    rows.filter(|row| matches!(row.fact, Fact::Failed | Fact::Cancelled))
        .map(|row| row.task.no)
        .collect()
}

/// Walks down from the roots. Tasks without a row are passed through: what is derived for
/// them may change.
fn what_goes_back(run: &Run, roots: &[TaskNo]) -> Result<Vec<(TaskNo, Event)>, Refusal> {
    let mut ways: BTreeMap<TaskNo, Way> = roots.iter().map(|no| (*no, Way::Revived)).collect();
    let mut back: BTreeMap<TaskNo, Event> = roots.iter().map(|no| (*no, Event::Retried)).collect();
    let mut pending: Vec<TaskNo> = roots.to_vec();
    while let Some(no) = pending.pop() {
        let way = ways[&no];
        for (edge, dependent) in run.blueprint.graph.dependents(no) {
            let when = run.blueprint.graph.edge(*edge).when;
            let Some(follows) = follow(run, (no, way), when, *dependent)? else { continue };
            if ways.get(dependent) >= Some(&follows) {
                continue;
            }
            ways.insert(*dependent, follows);
            pending.push(*dependent);
            match run.rows.fact(*dependent) {
                Fact::Cancelled => back.insert(*dependent, Event::Retried),
                Fact::None => None,
                _ if back.contains_key(dependent) => None,
                _ => back.insert(*dependent, Event::SentBack),
            };
        }
    }
    Ok(back.into_iter().collect())
}

/// Whether a dependent is affected when the task above it goes back, and how.
fn follow(
    run: &Run,
    (above, way): (TaskNo, Way),
    when: When,
    no: TaskNo,
) -> Result<Option<Way>, Refusal> {
    let must = way == Way::SentBack || matches!(when, When::Failed | When::Finished);
    match run.rows.fact(no) {
        Fact::None => Ok(Some(way)),
        // Cancelled together with the task above it, not by its own name.
        Fact::Cancelled if must || is_cancelled(run, above) => Ok(Some(way)),
        // Skipped by a condition that may look different now.
        Fact::Skipped => Ok(Some(Way::SentBack)),
        Fact::Success | Fact::Failed if must => Ok(Some(Way::SentBack)),
        Fact::Success | Fact::Failed | Fact::Cancelled => Ok(None),
        Fact::Delayed | Fact::Dispatched | Fact::Running | Fact::Waiting | Fact::WorkerDone => {
            if must {
                let name = run.blueprint.definition.task(no).name.clone();
                return Err(Refusal::DependentRunning(name));
            }
            Ok(None)
        }
    }
}

/// By itself, or derived.
fn is_cancelled(run: &Run, no: TaskNo) -> bool {
    match run.rows.fact(no) {
        Fact::Cancelled => true,
        Fact::None => run.plan.doom(no) == Some(Doom::Cancelled),
        _ => false,
    }
}
