//! Limits, as whoever sets them knows them, and what starts under them.
//!
//! A limit may be set below what is in use: then nothing starts, and nothing is stopped. So what
//! counts is what starts: no attempt does beyond its limits as they were when its batch was taken.

use crate::sim::executors::repository_of;
use crate::sim::library::Library;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::everything;
use crate::sim::store::whole;
use mainspring_core::ids::AttemptId;
use mainspring_core::kernel::limit::{Bound, LimitSetting, default_bound};
use mainspring_core::kernel::row::{RunHead, TaskRow};
use mainspring_core::spec::definition::{Definition, FinalAction, Finalize, Task};
use mainspring_core::time::Span;
use mainspring_core::world::input::{SetRate, SetTier};
use mainspring_store::Model;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The tier of the server that tasks of all workflows name.
pub const SHARED: &str = "shared";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Now {
    bound: Bound,
    /// Counts changes of its rate: what started under another one counts for nothing.
    era: u32,
}

/// What limits are, and what has started under them.
#[derive(Debug, Default)]
pub struct Bounds {
    config: BTreeMap<String, Bound>,
    /// Names that somebody set while a server ran.
    set: BTreeSet<String>,
    now: BTreeMap<String, Now>,
    /// As they were when each pending batch was taken, oldest first.
    pending: VecDeque<BTreeMap<String, Now>>,
    /// As they were when the batch that ended last was taken.
    taken: BTreeMap<String, Now>,
    /// Moments of starts, on a clock that nobody sets back, each with its era.
    starts: BTreeMap<String, Vec<(i64, u32)>>,
    seen: BTreeSet<AttemptId>,
}

impl Bounds {
    /// Another life: what was set and is not durable is forgotten.
    pub fn begin(&mut self, config: &[LimitSetting], model: &Model) {
        self.config = config.iter().map(|it| (it.name.to_string(), it.bound)).collect();
        let mut bounds = self.config.clone();
        let set = model.limits().set.into_iter();
        let set: Vec<_> = set.map(|row| (row.name.to_string(), row.bound)).collect();
        self.set = set.iter().map(|(name, _)| name.clone()).collect();
        bounds.extend(set);
        // A queue that somebody had set, and nobody heard of it, is as if nobody had.
        for name in self.now.keys().filter(|name| name.starts_with("queue:")) {
            bounds.entry(name.clone()).or_insert_with(|| default_bound(name));
        }
        for (name, bound) in bounds {
            self.put(&name, bound);
        }
    }

    /// The configuration was read anew. What was set while a server ran stays.
    pub fn configure(&mut self, config: &[LimitSetting]) {
        for LimitSetting { name, bound, .. } in config {
            self.config.insert(name.to_string(), *bound);
            if !self.set.contains(&**name) {
                self.put(name, *bound);
            }
        }
    }

    pub fn set(&mut self, set: &SetTier) {
        self.set.insert(set.name.to_string());
        let before = self.now.get(&*set.name).map_or(default_bound(&set.name), |now| now.bound);
        let rate = match set.rate {
            SetRate::Keep => before.rate,
            SetRate::To(rate) => Some(rate),
            SetRate::Off => None,
        };
        self.put(&set.name, Bound { limit: set.limit.unwrap_or(before.limit), rate });
    }

    fn put(&mut self, name: &str, bound: Bound) {
        let now = self.now.entry(name.to_owned()).or_insert(Now { bound, era: 0 });
        now.era += u32::from(now.bound.rate != bound.rate);
        now.bound = bound;
    }

    pub fn batch_taken(&mut self) {
        self.pending.push_back(self.now.clone());
    }

    /// The oldest pending batch is durable, or never will be.
    pub fn batch_ended(&mut self) {
        self.taken = self.pending.pop_front().expect("a batch that ends was taken");
    }

    /// None of the pending batches comes to be.
    pub fn batches_dropped(&mut self) {
        self.pending.clear();
    }

    /// One that lets nothing through.
    pub fn closed(&self) -> Option<&str> {
        let mut all = self.now.iter();
        all.find(|(_, now)| now.bound.limit == 0).map(|(name, _)| name.as_str())
    }

