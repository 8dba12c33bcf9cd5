//! Groups before and after a commit: what their own rows say of their instances, how many are at
//! work, what a failure means for the others, and how they end.

use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::{Closed, Group};
use mainspring_core::kernel::row::{Stopping, TaskRow};
use mainspring_core::limits::OUTPUT_BYTES_MAX;
use mainspring_core::spec::definition::{FailureStrategy, FanOut};
use mainspring_core::world::input::Verb;

pub fn check(turn: &Turn<'_>) -> Check {
    for (position, task) in turn.definition.tasks.iter().enumerate() {
        let (no, Some(fan_out)) = (TaskNo::from_position(position), &task.fan_out) else {
            continue;
        };
        let instances: Vec<&TaskRow> = turn.instances(no).collect();
        if turn.group(no).is_some_and(|group| group.copied) {
            let none = instances.is_empty();
            Promise::Copied.ensure(none, || format!("{} has instances", turn.name(no)))?;
            continue;
        }
        check_rows(turn, no, &instances)?;
        let Some(group) = turn.group(no) else { continue };
        check_at_once(turn, no, fan_out)?;
        check_closed(turn, no, &instances)?;
        check_fail_fast(turn, no, fan_out)?;
        check_worked(turn, no, (group, fan_out))?;
        check_end(turn, no, (group, fan_out))?;
    }
    check_settled(turn)
}

/// Every index up to the cursor has one row, no other has, and they are counted.
fn check_rows(turn: &Turn<'_>, no: TaskNo, instances: &[&TaskRow]) -> Check {
    let none = Group::default();
    let group = turn.group(no).unwrap_or(&none);
    let indexes: Vec<u32> = instances.iter().filter_map(|row| row.task.index).collect();
    let opened = indexes.iter().copied().eq(0..group.next) && group.next <= group.count;
    Promise::OpenedOnce.ensure(opened, || {
        let Group { next, count, .. } = group;
        format!("{}: rows of {indexes:?}, {next} of {count} were opened", turn.name(no))
    })?;
    let of = |fact| u32::try_from(instances.iter().filter(|row| row.fact == fact).count());
    let facts = [Fact::Success, Fact::Failed, Fact::Cancelled, Fact::Delayed, Fact::Waiting];
    let done = of(Fact::WorkerDone).expect("few");
    let counted = (facts.map(|fact| of(fact).expect("few")), done);
    let delayed = group.delayed + group.held;
    let said = [group.success, group.failed, group.cancelled, delayed, group.waiting];
    let said = (said, group.worker_done);
    let most = instances.iter().map(|row| row.attempts).max().unwrap_or(0);
    let numbered = group.attempts >= most.max(group.numbered_from);
    Promise::Group.ensure(said == counted && numbered, || {
        format!("{}: {group:?}, rows say {counted:?}, {most} attempts", turn.name(no))
    })?;
    let started = instances.iter().find(|row| row.ever_started);
    let is_known = turn.reading.row(no).is_some_and(|row| row.ever_started);
    Promise::EverStarted.ensure(started.is_none() || is_known, || {
        format!("{} has not started, and an instance of it has", turn.name(no))
    })?;
    let open = turn.reading.fact(no) != Fact::None || instances.is_empty();
    Promise::Group.ensure(open, || format!("{} is not open and has instances", turn.name(no)))
}

fn check_at_once(turn: &Turn<'_>, no: TaskNo, fan_out: &FanOut) -> Check {
    let is_at_work = |row: &&TaskRow| row.fact.is_live() || row.fact == Fact::Waiting;
    let live = turn.instances(no).filter(is_at_work).count();
    let most = fan_out.concurrency.unwrap_or(u32::MAX) as usize;
    Promise::AtOnce.ensure(live <= most, || format!("{}: {live} of {most}", turn.name(no)))
}

/// A group that is closed opens nothing, and stops everything.
fn check_closed(turn: &Turn<'_>, no: TaskNo, instances: &[&TaskRow]) -> Check {
    let (Some(group), Fact::Open) = (turn.group(no), turn.reading.fact(no)) else { return Ok(()) };
    let before = turn.group_before(no).filter(|before| before.closed.is_some());
    let was_open = turn.row_before(TaskRef::plain(no)).is_some_and(|row| row.fact == Fact::Open);
    let stays = before.is_none() || !was_open || group.closed.is_some();
    let promise = match group.closed {
        Some(Closed::FailFast) => Promise::FailFast,
        _ => Promise::Group,
    };
    promise.ensure(stays || turn.was_asked(Verb::Retry), || {
        format!("{} was closed and is not any more", turn.name(no))
    })?;
    let unopened = |group: &Group| group.count - group.next;
    let opens = before.is_some_and(|before| was_open && unopened(before) > unopened(group));
    promise.ensure(!opens || turn.was_asked(Verb::Retry), || {
        format!("{} was closed and opens more", turn.name(no))
    })?;
    if !group.is_stopping() {
        return Ok(());
    }
    let left = instances.iter().find(|row| {
        let is_at_work = row.fact.is_live() || matches!(row.fact, Fact::Waiting | Fact::WorkerDone);
        row.fact == Fact::Delayed || is_at_work && row.stopping != Some(Stopping::Cancel)
    });
    promise.ensure(left.is_none(), || {
        format!("{} goes on", left.map_or_else(String::new, |row| turn.name(row.task)))
    })?;
    // What was parked and cancelled in one commit had come first; a child is gone only later.
    let new = instances
        .iter()
        .filter(|row| !row.fact.is_settled() && row.child().is_none())
        .find(|row| row.attempt.as_ref().is_some_and(|attempt| turn.new.contains(&attempt.id)));
    promise.ensure(new.is_none(), || {
        format!("{} is new", new.map_or_else(String::new, |row| turn.name(row.task)))
    })
}

