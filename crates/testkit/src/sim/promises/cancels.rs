//! What a commit cancelled: whether somebody had asked for it.

use crate::sim::oracle::Met;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use crate::sim::promises::rows::row_of;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Closed;
use mainspring_core::kernel::row::{Cancelled, RunStatus, Stopping, TaskRow};
use mainspring_core::spec::definition::When;
use mainspring_core::world::input::Verb;
use std::collections::BTreeSet;

pub fn check(turn: &Turn<'_>) -> Check {
    check_winding_down(turn)?;
    check_below(turn)?;
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

/// What is below a task that was cancelled by its name does not begin any more: not what was ready,
/// nor what waited or was put off. What was at work goes on.
fn check_below(turn: &Turn<'_>) -> Check {
    let is_cancel = |verb| matches!(verb, Verb::Cancel | Verb::ForceCancel);
    let named = turn.orders.iter().filter(|order| is_cancel(order.verb));
    let named: BTreeSet<TaskNo> = named
        .filter_map(|order| order.task.filter(|task| task.index.is_none()))
        .filter(|task| row_of(&turn.after.tasks, *task).is_some_and(is_cancelled))
        // An order that was refused changes nothing about what was cancelled long ago.
        .filter(|task| !turn.row_before(*task).is_some_and(is_cancelled))
        .map(|task| task.no)
        .collect();
    // Tasks that were added in the same commit may have come after the order.
    let before = turn.before.map(|past| past.progress.additions);
    let has_grown = before != Some(turn.after.progress.additions);
    if named.is_empty() || has_grown || turn.orders.len() > named.len() {
        return Ok(());
    }
    for (position, task) in turn.definition.tasks.iter().enumerate() {
        let no = TaskNo::from_position(position);
        let edges = task.depends_on.iter().filter(|edge| edge.when != When::Finished);
        let is_below = edges.into_iter().any(|edge| named.contains(&edge.upstream));
        let before = turn.row_before(TaskRef::plain(no));
        let was_settled = before.is_some_and(|row| row.fact.is_settled());
        if !is_below || named.contains(&no) || was_settled {
            continue;
        }
        let row = turn.reading.row(no);
        let is_open = turn.reading.dependencies(no).all(|(_, met)| met == Met::Yes);
        let goes_on = match turn.reading.fact(no) {
            Fact::None => is_open && !turn.reading.standing(no).is_settled(),
            // One that was at work may have failed after the cancel had let it go on.
            Fact::Delayed => !before.is_some_and(TaskRow::is_live),
            Fact::Waiting => row.is_some_and(|row| row.stopping.is_none()),
            _ => false,
        };
        Promise::CancelReach.ensure(!goes_on, || {
            format!("{} is below what was cancelled, and goes on: {row:?}", turn.name(no))
        })?;
    }
    Ok(())
}

/// A group of which somebody cancelled an instance, be it long ago; or asked for some of it only,
/// when others had never been opened. Or it was being cancelled already, and what was at work has
/// landed before it could be stopped.
fn is_by_instances(turn: &Turn<'_>, row: &TaskRow) -> bool {
    let chosen = turn.group(row.task.no).is_some_and(|group| group.closed == Some(Closed::Chosen));
    let before = turn.row_before(row.task).and_then(|row| row.group.as_ref());
    let closed = before.is_some_and(|group| matches!(group.closed, Some(Closed::Cancel(_))));
    row.task.index.is_none() && (chosen || closed || turn.instances(row.task.no).any(is_cancelled))
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
