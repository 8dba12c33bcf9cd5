//! New things: versions and runs.

use crate::ids::{RunId, RunKey};
use crate::kernel::row::{
    Counts, RunHead, RunKind, RunProgress, RunStatus, VersionRow, WorkflowRow,
};
use crate::kernel::rows::Rows;
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::blueprint::Blueprint;
use crate::world::input::{Deploy, KnownWorkflow, Prefetched, Refusal, Reply, Trigger};
use crate::world::run::Run;
use crate::world::state::World;
use crate::world::timers::Timer;
use std::sync::Arc;

impl World {
    /// The same text twice makes no new version.
    pub(super) fn deploy(
        &mut self,
        now: Timestamp,
        deploy: Deploy,
        found: Option<KnownWorkflow>,
    ) -> Result<Reply, Refusal> {
        self.note_workflow(found);
        let name = Arc::clone(&deploy.definition.name);
        let known = self.latest.get(&name);
        let is_new = known.is_none_or(|(_, hash)| *hash != deploy.hash);
        let mut row = known.map_or_else(|| new_workflow(&name, now), |(row, _)| row.clone());
        if is_new {
            row.latest += 1;
            row.updated_at = now;
            self.draft.weigh(deploy.text.len());
            self.draft.add(Change::NewVersion(VersionRow {
                workflow: Arc::clone(&name),
                number: row.latest,
                hash: deploy.hash,
                text: deploy.text,
                created_at: now,
            }));
        }
        if is_new || row.deleted_at.is_some() {
            row.deleted_at = None;
            self.draft.add(Change::PutWorkflow(row.clone()));
        }
        let version = row.latest;
        self.latest.insert(Arc::clone(&name), (row, deploy.hash));
        self.drop_unused_blueprints();
        self.blueprint(&name, version, &deploy.definition);
        Ok(Reply::Deployed { version, is_new })
    }

    /// Remembers what was read, unless something newer is known already.
    pub(super) fn note_workflow(&mut self, found: Option<KnownWorkflow>) {
        let Some(KnownWorkflow { row, latest }) = found else { return };
        if !self.latest.contains_key(&row.name) {
            self.blueprint(&row.name, latest.number, &latest.definition);
            self.latest.insert(Arc::clone(&row.name), (row, latest.hash));
        }
    }

    /// Old versions stay in memory only as long as a run is pinned to them.
    fn drop_unused_blueprints(&mut self) {
        self.blueprints.retain(|_, blueprint| Arc::strong_count(blueprint) > 1);
    }

    pub(super) fn trigger(
        &mut self,
        now: Timestamp,
        trigger: Trigger,
        found: Prefetched,
    ) -> Result<Reply, Refusal> {
        self.note_workflow(found.workflow);
        if let Some(found) = &found.version {
            self.blueprint(&trigger.workflow, found.number, &found.definition);
        }
        if let Some(again) = &trigger.again {
            self.check_former(again)?;
        }
        let (row, _) = self.latest.get(&trigger.workflow).ok_or(Refusal::WorkflowNotFound)?;
        if row.deleted_at.is_some() {
            return Err(Refusal::WorkflowNotFound);
        }
        let version = trigger.version.unwrap_or(row.latest);
        let key = (Arc::clone(&trigger.workflow), version);
        let blueprint = Arc::clone(self.blueprints.get(&key).ok_or(Refusal::WorkflowNotFound)?);
        let group = (trigger.group.as_ref(), None);
        self.meet_group(now, group, blueprint.definition.concurrency_group.as_ref())?;
        let mut trigger = trigger;
        let again = trigger.again.take().map(|again| *again);
        let former = again.as_ref().map(|again| (again.of, again.id));
        let head = Arc::new(self.new_head(now, trigger, (version, former)));
        let (kept, added) = again.map_or_else(Default::default, |again| (again.kept, again.added));
        let additions = added.as_ref().map_or(0, |added| added.rows.len());
        let additions = u32::try_from(additions).expect("bounded by TASKS_MAX");
        let blueprint = match &added {
            Some(added) => self.blueprint_of(&head, additions, &added.definition),
            None => blueprint,
        };
        let id = head.id;
        let key = self.accept(now, head, blueprint, additions);
        self.take_over(key, kept, added);
        self.refill(key, now);
        Ok(Reply::Accepted { run: id })
    }

