//! A fan-out that is open: how far its instances have come, and what keeps the next one.

use super::reason::{Evaluated, Reason};
use super::seen::Reading;
use super::shapes::{Explained, Told};
use super::task::held;
use crate::ids::TaskNo;
use crate::kernel::group::{Closed, Group};
use crate::kernel::row::{RunStatus, Stopping, TaskRow};
use crate::limits::GROUP_DELAYED_MAX;
use crate::view::shapes::instance_counts;
use crate::view::words::instance_word;

impl Reading<'_> {
    pub fn of_group(&self, no: TaskNo, row: &TaskRow) -> Vec<Reason> {
        let Some(group) = row.group.as_deref() else { return Vec::new() };
        let mut reasons = vec![Reason::Instances { counts: instance_counts(group, Some(row)) }];
        if group.is_through() {
            reasons.push(match self.is_attended() {
                false => Reason::Unattended,
                // After a retry: nothing of it is looked at before it is let in.
                true if self.seen.progress.status == RunStatus::Pending => Reason::RunPending,
                true => Reason::Evaluation { what: Evaluated::List },
            });
            return reasons;
        }
        if let Some(closed) = group.closed.filter(|_| group.is_stopping()) {
            let reason = match closed {
                Closed::Cancel(why) => Some(why.word()),
                Closed::FailFast => Some("fail_fast"),
                Closed::Chosen => None,
            };
            reasons.push(Reason::Stopping { why: Stopping::Cancel, reason, since: None });
            return reasons;
        }
        if group.has_more() {
            reasons.extend(self.of_next(no, row, group));
        } else {
            reasons.extend(row.hold.as_deref().map(held));
        }
        reasons
    }

    /// Of the instance that would be opened next.
    fn of_next(&self, no: TaskNo, row: &TaskRow, group: &Group) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = row.hold.as_deref().map(held).into_iter().collect();
        reasons.extend(self.of_run(no));
        reasons.extend(self.crowded(no, row));
        reasons.extend(self.backlog(no, group));
        self.add_start(no, Evaluated::Instances, &mut reasons);
        reasons
    }

    /// As many instances as may be are at work.
    pub fn crowded(&self, no: TaskNo, row: &TaskRow) -> Option<Reason> {
        let group = row.group.as_deref()?;
        let limit = self.task(no).fan_out.as_ref()?.concurrency?;
        let at_rest = group.delayed + group.held + group.worker_done;
        let at_work = group.unsettled().saturating_sub(at_rest);
        (at_work >= limit).then_some(Reason::Concurrency { limit, at_work })
    }

    fn backlog(&self, no: TaskNo, group: &Group) -> Option<Reason> {
        let twice = self.task(no).fan_out.as_ref()?.concurrency.unwrap_or(0).saturating_mul(2);
        // As whoever opens them counts.
        let delayed = group.delayed + group.held + group.worker_done;
        (delayed > twice.max(GROUP_DELAYED_MAX)).then_some(Reason::Backlog { delayed })
    }

    /// An instance that has been opened and has no outcome.
    pub fn instance(&self, group: &TaskRow, row: &TaskRow) -> Explained {
        Explained {
            name: self.task(row.task.no).name.to_string(),
            index: row.task.index,
            status: instance_word(group, row, self.seen.now).word,
            reasons: Told::all(self.of_row(row), self.seen.now),
            instances: Vec::new(),
        }
    }
}
