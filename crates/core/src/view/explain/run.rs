//! A run as a whole, and its tasks one after the other.

use super::reason::{Evaluated, Reason};
use super::seen::{Reading, Seen, cancelling, paused};
use super::shapes::{Explained, Explanation, Told};
use crate::ids::TaskNo;
use crate::kernel::row::{RunStatus, TaskRow};
use crate::plan::dag::outcome::outcome;
use crate::plan::dag::plan::{Course, Plan};
use crate::view::words::word;

/// Which tasks are explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This one alone.
    Only(TaskNo),
    /// So many, beginning with this one.
    From(TaskNo, usize),
}

/// Explains a run from rows. `instances` are those of a group that have been opened and have no
/// outcome, as many as are to be told of.
pub fn explain(
    seen: Seen<'_>,
    wanted: Wanted,
    instances: impl Fn(TaskNo) -> Vec<TaskRow>,
) -> Explanation {
    let plan = Plan::new(seen.shape, seen.rows, Course::of(seen.progress));
    let reading = Reading { seen, plan: &plan };
    let is_final = seen.progress.status.is_final();
    let open = seen.shape.graph.tasks().filter(|no| !is_final && !plan.is_settled(seen.rows, *no));
    let open: Vec<TaskNo> = open.collect();
    let (from, limit) = match wanted {
        Wanted::Only(no) => (no, 1),
        Wanted::From(no, limit) => (no, limit),
    };
    let chosen = open.iter().copied().filter(|no| match wanted {
        Wanted::Only(only) => *no == only,
        Wanted::From(..) => *no >= from,
    });
    let mut chosen: Vec<TaskNo> = chosen.take(limit.saturating_add(1)).collect();
    let next = (chosen.len() > limit).then(|| chosen.pop()).flatten();
    let unsettled = u32::try_from(open.len()).unwrap_or(u32::MAX);
    Explanation {
        run: seen.head.id,
        workflow: seen.head.workflow.to_string(),
        status: seen.progress.status,
        at: seen.now,
        reasons: Told::all(reading.whole(unsettled), seen.now),
        unsettled,
        tasks: chosen.into_iter().map(|no| reading.explained(no, &instances(no))).collect(),
        next: next.map(|no| reading.task(no).name.to_string()),
    }
}

impl Reading<'_> {
    fn explained(&self, no: TaskNo, instances: &[TaskRow]) -> Explained {
        let Seen { shape, progress, rows, now, .. } = self.seen;
        let group = self.row(no);
        let instances = group.into_iter().flat_map(|group| {
            instances.iter().map(move |row| self.instance(group, row)).collect::<Vec<_>>()
        });
        Explained {
            name: self.task(no).name.to_string(),
            index: None,
            status: word(shape, (progress, rows), self.plan, (no, now)),
            reasons: Told::all(self.of_task(no), now),
            instances: instances.collect(),
        }
    }

    /// What keeps the run as a whole.
    fn whole(&self, unsettled: u32) -> Vec<Reason> {
        let Seen { shape, progress, rows, around, .. } = self.seen;
        let mut reasons = match progress.status {
            RunStatus::Pending => around.behind.to_vec(),
            RunStatus::Paused => progress.hold.iter().map(paused).collect(),
            RunStatus::Cancelling => vec![cancelling(progress)],
            _ => Vec::new(),
        };
        if progress.status.is_final() {
            return reasons;
        }
        if !self.is_attended() {
            reasons.push(Reason::Unattended);
        } else if progress.status == RunStatus::Pending && reasons.is_empty() {
            reasons.push(Reason::LetIn);
        } else if unsettled == 0
            && matches!(progress.status, RunStatus::Running | RunStatus::Cancelling)
        {
            let succeeds = outcome(progress.cancel.as_ref(), shape, rows) == RunStatus::Success;
            reasons.push(match succeeds && shape.definition.has_outputs() {
                true => Reason::Evaluation { what: Evaluated::Outputs },
                false => Reason::Ending,
            });
        }
        reasons
    }
}
