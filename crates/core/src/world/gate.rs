//! Which runs are let in: a workflow's `max_active_runs`, and concurrency groups. Runs beyond them
//! are pending, in the order of their priority, then of their age.
//!
//! ```text
//!  trigger, retry ─► pending ─► admit ─► running … final ─┐
//!                       ▲                                 │ a place is free
//!                       └── looked at again ◄─────────────┘
//! ```
//! What is counted here follows from the runs in memory: every one that is not final is there.

use crate::ids::RunKey;
use crate::kernel::row::RunStatus;
use crate::limits::GROUPS_SHOWN_MAX;
use crate::time::Timestamp;
use crate::world::asleep::Asleep;
use crate::world::run::Run;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a run stands among those that wait: higher priority first, then older.
type Rank = (Reverse<i32>, Timestamp, RunKey);

/// Runs of one workflow, or of one group, that are not final.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// Running, paused or cancelling.
    active: u32,
    pending: BTreeSet<Rank>,
    /// Of a group: what those that wait have for its limit, and how many of them. Versions and
    /// workflows that share a key may differ.
    limits: BTreeMap<u32, u32>,
}

impl Lane {
    fn join(&mut self, rank: Rank, limit: Option<u32>) {
        self.pending.insert(rank);
        limit.into_iter().for_each(|limit| *self.limits.entry(limit).or_default() += 1);
    }

    fn leave(&mut self, rank: &Rank, limit: Option<u32>) {
        self.pending.remove(rank);
        let left = limit.and_then(|limit| self.limits.get_mut(&limit).map(|left| (limit, left)));
        if let Some((limit, left)) = left {
            *left -= 1;
            if *left == 0 {
                self.limits.remove(&limit);
            }
        }
    }

    /// Of a group: those that wait although nothing else may be in their way.
    fn kept_out(&self) -> u64 {
        self.limits.range(..=self.active).map(|(_, waiting)| u64::from(*waiting)).sum()
    }
}

/// Where somebody may wait.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Workflow(Arc<str>),
    Group(Arc<str>),
}

/// How a place stands that bounds how many runs are active.
#[derive(Clone, Copy, Debug)]
pub struct Bounded<'a> {
    pub place: &'a Place,
    pub limit: u32,
    pub active: u32,
    /// Runs that are pending and that this keeps out.
    pub waiting: u64,
}

/// How a run is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    Pending,
    Active,
    /// Final, or not here.
    Gone,
}

