//! One run before and after a commit: its state, its words, its counts, its end.

use crate::sim::oracle::{Met, Reading, Standing};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::checkpoints;
use crate::sim::promises::record::Turn;
use crate::sim::tally::Tally;
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{CancelCause, Counts, Hold, RunStatus, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::plan::dag::graph::Graph;
use mainspring_core::plan::dag::plan::Shape;
use mainspring_core::spec::definition::When;
use mainspring_core::view::word::Word;
use mainspring_core::view::words::words;
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>, tally: &mut Tally) -> Check {
    check_arrow(turn)?;
    check_cancel(turn)?;
    check_counts(turn)?;
    check_words(turn)?;
    check_settled(turn)?;
    check_footing(turn)?;
    check_verdict(turn)?;
    count_edges(turn, tally);
    Ok(())
}

/// Whether the parent's hold is this run's: that it is one is looked at there.
pub fn is_held_from_above(turn: &Turn<'_>) -> bool {
    is_of_parent(turn, turn.after.progress.hold.as_ref())
}

fn is_of_parent(turn: &Turn<'_>, hold: Option<&Hold>) -> bool {
    let parent = turn.after.head.parent.as_deref();
    hold.zip(parent).is_some_and(|(hold, parent)| hold.by == parent.word())
}

/// One batch may hold several arrows; each needs its reason.
fn check_arrow(turn: &Turn<'_>) -> Check {
    use RunStatus::{Cancelled, Cancelling, Failed, Paused, Pending, Running, Success};
    let after = turn.after.progress.status;
    let new = if after == Pending { Pending } else { Running };
    let before = turn.before.map_or(new, |past| past.progress.status);
    let timed_out = turn.after.progress.cancel == Some(CancelCause::RunTimeout);
    // The parent's hold also ends with a cancel or a timeout of the parent.
    let was_held = is_of_parent(turn, turn.before.and_then(|past| past.progress.hold.as_ref()));
    let resumed = turn.run_was_asked(Verb::Resume) || was_held;
    let cancelled = turn.run_cancel_was_asked();
    let checkpoint = checkpoints::is_held(turn) || is_held_from_above(turn);
    let holds = before == after
        || match (before, after) {
            (Success, _) => false,
            (Failed | Cancelled, _) => turn.was_asked(Verb::Retry),
            (_, Pending) => false,
            // It is let in when everything else of a batch is decided.
            (Pending, Paused) => checkpoint,
            (Pending, Cancelling) => timed_out || cancelled,
            (Pending, _) => true,
            (Running, Paused) => turn.run_was_asked(Verb::Pause) || checkpoint,
            (Running | Paused, Cancelling) => timed_out || cancelled,
            (Running, _) => true,
            (Paused, Running | Paused | Success) => resumed,
            (Paused, Failed) => resumed || timed_out,
            (Paused, Cancelled) => resumed || cancelled,
            (Cancelling, Failed) => timed_out,
            (Cancelling, Cancelled) => !timed_out,
            (Cancelling, _) => false,
        };
    let held = turn.after.progress.hold.is_some() == (after == Paused);
    Promise::Arrows.ensure(holds && held, || {
        let orders = &turn.orders;
        format!("run {}: {before:?} became {after:?} by {orders:?}", turn.after.head.key.0)
    })
}

/// A run is cancelled by someone who asked, or by its own timeout when that has passed.
fn check_cancel(turn: &Turn<'_>) -> Check {
    let progress = &turn.after.progress;
    let before = turn.before.and_then(|past| past.progress.cancel.as_ref());
    let holds = match &progress.cancel {
        None => before.is_none() || turn.was_asked(Verb::Retry),
        cause if cause.as_ref() == before => true,
        Some(CancelCause::Asked(_)) => turn.run_cancel_was_asked(),
        Some(CancelCause::RunTimeout) => {
            let due = progress.opened_at.zip(turn.definition.timeout).map(|(at, span)| at + span);
            due.is_some_and(|due| due <= turn.now)
        }
    };
    let over =
        matches!(progress.status, RunStatus::Cancelling | RunStatus::Cancelled | RunStatus::Failed);
    Promise::Arrows.ensure(holds && (over || progress.cancel.is_none()), || {
        format!("run {}: cancelled by {:?}", turn.after.head.key.0, progress.cancel)
    })
}

fn check_counts(turn: &Turn<'_>) -> Check {
    let total = u32::try_from(turn.definition.tasks.len()).expect("few tasks");
    let mut counts = Counts { total, ..Counts::default() };
    for row in turn.after.tasks.iter().filter(|row| row.task.index.is_none()) {
        match row.fact {
            Fact::Dispatched | Fact::Running | Fact::Open => counts.live += 1,
            Fact::Success => counts.success += 1,
            Fact::Failed => counts.failed += 1,
            Fact::Cancelled => counts.cancelled += 1,
            Fact::Skipped => counts.skipped += 1,
            Fact::Waiting => counts.waiting += 1,
            Fact::WorkerDone => counts.worker_done += 1,
            Fact::None | Fact::Delayed => {}
        }
    }
    let stored = turn.after.progress.counts;
    Promise::Counts.ensure(stored == counts, || format!("{stored:?}, rows say {counts:?}"))
}

