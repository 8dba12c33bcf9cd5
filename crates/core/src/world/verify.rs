//! Compares every index with a naive recomputation from rows. Simulations and tests ask
//! after each step.

use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::group::Group;
use crate::kernel::permits::{LimitId, Limits};
use crate::kernel::row::{Counts, TaskRow};
use crate::plan::dag::plan::{Course, Plan};
use crate::time::Timestamp;
use crate::world::instances::{Instances, Standing, tally};
use crate::world::overdue::is_overdue;
use crate::world::run::{About, Run, count};
use crate::world::state::World;
use crate::world::timers::{Timer, due};
use std::collections::{BTreeMap, BTreeSet};

impl World {
    /// What is wrong with the indexes, if anything.
    pub fn verify(&self, now: Timestamp) -> Result<(), String> {
        for (key, run) in &self.runs {
            verify_run(run).map_err(|what| format!("run {}: {what}", key.0))?;
            self.verify_kin(run).map_err(|what| format!("run {}: {what}", key.0))?;
        }
        self.verify_permits()?;
        self.verify_gate()?;
        self.verify_timers(now)?;
        self.verify_overdue(now)?;
        self.verify_ready(now)?;
        self.verify_line(now)
    }

    fn verify_permits(&self) -> Result<(), String> {
        let live = self.live().count();
        if self.live as usize != live {
            return Err(format!("{} attempts are live, should be {live}", self.live));
        }
        let mut used: BTreeMap<LimitId, u32> = BTreeMap::new();
        for run in self.runs.values() {
            for row in run.all_rows().filter(|row| row.is_live()) {
                let step = Standing::of(row).step();
                for id in run.blueprint.permits_of(row, step, &self.limits).iter() {
                    *used.entry(*id).or_default() += 1;
                }
            }
        }
        compare_permits(&self.limits, &used)
    }

    /// Every due time of a row has its timer, unless it has come and was taken.
    fn verify_timers(&self, now: Timestamp) -> Result<(), String> {
        let mut expected = BTreeSet::new();
        for (key, run) in &self.runs {
            for row in run.all_rows() {
                let at = due(row, run.blueprint.definition.task(row.task.no));
                expected.extend(at.map(|at| Timer { at, run: *key, task: Some(row.task) }));
            }
        }
        let armed: BTreeSet<Timer> =
            self.timers.iter().filter(|timer| timer.task.is_some()).copied().collect();
        let missing = expected.difference(&armed).find(|timer| timer.at > now);
        if let Some(timer) = missing {
            return Err(format!("a timer is missing: {timer:?}"));
        }
        match armed.difference(&expected).next() {
            Some(timer) => Err(format!("a timer is left over: {timer:?}")),
            None => Ok(()),
        }
    }

    /// Only what should be gone by now is known to be overdue, and its run says so.
    fn verify_overdue(&self, now: Timestamp) -> Result<(), String> {
        for (key, task) in &self.overdue {
            let row = self.runs.get(key).and_then(|run| run.row(*task));
            if !row.is_some_and(|row| is_overdue(row, now)) {
                return Err(format!("{task:?} of run {} is not overdue", key.0));
            }
        }
        for (key, run) in &self.runs {
            let is_told = run.progress.unconfirmed_since.is_some();
            // A clock that was set back may have made them early again.
            let stops = |row: &TaskRow| row.is_live() && row.stopping.is_some();
            if is_told && !run.all_rows().any(stops) {
                return Err(format!("run {} needs nobody and says that it does", key.0));
            }
            let known = self.overdue.range((*key, TaskRef::FIRST)..).next();
            if !is_told && known.is_some_and(|(run, _)| run == key) {
                return Err(format!("run {} needs somebody and does not say so", key.0));
            }
        }
        Ok(())
    }

    /// Whatever may land stands in line, and nothing else does.
    fn verify_line(&self, now: Timestamp) -> Result<(), String> {
        for (_, key, task) in self.line.by_set() {
            let may = self.runs.get(&key).is_some_and(|run| run.may_land(task, now));
            if !may {
                return Err(format!("{task:?} of run {} stands in line and may not land", key.0));
            }
        }
        for (key, run) in &self.runs {
            for task in run.all_rows().map(|row| row.task).filter(|it| run.may_land(*it, now)) {
                let is_timed = self
                    .timers
                    .iter()
                    .any(|timer| timer.at <= now && timer.run == *key && timer.task == Some(task));
                if !self.line.contains(*key, task) && !is_timed {
                    return Err(format!("{task:?} of run {} may land but is lost", key.0));
                }
            }
        }
        Ok(())
    }