impl Stand {
    pub const fn of(status: RunStatus) -> Self {
        match status {
            RunStatus::Pending => Self::Pending,
            RunStatus::Running | RunStatus::Paused | RunStatus::Cancelling => Self::Active,
            RunStatus::Success | RunStatus::Failed | RunStatus::Cancelled => Self::Gone,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Gate {
    lanes: BTreeMap<Place, Lane>,
    /// Runs of a group that are not final, oldest first.
    members: BTreeMap<Arc<str>, BTreeSet<(Timestamp, RunKey)>>,
    /// The newest version of each workflow that came by, and how many runs may be active by it.
    max_active: BTreeMap<Arc<str>, (u32, Option<u32>)>,
    /// Where a place may have become free.
    again: BTreeSet<Place>,
}

impl Gate {
    /// A version of a workflow came by: the latest one's number counts.
    pub fn note_version(&mut self, workflow: &Arc<str>, version: u32, max: Option<u32>) {
        let known = self.max_active.get(workflow).copied();
        if known.is_some_and(|(known, _)| known > version) {
            return;
        }
        self.max_active.insert(Arc::clone(workflow), (version, max));
        if known.is_some_and(|(_, known)| known != max) {
            self.again.insert(Place::Workflow(Arc::clone(workflow)));
        }
    }

    /// Whether the number of a workflow's runs is bounded.
    pub fn bounds(&self, workflow: &str) -> bool {
        self.max_active.get(workflow).is_some_and(|(_, max)| max.is_some())
    }

    fn max_active(&self, run: &Run) -> Option<u32> {
        // Children come with their parents, which are counted.
        let (_, max) = self.max_active.get(&run.head.workflow)?;
        max.filter(|_| run.head.parent.is_none())
    }

    /// A run stands otherwise than before.
    pub fn moved(&mut self, run: &Run, (from, to): (Stand, Stand)) {
        if from == to {
            return;
        }
        let rank = (Reverse(run.head.priority), run.head.created_at, run.head.key);
        for place in places(run) {
            let lane = self.lanes.entry(place.clone()).or_default();
            let limit = matches!(place, Place::Group(_)).then(|| run.group_limit());
            match from {
                Stand::Pending => lane.leave(&rank, limit),
                Stand::Active => {
                    let left = lane.active.checked_sub(1);
                    lane.active = left.expect("a run is counted once");
                }
                Stand::Gone => {}
            }
            match to {
                Stand::Pending => lane.join(rank, limit),
                Stand::Active => lane.active += 1,
                Stand::Gone => {}
            }
            let has_waiting = !lane.pending.is_empty();
            if *lane == Lane::default() {
                self.lanes.remove(&place);
            }
            // Without a bound, nobody waits for the workflow but those who come.
            let is_waited_for = match &place {
                Place::Workflow(name) => self.bounds(name) || run.holds.is_none(),
                Place::Group(_) => true,
            };
            if has_waiting && to != Stand::Active && is_waited_for {
                self.again.insert(place);
            }
        }
        if let Some(group) = &run.holds {
            self.count_member(run, group, to);
        }
    }

    fn count_member(&mut self, run: &Run, group: &Arc<str>, to: Stand) {
        let members = self.members.entry(Arc::clone(group)).or_default();
        let member = (run.head.created_at, run.head.key);
        match to {
            Stand::Gone => members.remove(&member),
            Stand::Pending | Stand::Active => members.insert(member),
        };
        if members.is_empty() {
            self.members.remove(group);
        }
    }

    /// Runs of a group that are not final, oldest first.
    pub fn members(&self, group: &str) -> Vec<RunKey> {
        self.members.get(group).into_iter().flatten().map(|(_, key)| *key).collect()
    }

    /// Places that bound how many runs are active, where there are some: every workflow's, and of
    /// the groups those that most wait for.
    pub fn bounded(&self, runs: &BTreeMap<RunKey, Box<Run>>) -> Vec<Bounded<'_>> {
        let mut found = Vec::new();
        let mut groups = Vec::new();
        for (place, lane) in &self.lanes {
            let Place::Workflow(name) = place else {
                groups.push((place, lane));
                continue;
            };
            if let Some((_, Some(limit))) = self.max_active.get(name) {
                let (limit, active) = (*limit, lane.active);
                let waiting = if active < limit { 0 } else { lane.pending.len() as u64 };
                found.push(Bounded { place, limit, active, waiting });
            }
        }
        groups.sort_by_key(|(_, lane)| Reverse((lane.kept_out(), lane.active)));
        found.extend(groups.into_iter().take(GROUPS_SHOWN_MAX).map(|(place, lane)| Bounded {
            place,
            limit: self.group_limit(place, lane, runs),
            active: lane.active,
            waiting: lane.kept_out(),
        }));
        found
    }

    /// Runs that share a key may differ in its limit: shown is what counts for the next one that
    /// waits, else what the newest one has.
    fn group_limit(&self, place: &Place, lane: &Lane, runs: &BTreeMap<RunKey, Box<Run>>) -> u32 {
        let next = lane.pending.first().map(|(.., key)| *key);
        let newest = match place {
            Place::Group(group) => self.members.get(group).and_then(BTreeSet::last),
            Place::Workflow(_) => None,
        };
        let run = next.or(newest.map(|(_, key)| *key)).and_then(|key| runs.get(&key));
        run.map_or(u32::MAX, |run| run.group_limit())
    }

    /// Runs that are pending at a place, in the order in which they are let in.
    pub fn pending(&self, place: &Place) -> impl Iterator<Item = RunKey> {
        let lane = self.lanes.get(place);
        lane.into_iter().flat_map(|lane| &lane.pending).map(|(.., key)| *key)
    }

    fn active(&self, place: &Place) -> u32 {
        self.lanes.get(place).map_or(0, |lane| lane.active)
    }

    /// Whether a run may be active beside those that are.
    pub fn has_room(&self, run: &Run) -> bool {
        places(run).iter().all(|place| match place {
            Place::Workflow(_) => self.max_active(run).is_none_or(|max| self.active(place) < max),
            Place::Group(_) => self.active(place) < run.group_limit(),
        })
    }

    /// Somebody may be let in.
    pub fn is_open(&self) -> bool {
        !self.again.is_empty()
    }

    /// The run that is let in next. What is left of those that were looked at waits for another
    /// to end.
    pub fn next(&mut self, runs: &BTreeMap<RunKey, Box<Run>>) -> Option<RunKey> {
        while let Some(place) = self.again.first().cloned() {
            if let Some(key) = self.first_at(&place, runs) {
                return Some(key);
            }
            self.again.remove(&place);
        }
        None
    }

    fn first_at(&self, place: &Place, runs: &BTreeMap<RunKey, Box<Run>>) -> Option<RunKey> {
        if self.is_full(place, runs) {
            return None;
        }
        let mut pending = self.lanes.get(place)?.pending.iter().map(|(.., key)| *key);
        pending.find(|key| runs.get(key).is_some_and(|run| self.has_room(run)))
    }

    /// Nobody is looked at where no one of those that wait would find a place.
    fn is_full(&self, place: &Place, runs: &BTreeMap<RunKey, Box<Run>>) -> bool {
        let Some(lane) = self.lanes.get(place) else { return true };
        let max = match place {
            Place::Workflow(_) => {
                let first = lane.pending.first().and_then(|(.., key)| runs.get(key));
                first.and_then(|run| self.max_active(run))
            }
            Place::Group(_) => lane.limits.last_key_value().map(|(limit, _)| *limit),
        };
        max.is_some_and(|max| lane.active >= max)
    }

    /// Counted anew from the runs: for whoever compares.
    pub fn recounted(runs: &BTreeMap<RunKey, Box<Run>>, asleep: &BTreeMap<RunKey, Asleep>) -> Self {
        let mut gate = Self::default();
        for Asleep { workflow, .. } in asleep.values() {
            let place = Place::Workflow(Arc::clone(workflow));
            gate.lanes.entry(place).or_default().active += 1;
        }
        for run in runs.values() {
            gate.moved(run, (Stand::Gone, Stand::of(run.progress.status)));
        }
        gate
    }

    /// Whether both count the same.
    pub fn counts_like(&self, other: &Self) -> bool {
        self.lanes == other.lanes && self.members == other.members
    }

    /// One that waits although it could be let in, and that nobody is about to look at.
    pub fn forgotten(&self, runs: &BTreeMap<RunKey, Box<Run>>) -> Option<RunKey> {
        let is_looked_at = |run: &Run| places(run).iter().any(|place| self.again.contains(place));
        let pending = runs.values().filter(|run| run.progress.status == RunStatus::Pending);
        let is_behind = |run: &Run| places(run).iter().any(|place| self.is_full(place, runs));
        let mut lost =
            pending.filter(|run| self.has_room(run) && !is_looked_at(run) && !is_behind(run));
        lost.next().map(|run| run.head.key)
    }
}

/// Where a run is counted.
fn places(run: &Run) -> Vec<Place> {
    let workflow = run.head.parent.is_none().then(|| Arc::clone(&run.head.workflow));
    let group = run.holds.clone().map(Place::Group);
    workflow.map(Place::Workflow).into_iter().chain(group).collect()
}
