//! Tasks that may start and wait for their permits: one queue for each permit set.
//!
//! Order: run priority, task priority, round robin over runs, then task number and index. It
//! holds over all queues together, except that a set whose limits are full never holds up one
//! whose limits are free.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::permits::{Limits, PermitSet};
use crate::time::Timestamp;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Run priority before task priority, both higher first.
pub type Priority = (i32, i32);

/// Where a task waits.
type Place = (PermitSet, Reverse<Priority>);

#[derive(Clone, Debug, Default)]
pub struct Ready {
    queues: BTreeMap<PermitSet, BTreeMap<Reverse<Priority>, Level>>,
    runs: BTreeMap<RunKey, Waiting>,
    last_turn: u64,
}

/// Tasks of one set and priority; runs take turns.
#[derive(Clone, Debug, Default)]
struct Level {
    turns: BTreeSet<(u64, RunKey)>,
    tasks: BTreeMap<RunKey, BTreeSet<TaskRef>>,
}

/// A run with waiting tasks: its turn is the same wherever they wait.
#[derive(Clone, Debug)]
struct Waiting {
    turn: u64,
    places: BTreeSet<Place>,
}

impl Ready {
    pub fn insert(&mut self, set: &PermitSet, priority: Priority, run: RunKey, task: TaskRef) {
        let waiting = self.runs.entry(run).or_insert_with(|| {
            self.last_turn += 1;
            Waiting { turn: self.last_turn, places: BTreeSet::new() }
        });
        waiting.places.insert((PermitSet::clone(set), Reverse(priority)));
        let queue = self.queues.entry(PermitSet::clone(set)).or_default();
        let level = queue.entry(Reverse(priority)).or_default();
        level.turns.insert((waiting.turn, run));
        level.tasks.entry(run).or_default().insert(task);
    }

    pub fn remove(&mut self, set: &PermitSet, priority: Priority, run: RunKey, task: TaskRef) {
        let place = (PermitSet::clone(set), Reverse(priority));
        let Some(tasks) = self.level(&place).and_then(|level| level.tasks.get_mut(&run)) else {
            return;
        };
        tasks.remove(&task);
        if tasks.is_empty() {
            self.leave(run, &place);
        }
    }

    /// Takes out everything of one run.
    pub fn remove_run(&mut self, run: RunKey) {
        let places = self.runs.get(&run).map(|waiting| waiting.places.clone());
        for place in places.into_iter().flatten() {
            self.leave(run, &place);
        }
    }

    /// The priority of the task that `pop` would take.
    pub fn next_priority(&self, limits: &Limits) -> Option<Priority> {
        let free = self.queues.iter().filter(|(set, _)| limits.has_room(set));
        let heads = free.filter_map(|(_, queue)| queue.first_key_value());
        heads.map(|(priority, _)| priority.0).max()
    }

    /// Takes the next task whose whole permit set is free.
    pub fn pop(&mut self, limits: &Limits) -> Option<(RunKey, TaskRef)> {
        let (place, run, task) = self.next(limits)?;
        let tasks = self.level(&place)?.tasks.get_mut(&run)?;
        tasks.remove(&task);
        if tasks.is_empty() {
            self.leave(run, &place);
        }
        self.pass_turn(run);
        Some((run, task))
    }

    fn next(&self, limits: &Limits) -> Option<(Place, RunKey, TaskRef)> {
        let free = self.queues.iter().filter(|(set, _)| limits.has_room(set));
        let heads = free.filter_map(|(set, queue)| {
            let (priority, level) = queue.first_key_value()?;
            let (turn, run) = *level.turns.first()?;
            let task = *level.tasks.get(&run)?.first()?;
            Some(((*priority, turn, task), (set, run)))
        });
        let ((priority, _, task), (set, run)) = heads.min_by_key(|(order, _)| *order)?;
        Some(((PermitSet::clone(set), priority), run, task))
    }

    /// The run that was served goes behind the others, wherever it waits.
    fn pass_turn(&mut self, run: RunKey) {
        self.last_turn += 1;
        let Some(waiting) = self.runs.get_mut(&run) else { return };
        let before = std::mem::replace(&mut waiting.turn, self.last_turn);
        for (set, priority) in &waiting.places {
            let level = self.queues.get_mut(set).and_then(|queue| queue.get_mut(priority));
            let level = level.expect("a run waits only in levels that exist");
            level.turns.remove(&(before, run));
            level.turns.insert((self.last_turn, run));
        }
    }

    fn level(&mut self, (set, priority): &Place) -> Option<&mut Level> {
        self.queues.get_mut(set)?.get_mut(priority)
    }

    /// The run has nothing left there. What has become empty is dropped.
    fn leave(&mut self, run: RunKey, place: &Place) {
        let waiting = self.runs.get_mut(&run).expect("a run that leaves was there");
        let turn = waiting.turn;
        waiting.places.remove(place);
        if waiting.places.is_empty() {
            self.runs.remove(&run);
        }
        let level = self.level(place).expect("a run waits only in levels that exist");
        level.tasks.remove(&run);
        level.turns.remove(&(turn, run));
        if !level.turns.is_empty() {
            return;
        }
        let (set, priority) = place;
        let queue = self.queues.get_mut(set).expect("it holds the level");
        queue.remove(priority);
        if queue.is_empty() {
            self.queues.remove(set);
        }
    }

