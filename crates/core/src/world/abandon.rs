//! Cancel by force: for work that does not die, or whose executor does not answer. The record
//! says that it was abandoned; whoever holds the attempt goes on trying to end it.

use crate::ids::{RunKey, TaskNo, Ticket};
use crate::kernel::row::{AttemptEnd, RunStatus, Stopping};
use crate::kernel::transition::Event;
use crate::time::Timestamp;
use crate::world::input::{Refusal, Reply};
use crate::world::report::step;
use crate::world::state::World;

impl World {
    /// Cancels the run, unless that has begun, and waits for nobody.
    pub(super) fn abandon_run(
        &mut self,
        now: Timestamp,
        key: RunKey,
        by: &str,
    ) -> Result<Reply, Refusal> {
        let has_begun = self.run_mut(key).progress.status == RunStatus::Cancelling;
        if !has_begun {
            self.cancel_run(now, key, by)?;
        }
        let rows = self.run_mut(key).rows.iter();
        let live: Vec<TaskNo> =
            rows.filter(|row| row.fact.is_live()).map(|row| row.task.no).collect();
        for no in live {
            if has_begun {
                self.stop_once_more(key, no);
            }
            self.abandon(now, key, no);
        }
        Ok(Reply::Done)
    }

    /// Cancels one task, unless that has begun, and does not wait for its work to be gone.
    pub(super) fn abandon_task(
        &mut self,
        now: Timestamp,
        key: RunKey,
        no: TaskNo,
    ) -> Result<Reply, Refusal> {
        let run = self.run_mut(key);
        if run.plan.is_settled(&run.rows, no) {
            return Err(Refusal::TaskSettled);
        }
        if self.is_being_cancelled(key, no) {
            self.stop_once_more(key, no);
        } else {
            self.cancel_task(now, key, no)?;
        }
        if self.run_mut(key).rows.fact(no).is_live() {
            self.abandon(now, key, no);
        }
        Ok(Reply::Done)
    }

    /// The first order may have been lost with the world that gave it. Whatever else is heard
    /// of the attempt comes too late: this is the last word that its executor gets.
    fn stop_once_more(&mut self, key: RunKey, no: TaskNo) {
        self.stop(key, no, Stopping::Cancel, |_| {});
    }

    fn abandon(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let row = self.run_mut(key).rows.get(no).expect("a live task has a row");
        let attempt = row.attempt.as_ref().expect("a live task has an attempt").id;
        let ticket = Ticket { run: key, task: row.task, attempt };
        self.close_attempt(now, ticket, AttemptEnd::Abandoned, |row| {
            step(row, Event::Cancelled);
            row.hold = None;
        });
    }
}