    /// Whatever may start is queued or on the agenda; whatever is queued may start.
    fn verify_ready(&self, now: Timestamp) -> Result<(), String> {
        let queued: BTreeSet<(RunKey, TaskRef)> = self.ready.iter().collect();
        let agenda: BTreeSet<(RunKey, TaskRef)> =
            self.agenda.iter().map(|(key, no)| (*key, TaskRef::plain(*no))).collect();
        for (key, task) in &queued {
            let run = self.runs.get(key).ok_or(format!("run {} is queued but gone", key.0))?;
            if !run.is_startable(task.no, now) && run.next_instance(task.no).is_none() {
                return Err(format!("task {task:?} of run {} is queued and may not start", key.0));
            }
        }
        for (key, run) in &self.runs {
            for no in run.blueprint.graph.tasks().filter(|no| run.is_startable(*no, now)) {
                let place = (*key, TaskRef::plain(no));
                let timed = self.timers.iter().any(|timer| {
                    timer.at <= now && timer.run == *key && timer.task == Some(place.1)
                });
                let asked = run.asked.contains_key(&About::Opening(no));
                if !queued.contains(&place) && !agenda.contains(&place) && !timed && !asked {
                    return Err(format!("task {} of run {} may start but is lost", no.0, key.0));
                }
            }
            for no in run.groups.keys().filter(|no| run.next_instance(**no).is_some()) {
                let asked = run.asked.contains_key(&About::Items(*no))
                    || run.asked.contains_key(&About::Noops(*no));
                if !queued.contains(&(*key, TaskRef::plain(*no))) && !asked {
                    return Err(format!("group {} of run {} may go on but is lost", no.0, key.0));
                }
            }
        }
        Ok(())
    }
}

fn verify_run(run: &Run) -> Result<(), String> {
    let naive = Plan::new(run.blueprint.shape(), &run.rows, Course::of(&run.progress));
    for no in run.blueprint.graph.tasks() {
        let (kept, fresh) = (run.plan.doom(no), naive.doom(no));
        if run.rows.fact(no) == Fact::None && kept != fresh {
            return Err(format!("task {}: doom is {kept:?}, should be {fresh:?}", no.0));
        }
        if run.plan.is_open(no) != naive.is_open(no) {
            return Err(format!("task {}: open is {}", no.0, run.plan.is_open(no)));
        }
    }
    if run.unsettled != run.count_unsettled() {
        let (kept, fresh) = (run.unsettled, run.count_unsettled());
        return Err(format!("unsettled is {kept}, should be {fresh}"));
    }
    if run.count_awaiting().collect::<BTreeSet<_>>() != run.awaiting {
        return Err(format!("waits on signals are {:?}", run.awaiting));
    }
    let mut counts = Counts { total: run.progress.counts.total, ..Counts::default() };
    for row in run.rows.iter() {
        count(&mut counts, row.fact).into_iter().for_each(|n| *n += 1);
    }
    for (no, instances) in &run.groups {
        verify_group(run, *no, instances)?;
    }
    if counts != run.progress.counts {
        return Err(format!("counts are {:?}, should be {counts:?}", run.progress.counts));
    }
    Ok(())
}

/// Those that are not in memory have succeeded.
fn verify_group(run: &Run, no: TaskNo, instances: &Instances) -> Result<(), String> {
    let row = run.rows.get(no).ok_or(format!("group {} has no row", no.0))?;
    let group = row.group.as_deref().ok_or(format!("group {} has no state", no.0))?;
    let mut counted = Group {
        success: 0,
        failed: 0,
        cancelled: 0,
        delayed: 0,
        held: 0,
        waiting: 0,
        worker_done: 0,
        ..*group
    };
    if group.copied {
        return match instances.iter().next() {
            None => Ok(()),
            Some(row) => Err(format!("group {} is copied and has {:?}", no.0, row.task)),
        };
    }
    let (mut here, mut live) = (0, 0);
    for row in instances.iter() {
        here += 1;
        live += u32::from(row.fact.is_live());
        tally(&mut counted, Standing::of(row)).into_iter().for_each(|n| *n += 1);
    }
    counted.success += group.next.saturating_sub(here);
    if counted != *group || live != instances.live {
        return Err(format!("group {} is {group:?}, should be {counted:?}", no.0));
    }
    Ok(())
}

fn compare_permits(limits: &Limits, used: &BTreeMap<LimitId, u32>) -> Result<(), String> {
    for (id, limit) in limits.all() {
        let fresh = used.get(&id).copied().unwrap_or(0);
        if limit.used != fresh {
            let (name, kept) = (&limit.name, limit.used);
            return Err(format!("limit {name}: {kept} in use, should be {fresh}"));
        }
    }
    Ok(())
}
