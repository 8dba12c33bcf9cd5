//! What a retry took back: everything that failed or was cancelled with what it names, and
//! nothing that was cancelled for itself.

use crate::sim::oracle::{Reading, Standing};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::{Ordered, Past, Turn};
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::Stopping;
use mainspring_core::spec::definition::When;
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>) -> Check {
    let Some(before) = turn.before else { return Ok(()) };
    if turn.after.progress.cancel.is_some() || !turn.was_asked(Verb::Retry) {
        return Ok(());
    }
    // With several in one commit the later ones may have undone the earlier.
    if let [order] = turn.orders.as_slice() {
        check_whole(turn, before, *order)?;
    }
    // What was cancelled and taken back in one commit is not to be seen here.
    match named(turn).as_slice() {
        [Some(named)] if !turn.was_asked(Verb::Cancel) => check_no_more(turn, before, *named),
        _ => Ok(()),
    }
}

/// What retries were asked for, each once; none: the whole run.
fn named(turn: &Turn<'_>) -> Vec<Option<TaskNo>> {
    let retries = turn.orders.iter().filter(|order| order.verb == Verb::Retry);
    let mut named: Vec<Option<TaskNo>> = retries.map(|order| order.task).collect();
    named.sort_unstable();
    named.dedup();
    named
}

/// Nothing that has to go back was left.
fn check_whole(turn: &Turn<'_>, before: &Past, order: Ordered) -> Check {
    let is_left = |no: &TaskNo| {
        let bad = |fact| matches!(fact, Fact::Failed | Fact::Cancelled);
        bad(before.fact(*no)) && bad(turn.reading.fact(*no))
    };
    let left = match order.task {
        None if before.progress.status.is_final() && !turn.after.progress.status.is_final() => {
            before.rows.keys().copied().find(is_left)
        }
        Some(named) if before.fact(named) == Fact::Cancelled && !is_left(&named) => {
            let mut below = dependents(turn, named);
            below.find(|no| before.fact(*no) == Fact::Cancelled && is_left(no))
        }
        _ => None,
    };
    Promise::RetryReach.ensure(left.is_none(), || {
        format!("{:?} was left by {order:?}", left.map(|no| turn.name(no)))
    })
}

fn dependents(turn: &Turn<'_>, named: TaskNo) -> impl Iterator<Item = TaskNo> {
    let tasks = turn.definition.tasks.iter().enumerate();
    let below =
        tasks.filter(move |(_, task)| task.depends_on.iter().any(|edge| edge.upstream == named));
    below.map(|(position, _)| TaskNo::from_position(position))
}

/// What is not cancelled any more was named, or was cancelled with what is above it, or stood
/// on something that has gone back.
fn check_no_more(turn: &Turn<'_>, before: &Past, named: TaskNo) -> Check {
    let reading = Reading::new(turn.definition, before.rows.values());
    let was_cancelled = |no: TaskNo| {
        let stopping = before.rows.get(&no).and_then(|row| row.stopping);
        reading.standing(no) == Standing::Cancelled || stopping == Some(Stopping::Cancel)
    };
    let went_back = |no: TaskNo| {
        let (was, is) = (reading.standing(no), turn.reading.standing(no));
        no != named && was.is_settled() && !is.is_settled()
    };
    for (no, _) in before.rows.iter().filter(|(_, row)| row.fact == Fact::Cancelled) {
        let mut edges = turn.definition.task(*no).depends_on.iter();
        let reached = edges.any(|edge| {
            matches!(edge.when, When::Failed | When::Finished)
                || was_cancelled(edge.upstream)
                || went_back(edge.upstream)
        });
        let stays = turn.reading.fact(*no) == Fact::Cancelled;
        Promise::RetryReach.ensure(stays || *no == named || reached, || {
            format!("{} was cancelled for itself and is back by {:?}", turn.name(*no), turn.orders)
        })?;
    }
    Ok(())
}
