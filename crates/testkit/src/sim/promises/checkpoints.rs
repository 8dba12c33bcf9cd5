//! Checkpoints: after the success of one, nothing starts before somebody resumes the run.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::anew::is_copied;
use crate::sim::promises::record::Turn;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Hold, RunStatus, TaskRow};
use mainspring_core::world::input::Verb;

/// The run is held by a task that is a checkpoint and has succeeded.
pub fn is_held(turn: &Turn<'_>) -> bool {
    let name = turn.after.progress.hold.as_ref().and_then(Hold::by_checkpoint);
    let task = name.and_then(|name| turn.definition.task_no(name));
    task.is_some_and(|no| {
        turn.definition.task(no).checkpoint && turn.reading.fact(no) == Fact::Success
    })
}

pub fn check(turn: &Turn<'_>) -> Check {
    let progress = &turn.after.progress;
    let rests = progress.status == RunStatus::Paused || progress.cancel.is_some();
    if rests || turn.run_was_asked(Verb::Resume) {
        return Ok(());
    }
    let is_new = |row: &&TaskRow| {
        let was = turn.row_before(row.task).map(|row| row.fact);
        let is_checkpoint =
            row.task.index.is_none() && turn.definition.task(row.task.no).checkpoint;
        is_checkpoint && row.fact == Fact::Success && was != Some(Fact::Success) && !is_copied(row)
    };
    let passed = turn.after.tasks.iter().find(is_new);
    Promise::Checkpoint.ensure(passed.is_none(), || {
        let name = passed.map(|row| turn.name(row.task));
        format!("{name:?} was passed, and the run is {:?}", progress.status)
    })
}
