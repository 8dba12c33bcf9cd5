//! Nothing is stuck without a reason: when everything that follows has been decided, every task
//! without an outcome waits for something that has a name, as rows alone tell it; and for no edge
//! that is satisfied.

use crate::sim::oracle::{Met, Reading};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::everything;
use crate::sim::store::whole;
use crate::sim::tally::Tally;
use mainspring_core::ids::TaskNo;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{RunHead, RunStatus, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::{Definition, FailureStrategy, When};
use mainspring_core::time::Timestamp;
use mainspring_core::view::explain::behind::{Place, behind};
use mainspring_core::view::explain::reason::{Evaluated, Reason};
use mainspring_core::view::explain::seen::{Around, Seen};
use mainspring_core::view::explain::shapes::{Explained, Explanation, Told};
use mainspring_core::view::explain::{Wanted, explain};
use mainspring_core::view::tiers::TierView;
use mainspring_core::world::World;
use mainspring_core::world::run::{About, Run};
use mainspring_store::{Model, StoredRun};

/// At rest: nothing is left to decide, and no timer is due.
pub fn check(world: &World, model: &Model, now: Timestamp, tally: &mut Tally) -> Check {
    let tiers = world.tiers();
    let active = model.runs(&everything()).into_iter().filter(|(_, progress)| {
        matches!(progress.status, RunStatus::Running | RunStatus::Paused | RunStatus::Cancelling)
    });
    let active: Vec<RunHead> = active.map(|(head, _)| head).collect();
    for run in world.runs() {
        let Some(stored) = whole(model, run.head.id) else { continue };
        let told = explained(run, &stored, (&tiers, &active), now);
        check_run(run, &told, tally)?;
        check_edges(run, &stored, &told)?;
    }
    Ok(())
}

/// Whoever is said to wait for an edge waits for one that is not satisfied.
fn check_edges(run: &Run, stored: &StoredRun, told: &Explanation) -> Check {
    let waits = |task: &&Explained| task.index.is_none() && task.reasons.iter().any(is_edge);
    let waiting: Vec<&Explained> = told.tasks.iter().filter(waits).collect();
    // Reading all of a run anew costs more than all the rest.
    if waiting.is_empty() || !run.progress.stamp.is_multiple_of(4) {
        return Ok(());
    }
    let definition = &run.blueprint.definition;
    let reading = Reading::of(definition, stored.tasks.iter(), &stored.progress);
    for task in waiting {
        let no = definition.task_no(&task.name).expect("it is explained by its name");
        let edges = definition.task(no).depends_on.iter().zip(reading.dependencies(no));
        for (edge, (when, met)) in edges {
            let is_asked = run.asked.keys().any(|about| about.task() == Some(edge.upstream));
            let is_done = when == When::Completed && is_done(stored, definition, edge.upstream);
            let is_met = met == Met::Yes || is_done && !is_asked;
            let name = &definition.task(edge.upstream).name;
            let waits = task.reasons.iter().any(|told| {
                matches!(&told.reason, Reason::Dependency { task, when: word, .. }
                    if **task == **name && *word == when.word())
            });
            Promise::Explained.ensure(!waits || !is_met, || {
                format!("{} of run {} waits for {name}", task.name, run.head.key.0)
            })?;
        }
    }
    Ok(())
}

fn is_edge(told: &Told) -> bool {
    matches!(told.reason, Reason::Dependency { .. })
}

/// The work of every instance of a group is done, and nothing but what lands it can keep the group
/// from a success.
fn is_done(stored: &StoredRun, definition: &Definition, no: TaskNo) -> bool {
    let rows = || stored.tasks.iter().filter(|row| row.task.no == no);
    let group = rows().find_map(|row| row.group.as_ref().filter(|_| row.fact == Fact::Open));
    let Some(group) = group.filter(|group| group.closed.is_none()) else { return false };
    let fan_out = definition.task(no).fan_out.as_ref();
    let strategy = fan_out.map(|fan_out| fan_out.failure_strategy);
    let ignores = strategy == Some(FailureStrategy::IgnoreErrors);
    let is_done = |row: &TaskRow| match row.fact {
        Fact::Success | Fact::WorkerDone => true,
        fact => ignores && fact == Fact::Failed,
    };
    let lands = definition.task(no).finalize.is_some();
    lands && group.next == group.count && rows().filter(|row| row.task.index.is_some()).all(is_done)
}

/// As somebody would who does not own it.
fn explained(
    run: &Run,
    stored: &StoredRun,
    (tiers, active): (&[TierView], &[RunHead]),
    now: Timestamp,
) -> Explanation {
    let definition = &run.blueprint.definition;
    let mut rows = Rows::new(definition.tasks.len());
    let plain = stored.tasks.iter().filter(|row| row.task.index.is_none());
    plain.for_each(|row| rows.put(row.clone()));
    let (head, progress) = (&stored.head, &stored.progress);
    let workflow = definition.max_active_runs.map(|limit| Place::Workflow { limit, active });
    let group = definition.concurrency_group.as_ref();
    let group = group.map(|group| Place::Group { limit: group.limit, active });
    let places: Vec<Place<'_>> = workflow.into_iter().chain(group).collect();
    let behind = match progress.status {
        RunStatus::Pending => behind(head, &places),
        _ => Vec::new(),
    };
    let around = Around { limits: Some(tiers), behind: &behind };
    let shape = run.blueprint.shape();
    let seen = Seen { shape, head, progress, rows: &rows, around, now };
    explain(seen, Wanted::From(TaskNo(0), usize::MAX), |no| unsettled(stored, no))
}

fn unsettled(stored: &StoredRun, no: TaskNo) -> Vec<TaskRow> {
    let rows = stored.tasks.iter().filter(|row| row.task.no == no && row.task.index.is_some());
    rows.filter(|row| !row.fact.is_settled()).cloned().collect()
}

fn check_run(run: &Run, told: &Explanation, tally: &mut Tally) -> Check {
    let key = run.head.key.0;
    let of_run = told.reasons.iter().map(|told| &told.reason);
    for reason in of_run {
        tally.count(("explained", reason.kind(), ""));
        let holds = match reason {
            Reason::LetIn | Reason::Ending | Reason::Unattended => false,
            Reason::Evaluation { what: Evaluated::Outputs } => {
                run.asked.contains_key(&About::RunOutput)
            }
            _ => true,
        };
        Promise::Explained.ensure(holds, || format!("run {key} waits for {reason:?}"))?;
    }
    let goes_on = matches!(run.progress.status, RunStatus::Running | RunStatus::Cancelling);
    Promise::Explained
        .ensure(goes_on && !told.tasks.is_empty() || !told.reasons.is_empty(), || {
            format!("run {key} waits for nothing")
        })?;
    for task in &told.tasks {
        check_task(run, task, tally)?;
        task.instances.iter().try_for_each(|instance| check_task(run, instance, tally))?;
    }
    Ok(())
}

fn check_task(run: &Run, task: &Explained, tally: &mut Tally) -> Check {
    let name = || format!("{}/{:?} of run {}", task.name, task.index, run.head.key.0);
    Promise::Explained.ensure(!task.reasons.is_empty(), || format!("{} has no reason", name()))?;
    let no = run.blueprint.definition.task_no(&task.name);
    let is_asked = run.asked.keys().any(|about| about.task() == no);
    for told in &task.reasons {
        tally.count(("explained", told.reason.kind(), ""));
        let holds = match &told.reason {
            Reason::Starting | Reason::Evaluation { .. } => is_asked,
            Reason::Unattended => false,
            _ => !told.text.is_empty(),
        };
        Promise::Explained.ensure(holds, || format!("{}: {:?}", name(), told.reason))?;
    }
    Ok(())
}