    /// Whether a task could be taken now.
    pub fn has_next(&self, limits: &Limits) -> bool {
        self.queues.keys().any(|set| limits.has_room(set))
    }

    /// When rates, and nothing else, let something through that they keep out now.
    pub fn frees_at(&self, limits: &Limits) -> Option<Timestamp> {
        self.queues.keys().filter_map(|set| limits.frees_at(set)).min()
    }

    /// What waits, by the permits that it needs.
    pub fn by_set(&self) -> impl Iterator<Item = (&PermitSet, RunKey, TaskRef)> {
        self.queues.iter().flat_map(|(set, queue)| {
            let levels = queue.values().flat_map(|level| level.tasks.iter());
            levels.flat_map(move |(run, tasks)| tasks.iter().map(move |task| (set, *run, *task)))
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = (RunKey, TaskRef)> {
        let levels = self.queues.values().flat_map(BTreeMap::values);
        levels.flat_map(|level| {
            let runs = level.tasks.iter();
            runs.flat_map(|(run, tasks)| tasks.iter().map(|task| (*run, *task)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TaskNo;
    use std::sync::Arc;

    fn task(no: u32) -> TaskRef {
        TaskRef::plain(TaskNo(no))
    }

    /// Pops everything, giving nothing back: `run.task` in order.
    fn drain(ready: &mut Ready, limits: &mut Limits, set: &PermitSet) -> Vec<String> {
        let mut order = Vec::new();
        while let Some((run, task)) = ready.pop(limits) {
            order.push(format!("{}.{}", run.0, task.no.0));
            limits.take(set);
        }
        order
    }

    #[test]
    fn priorities_first_then_runs_take_turns() {
        let mut limits = Limits::default();
        let set: PermitSet = Arc::from([limits.set("total", 100)]);
        let mut ready = Ready::default();
        for no in 0..3 {
            ready.insert(&set, (0, 0), RunKey(1), task(no));
            ready.insert(&set, (0, 0), RunKey(2), task(no));
        }
        ready.insert(&set, (0, 5), RunKey(1), task(9));
        ready.insert(&set, (1, 0), RunKey(3), task(0));
        let order = drain(&mut ready, &mut limits, &set);
        assert_eq!(order, ["3.0", "1.9", "2.0", "1.0", "2.1", "1.1", "2.2", "1.2"]);
    }

    #[test]
    fn a_full_limit_holds_up_only_those_who_need_it() {
        let mut limits = Limits::default();
        let (total, gpu) = (limits.set("total", 10), limits.set("gpu", 1));
        let (plain, gpus): (PermitSet, PermitSet) = (Arc::from([total]), Arc::from([total, gpu]));
        let mut ready = Ready::default();
        ready.insert(&gpus, (9, 9), RunKey(1), task(0));
        ready.insert(&gpus, (9, 9), RunKey(1), task(1));
        ready.insert(&plain, (0, 0), RunKey(2), task(0));
        assert_eq!(ready.pop(&limits), Some((RunKey(1), task(0))));
        limits.take(&gpus);
        assert_eq!(ready.pop(&limits), Some((RunKey(2), task(0))));
        assert_eq!(ready.pop(&limits), None);
        limits.give_back(&gpus);
        assert_eq!(ready.pop(&limits), Some((RunKey(1), task(1))));
    }

    #[test]
    fn the_order_holds_over_all_queues_together() {
        let mut limits = Limits::default();
        let (total, gpu) = (limits.set("total", 10), limits.set("gpu", 10));
        let (plain, gpus): (PermitSet, PermitSet) = (Arc::from([total]), Arc::from([total, gpu]));
        let mut ready = Ready::default();
        for no in 0..6 {
            let set = if no == 3 || no == 5 { &gpus } else { &plain };
            ready.insert(set, (0, 0), RunKey(1), task(no));
        }
        ready.insert(&gpus, (0, 0), RunKey(2), task(7));
        let order = drain(&mut ready, &mut limits, &plain);
        assert_eq!(order, ["1.0", "2.7", "1.1", "1.2", "1.3", "1.4", "1.5"]);
    }

    #[test]
    fn what_is_removed_is_not_popped() {
        let mut limits = Limits::default();
        let set: PermitSet = Arc::from([limits.set("total", 100)]);
        let mut ready = Ready::default();
        ready.insert(&set, (0, 0), RunKey(1), task(0));
        ready.insert(&set, (0, 0), RunKey(2), task(0));
        ready.insert(&set, (0, 0), RunKey(2), task(1));
        ready.remove(&set, (0, 0), RunKey(2), task(0));
        ready.remove_run(RunKey(1));
        assert_eq!(ready.pop(&limits), Some((RunKey(2), task(1))));
        assert!(ready.iter().next().is_none() && !ready.has_next(&limits));
    }
}
