//! Tasks that may start and wait for their permits: one queue for each permit set.
//!
//! Order: run priority, task priority, round robin over runs, then task number and index.
//! A set whose limits are full never holds up one whose limits are free.

use crate::ids::{RunKey, TaskRef};
use crate::kernel::permits::{Limits, PermitSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Run priority before task priority, both higher first.
pub type Priority = (i32, i32);

#[derive(Clone, Debug, Default)]
pub struct Ready {
    queues: BTreeMap<PermitSet, Queue>,
    /// Counts servings; also the turns of runs.
    turn: u64,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    levels: BTreeMap<Reverse<Priority>, Level>,
    /// When a task was last taken from here.
    served: u64,
}

/// Runs of one priority, taking turns.
#[derive(Clone, Debug, Default)]
struct Level {
    turns: BTreeMap<u64, RunKey>,
    runs: BTreeMap<RunKey, Waiting>,
}

#[derive(Clone, Debug)]
struct Waiting {
    turn: u64,
    tasks: BTreeSet<TaskRef>,
}

impl Ready {
    pub fn insert(&mut self, set: &PermitSet, priority: Priority, run: RunKey, task: TaskRef) {
        self.turn += 1;
        let turn = self.turn;
        let queue = self.queues.entry(PermitSet::clone(set)).or_default();
        let level = queue.levels.entry(Reverse(priority)).or_default();
        let waiting = level.runs.entry(run).or_insert_with(|| {
            level.turns.insert(turn, run);
            Waiting { turn, tasks: BTreeSet::new() }
        });
        waiting.tasks.insert(task);
    }

    pub fn remove(&mut self, set: &PermitSet, priority: Priority, run: RunKey, task: TaskRef) {
        let Some(queue) = self.queues.get_mut(set) else { return };
        let Some(level) = queue.levels.get_mut(&Reverse(priority)) else { return };
        level.remove(run, task);
        self.tidy(set, priority);
    }

    /// Takes out everything of one run.
    pub fn remove_run(&mut self, run: RunKey) {
        for queue in self.queues.values_mut() {
            for level in queue.levels.values_mut() {
                if let Some(waiting) = level.runs.remove(&run) {
                    level.turns.remove(&waiting.turn);
                }
            }
            queue.levels.retain(|_, level| !level.runs.is_empty());
        }
        self.queues.retain(|_, queue| !queue.levels.is_empty());
    }

    /// Takes the next task whose whole permit set is free.
    pub fn pop(&mut self, limits: &Limits) -> Option<(RunKey, TaskRef)> {
        let (set, priority) = self.best(limits)?;
        self.turn += 1;
        let turn = self.turn;
        let queue = self.queues.get_mut(&set)?;
        queue.served = turn;
        let level = queue.levels.get_mut(&Reverse(priority))?;
        let (_, run) = level.turns.pop_first().expect("a level without runs is dropped");
        let waiting = level.runs.get_mut(&run).expect("a run with a turn waits");
        let task = waiting.tasks.pop_first().expect("a run without tasks has no turn");
        if waiting.tasks.is_empty() {
            level.runs.remove(&run);
        } else {
            waiting.turn = turn;
            level.turns.insert(turn, run);
        }
        self.tidy(&set, priority);
        Some((run, task))
    }

    /// Highest priority first; among equals the queue that was served longest ago.
    fn best(&self, limits: &Limits) -> Option<(PermitSet, Priority)> {
        let candidates = self.queues.iter().filter(|(set, _)| limits.has_room(set));
        let (set, queue) = candidates.min_by_key(|(_, queue)| {
            (queue.levels.first_key_value().map(|(priority, _)| *priority), queue.served)
        })?;
        let (Reverse(priority), _) = queue.levels.first_key_value()?;
        Some((PermitSet::clone(set), *priority))
    }

    /// Drops what has become empty, so that `pop` only looks at queues with something in them.
    fn tidy(&mut self, set: &PermitSet, priority: Priority) {
        let Some(queue) = self.queues.get_mut(set) else { return };
        if queue.levels.get(&Reverse(priority)).is_some_and(|level| level.runs.is_empty()) {
            queue.levels.remove(&Reverse(priority));
        }
        if queue.levels.is_empty() {
            self.queues.remove(set);
        }
    }

    /// Whether a task could be taken now.
    pub fn has_next(&self, limits: &Limits) -> bool {
        self.queues.keys().any(|set| limits.has_room(set))
    }

    pub fn iter(&self) -> impl Iterator<Item = (RunKey, TaskRef)> {
        self.queues.values().flat_map(|queue| {
            queue.levels.values().flat_map(|level| {
                let runs = level.runs.iter();
                runs.flat_map(|(run, waiting)| waiting.tasks.iter().map(|task| (*run, *task)))
            })
        })
    }
}

impl Level {
    fn remove(&mut self, run: RunKey, task: TaskRef) {
        let Some(waiting) = self.runs.get_mut(&run) else { return };
        waiting.tasks.remove(&task);
        if waiting.tasks.is_empty() {
            self.turns.remove(&waiting.turn);
            self.runs.remove(&run);
        }
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
        assert_eq!(order, ["3.0", "1.9", "1.0", "2.0", "1.1", "2.1", "1.2", "2.2"]);
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
