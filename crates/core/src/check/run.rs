//! A run as a whole: what its row says is what its tasks say.

use super::group;
use super::history;
use super::row;
use super::violation::{Promise, Violation};
use crate::ids::AttemptId;
use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::permits::Limits;
use crate::kernel::row::{AttemptRow, Counts, LogSize, RunHead, RunProgress, RunStatus, TaskRow};
use crate::kernel::rows;
use crate::kernel::wait::ApprovalPlace;
use crate::plan::dag::outcome::outcome;
use crate::spec::definition::Definition;
use crate::time::Timestamp;
use crate::view::words::words;
use crate::world::blueprint::Blueprint;
use crate::world::parked::approval_place;
use crate::world::run::{Run, count};
use std::sync::Arc;

/// Everything that is stored of a run.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    pub head: &'a RunHead,
    pub progress: &'a RunProgress,
    pub tasks: &'a [TaskRow],
    /// Superseded attempts.
    pub attempts: &'a [AttemptRow],
    pub logs: &'a [(AttemptId, LogSize)],
    /// Where its approvals are in the list of those that wait, by task.
    pub approvals: &'a [ApprovalPlace],
}

/// What of a run is not as promised. `definition` is the version it is pinned to.
pub fn check(definition: &Arc<Definition>, stored: Rows<'_>) -> Vec<Violation> {
    let known = |row: &&TaskRow| row.task.no.position() < definition.tasks.len();
    let mut found: Vec<Violation> =
        stored.tasks.iter().filter(|row| !known(row)).map(unknown_task).collect();
    let mut kept = rows::Rows::new(definition.tasks.len());
    for row in stored.tasks.iter().filter(known) {
        let task = definition.task(row.task.no);
        found.extend(row::check(task, row));
        if row.task.index.is_none() {
            kept.put(row.clone());
        }
    }
    found.extend(group::check(definition, stored.tasks));
    found.extend(history::check(definition, stored));
    found.extend(listed(stored));
    let blueprint =
        Blueprint::new(Arc::clone(definition), stored.head.version, &mut Limits::default());
    let (head, progress) = (Arc::new(stored.head.clone()), stored.progress.clone());
    let run = Run::new(head, progress, Arc::new(blueprint), kept);
    found.extend(stamp(&run.progress));
    found.extend(counts(&run));
    match run.progress.status.is_final() {
        true => found.extend(is_final(&run)),
        false => found.extend(goes_on(&run)),
    }
    found
}

fn unknown_task(row: &TaskRow) -> Violation {
    let what = format!("there is a row of task number {}, which it has not", row.task.no.0);
    Violation::new(Promise::Tasks, what)
}

/// What waits for a person is in the list of that, and nothing else.
fn listed(stored: Rows<'_>) -> Option<Violation> {
    let key = stored.head.key;
    let waiting = stored.tasks.iter().filter_map(|row| approval_place(key, row));
    let is_right = waiting.eq(stored.approvals.iter().copied());
    (!is_right).then(|| {
        let what = "what waits for an approval is not what the list of approvals says";
        Violation::new(Promise::Approvals, what)
    })
}

/// Stamps begin with 1, and the next one must fit into 63 bits.
fn stamp(progress: &RunProgress) -> Option<Violation> {
    let stamp = progress.stamp;
    let is_possible = stamp > 0 && i64::try_from(stamp).is_ok_and(|stamp| stamp < i64::MAX);
    (!is_possible).then(|| Violation::new(Promise::Stamps, format!("no commit has stamp {stamp}")))
}

fn counts(run: &Run) -> Option<Violation> {
    let total = u32::try_from(run.blueprint.definition.tasks.len()).unwrap_or(u32::MAX);
    let mut expected = Counts { total, ..Counts::default() };
    for row in run.rows.iter() {
        count(&mut expected, row.fact).into_iter().for_each(|n| *n += 1);
    }
    let counted = run.progress.counts;
    (counted != expected).then(|| {
        let what = format!("its row counts {}; its tasks are {}", shown(counted), shown(expected));
        Violation::new(Promise::Counts, what)
    })
}