    /// A run that has just been made. Whoever calls looks for what of it can start.
    pub(super) fn accept(
        &mut self,
        now: Timestamp,
        head: Arc<RunHead>,
        blueprint: Arc<Blueprint>,
        additions: u32,
    ) -> RunKey {
        let tasks = blueprint.definition.tasks.len();
        let status = self.begins_as(&head);
        let begins = (status == RunStatus::Running).then_some(now);
        let progress = RunProgress {
            status,
            hold: None,
            cancel: None,
            alone_since: None,
            unconfirmed_since: None,
            owner: self.scheduler,
            stamp: 0,
            started_at: begins,
            opened_at: begins,
            finished_at: None,
            error: None,
            output: None,
            signals: 0,
            additions,
            counts: Counts {
                total: u32::try_from(tasks).expect("bounded by TASKS_MAX"),
                ..Counts::default()
            },
        };
        let key = head.key;
        self.draft.weigh(head.input.as_str().len());
        self.put_run(Run::new(head, progress, blueprint, Rows::new(tasks)));
        self.draft.new_runs.insert(key);
        self.draft.run(key);
        key
    }

    fn new_head(
        &mut self,
        now: Timestamp,
        trigger: Trigger,
        (version, former): (u32, Option<(RunId, RunId)>),
    ) -> RunHead {
        let (key, id) = self.new_names(now);
        RunHead {
            key,
            id: former.map_or(id, |(_, id)| id),
            workflow: trigger.workflow,
            version,
            kind: RunKind::Dag,
            input: trigger.input,
            labels: trigger.labels,
            priority: trigger.priority,
            triggered_by: trigger.triggered_by,
            workdir: trigger.workdir,
            parent: None,
            retry_of: former.map(|(of, _)| of),
            group: trigger.group,
            created_at: now,
        }
    }

    pub(super) fn new_names(&mut self, now: Timestamp) -> (RunKey, RunId) {
        let key = RunKey::new(self.ordinal, self.next_run);
        self.next_run += 1;
        let (ms, chance) = self.chance.id_parts(now);
        (key, RunId::from_parts(ms, chance))
    }

    /// Makes a run active.
    pub(super) fn put_run(&mut self, run: Run) {
        let key = run.head.key;
        self.place_run(run);
        self.enter(key);
    }

    /// Has a run in memory and arms its own timer.
    pub(super) fn place_run(&mut self, mut run: Run) {
        let key = run.head.key;
        run.holds = self.group_held(run.head.group.as_ref(), run.head.parent_run());
        self.by_id.insert(run.head.id, key);
        self.runs.insert(key, Box::new(run));
        self.arm_run(key);
    }

    pub(super) fn arm_run(&mut self, key: RunKey) {
        self.run_timers(key).into_iter().for_each(|timer| self.timers.arm(timer));
    }

    pub(super) fn disarm_run(&mut self, key: RunKey) {
        self.run_timers(key).iter().for_each(|timer| self.timers.disarm(timer));
    }

    /// The run's timeout counts from its last opening, paused or not. When that is over, or the
    /// run was cancelled, it is the graces of its `always` tasks that count.
    pub(super) fn run_timers(&self, key: RunKey) -> Vec<Timer> {
        let Some(run) = self.runs.get(&key) else { return Vec::new() };
        let timer = |at| Timer { at, run: key, task: None };
        match run.progress.status {
            RunStatus::Running | RunStatus::Paused => {
                let timeout = run.progress.opened_at.zip(run.blueprint.definition.timeout);
                timeout.into_iter().map(|(at, timeout)| timer(at + timeout)).collect()
            }
            RunStatus::Cancelling => {
                let always = run.blueprint.graph.always().iter();
                always.filter_map(|no| run.grace_over_at(*no)).map(timer).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn new_workflow(name: &Arc<str>, now: Timestamp) -> WorkflowRow {
    let name = Arc::clone(name);
    WorkflowRow { name, latest: 0, created_at: now, updated_at: now, deleted_at: None }
}
