//! What a commit cancelled: whether somebody had asked for it.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Closed;
use mainspring_core::kernel::row::{Cancelled, RunStatus, Stopping, TaskRow};
use mainspring_core::spec::definition::When;
use mainspring_core::world::input::Verb;
use std::collections::BTreeSet;

pub fn check(turn: &Turn<'_>) -> Check {
    check_winding_down(turn)?;
    let progress = &turn.after.progress;
    if progress.cancel.is_some() || turn.run_cancel_was_asked() {
        return Ok(());
    }
    let reached = reached(turn);
    for row in &turn.after.tasks {
        let before = turn.row_before(row.task);
        let new = is_cancelled(row) && !before.is_some_and(is_cancelled);
        if !new || reached.contains(&row.task.no) || is_by_instances(turn, row) {
            continue;
        }
        // Whether its child was is looked at with both.
        let by_child = row.cancelled == Some(Cancelled::ChildCancelled);
        let asked = by_child || turn.failed_fast(row.task) || was_named(turn, row.task);
        Promise::CancelReach.ensure(asked, || {
            format!("{} was cancelled and nobody had asked", turn.name(row.task))
        })?;
    }
    Ok(())
}

/// A group of which somebody cancelled an instance, be it long ago; or asked for some of it only,
/// when others had never been opened.
fn is_by_instances(turn: &Turn<'_>, row: &TaskRow) -> bool {
    let chosen = turn.group(row.task.no).is_some_and(|group| group.closed == Some(Closed::Chosen));
    row.task.index.is_none() && (chosen || turn.instances(row.task.no).any(is_cancelled))
}

/// One instance by its index.
fn was_named(turn: &Turn<'_>, task: TaskRef) -> bool {
    task.index.is_some() && turn.orders.iter().any(|order| order.task == Some(task))
}

fn is_cancelled(row: &TaskRow) -> bool {
    row.fact == Fact::Cancelled || row.stopping == Some(Stopping::Cancel)
}

fn check_winding_down(turn: &Turn<'_>) -> Check {
    let cancelling = turn.after.progress.status == RunStatus::Cancelling;
    let is_at_work =
        |row: &&TaskRow| row.fact.is_live() || matches!(row.fact, Fact::Waiting | Fact::WorkerDone);
    let is_always = |row: &TaskRow| turn.definition.task(row.task.no).always.is_some();
    let mut live = turn.after.tasks.iter().filter(is_at_work).filter(|row| !is_always(row));
    let left = live.find(|row| cancelling && row.stopping != Some(Stopping::Cancel));
    Promise::WindingDown.ensure(left.is_none(), || format!("{left:?} goes on"))
}

/// What was named, and what is below it other than through `finished` edges.
fn reached(turn: &Turn<'_>) -> BTreeSet<TaskNo> {
    let is_cancel = |verb| matches!(verb, Verb::Cancel | Verb::ForceCancel);
    let cancels = turn.orders.iter().filter(|order| is_cancel(order.verb));
    let whole = cancels.filter_map(|order| order.task.filter(|task| task.index.is_none()));
    let mut reached: BTreeSet<TaskNo> = whole.map(|task| task.no).collect();
    // Sketches name only what stands above: one pass is enough.
    for (position, task) in turn.definition.tasks.iter().enumerate() {
        let edges = task.depends_on.iter();
        let below = edges.filter(|edge| edge.when != When::Finished);
        if below.into_iter().any(|edge| reached.contains(&edge.upstream)) {
            reached.insert(TaskNo::from_position(position));
        }
    }
    reached
}
