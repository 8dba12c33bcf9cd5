//! Limits: who changes them, how they stand, and what keeps a ready task from starting.

use crate::ids::{TaskNo, TaskRef};
use crate::kernel::limit::{
    Bound, LimitRow, LimitSetting, Source, default_bound, is_of_workflow, is_tier,
};
use crate::kernel::permits::{Limit, LimitId};
use crate::kernel::row::{Counts, TaskRow};
use crate::limits::HOLDERS_SHOWN_MAX;
use crate::time::Timestamp;
use crate::view::tiers::{Holder, TierView, Waiter};
use crate::world::batch::Change;
use crate::world::input::{KnownWorkflow, Refusal, Reply, SetRate, SetTier};
use crate::world::instances::Standing;
use crate::world::run::Run;
use crate::world::state::World;
use std::collections::BTreeMap;
use std::sync::Arc;

impl World {
    /// Takes effect at once. A number below what is in use lets nothing in and stops nothing.
    pub(super) fn set_tier(&mut self, now: Timestamp, set: &SetTier) -> Result<Reply, Refusal> {
        let name = &set.name;
        let known = self.limits.find(name);
        let is_own = |limit: &Limit| matches!(limit.source, Source::Workflow(_));
        if known.is_some_and(is_own) || is_of_workflow(name) {
            return Err(Refusal::TierOfWorkflow(Arc::clone(name)));
        }
        // One that tasks name and nobody defines is there without a number.
        let known = known.filter(|limit| !(limit.source == Source::Default && is_tier(name)));
        let limit = set.limit.or(known.map(|limit| limit.bound.limit));
        let limit = limit.ok_or_else(|| Refusal::TierNotFound(Arc::clone(name)))?;
        let rate = match set.rate {
            SetRate::Keep => known.and_then(|limit| limit.bound.rate),
            SetRate::To(rate) => Some(rate),
            SetRate::Off => None,
        };
        let bound = Bound { limit, rate };
        let id = self.limits.put(name, bound, Source::Api);
        self.limits.look_at(now);
        self.draft.add(Change::PutLimit(LimitRow { name: Arc::clone(name), bound }));
        Ok(Reply::Tiers(self.tiers_of(|of| of == id)))
    }

    /// The configuration was read anew. What was set while the server ran stays.
    pub fn configure(&mut self, settings: &[LimitSetting]) {
        let named = |name: &str| settings.iter().any(|setting| *setting.name == *name);
        let is_gone = |limit: &Limit| limit.source == Source::Config && !named(&limit.name);
        let gone: Vec<Arc<str>> = self
            .limits
            .all()
            .filter(|(_, limit)| is_gone(limit))
            .map(|(_, limit)| Arc::clone(&limit.name))
            .collect();
        for name in gone {
            self.limits.put(&name, default_bound(&name), Source::Default);
        }
        for LimitSetting { name, bound, source } in settings {
            if self.limits.find(name).is_none_or(|limit| limit.source != Source::Api) {
                self.limits.put(name, *bound, *source);
            }
        }
        self.gather.hurry();
    }

    /// What was read of a workflow that has active runs: its latest version's numbers count.
    pub fn know(&mut self, workflow: KnownWorkflow) {
        self.note_workflow(Some(workflow));
    }

    /// An attempt counts against the rates of its limits from its dispatch on.
    pub(super) fn count_start(&mut self, now: Timestamp, set: &[LimitId]) {
        let rated = self.limits.note_start(set, now);
        self.draft.ledgers.extend(rated);
    }

    /// Of a ready task, the limits that keep it from starting.
    pub fn full_limits(&self, run: &Run, no: TaskNo) -> Vec<&Limit> {
        let set = run.blueprint.permits(no).iter();
        set.map(|id| self.limits.get(*id)).filter(|limit| limit.is_full()).collect()
    }

    /// How all limits stand that tasks count against.
    pub fn tiers(&self) -> Vec<TierView> {
        self.tiers_of(|_| true)
    }

    fn tiers_of(&self, wanted: impl Fn(LimitId) -> bool) -> Vec<TierView> {
        let limits = self.limits.all().filter(|(id, _)| wanted(*id));
        let mut views: BTreeMap<LimitId, TierView> = limits
            .map(|(id, limit)| {
                let idle = TierView::idle(&limit.name, limit.bound, limit.source);
                (id, TierView { in_use: limit.used, frees_at: limit.frees_at(), ..idle })
            })
            .collect();
        self.add_holders(&mut views);
        self.add_waiters(&mut views);
        let mut views: Vec<TierView> = views.into_values().collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }

    fn add_holders(&self, views: &mut BTreeMap<LimitId, TierView>) {
        // Runs without anything live, which may be many, are not looked through.
        let may_hold = |run: &Run| {
            let Counts { live, worker_done, .. } = run.progress.counts;
            live + worker_done > 0
        };
        for run in self.runs.values().filter(|run| may_hold(run)) {
            for row in run.all_rows().filter(|row| row.is_live()) {
                let step = Standing::of(row).step();
                for id in run.blueprint.permits_of(row, step, &self.limits).iter() {
                    let view = views.get_mut(id);
                    if let Some(view) = view.filter(|it| it.holders.len() < HOLDERS_SHOWN_MAX) {
                        view.holders.extend(holder(run, row));
                    }
                }
            }
        }
    }

    fn add_waiters(&self, views: &mut BTreeMap<LimitId, TierView>) {
        for (set, key, task) in self.ready.by_set() {
            let full = set.iter().filter(|id| self.limits.get(**id).is_full());
            for id in full {
                let (Some(view), Some(run)) = (views.get_mut(id), self.runs.get(&key)) else {
                    continue;
                };
                view.waiting += run.waiting(task.no);
                if view.waiters.len() < HOLDERS_SHOWN_MAX {
                    view.waiters.push(waiter(run, task.no, run.next_instance(task.no)));
                }
            }
        }
        for (set, key, task) in self.line.by_set() {
            for id in set.iter().filter(|id| self.limits.get(**id).is_full()) {
                let (Some(view), Some(run)) = (views.get_mut(id), self.runs.get(&key)) else {
                    continue;
                };
                view.waiting += 1;
                if view.waiters.len() < HOLDERS_SHOWN_MAX {
                    view.waiters.push(waiter(run, task.no, task.index));
                }
            }
        }
    }
}

fn holder(run: &Run, row: &TaskRow) -> Option<Holder> {
    let TaskRef { no, index } = row.task;
    Some(Holder {
        run: run.head.id,
        workflow: run.head.workflow.to_string(),
        task: Some(run.blueprint.definition.task(no).name.to_string()),
        index,
        since: row.live_attempt()?.1,
    })
}

fn waiter(run: &Run, no: TaskNo, index: Option<u32>) -> Waiter {
    Waiter {
        run: run.head.id,
        workflow: run.head.workflow.to_string(),
        task: Some(run.blueprint.definition.task(no).name.to_string()),
        index,
    }
}

impl Run {
    /// How many attempts of a queued task could start if there were permits.
    fn waiting(&self, no: TaskNo) -> u64 {
        let Some(fan_out) = &self.blueprint.definition.task(no).fan_out else { return 1 };
        let (Some(group), Some(instances)) = (self.group(no), self.groups.get(&no)) else {
            return 1;
        };
        let due = u64::try_from(instances.due.len()).unwrap_or(u64::MAX);
        let unopened = if group.has_more() { u64::from(group.unopened()) } else { 0 };
        let at_once = fan_out.concurrency.unwrap_or(u32::MAX).saturating_sub(instances.live);
        (due + unopened).min(u64::from(at_once))
    }
}
