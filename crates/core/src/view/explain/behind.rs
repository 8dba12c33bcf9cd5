//! What a run that is pending waits for: others that are active.

use super::reason::{Behind, Reason};
use super::seen::NAMED_MAX;
use crate::kernel::row::RunHead;

/// A place that bounds how many runs are active, and those that are.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    Workflow { limit: u32, active: &'a [RunHead] },
    Group { limit: u32, active: &'a [RunHead] },
}

/// Those that are full.
pub fn behind(run: &RunHead, places: &[Place<'_>]) -> Vec<Reason> {
    places.iter().filter_map(|place| full(run, *place)).collect()
}

/// A child passes a group that a run above it is in.
fn passes(run: &RunHead, active: &[RunHead]) -> bool {
    let parent = |run: &&RunHead| active.iter().find(|other| Some(other.id) == run.parent_run());
    let above = std::iter::successors(parent(&run), parent);
    above.into_iter().any(|above| above.group == run.group)
}

fn full(run: &RunHead, place: Place<'_>) -> Option<Reason> {
    let (limit, active) = match place {
        Place::Workflow { limit, active } | Place::Group { limit, active } => (limit, active),
    };
    let is_counted = |other: &&RunHead| match place {
        // Children come with their parents, which are counted.
        Place::Workflow { .. } => other.workflow == run.workflow && other.parent.is_none(),
        Place::Group { .. } => {
            run.group.is_some() && other.group == run.group && !passes(other, active)
        }
    };
    let mut counted: Vec<&RunHead> = active.iter().filter(is_counted).collect();
    counted.sort_by_key(|other| (other.created_at, other.id));
    let number = u32::try_from(counted.len()).unwrap_or(u32::MAX);
    if number < limit {
        return None;
    }
    let runs = counted.iter().take(NAMED_MAX).map(|other| other.id).collect();
    let told = |name: &str| Behind { name: name.to_owned(), limit, active: number, runs };
    Some(match place {
        Place::Workflow { .. } => Reason::MaxActiveRuns(told(&run.workflow)),
        Place::Group { .. } => Reason::ConcurrencyGroup(told(run.group.as_deref()?)),
    })
}
