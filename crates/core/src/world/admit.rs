//! Letting runs in: at their trigger, when another ends, and after a retry.

use crate::ids::{RunId, RunKey};
use crate::kernel::row::{RunHead, RunStatus};
use crate::spec::definition::{ConcurrencyGroup, OnConflict};
use crate::time::Timestamp;
use crate::world::gate::{Gate, Stand};
use crate::world::input::Refusal;
use crate::world::run::Run;
use crate::world::state::World;
use std::sync::Arc;

impl World {
    /// The group that a run to be is counted in: a child passes one that an ancestor holds, which
    /// would wait for it for ever.
    pub(super) fn group_held(
        &self,
        group: Option<&Arc<str>>,
        parent: Option<RunId>,
    ) -> Option<Arc<str>> {
        let group = group?;
        let mut ancestor = parent;
        while let Some(run) = ancestor.and_then(|id| self.run(id)) {
            if run.head.group.as_ref() == Some(group) {
                return None;
            }
            ancestor = run.head.parent_run();
        }
        Some(Arc::clone(group))
    }

    /// What the group of a run to be does about those that hold it. Refused before anything has
    /// changed.
    pub(super) fn meet_group(
        &mut self,
        now: Timestamp,
        (name, parent): (Option<&Arc<str>>, Option<RunId>),
        group: Option<&ConcurrencyGroup>,
    ) -> Result<(), Refusal> {
        let held = self.group_held(name, parent);
        let (Some(name), Some(group)) = (held, group) else { return Ok(()) };
        let members = self.gate.members(&name);
        let limit = group.limit as usize;
        if members.len() < limit {
            return Ok(());
        }
        match group.on_conflict {
            OnConflict::Queue => Ok(()),
            OnConflict::Skip => {
                let run = self.run_mut(members[0]).head.id;
                Err(Refusal::GroupHeld { group: name, run })
            }
            OnConflict::CancelPrevious => {
                let by = format!("a newer run of its concurrency group '{name}'");
                for key in members.iter().take(members.len() + 1 - limit) {
                    if self.run_mut(*key).progress.status != RunStatus::Cancelling {
                        self.cancel_run(now, *key, &by)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Where a new run begins: it waits only if something may keep it.
    pub(super) fn begins_as(&self, head: &RunHead) -> RunStatus {
        let is_counted = head.parent.is_none() && self.gate.bounds(&head.workflow);
        let is_grouped = self.group_held(head.group.as_ref(), head.parent_run()).is_some();
        if is_counted || is_grouped { RunStatus::Pending } else { RunStatus::Running }
    }

    /// A final run goes on: at once, or when there is a place for it.
    pub(super) fn open_again(&mut self, now: Timestamp, key: RunKey) {
        let head = Arc::clone(&self.run_mut(key).head);
        match self.begins_as(&head) {
            RunStatus::Pending => self.set_status(key, RunStatus::Pending),
            _ => self.open_run(now, key),
        }
    }

    /// Counts a run that has just come.
    pub(super) fn enter(&mut self, key: RunKey) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        self.gate.moved(run, (Stand::Gone, Stand::of(run.progress.status)));
    }

    /// The one door through which the state of a run changes.
    pub(super) fn set_status(&mut self, key: RunKey, status: RunStatus) {
        let run = self.runs.get_mut(&key).expect("callers hold keys of active runs");
        let before = std::mem::replace(&mut run.progress.status, status);
        self.gate.moved(run, (Stand::of(before), Stand::of(status)));
        self.draft.run(key);
    }

    /// Lets in everybody for whom there is a place.
    pub(super) fn admit(&mut self, now: Timestamp) {
        while !self.is_full() && !self.limits.is_closed() {
            let Some(key) = self.gate.next(&self.runs) else { return };
            self.open_run(now, key);
        }
    }

    /// A pending run begins, or goes on after a retry. Its timeout counts from now.
    fn open_run(&mut self, now: Timestamp, key: RunKey) {
        self.set_status(key, RunStatus::Running);
        let progress = &mut self.run_mut(key).progress;
        progress.started_at.get_or_insert(now);
        progress.opened_at = Some(now);
        self.arm_run(key);
        self.refill(key, now);
        self.ending.insert(key);
        // It may have waited for its place while its parent was paused.
        self.align_hold(now, key);
    }

    pub(super) fn verify_gate(&self) -> Result<(), String> {
        if !self.gate.counts_like(&Gate::recounted(&self.runs, &self.asleep)) {
            return Err("runs are counted wrongly at the gate".to_owned());
        }
        match self.gate.forgotten(&self.runs) {
            None => Ok(()),
            Some(key) => Err(format!("run {} could be let in and is forgotten", key.0)),
        }
    }
}

impl Run {
    /// How many runs of its group may be active.
    pub fn group_limit(&self) -> u32 {
        let group = self.blueprint.definition.concurrency_group.as_ref();
        group.map_or(u32::MAX, |group| group.limit)
    }
}
