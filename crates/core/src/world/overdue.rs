//! Kills that are not confirmed in time. The state stays what it is until the work is gone, and
//! nobody but a person may give the work up: so the run says that it needs one.

use crate::ids::{RunKey, TaskRef, Ticket};
use crate::kernel::row::TaskRow;
use crate::time::Timestamp;
use crate::world::batch::{Effect, Unconfirmed};
use crate::world::state::World;
use std::sync::Arc;

impl World {
    /// The time in which a kill had to be confirmed is up. Unless the work is gone, and only what
    /// it left is being put away.
    pub(super) fn kill_overdue(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let run = self.runs.get_mut(&key).expect("timers are disarmed with their run");
        let Some((attempt, _)) = run.row(task).and_then(TaskRow::live_attempt) else { return };
        if self.over.contains(&attempt) || !self.overdue.insert((key, task)) {
            return;
        }
        run.progress.unconfirmed_since.get_or_insert(now);
        self.draft.run(key);
        let (head, definition) = (&run.head, &run.blueprint.definition);
        let what = Unconfirmed {
            ticket: Ticket { run: key, task, attempt },
            run: head.id,
            workflow: Arc::clone(&head.workflow),
            task: Arc::clone(&definition.task(task.no).name),
        };
        self.effect(Effect::KillUnconfirmed(Box::new(what)));
    }

    /// An attempt is gone: the run needs nobody any more if it was the last one that did. After a
    /// load not every timer may have come to its turn, so rows have the last word.
    pub(super) fn kill_confirmed(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let run = self.runs.get_mut(&key).expect("callers hold keys of active runs");
        if run.progress.unconfirmed_since.is_none() {
            return;
        }
        self.overdue.remove(&(key, task));
        let others = self.overdue.range((key, TaskRef::FIRST)..).next();
        let has_others = others.is_some_and(|(run, _)| *run == key);
        if !has_others && !run.all_rows().any(|row| is_overdue(row, now)) {
            run.progress.unconfirmed_since = None;
            self.draft.run(key);
        }
    }
}

/// It was told to end, and should be gone by now.
pub fn is_overdue(row: &TaskRow, now: Timestamp) -> bool {
    row.is_live() && row.stopping.is_some() && row.until.is_some_and(|until| until <= now)
}
