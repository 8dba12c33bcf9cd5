//! Child runs and their parents, as they are durable: looked at after every commit, all of them.

use crate::sim::library::Library;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::everything;
use crate::sim::store::whole;
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::{RunId, TaskRef};
use mainspring_core::kernel::row::{
    Attempt, AttemptEnd, CancelCause, Parent, RunStatus, Stopping, TaskRow,
};
use mainspring_core::output::Output;
use mainspring_core::spec::definition::Definition;
use mainspring_store::{Model, StoredRun};
use std::collections::{BTreeMap, BTreeSet};

type Runs = BTreeMap<RunId, StoredRun>;

pub fn check(model: &Model, library: &Library) -> Check {
    let heads: Vec<_> = model.runs(&everything()).into_iter().map(|(head, _)| head).collect();
    if heads.iter().all(|head| head.parent.is_none()) {
        return Ok(());
    }
    let whole = |id| whole(model, id).expect("listed runs exist");
    let runs: Runs = heads.iter().map(|head| (head.id, whole(head.id))).collect();
    let mut begun = BTreeSet::new();
    for run in runs.values() {
        check_waits(run, &runs, &library.of(model, &run.head))?;
        let Some(parent) = &run.head.parent else { continue };
        let place = (parent.run, parent.task, parent.attempt);
        Promise::Kin.ensure(begun.insert(place), || format!("{place:?} has two children"))?;
        let above = runs.get(&parent.run);
        let above = above.ok_or_else(|| Promise::Kin.broken(format!("{place:?} is gone")))?;
        match run.progress.status.is_final() {
            true => check_outcome(model, run, parent, above)?,
            false => check_alive(run, parent, above)?,
        }
    }
    Ok(())
}

/// Whoever waits has a child that goes on, and it is of this attempt.
fn check_waits(run: &StoredRun, runs: &Runs, definition: &Definition) -> Check {
    for row in &run.tasks {
        let Some(id) = row.child() else { continue };
        let child = runs.get(&id).filter(|child| !child.progress.status.is_final());
        let number = row.attempt.as_ref().map(|attempt| attempt.number);
        let is_its = child.and_then(|child| child.head.parent.as_deref()).is_some_and(|parent| {
            (parent.run, parent.task) == (run.head.id, row.task) && Some(parent.attempt) == number
        });
        Promise::Kin.ensure(is_its, || format!("{:?} waits for {id}", row.task))?;
        let cancelling = run.progress.status == RunStatus::Cancelling;
        let goes_on = definition.task(row.task.no).is_always();
        let is_told = !cancelling || goes_on || row.stopping == Some(Stopping::Cancel);
        Promise::Handed.ensure(is_told, || format!("{:?} of a cancelled run goes on", row.task))?;
    }
    Ok(())
}

fn row_of(run: &StoredRun, task: TaskRef) -> Option<&TaskRow> {
    run.tasks.iter().find(|row| row.task == task)
}

/// A child that goes on is waited for; it is held and cancelled with its parent.
fn check_alive(child: &StoredRun, parent: &Parent, above: &StoredRun) -> Check {
    let row = row_of(above, parent.task);
    let is_awaited = row.and_then(TaskRow::child) == Some(child.head.id);
    Promise::Kin.ensure(is_awaited, || format!("nobody waits for run {}", child.head.key.0))?;
    let is_held = |task| row_of(above, task).is_some_and(|row| row.hold.is_some());
    let held = above.progress.status == RunStatus::Paused
        || is_held(parent.task)
        || is_held(TaskRef::plain(parent.task.no));
    let status = child.progress.status;
    Promise::Handed.ensure(!held || status != RunStatus::Running, || {
        format!("run {} runs under a hold", child.head.key.0)
    })?;
    let hold = child.progress.hold.as_ref();
    let by_parent = hold.is_some_and(|hold| hold.by == parent.word());
    Promise::Handed.ensure(held || !by_parent, || {
        format!("run {} is held by its parent, which is not", child.head.key.0)
    })?;
    let stopping = row.and_then(|row| row.stopping);
    Promise::Handed.ensure(stopping.is_none() || status == RunStatus::Cancelling, || {
        format!("run {} is {status:?} and should be stopped", child.head.key.0)
    })?;
    let by_parent = matches!(&child.progress.cancel,
        Some(CancelCause::Asked(by)) if *by == parent.word());
    Promise::Handed.ensure(!by_parent || stopping.is_some(), || {
        format!("run {} was cancelled by its parent for no reason", child.head.key.0)
    })
}

/// What the child came to is what its attempt did.
fn check_outcome(model: &Model, child: &StoredRun, parent: &Parent, above: &StoredRun) -> Check {
    let is_its = |attempt: &Attempt| attempt.number == parent.attempt;
    let row = row_of(above, parent.task);
    let current = row.and_then(|row| Some((row.attempt.as_ref()?, row.output.clone())));
    let history = model.attempts_of(above.head.key, parent.task);
    let past = history.iter().map(|past| (&past.attempt, past.output.clone()));
    let found = current.into_iter().chain(past).find(|(attempt, _)| is_its(attempt));
    let Some((attempt, output)) = found else {
        return Err(Promise::Kin.broken(format!("the attempt of run {} is gone", child.head.key.0)));
    };
    let progress = &child.progress;
    let holds = match &attempt.end {
        Some(AttemptEnd::Success) => {
            progress.status == RunStatus::Success && is_same(&output, &progress.output)
        }
        Some(AttemptEnd::Failed(error)) => {
            let class = progress.error.as_ref().map(|error| error.class);
            let is_late = error.class == ErrorClass::Timeout;
            let is_its = progress.status == RunStatus::Failed && Some(error.class) == class;
            progress.status != RunStatus::Success && (is_its || is_late)
        }
        // By itself, or by its task.
        Some(AttemptEnd::Cancelled) => progress.status != RunStatus::Success,
        _ => false,
    };
    Promise::Kin.ensure(holds, || {
        format!("run {} is {:?}, its attempt {:?}", child.head.key.0, progress.status, attempt.end)
    })
}

fn is_same(taken: &Option<Output>, put_out: &Option<Output>) -> bool {
    taken == put_out
}
