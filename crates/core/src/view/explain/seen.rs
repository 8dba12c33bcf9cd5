//! What an explanation is made of.

use super::reason::{FullLimit, Reason};
use crate::ids::TaskNo;
use crate::kernel::limit::queue_name;
use crate::kernel::row::{CancelCause, Hold, RunHead, RunProgress, RunStatus, TaskRow};
use crate::kernel::rows::Rows;
use crate::plan::dag::plan::{Plan, Shape};
use crate::spec::definition::{Definition, Task};
use crate::time::Timestamp;
use crate::view::tiers::TierView;
use crate::work::ExecutorKind;

/// Limits and runs are told of so many.
pub const NAMED_MAX: usize = 20;

/// A run as it is stored, and what else there is to know.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub shape: Shape<'a>,
    pub head: &'a RunHead,
    pub progress: &'a RunProgress,
    /// Of plain tasks and groups.
    pub rows: &'a Rows,
    pub around: Around<'a>,
    pub now: Timestamp,
}

/// What is not in the rows of the run.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// How limits stand; none: nobody is at work.
    pub limits: Option<&'a [TierView]>,
    /// What a run that is pending waits for.
    pub behind: &'a [Reason],
}

/// With what follows from it.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    pub seen: Seen<'a>,
    pub plan: &'a Plan,
}

impl<'a> Reading<'a> {
    pub fn task(&self, no: TaskNo) -> &'a Task {
        self.seen.shape.definition.task(no)
    }

    pub fn row(&self, no: TaskNo) -> Option<&'a TaskRow> {
        self.seen.rows.get(no)
    }

    /// Whether anybody is there to do something.
    pub fn is_attended(&self) -> bool {
        self.seen.around.limits.is_some()
    }

    /// What of the run as a whole keeps attempts from starting.
    pub fn of_run(&self, no: TaskNo) -> Option<Reason> {
        match self.seen.progress.status {
            RunStatus::Pending => Some(Reason::RunPending),
            RunStatus::Paused => self.seen.progress.hold.as_ref().map(paused),
            RunStatus::Cancelling if !self.task(no).is_always() => {
                Some(cancelling(self.seen.progress))
            }
            _ => None,
        }
    }

    /// Limits that an attempt of the task counts against and that are used up.
    pub fn limits(&self, no: TaskNo) -> impl Iterator<Item = Reason> {
        self.full(limit_names(self.seen.shape.definition, self.task(no)))
    }

    /// Limits that a finalizer counts against and that are used up.
    pub fn landing_limits(&self, queue: Option<&str>) -> impl Iterator<Item = Reason> {
        let executor = format!("executor:{}", ExecutorKind::Process.word());
        let always = ["total".to_owned(), executor];
        self.full(always.into_iter().chain(queue.map(queue_name)).collect())
    }

    fn full(&self, names: Vec<String>) -> impl Iterator<Item = Reason> {
        let limits = self.seen.around.limits.unwrap_or_default().iter();
        let full = limits.filter(move |it| it.is_full() && names.contains(&it.name));
        full.map(|it| Reason::Limit(full_limit(it)))
    }
}

pub fn paused(hold: &Hold) -> Reason {
    Reason::RunPaused {
        by: hold.by.clone(),
        since: hold.at,
        checkpoint: hold.by_checkpoint().map(str::to_owned),
    }
}

pub fn cancelling(progress: &RunProgress) -> Reason {
    let by = match &progress.cancel {
        Some(CancelCause::Asked(by)) => Some(by.clone()),
        Some(CancelCause::RunTimeout) | None => None,
    };
    Reason::RunCancelling { by }
}

/// As they are shown.
fn limit_names(definition: &Definition, task: &Task) -> Vec<String> {
    let Some(executor) = task.action.executor() else { return Vec::new() };
    let tier = task.tier.as_ref().map(|tier| match definition.tiers.contains_key(tier) {
        true => format!("{}/{tier}", definition.name),
        false => tier.to_string(),
    });
    let executor = format!("executor:{}", executor.word());
    ["total".to_owned(), executor].into_iter().chain(tier).collect()
}

fn full_limit(tier: &TierView) -> FullLimit {
    FullLimit {
        name: tier.name.clone(),
        limit: tier.limit,
        in_use: tier.in_use,
        rate: tier.rate.clone(),
        frees_at: tier.frees_at,
        holders: tier.holders.iter().take(NAMED_MAX).cloned().collect(),
    }
}