fn shown(counts: Counts) -> String {
    let Counts { total, live, waiting, worker_done, success, failed, cancelled, skipped } = counts;
    format!(
        "{total} in all: {live} live, {waiting} waiting, {worker_done} worker_done, {success} success, {failed} failed, {cancelled} cancelled, \
         {skipped} skipped"
    )
}

fn is_final(run: &Run) -> Vec<Violation> {
    let progress = &run.progress;
    let word = progress.status.word();
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push(Violation::new(Promise::Final, what));
    let shown = words(run.blueprint.shape(), progress, &run.rows, Timestamp(i64::MAX));
    for (no, shown) in run.blueprint.graph.tasks().zip(shown) {
        if !shown.word.is_settled() {
            wrong(format!("it is {word}, and task '{}' is {}", name(run, no), shown.word));
        }
    }
    let expected = outcome(progress.cancel.as_ref(), run.blueprint.shape(), &run.rows);
    // Its tasks were well, and what it should put out could not be made of theirs.
    let has_no_outputs = progress.status == RunStatus::Failed
        && progress.error.is_some()
        && run.blueprint.definition.has_outputs();
    if expected != progress.status && !(expected == RunStatus::Success && has_no_outputs) {
        wrong(format!("it is {word}, and by its tasks it is {}", expected.word()));
    }
    if progress.finished_at.is_none() {
        wrong(format!("it is {word}, and has no moment of its end"));
    }
    if progress.hold.is_some() {
        wrong(format!("it is {word}, and held"));
    }
    found
}

fn goes_on(run: &Run) -> Vec<Violation> {
    let progress = &run.progress;
    let word = progress.status.word();
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push(Violation::new(Promise::GoesOn, what));
    if progress.finished_at.is_some() {
        wrong(format!("it is {word}, and has a moment of its end"));
    }
    if progress.hold.is_some() != (progress.status == RunStatus::Paused) {
        wrong(format!("it is {word}: a hold belongs to a paused run, and to no other"));
    }
    if progress.cancel.is_some() != (progress.status == RunStatus::Cancelling) {
        wrong(format!("it is {word}: who cancels belongs to a cancelling run, and to no other"));
    }
    if progress.status != RunStatus::Pending && progress.opened_at.is_none() {
        wrong(format!("it is {word}, and was never opened: its timeout counts from there"));
    }
    if progress.alone_since.is_some() && progress.cancel.is_none() {
        wrong(format!("it is {word}: a grace belongs to a cancelling run, and to no other"));
    }
    // As the engine would see it, which does not believe the run's own counts.
    if run.is_over() {
        wrong(format!("it is {word}, and nothing is left to be done"));
    } else if progress.status == RunStatus::Running && !moves(run) {
        wrong("it is running, and none of its tasks can go on".to_owned());
    }
    found
}

/// Something of it is at work, can start, comes by its time, or waits for a person.
fn moves(run: &Run) -> bool {
    let mut unsettled =
        run.blueprint.graph.tasks().filter(|no| !run.plan.is_settled(&run.rows, *no));
    unsettled.any(|no| match run.rows.fact(no) {
        Fact::Dispatched | Fact::Running | Fact::Open => true,
        Fact::Delayed => run.rows.get(no).is_some_and(|row| row.until.is_some()),
        Fact::None => run.rows.is_held(no) || run.plan.is_open(no),
        // Its time comes, or somebody sends or decides what it waits for.
        Fact::Waiting => run.rows.get(no).is_some_and(|row| row.awaited().is_some()),
        // It stands in line, is at work, or somebody holds it.
        Fact::WorkerDone => run.rows.get(no).is_some_and(|row| row.finalizing().is_some()),
        Fact::Success | Fact::Failed | Fact::Cancelled | Fact::Skipped => false,
    })
}

fn name(run: &Run, no: TaskNo) -> &str {
    &run.blueprint.definition.task(no).name
}