    /// After a commit. The clock was set back by so much in all.
    pub fn check(&mut self, model: &Model, library: &Library, back: Span) -> Check {
        let mut used: BTreeMap<String, u32> = BTreeMap::new();
        let mut new: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        let mut bounds = self.taken.clone();
        for (head, _) in model.runs(&everything()).iter().filter(|(_, it)| !it.status.is_final()) {
            let definition = library.of(model, head);
            bounds.extend(own(head, &definition));
            let run = whole(model, head.id).expect("listed runs exist");
            for row in run.tasks.iter() {
                let Some((attempt, at)) = row.live_attempt() else { continue };
                let at = at + back;
                let is_new = self.seen.insert(attempt);
                let task = definition.task(row.task.no);
                let names = match row.finalizing() {
                    Some(_) => final_names(row, task, &mut bounds),
                    None => names(head, &definition, task),
                };
                for name in names {
                    *used.entry(name.clone()).or_default() += 1;
                    if is_new {
                        new.entry(name).or_default().push(at.0);
                    }
                }
            }
        }
        for (name, started) in new {
            let Some(now) = bounds.get(&name) else { continue };
            let (used, max) = (used[&name], now.bound.limit);
            Promise::Limits.ensure(used <= max, || {
                format!("something started with {used} holding {name}, at most {max} may")
            })?;
            self.check_rate(&name, *now, started)?;
        }
        Ok(())
    }

    fn check_rate(&mut self, name: &str, now: Now, started: Vec<i64>) -> Check {
        let Some(rate) = now.bound.rate else { return Ok(()) };
        let known = self.starts.entry(name.to_owned()).or_default();
        known.retain(|(_, era)| *era == now.era);
        known.extend(started.iter().map(|at| (*at, now.era)));
        let per = i64::try_from(rate.per.0).expect("a rate's time is short");
        for last in started {
            let within = known.iter().filter(|(at, _)| (last - per..=last).contains(at)).count();
            Promise::Rates.ensure(within <= rate.starts as usize, || {
                format!("{within} starts of {name} within {}, at most {rate}", rate.per)
            })?;
        }
        Ok(())
    }
}

/// All versions of a workflow share their tiers.
fn own(head: &RunHead, definition: &Definition) -> impl Iterator<Item = (String, Now)> {
    let tiers = definition.tiers.iter();
    tiers.map(|(tier, bound)| (format!("{}/{tier}", head.workflow), Now { bound: *bound, era: 0 }))
}

/// What an attempt at landing counts against: one at a time in a queue, unless somebody has set it.
fn final_names(row: &TaskRow, task: &Task, bounds: &mut BTreeMap<String, Now>) -> Vec<String> {
    let queue = task.finalize.as_deref().and_then(|finalize| queue_of(row, finalize));
    let queue = queue.map(|queue| format!("queue:{queue}"));
    if let Some(name) = &queue {
        bounds.entry(name.clone()).or_insert(Now { bound: Bound::of(1), era: 0 });
    }
    let always = ["total".to_owned(), "executor:process".to_owned()];
    always.into_iter().chain(queue).collect()
}

/// Where a finalizer waits its turn: a merge with all that land on the same target of the repository
/// in which the work was done.
pub fn queue_of(row: &TaskRow, finalize: &Finalize) -> Option<String> {
    let work = row.attempt.as_ref().map(|attempt| repository_of(attempt.id));
    match (&finalize.action, work) {
        (FinalAction::GitMerge(landing), Some(repository)) => {
            Some(format!("{repository} {}", landing.into.source()))
        }
        _ => finalize.queue.as_ref().map(ToString::to_string),
    }
}

/// What an attempt of a task counts against.
pub fn names(head: &RunHead, definition: &Definition, task: &Task) -> Vec<String> {
    let tier = task.tier.as_ref().map(|tier| match definition.tiers.contains_key(tier) {
        true => format!("{}/{tier}", head.workflow),
        false => tier.to_string(),
    });
    let always = ["total".to_owned(), "executor:process".to_owned()];
    always.into_iter().chain(tier).collect()
}
