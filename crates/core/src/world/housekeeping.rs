//! What is not about any task: hiding workflows, forgetting old runs, records of who asked.

use crate::ids::RunId;
use crate::kernel::bulk::BulkState;
use crate::kernel::record::{Admin, AuditRow, KeyAnswer, KeyRow, Record};
use crate::kernel::row::RunStatus;
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::input::{
    ActiveRuns, DeleteWorkflow, Forget, Forgotten, Prefetched, Refusal, Reply,
};
use crate::world::state::{Departed, World};
use std::sync::Arc;

impl World {
    /// Hides a workflow. Its versions and runs stay, so that numbers go on if it comes back.
    pub(super) fn delete_workflow(
        &mut self,
        now: Timestamp,
        delete: &DeleteWorkflow,
        found: Prefetched,
    ) -> Result<Reply, Refusal> {
        self.note_workflow(found.workflow);
        for snapshot in found.asleep {
            if let Some(key) = self.awaken(snapshot)? {
                self.grow_drowsy(key);
            }
        }
        let known = self.latest.get(&delete.name).filter(|(row, _)| row.deleted_at.is_none());
        if known.is_none() {
            return Err(Refusal::WorkflowNotFound);
        }
        let active = self.runs.values().filter(|run| run.head.workflow == delete.name);
        let active: Vec<_> = active.map(|run| run.head.key).collect();
        let asleep = self.asleep_of(&delete.name);
        let count = active.len() + asleep.len();
        if count > 0 && delete.active == ActiveRuns::Refuse {
            return Err(Refusal::WorkflowActive(count));
        }
        if !asleep.is_empty() {
            return Err(Refusal::Outdated);
        }
        for key in active {
            // With its parent, by now.
            if self.run_mut(key).progress.status != RunStatus::Cancelling {
                self.cancel_run(now, key, &delete.by)?;
            }
        }
        let (row, _) = self.latest.get_mut(&delete.name).expect("looked up above");
        row.deleted_at = Some(now);
        self.draft.add(Change::PutWorkflow(row.clone()));
        Ok(Reply::Done)
    }

    /// Runs that are active again stay, and so do those that somebody may be about to bring
    /// back with what was read of them meanwhile.
    pub(super) fn forget(&mut self, forget: &Forget) -> Reply {
        let is_outdated = |gone: &&Forgotten| {
            let newer = self.departed.get(&gone.id).is_some_and(|it| it.stamp > gone.stamp);
            newer || self.runs.contains_key(&gone.key) || self.asleep.contains_key(&gone.key)
        };
        let gone: Vec<Forgotten> =
            forget.runs.iter().filter(|gone| !is_outdated(gone)).copied().collect();
        for Forgotten { key, id, stamp } in gone {
            // Whatever is being read of it is older than its end.
            self.departed.insert(id, Departed { stamp: stamp + 1, with: self.next_batch });
            self.draft.add(Change::DropRun(key, stamp));
        }
        self.draft.add(Change::DropKeys(forget.keys_before));
        self.draft.add(Change::DropBulks(forget.keys_before));
        if !forget.runs.is_empty() {
            let (next_run, next_stamp) = (self.next_run, self.next_stamp);
            self.draft.add(Change::Marks { next_run, next_stamp });
        }
        Reply::Done
    }

    pub(super) fn administer(&mut self, admin: Admin) -> Reply {
        let (change, reply) = match admin {
            Admin::NewToken(token) => (Change::NewToken(token), Reply::Done),
            Admin::RevokeToken(id) => (Change::DropToken(id), Reply::Done),
            Admin::NewBulk(row) => {
                if let BulkState::AtWork(meant) = &row.state {
                    self.draft.weigh(meant.count() * size_of::<RunId>());
                }
                let bulk = row.id;
                (Change::NewBulk(*row), Reply::Ordered { bulk })
            }
            Admin::EndBulk(id, end) => (Change::EndBulk(id, end), Reply::Done),
        };
        self.draft.add(change);
        reply
    }

    /// Who asked, and which answer the key was given: in the commit that carries it out.
    pub(super) fn record(&mut self, now: Timestamp, record: Record, reply: &Reply) {
        let Record { by, from, action, mut target, key } = record;
        if let Reply::Accepted { run } = reply {
            target = format!("run {run}");
        }
        if let Some(key) = key {
            let answer = match reply {
                Reply::Accepted { run } => KeyAnswer::Run(*run),
                Reply::Deployed { version, is_new } => {
                    KeyAnswer::Version { number: *version, is_new: *is_new }
                }
                Reply::Ordered { bulk } => KeyAnswer::Bulk(*bulk),
                Reply::Done | Reply::Tiers(_) => KeyAnswer::Done,
            };
            self.draft.add(Change::NewKey(KeyRow { key, answer, created_at: now }));
        }
        let action = Arc::from(action);
        self.draft.add(Change::NewAudit(AuditRow { at: now, by, from, action, target }));
    }
}