fn check_words(turn: &Turn<'_>) -> Check {
    let definition = turn.definition;
    let graph = Graph::new(definition);
    let mut rows = Rows::new(definition.tasks.len());
    let plain = turn.after.tasks.iter().filter(|row| row.task.index.is_none());
    plain.for_each(|row| rows.put(row.clone()));
    let shape = Shape { definition, graph: &graph };
    let progress = &turn.after.progress;
    let shown = words(shape, progress, &rows, turn.now);
    for (position, shown) in shown.iter().enumerate() {
        let no = TaskNo::from_position(position);
        let expected = turn.reading.standing(no);
        let said = match shown.word {
            Word::Pending | Word::Ready | Word::Dispatched | Word::Paused => Standing::Open,
            Word::Waiting | Word::WorkerDone => Standing::Open,
            Word::Running => Standing::Running,
            Word::Success => Standing::Success,
            Word::Failed => Standing::Failed,
            Word::Cancelled => Standing::Cancelled,
            Word::Skipped => Standing::Skipped,
            Word::Blocked => Standing::Blocked,
        };
        Promise::Words.ensure(said == expected, || {
            format!("{} is shown as {}, should be {}", turn.name(no), shown.word, expected.word())
        })?;
    }
    Ok(())
}

/// Derived words may get stronger as more ends badly; nothing else moves by itself.
fn check_settled(turn: &Turn<'_>) -> Check {
    let Some(before) = turn.before else { return Ok(()) };
    if turn.was_asked(Verb::Retry) {
        return Ok(());
    }
    let reading = Reading::of(turn.definition, before.rows.values(), &before.progress);
    for (position, was) in reading.standings().iter().enumerate() {
        let no = TaskNo::from_position(position);
        let is = turn.reading.standing(no);
        let derived = reading.fact(no) == Fact::None && is >= Standing::Skipped && is > *was;
        Promise::SettledStays.ensure(!was.is_settled() || is == *was || derived, || {
            format!("{} was {} and is {}", turn.name(no), was.word(), is.word())
        })?;
    }
    Ok(())
}

/// What ran because something above it had ended or failed does not outlast that.
fn check_footing(turn: &Turn<'_>) -> Check {
    for row in turn.after.tasks.iter().filter(|row| row.task.index.is_none()) {
        if matches!(row.fact, Fact::None | Fact::Cancelled | Fact::Skipped) {
            continue;
        }
        let mut edges = turn.reading.dependencies(row.task.no);
        let lost = edges
            .find(|(when, met)| matches!(when, When::Finished | When::Failed) && *met != Met::Yes);
        Promise::StandsOnEnds.ensure(lost.is_none(), || {
            format!("{} is {} on {lost:?}", turn.name(row.task.no), row.fact.word())
        })?;
    }
    Ok(())
}

fn check_verdict(turn: &Turn<'_>) -> Check {
    let progress = &turn.after.progress;
    let bad = matches!(progress.status, RunStatus::Failed | RunStatus::Cancelled);
    Promise::Verdict.ensure(bad == progress.error.is_some(), || {
        format!("{:?} with the error {:?}", progress.status, progress.error)
    })?;
    if !progress.status.is_final() {
        return Promise::Verdict.ensure(progress.finished_at.is_none(), || {
            format!("{:?} and finished at {:?}", progress.status, progress.finished_at)
        });
    }
    let expected = turn.reading.verdict(progress);
    Promise::Verdict.ensure(progress.status == expected, || {
        format!("run {} is {:?}, should be {expected:?}", turn.after.head.key.0, progress.status)
    })?;
    let mut standings = turn.reading.standings().iter();
    let settled = standings.all(|standing| standing.is_settled());
    let is_live = |row: &TaskRow| {
        row.fact.is_live() || matches!(row.fact, Fact::Open | Fact::Waiting | Fact::WorkerDone)
    };
    let live = turn.after.tasks.iter().any(is_live);
    Promise::Verdict.ensure(settled && !live, || {
        format!("run {} ended before its tasks", turn.after.head.key.0)
    })
}

fn count_edges(turn: &Turn<'_>, tally: &mut Tally) {
    // Once per run and end is enough for wide ones.
    if turn.definition.tasks.len() > 100 {
        return;
    }
    for edge in turn.definition.tasks.iter().flat_map(|task| &task.depends_on) {
        let standing = turn.reading.standing(edge.upstream);
        tally.count(("edge", edge.when.word(), standing.word()));
    }
}
