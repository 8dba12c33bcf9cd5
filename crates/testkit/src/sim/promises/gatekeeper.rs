//! Runs that are active at once, and who of those that wait is let in.

use crate::sim::library::Library;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::everything;
use crate::sim::tally::Tally;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::{CancelCause, RunHead, RunProgress, RunStatus};
use mainspring_store::Model;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a run says that its group has cancelled.
pub const BY_GROUP: &str = "a newer run of its concurrency group";

/// How every run stood after the last commit.
#[derive(Debug, Default)]
pub struct Gatekeeper(BTreeMap<RunId, RunStatus>);

impl Gatekeeper {
    pub fn check(&mut self, model: &Model, library: &Library, tally: &mut Tally) -> Check {
        let runs = model.runs(&everything());
        check_counts(&runs, model, library)?;
        check_cancelled(&runs)?;
        let pending: Vec<&RunHead> = runs
            .iter()
            .filter(|(head, now)| now.status == RunStatus::Pending && head.group.is_none())
            .map(|(head, _)| head)
            .collect();
        for (head, now) in &runs {
            let before = self.0.insert(head.id, now.status);
            let is_let_in = before == Some(RunStatus::Pending)
                && !matches!(now.status, RunStatus::Pending | RunStatus::Cancelled);
            match now.status {
                RunStatus::Pending if before.is_none() => tally.count(("gate", "waits", "")),
                RunStatus::Pending if before != Some(RunStatus::Pending) => {
                    tally.count(("gate", "waits again", ""));
                }
                _ if is_let_in => tally.count(("gate", "let in", "")),
                _ => {}
            }
            let passed = pending
                .iter()
                .find(|other| other.workflow == head.workflow && rank(other) < rank(head));
            Promise::InTurn
                .ensure(!is_let_in || head.group.is_some() || passed.is_none(), || {
                    format!("run {} was let in before {passed:?}", head.key.0)
                })?;
        }
        Ok(())
    }
}

fn rank(head: &RunHead) -> impl Ord + use<> {
    (Reverse(head.priority), head.created_at, head.key)
}

/// All versions of a workflow, and all groups of a world, have the same numbers.
fn check_counts(runs: &[(RunHead, RunProgress)], model: &Model, library: &Library) -> Check {
    let mut workflows: BTreeMap<&str, u32> = BTreeMap::new();
    let mut groups: BTreeMap<&str, u32> = BTreeMap::new();
    let is_active =
        |status| matches!(status, RunStatus::Running | RunStatus::Paused | RunStatus::Cancelling);
    for (head, _) in runs.iter().filter(|(_, progress)| is_active(progress.status)) {
        let definition = library.of(model, head);
        // Children come with their parents.
        let count = workflows.entry(&head.workflow).or_default();
        *count += u32::from(head.parent.is_none());
        Promise::ActiveRuns
            .ensure(*count <= definition.max_active_runs.unwrap_or(u32::MAX), || {
                format!("{count} runs of {} are active", head.workflow)
            })?;
        let (Some(name), Some(group)) = (&head.group, &definition.concurrency_group) else {
            continue;
        };
        if passes(head, runs) {
            continue;
        }
        let count = groups.entry(name).or_default();
        *count += 1;
        Promise::ActiveRuns.ensure(*count <= group.limit, || {
            format!("{count} runs of the group {name} are active")
        })?;
    }
    Ok(())
}

/// Somebody above it is of its group.
fn passes(head: &RunHead, runs: &[(RunHead, RunProgress)]) -> bool {
    let above = |head: &RunHead| {
        let parent = head.parent.as_deref()?.run;
        runs.iter().map(|(head, _)| head).find(|other| other.id == parent)
    };
    let mut at = above(head);
    while let Some(ancestor) = at {
        if ancestor.group == head.group {
            return true;
        }
        at = above(ancestor);
    }
    false
}

/// Whoever was cancelled for a newer one has a newer one.
fn check_cancelled(runs: &[(RunHead, RunProgress)]) -> Check {
    for (head, progress) in runs {
        let Some(CancelCause::Asked(by)) = &progress.cancel else { continue };
        let is_newer = |other: &RunHead| other.group == head.group && other.key > head.key;
        let holds = !by.starts_with(BY_GROUP) || runs.iter().any(|(other, _)| is_newer(other));
        Promise::ActiveRuns.ensure(holds, || format!("run {} has no successor", head.key.0))?;
    }
    Ok(())
}
