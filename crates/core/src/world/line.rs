//! Finalizers that may start and wait for their permits: one line for each permit set.
//!
//! Order: higher priority first, then whose work was done first. Runs do not take turns here: work
//! that is done lands in the order in which it was.

use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::permits::{Limits, PermitSet};
use crate::time::Timestamp;
use crate::world::ready::Priority;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Where a finalizer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub priority: Reverse<Priority>,
    /// When the work was done.
    pub since: Timestamp,
    pub run: RunKey,
    pub task: TaskRef,
}

#[derive(Clone, Debug, Default)]
pub struct Line {
    lines: BTreeMap<PermitSet, BTreeSet<Place>>,
    places: BTreeMap<(RunKey, TaskRef), (PermitSet, Place)>,
}

impl Line {
    pub fn insert(&mut self, set: &PermitSet, place: Place) {
        self.remove(place.run, place.task);
        self.places.insert((place.run, place.task), (PermitSet::clone(set), place));
        self.lines.entry(PermitSet::clone(set)).or_default().insert(place);
    }

    pub fn remove(&mut self, run: RunKey, task: TaskRef) {
        let Some((set, place)) = self.places.remove(&(run, task)) else { return };
        let line = self.lines.get_mut(&set).expect("it stands in a line");
        line.remove(&place);
        if line.is_empty() {
            self.lines.remove(&set);
        }
    }

    /// Takes out everything of one run.
    pub fn remove_run(&mut self, run: RunKey) {
        self.remove_between(run, TaskNo(0), TaskNo(u32::MAX));
    }

    /// Takes out a task, or all instances of a group.
    pub fn remove_task(&mut self, run: RunKey, no: TaskNo) {
        self.remove_between(run, no, no);
    }

    fn remove_between(&mut self, run: RunKey, first: TaskNo, last: TaskNo) {
        if self.places.is_empty() {
            return;
        }
        let first = (run, TaskRef::plain(first));
        let last = (run, TaskRef { no: last, index: Some(u32::MAX) });
        let found: Vec<TaskRef> = self.places.range(first..=last).map(|((_, it), _)| *it).collect();
        found.into_iter().for_each(|task| self.remove(run, task));
    }

    /// The next one whose whole permit set is free.
    pub fn next(&self, limits: &Limits) -> Option<Place> {
        let free = self.lines.iter().filter(|(set, _)| limits.has_room(set));
        free.filter_map(|(_, line)| line.first()).min().copied()
    }

    /// When rates, and nothing else, let something through that they keep out now.
    pub fn frees_at(&self, limits: &Limits) -> Option<Timestamp> {
        self.lines.keys().filter_map(|set| limits.frees_at(set)).min()
    }

    /// What waits, by the permits that it needs.
    pub fn by_set(&self) -> impl Iterator<Item = (&PermitSet, RunKey, TaskRef)> {
        let lines = self.lines.iter();
        lines.flat_map(|(set, line)| line.iter().map(move |place| (set, place.run, place.task)))
    }

    pub fn contains(&self, run: RunKey, task: TaskRef) -> bool {
        self.places.contains_key(&(run, task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn place(priority: i32, since: i64, run: i64) -> Place {
        let run = RunKey(run);
        let (priority, since) = (Reverse((priority, 0)), Timestamp(since));
        Place { priority, since, run, task: TaskRef::plain(TaskNo(0)) }
    }

    fn drained(line: &mut Line, limits: &Limits) -> Vec<i64> {
        let mut order = Vec::new();
        while let Some(next) = line.next(limits) {
            order.push(next.run.0);
            line.remove(next.run, next.task);
        }
        order
    }

    #[test]
    fn higher_priority_first_then_oldest_whichever_run() {
        let mut limits = Limits::default();
        let set: PermitSet = Arc::from([limits.set("total", 9)]);
        let mut line = Line::default();
        for at in [place(0, 30, 1), place(0, 10, 2), place(5, 40, 3), place(0, 20, 4)] {
            line.insert(&set, at);
        }
        assert_eq!(drained(&mut line, &limits), [3, 2, 4, 1]);
    }

    #[test]
    fn a_full_queue_holds_up_no_other() {
        let mut limits = Limits::default();
        let (main, docs) = (limits.named("queue:main"), limits.named("queue:docs"));
        let (mains, others): (PermitSet, PermitSet) = (Arc::from([main]), Arc::from([docs]));
        let mut line = Line::default();
        line.insert(&mains, place(9, 10, 1));
        line.insert(&others, place(0, 20, 2));
        limits.take(&mains);
        assert_eq!(line.next(&limits).map(|it| it.run), Some(RunKey(2)));
        line.remove_run(RunKey(2));
        assert_eq!(line.next(&limits), None);
        limits.give_back(&mains);
        assert_eq!(line.next(&limits).map(|it| it.run), Some(RunKey(1)));
    }
}
