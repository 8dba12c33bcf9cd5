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
use crate::spec::definition::When;
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

/// Walks down from the roots. Tasks without a row are passed through: what is derived for
/// them may change.
pub fn what_goes_back(run: Ground<'_>, roots: &[TaskNo]) -> Result<Vec<(TaskNo, Event)>, AtWork> {
    let mut ways: BTreeMap<TaskNo, Way> = roots.iter().map(|no| (*no, Way::Revived)).collect();
    let mut back: BTreeMap<TaskNo, Event> = roots.iter().map(|no| (*no, Event::Retried)).collect();
    let mut pending: Vec<TaskNo> = roots.to_vec();
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
    Ok(back.into_iter().collect())
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
        Fact::Delayed | Fact::Dispatched | Fact::Running | Fact::Waiting | Fact::WorkerDone => {
            if must {
                return Err(AtWork(no));
            }
            Ok(None)
        }
    }
}

/// By itself, or derived.
fn is_cancelled(run: Ground<'_>, no: TaskNo) -> bool {
    match run.rows.fact(no) {
        Fact::Cancelled => true,
        Fact::None => run.plan.doom(no) == Some(Doom::Cancelled),
        _ => false,
    }
}
