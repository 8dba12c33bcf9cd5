//! How many runs are active where that is bounded: by a workflow's `max_active_runs`, or by a
//! concurrency group. Shown as limits, with the runs that hold them and those that wait.

use crate::ids::RunKey;
use crate::limits::HOLDERS_SHOWN_MAX;
use crate::time::Timestamp;
use crate::view::tiers::{Holder, TierView, Waiter};
use crate::world::asleep::Asleep;
use crate::world::gate::{Bounded, Place, Stand};
use crate::world::run::Run;
use crate::world::state::World;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs that are active, by workflow.
type ByWorkflow<'a> = BTreeMap<&'a Arc<str>, Vec<RunKey>>;

impl World {
    /// How the limits on runs stand that some run counts against.
    pub fn run_limits(&self) -> Vec<TierView> {
        let bounded = self.gate.bounded(&self.runs);
        let by_workflow = self.active_by_workflow(&bounded);
        bounded.iter().map(|bounded| self.run_limit(bounded, &by_workflow)).collect()
    }

    fn run_limit(&self, bounded: &Bounded<'_>, by_workflow: &ByWorkflow<'_>) -> TierView {
        let Bounded { place, limit, active, waiting } = *bounded;
        let (idle, holders) = match place {
            Place::Workflow(name) => {
                let holders = by_workflow.get(name).into_iter().flatten().copied();
                let holders = holders.filter_map(|key| self.active_run(key));
                let holders = holders.take(HOLDERS_SHOWN_MAX).collect();
                (TierView::idle_active(name, limit), holders)
            }
            Place::Group(key) => {
                let is_active = |run: &&Run| Stand::of(run.progress.status) == Stand::Active;
                let members = self.gate.members(key).into_iter();
                let members = members.filter_map(|key| self.run_at(key)).filter(is_active);
                let most = (active as usize).min(HOLDERS_SHOWN_MAX);
                let holders = members.take(most).map(holder).collect();
                (TierView::idle_group(key, limit), holders)
            }
        };
        let waiters = if waiting == 0 { Vec::new() } else { self.kept_out(place, active) };
        TierView { in_use: active, waiting, holders, waiters, ..idle }
    }

    /// Those that are let in next come first.
    fn kept_out(&self, place: &Place, active: u32) -> Vec<Waiter> {
        let pending = self.gate.pending(place).filter_map(|key| self.run_at(key));
        let is_kept = |run: &&Run| match place {
            Place::Workflow(_) => true,
            Place::Group(_) => run.group_limit() <= active,
        };
        let kept = pending.filter(is_kept).take(HOLDERS_SHOWN_MAX);
        let waiter = |run: &Run| Waiter {
            run: run.head.id,
            workflow: run.head.workflow.to_string(),
            task: None,
            index: None,
        };
        kept.map(waiter).collect()
    }

    /// Oldest first, those that sleep among them.
    fn active_by_workflow<'a>(&'a self, bounded: &[Bounded<'a>]) -> ByWorkflow<'a> {
        let mut found: ByWorkflow<'a> = BTreeMap::new();
        for Bounded { place, .. } in bounded {
            if let Place::Workflow(name) = place {
                found.insert(name, Vec::new());
            }
        }
        if found.is_empty() {
            return found;
        }
        let is_counted = |run: &Run| {
            run.head.parent.is_none() && Stand::of(run.progress.status) == Stand::Active
        };
        let awake = self.runs.iter().filter(|(_, run)| is_counted(run));
        let awake = awake.map(|(key, run)| (*key, &run.head.workflow));
        let asleep = self.asleep.iter().map(|(key, asleep)| (*key, &asleep.workflow));
        for (key, workflow) in awake.chain(asleep) {
            found.get_mut(workflow).into_iter().for_each(|keys| keys.push(key));
        }
        found.values_mut().for_each(|keys| keys.sort_unstable());
        found
    }

    fn run_at(&self, key: RunKey) -> Option<&Run> {
        self.runs.get(&key).map(AsRef::as_ref)
    }

    fn active_run(&self, key: RunKey) -> Option<Holder> {
        if let Some(run) = self.run_at(key) {
            return Some(holder(run));
        }
        let Asleep { id, workflow, since, .. } = self.asleep.get(&key)?;
        let workflow = workflow.to_string();
        Some(Holder { run: *id, workflow, task: None, index: None, since: *since })
    }
}

fn holder(run: &Run) -> Holder {
    Holder {
        run: run.head.id,
        workflow: run.head.workflow.to_string(),
        task: None,
        index: None,
        since: run.active_since(),
    }
}

impl Run {
    /// When it was opened last: from then on it is counted.
    pub fn active_since(&self) -> Timestamp {
        self.progress.opened_at.unwrap_or(self.head.created_at)
    }
}
