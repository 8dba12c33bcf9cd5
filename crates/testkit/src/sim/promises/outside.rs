//! What holds over all runs together, and between what is stored and the world outside.

use crate::sim::executors::Executors;
use crate::sim::library::Library;
use crate::sim::oracle::Reading;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::acts::is_live;
use crate::sim::promises::overdue;
use crate::sim::promises::record::{Record, everything};
use crate::sim::store::whole;
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{AttemptEnd, RunStatus, Stopping, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::{Definition, Task};
use mainspring_core::time::Timestamp;
use mainspring_core::view::words::words;
use mainspring_core::world::World;
use mainspring_core::world::run::Run;
use mainspring_store::{Model, StoredRun};

/// What is at work is live as stored, or was given up by force.
pub fn check_gone(model: &Model, executors: &Executors, record: &Record) -> Check {
    for ticket in executors.at_work() {
        let known = is_live(model, ticket) || record.was_abandoned(ticket.attempt);
        Promise::Gone.ensure(known, || format!("{ticket:?} is over and still at work"))?;
    }
    Ok(())
}

/// An end that could be told by nobody but the work itself says that it had begun.
pub fn check_begun(model: &Model, executors: &Executors) -> Check {
    for (head, _) in model.runs(&everything()) {
        let run = whole(model, head.id).expect("listed runs exist");
        for row in run.tasks.iter().filter(|row| !row.ever_started) {
            let Some(attempt) = &row.attempt else { continue };
            let told = match &attempt.end {
                Some(AttemptEnd::Success) => true,
                Some(AttemptEnd::Failed(error)) => error.class == ErrorClass::Exit,
                _ => false,
            };
            let begun = executors.begun.contains_key(&attempt.id);
            Promise::EverStarted.ensure(!(told && begun), || format!("{:?}", row.task))?;
        }
    }
    Ok(())
}

/// Versions of a workflow are numbered from 1, and neighbours differ.
pub fn check_versions(model: &Model, library: &Library) -> Check {
    for position in 0..library.texts().len() {
        let workflow = library.workflow(position);
        let numbers = (1..).map_while(|number| model.version(&workflow, Some(number)));
        let hashes: Vec<[u8; 32]> = numbers.map(|version| version.hash).collect();
        let twice = hashes.windows(2).any(|pair| pair[0] == pair[1]);
        Promise::Versions.ensure(!twice, || format!("versions of {workflow}: {hashes:?}"))?;
    }
    Ok(())
}

/// A server that does not own a run shows exactly what its owner would.
pub fn check_views(world: &World, model: &Model, now: Timestamp) -> Check {
    for run in world.runs() {
        let Some(stored) = model.run(run.head.id) else { continue };
        let definition = &run.blueprint.definition;
        let mut rows = Rows::new(definition.tasks.len());
        let plain = stored.tasks.iter().filter(|row| row.task.index.is_none());
        plain.for_each(|row| rows.put(row.clone()));
        let theirs = words(run.blueprint.shape(), &stored.progress, &rows, now);
        let ours = words(run.blueprint.shape(), &run.progress, &run.rows, now);
        Promise::Views.ensure(theirs == ours, || format!("owner: {ours:?}, others: {theirs:?}"))?;
        check_memory(run, &stored.tasks)?;
    }
    Ok(())
}

/// At rest memory holds what is stored, but for outputs that nobody reads any more.
fn check_memory(run: &Run, stored: &[TaskRow]) -> Check {
    let without_output = |row: &TaskRow| TaskRow { output: None, ..row.clone() };
    let key = run.head.key.0;
    for row in stored {
        let ours = run.row(row.task).map(without_output);
        let same = ours.as_ref() == Some(&without_output(row));
        Promise::Views.ensure(same, || format!("run {key}: {ours:?} in memory, stored {row:?}"))?;
    }
    let count = run.all_rows().count();
    Promise::Views.ensure(count == stored.len(), || {
        format!("run {key}: {count} rows in memory, {} are stored", stored.len())
    })
}

/// When everything due has been looked at, nothing may be left over its time.
pub fn check_timeouts(model: &Model, library: &Library, now: Timestamp) -> Check {
    for (head, progress) in model.runs(&everything()) {
        if progress.status.is_final() {
            continue;
        }
        let definition = library.of(model, &head);
        let open = matches!(progress.status, RunStatus::Running | RunStatus::Paused);
        let due = progress.opened_at.zip(definition.timeout).map(|(at, span)| at + span);
        Promise::Timeouts.ensure(!open || due.is_none_or(|due| due > now), || {
            format!("run {} should have been stopped at {due:?}", head.key.0)
        })?;
        let run = whole(model, head.id).expect("listed runs exist");
        check_graces(&run, &definition, now)?;
        overdue::check_told(&run, now)?;
        for row in run.tasks.iter().filter(|row| row.stopping.is_none()) {
            let due = runs_out(row, definition.task(row.task.no));
            Promise::Timeouts.ensure(due.is_none_or(|due| due > now), || {
                format!("{:?} of run {} was due at {due:?}", row.task, head.key.0)
            })?;
        }
    }
    Ok(())
}

/// What runs always and has used up its grace has ended or is being stopped.
fn check_graces(run: &StoredRun, definition: &Definition, now: Timestamp) -> Check {
    let Some(since) = run.progress.alone_since else { return Ok(()) };
    let reading = Reading::of(definition, run.tasks.iter(), &run.progress);
    for (position, task) in definition.tasks.iter().enumerate() {
        let no = TaskNo::from_position(position);
        let is_late = task.always.is_some_and(|always| since + always.grace <= now);
        let row = reading.row(no);
        let is_closed = row.and_then(|row| row.group.as_ref()).is_some_and(|it| it.is_stopping());
        let stops = is_closed || row.is_some_and(|row| row.stopping == Some(Stopping::Cancel));
        Promise::Always.ensure(!is_late || stops || reading.standing(no).is_settled(), || {
            format!("{} of run {} goes on after its grace", task.name, run.head.key.0)
        })?;
    }
    Ok(())
}

/// When an attempt has run out of time.
fn runs_out(row: &TaskRow, task: &Task) -> Option<Timestamp> {
    if let (Some(finalizer), Some(finalize)) = (row.finalizing(), &task.finalize) {
        let attempt = finalizer.attempt?;
        let left = finalize.start_timeout.0.saturating_sub(finalizer.refused_for.0);
        return match attempt.started_at {
            Some(at) => Some(at + finalize.timeout),
            None => Some(attempt.dispatched_at + mainspring_core::time::Span(left)),
        };
    }
    let attempt = row.attempt.as_ref()?;
    match row.fact {
        Fact::Dispatched => {
            let left = task.start_timeout.0.saturating_sub(row.refused_for.0);
            Some(attempt.dispatched_at + mainspring_core::time::Span(left))
        }
        Fact::Running => Some(attempt.started_at? + task.timeout),
        _ => None,
    }
}
