//! New things: versions and runs.

use crate::ids::{RunId, RunKey};
use crate::kernel::row::{Counts, RunHead, RunKind, RunProgress, RunStatus, VersionRow};
use crate::kernel::rows::Rows;
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::input::{Deploy, KnownVersion, Refusal, Reply, Trigger};
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
        found: Option<KnownVersion>,
    ) -> Result<Reply, Refusal> {
        let name = Arc::clone(&deploy.definition.name);
        let known = self.latest.get(&name).copied();
        let known = known.or(found.map(|found| (found.number, found.hash)));
        let number = match known {
            Some((number, hash)) if hash == deploy.hash => number,
            known => {
                let number = known.map_or(1, |(number, _)| number + 1);
                self.draft.weigh(deploy.text.len());
                self.draft.add(Change::NewVersion(VersionRow {
                    workflow: Arc::clone(&name),
                    number,
                    hash: deploy.hash,
                    text: deploy.text,
                    created_at: now,
                }));
                number
            }
        };
        self.latest.insert(Arc::clone(&name), (number, deploy.hash));
        self.drop_unused_blueprints();
        self.blueprint(&name, number, &deploy.definition);
        Ok(Reply::Deployed { version: number })
    }

    /// Old versions stay in memory only as long as a run is pinned to them.
    fn drop_unused_blueprints(&mut self) {
        self.blueprints.retain(|_, blueprint| Arc::strong_count(blueprint) > 1);
    }

    pub(super) fn trigger(
        &mut self,
        now: Timestamp,
        trigger: Trigger,
        found: Option<KnownVersion>,
    ) -> Result<Reply, Refusal> {
        if let Some(found) = &found {
            self.blueprint(&trigger.workflow, found.number, &found.definition);
        }
        let latest = self.latest.get(&trigger.workflow).map(|(number, _)| *number);
        let version = trigger
            .version
            .or(latest)
            .or(found.map(|found| found.number))
            .ok_or(Refusal::WorkflowNotFound)?;
        let key = (Arc::clone(&trigger.workflow), version);
        let blueprint = Arc::clone(self.blueprints.get(&key).ok_or(Refusal::WorkflowNotFound)?);
        let head = self.new_head(now, trigger, version);
        let tasks = blueprint.definition.tasks.len();
        let progress = RunProgress {
            status: RunStatus::Running,
            hold: None,
            cancel: None,
            owner: self.scheduler,
            stamp: 0,
            started_at: Some(now),
            opened_at: Some(now),
            finished_at: None,
            error: None,
            counts: Counts {
                total: u32::try_from(tasks).expect("bounded by TASKS_MAX"),
                ..Counts::default()
            },
        };
        let (id, key) = (head.id, head.key);
        self.draft.weigh(head.input.as_str().len());
        self.put_run(Run::new(head, progress, blueprint, Rows::new(tasks)));
        self.draft.new_runs.insert(key);
        self.draft.run(key);
        self.refill(key, now);
        Ok(Reply::Accepted { run: id })
    }

    fn new_head(&mut self, now: Timestamp, trigger: Trigger, version: u32) -> RunHead {
        let key = RunKey::new(self.ordinal, self.next_run);
        self.next_run += 1;
        let (ms, chance) = self.chance.id_parts(now);
        RunHead {
            key,
            id: RunId::from_parts(ms, chance),
            workflow: trigger.workflow,
            version,
            kind: RunKind::Dag,
            input: trigger.input,
            labels: trigger.labels,
            priority: trigger.priority,
            triggered_by: trigger.triggered_by,
            workdir: trigger.workdir,
            parent: None,
            created_at: now,
        }
    }

    /// Makes a run active and arms its own timer.
    pub(super) fn put_run(&mut self, run: Run) {
        let key = run.head.key;
        self.by_id.insert(run.head.id, key);
        self.runs.insert(key, run);
        self.arm_run(key);
    }

    pub(super) fn arm_run(&mut self, key: RunKey) {
        if let Some(timer) = self.run_timer(key) {
            self.timers.arm(timer);
        }
    }

    pub(super) fn disarm_run(&mut self, key: RunKey) {
        if let Some(timer) = self.run_timer(key) {
            self.timers.disarm(&timer);
        }
    }

    /// The run's timeout counts from its last opening, paused or not.
    fn run_timer(&self, key: RunKey) -> Option<Timer> {
        let run = self.runs.get(&key)?;
        if !matches!(run.progress.status, RunStatus::Running | RunStatus::Paused) {
            return None;
        }
        let at = run.progress.opened_at? + run.blueprint.definition.timeout?;
        Some(Timer { at, run: key, task: None })
    }
}