/// The failure that this commit records is the end of the others.
fn check_fail_fast(turn: &Turn<'_>, no: TaskNo, fan_out: &FanOut) -> Check {
    if fan_out.failure_strategy != FailureStrategy::FailFast {
        return Ok(());
    }
    let was_failed =
        |row: &TaskRow| turn.row_before(row.task).is_some_and(|before| before.fact == Fact::Failed);
    let failed = |row: &&TaskRow| row.fact == Fact::Failed && !was_failed(row);
    let new = turn.instances(no).find(failed);
    let closed = turn.group(no).is_some_and(|group| group.closed.is_some());
    Promise::FailFast.ensure(new.is_none() || closed, || {
        format!(
            "{} failed and the others go on",
            new.map_or_else(String::new, |row| turn.name(row.task))
        )
    })
}

/// A group says that its work is done only while that of every instance is and not all has landed.
fn check_worked(turn: &Turn<'_>, no: TaskNo, (group, fan_out): (&Group, &FanOut)) -> Check {
    let ignores = fan_out.failure_strategy == FailureStrategy::IgnoreErrors;
    let is_done = |row: &TaskRow| match row.fact {
        Fact::Success | Fact::WorkerDone => true,
        fact => ignores && fact == Fact::Failed,
    };
    let all = turn.instances(no).all(is_done) && group.next == group.count;
    let open = turn.reading.fact(no) == Fact::Open && group.closed.is_none();
    Promise::Group.ensure(!group.worked || all && open, || {
        format!("{} is said to be done: {group:?}", turn.name(no))
    })
}

/// When the last instance has its outcome, and as the strategy says.
fn check_end(turn: &Turn<'_>, no: TaskNo, (group, fan_out): (&Group, &FanOut)) -> Check {
    let fact = turn.reading.fact(no);
    if !fact.is_settled() || group.count == 0 {
        return Ok(());
    }
    let unsettled = turn.instances(no).find(|row| !row.fact.is_settled());
    Promise::GroupEnd.ensure(unsettled.is_none(), || {
        format!("{} is {} before {unsettled:?}", turn.name(no), fact.word())
    })?;
    let through = group.next == group.count || group.closed.is_some();
    let ignores = fan_out.failure_strategy == FailureStrategy::IgnoreErrors;
    let expected = match group {
        Group { closed: Some(Closed::Cancel(_)), .. } => Fact::Cancelled,
        // Whatever the strategy: there is no list.
        _ if bytes_put_out(turn, no) > OUTPUT_BYTES_MAX => Fact::Failed,
        Group { failed: 1.., .. } if !ignores => Fact::Failed,
        Group { cancelled: 1.., .. } => Fact::Cancelled,
        Group { next, count, .. } if next < count => Fact::Cancelled,
        _ => Fact::Success,
    };
    Promise::GroupEnd.ensure(through && fact == expected, || {
        format!(
            "{} is {} with {group:?}, should be {}",
            turn.name(no),
            fact.word(),
            expected.word()
        )
    })
}

/// Of all instances together, without what is between them in a list.
pub fn bytes_put_out(turn: &Turn<'_>, no: TaskNo) -> usize {
    let outputs = turn.instances(no).filter_map(TaskRow::readable_output);
    outputs.map(|output| turn.outside.blobs.value(turn.after.head.id, output).as_str().len()).sum()
}

/// What an instance has come to stays, unless somebody asks.
fn check_settled(turn: &Turn<'_>) -> Check {
    if turn.was_asked(Verb::Retry) {
        return Ok(());
    }
    for row in turn.after.tasks.iter().filter(|row| row.task.index.is_some()) {
        let before = turn.row_before(row.task).filter(|before| before.fact.is_settled());
        let same = before.is_none_or(|before| before.fact == row.fact);
        Promise::SettledStays.ensure(same, || {
            let was = before.map_or("", |before| before.fact.word());
            format!("{} was {was} and is {}", turn.name(row.task), row.fact.word())
        })?;
    }
    Ok(())
}
