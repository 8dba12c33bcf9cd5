//! What goes into a fan-out and what comes out of it: how many instances there are, whether the
//! condition was heeded, what attempts put out, and the list of it.

use crate::sim::conditions::{Says, says};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::groups::bytes_put_out;
use crate::sim::promises::record::Turn;
use crate::sim::tally::Tally;
use mainspring_core::ids::{TaskNo, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, RunStatus, TaskRow};
use mainspring_core::limits::OUTPUT_BYTES_MAX;
use mainspring_core::output::Output;
use mainspring_core::spec::definition::{Each, FanOut, Times, When};

pub fn check(turn: &Turn<'_>, tally: &mut Tally) -> Check {
    for row in turn.after.tasks.iter().filter(|row| turn.row_before(row.task) != Some(row)) {
        let attempt = row.attempt.as_ref();
        if let Some(attempt) = attempt.filter(|_| !is_parked(turn, row.task)) {
            check_put_out(turn, attempt, row.output.as_ref())?;
        }
        if row.task.index.is_none() {
            check_group(turn, row, tally)?;
        }
    }
    let new = |attempt: &Attempt| turn.ended.iter().any(|(_, ended)| ended.id == attempt.id);
    let history = turn.history.iter().filter(|past| !is_parked(turn, past.task));
    for past in history.filter(|past| new(&past.attempt)) {
        check_put_out(turn, &past.attempt, past.output.as_ref())?;
    }
    check_run_output(turn)
}

/// No executor has a word in it.
fn is_parked(turn: &Turn<'_>, task: TaskRef) -> bool {
    turn.definition.task(task.no).control().is_some()
}

/// Sketches name one task: what it put out is the run's.
fn check_run_output(turn: &Turn<'_>) -> Check {
    let progress = &turn.after.progress;
    let named = turn.definition.outputs.as_ref().and_then(|outputs| outputs.reads.first());
    let expected = named.filter(|_| progress.status == RunStatus::Success).map(|no| {
        let output = turn.reading.row(*no).and_then(TaskRow::readable_output);
        let text =
            output.map_or_else(|| "null".to_owned(), |output| value(turn, output).to_string());
        format!("{{\"{}\":{text}}}", turn.definition.task(*no).name)
    });
    let found = progress.output.as_ref().map(|output| value(turn, output));
    // Numbers and spaces may be written otherwise.
    let same = match (&found, &expected) {
        (Some(found), Some(expected)) => serde_json::from_str(expected)
            .is_ok_and(|expected: serde_json::Value| found.to_value() == expected),
        (found, expected) => found.is_none() && expected.is_none(),
    };
    Promise::RunOutput.ensure(same, || {
        format!("run {} put out {found:?}, should be {expected:?}", turn.after.head.key.0)
    })
}

/// What its executor was told by the attempt, and nothing else.
fn check_put_out(turn: &Turn<'_>, attempt: &Attempt, output: Option<&Output>) -> Check {
    let said = turn.outside.executors.put_out.get(&attempt.id).and_then(Option::as_ref);
    let holds = attempt.end != Some(AttemptEnd::Success) || said == output;
    Promise::PutOut
        .ensure(holds, || format!("{:?} put out {said:?}, kept is {output:?}", attempt.id))
}

fn check_group(turn: &Turn<'_>, row: &TaskRow, tally: &mut Tally) -> Check {
    let no = row.task.no;
    let Some(fan_out) = &turn.definition.task(no).fan_out else { return Ok(()) };
    let count = row.group.as_ref().map_or(0, |group| group.count);
    match row.fact {
        // There is no list of more than an output may have, and that is its failure.
        Fact::Failed if bytes_put_out(turn, no) > OUTPUT_BYTES_MAX => {}
        Fact::Success | Fact::Failed if count > 0 => check_list(turn, row, count)?,
        Fact::Open if row.group.as_ref().is_some_and(|group| group.worked) => {
            check_list(turn, row, count)?;
            tally.count(("fan-out", "worked", ""));
        }
        _ => {}
    }
    let opened = count > 0 && row.fact != Fact::None;
    let decided = matches!(row.fact, Fact::Success | Fact::Failed | Fact::Skipped) && !opened;
    let before = turn.row_before(row.task);
    let new = before.is_none_or(|before| before.fact == Fact::None);
    if new && (opened || decided) && is_fixed(turn, no) {
        check_opening(turn, row, fan_out, tally)?;
    }
    Ok(())
}

