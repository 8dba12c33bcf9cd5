//! What runs always: in a run that was cancelled or has timed out it is stopped by its grace, by
//! force, and by nothing else.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Group;
use mainspring_core::kernel::row::{Cancelled, RunStatus, Stopping, TaskRow};
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>) -> Check {
    check_alone(turn)?;
    for row in turn.after.tasks.iter().filter(|row| is_cancelled(row)) {
        let was_closed = turn.group_before(row.task.no).is_some_and(Group::is_stopping);
        let was = was_closed || turn.row_before(row.task).is_some_and(is_cancelled);
        let always = turn.definition.task(row.task.no).always;
        let Some(always) = always.filter(|_| !was) else { continue };
        let since = turn.after.progress.alone_since;
        let holds = match row.cancelled {
            Some(Cancelled::GraceOver) => {
                since.is_some_and(|since| since + always.grace <= turn.now)
            }
            Some(Cancelled::RunCancelled | Cancelled::RunTimeout) => is_allowed(turn),
            _ => true,
        };
        Promise::Always.ensure(holds, || {
            let why = row.cancelled.map(Cancelled::word);
            format!("{} was stopped by {why:?}, alone since {since:?}", turn.name(row.task))
        })?;
    }
    Ok(())
}

/// By force; or the run was never let in, and there is nothing to clean up.
fn is_allowed(turn: &Turn<'_>) -> bool {
    let before = turn.before.map_or(RunStatus::Pending, |past| past.progress.status);
    let was_let_in = !matches!(before, RunStatus::Pending) && !before.is_final();
    turn.was_asked(Verb::ForceCancel) || !was_let_in
}

fn is_cancelled(row: &TaskRow) -> bool {
    row.fact == Fact::Cancelled || row.stopping == Some(Stopping::Cancel)
}

/// Graces count from when all others are settled, once.
fn check_alone(turn: &Turn<'_>) -> Check {
    let progress = &turn.after.progress;
    let tasks = (0..turn.definition.tasks.len()).map(TaskNo::from_position);
    let mut others = tasks.filter(|no| turn.definition.task(*no).always.is_none());
    let alone = others.all(|no| turn.reading.standing(no).is_settled());
    let before = turn.before.and_then(|past| past.progress.alone_since);
    let holds = match progress.alone_since {
        None => !alone || progress.status != RunStatus::Cancelling,
        Some(since) => {
            let is_kept = before.is_none() || before == Some(since) || turn.was_asked(Verb::Retry);
            alone && progress.cancel.is_some() && is_kept
        }
    };
    Promise::Always.ensure(holds, || {
        let since = progress.alone_since;
        format!("run {}: alone is {alone}, since {since:?}", turn.after.head.key.0)
    })
}
