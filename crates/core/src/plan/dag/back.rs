//! What a retry takes back.
//!
//! Back go the failed and cancelled tasks; below them those that ran because of the failure,
//! and everything settled below these. Blocked ones have no row and revive by themselves;
//! other successes stay.

use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::rows::Rows;
use crate::kernel::transition::Event;
use crate::plan::dag::edge::Doom;
use crate::plan::dag::plan::{Plan, Shape};
use crate::spec::definition::{FanOut, When};
use std::collections::BTreeMap;

/// This one would have to go back and is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtWork(pub TaskNo);

/// Why a task is on the way of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// It will be decided again, its own row (if any) was not an outcome of its own doing.
    Revived,
    /// It must go back because something above it did after it had run.
    SentBack,
}

/// A run as the walk sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    pub shape: Shape<'a>,
    pub plan: &'a Plan,
    pub rows: &'a Rows,
}

/// One task that goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Back {
    pub no: TaskNo,
    pub event: Event,
    pub footing: Footing,
}

/// What a task that goes back had been decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footing {
    /// Is as it was: what of a group has succeeded stays.
    Stays,
    /// Will be decided again, and so is everything that followed.
    Gone,
}

/// Walks down from the roots. Tasks without a row are passed through: what is derived for
/// them may change.
pub fn what_goes_back(run: Ground<'_>, roots: &[TaskNo]) -> Result<Vec<Back>, AtWork> {
    let mut ways: BTreeMap<TaskNo, Way> = roots.iter().map(|no| (*no, Way::Revived)).collect();
    let mut back: BTreeMap<TaskNo, Event> = roots.iter().map(|no| (*no, Event::Retried)).collect();
    // What never began because the run was over begins now.
    let over = run.shape.graph.tasks().filter(|no| is_over(run, *no));
    ways.extend(over.map(|no| (no, Way::Revived)));
    let mut pending: Vec<TaskNo> = ways.keys().copied().collect();
    while let Some(no) = pending.pop() {
        let way = ways[&no];
        for (edge, dependent) in run.shape.graph.dependents(no) {
            let when = run.shape.graph.edge(*edge).when;
            let Some(follows) = follow(run, (no, way), when, *dependent)? else { continue };
            if ways.get(dependent) >= Some(&follows) {
                continue;
            }
            ways.insert(*dependent, follows);
            pending.push(*dependent);
            match run.rows.fact(*dependent) {
                Fact::Cancelled => back.insert(*dependent, Event::Retried),
                Fact::None => None,
                _ if back.contains_key(dependent) => None,
                _ => back.insert(*dependent, Event::SentBack),
            };
        }
    }
    let footing = |no: TaskNo| {
        // Also when what it stood on has no row: it was decided by what is above it.
        let gone =
            ways[&no] == Way::SentBack || stands_on(run, no).any(|no| ways.contains_key(&no));
        if gone { Footing::Gone } else { Footing::Stays }
    };
    Ok(back
        .iter()
        .map(|(no, event)| Back { no: *no, event: *event, footing: footing(*no) })
        .collect())
}

/// Tasks that must be as they were for what was decided about this one to hold. That something has
/// started is for good.
fn stands_on(run: Ground<'_>, no: TaskNo) -> impl Iterator<Item = TaskNo> {
    let task = run.shape.definition.task(no);
    let edges = task.depends_on.iter().filter(|edge| edge.when != When::Started);
    let fan_out = task.fan_out.as_ref();
    edges.map(|edge| edge.upstream).chain(fan_out.into_iter().flat_map(FanOut::reads))
}

/// Whether a dependent is affected when the task above it goes back, and how.
fn follow(
    run: Ground<'_>,
    (above, way): (TaskNo, Way),
    when: When,
    no: TaskNo,
) -> Result<Option<Way>, AtWork> {
    let must = way == Way::SentBack || matches!(when, When::Failed | When::Finished);
    match run.rows.fact(no) {
        Fact::None => Ok(Some(way)),
        // Cancelled together with the task above it, not by its own name.
        Fact::Cancelled if must || is_cancelled(run, above) => Ok(Some(way)),
        // Skipped by a condition that may look different now.
        Fact::Skipped => Ok(Some(Way::SentBack)),
        Fact::Success | Fact::Failed if must => Ok(Some(Way::SentBack)),
        Fact::Success | Fact::Failed | Fact::Cancelled => Ok(None),
        Fact::Delayed
        | Fact::Dispatched
        | Fact::Running
        | Fact::Waiting
        | Fact::WorkerDone
        | Fact::Open => {
            if must || is_made_of(run, no, above) {
                return Err(AtWork(no));
            }
            Ok(None)
        }
    }
}

/// An open group whose instances are the items of what this task put out, be it a failure that was
/// allowed: the list must not change under them.
fn is_made_of(run: Ground<'_>, no: TaskNo, above: TaskNo) -> bool {
    let fan_out = run.shape.definition.task(no).fan_out.as_ref();
    run.rows.fact(no) == Fact::Open
        && fan_out.is_some_and(|fan_out| fan_out.reads().any(|read| read == above))
}

/// It has no row, because its run was over before it could begin.
fn is_over(run: Ground<'_>, no: TaskNo) -> bool {
    run.rows.fact(no) == Fact::None && run.plan.doom(no) == Some(Doom::RunOver)
}

/// By itself, or derived.
fn is_cancelled(run: Ground<'_>, no: TaskNo) -> bool {
    match run.rows.fact(no) {
        Fact::Cancelled => true,
        Fact::None => run.plan.doom(no) == Some(Doom::Cancelled),
        _ => false,
    }
}