/// Nothing above can look different from what it was when this was decided. Work that was done may
/// have failed to land since.
fn is_fixed(turn: &Turn<'_>, no: TaskNo) -> bool {
    turn.definition.task(no).depends_on.iter().all(|edge| {
        let lands = turn.definition.task(edge.upstream).finalize.is_some();
        let may_change = edge.when == When::Started || edge.when == When::Completed && lands;
        !may_change && turn.reading.standing(edge.upstream).is_settled()
    })
}

/// In the order of the indexes, null where there is none.
fn check_list(turn: &Turn<'_>, row: &TaskRow, count: u32) -> Check {
    let mut list = vec!["null".to_owned(); count as usize];
    for instance in turn.instances(row.task.no) {
        if let (Some(index), Some(output)) = (instance.task.index, instance.readable_output()) {
            list[index as usize] = value(turn, output).as_str().to_owned();
        }
    }
    let expected = format!("[{}]", list.join(","));
    let output = row.output.as_ref().map(|output| value(turn, output));
    Promise::FanIn.ensure(output.as_ref().map(Json::as_str) == Some(&*expected), || {
        format!("{} puts out {output:?}, should be {expected}", turn.name(row.task))
    })
}

fn value(turn: &Turn<'_>, output: &Output) -> Json {
    turn.outside.blobs.value(turn.after.head.id, output)
}

/// As many as it was told to, or none at all, and then for a reason.
fn check_opening(turn: &Turn<'_>, row: &TaskRow, fan_out: &FanOut, tally: &mut Tally) -> Check {
    let no = row.task.no;
    let task = turn.definition.task(no);
    let above = task
        .depends_on
        .iter()
        .map(|edge| turn.reading.row(edge.upstream).and_then(TaskRow::readable_output));
    let said = says(task, above);
    let count = row.group.as_ref().map_or(0, |group| group.count);
    let name = || format!("{} is {} with {count} instances", turn.name(no), row.fact.word());
    let expected = count_of(turn, fan_out);
    let (what, holds) = match (said, expected) {
        (Says::Skip, _) => ("skipped", row.fact == Fact::Skipped),
        (Says::Nonsense, _) => ("nonsense", row.fact == Fact::Failed && count == 0),
        (Says::Run, None) => ("no list", row.fact == Fact::Failed && count == 0),
        (Says::Run, Some(0)) => ("none", row.fact == Fact::Success && is_empty_list(turn, row)),
        (Says::Run, Some(expected)) => ("opened", count == expected),
    };
    tally.count(("fan-out", what, ""));
    if said == Says::Run {
        return Promise::OpenedOnce.ensure(holds, || format!("{}, should be {expected:?}", name()));
    }
    Promise::Conditions.ensure(holds, || format!("{}, should be {said:?}", name()))
}

fn is_empty_list(turn: &Turn<'_>, row: &TaskRow) -> bool {
    row.output.as_ref().is_some_and(|output| value(turn, output).as_str() == "[]")
}

/// None when that cannot be said.
fn count_of(turn: &Turn<'_>, fan_out: &FanOut) -> Option<u32> {
    let items = match &fan_out.foreach {
        None => 1,
        Some(Each::Fixed(list)) => items(list)?,
        Some(Each::From(path)) => {
            let source = turn.reading.row(path.task)?;
            debug_assert_eq!(source.task, TaskRef::plain(path.task));
            items(&value(turn, source.readable_output()?))?
        }
    };
    let times = match &fan_out.parallel {
        None => 1,
        Some(Times::Fixed(times)) => *times,
        Some(Times::From(_)) => unreachable!("sketches have no such number"),
    };
    Some(items * times)
}

fn items(list: &Json) -> Option<u32> {
    let items = serde_json::from_str::<Vec<serde_json::Value>>(list.as_str()).ok()?;
    u32::try_from(items.len()).ok()
}
