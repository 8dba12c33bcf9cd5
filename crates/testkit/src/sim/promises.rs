//! The promises, as checks over what is durable and what executors hold.

use crate::sim::executors::Executors;
use crate::sim::life::Definitions;
use mainspring_core::ids::{AttemptId, RunId, TaskNo, Ticket};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{Attempt, AttemptEnd, CancelCause, RunStatus, TaskRow};
use mainspring_core::kernel::rows::Rows;
use mainspring_core::limits::LOSSES_MAX;
use mainspring_core::plan::dag::edge::EdgeState;
use mainspring_core::plan::dag::graph::{EdgeNo, Graph};
use mainspring_core::plan::dag::outcome::{Verdict, verdict};
use mainspring_core::plan::dag::plan::{Plan, Shape};
use mainspring_core::spec::definition::Definition;
use mainspring_core::time::Timestamp;
use mainspring_core::view::words::words;
use mainspring_core::world::World;
use mainspring_store::{Model, StoredRun};
use std::collections::{BTreeMap, BTreeSet};

/// What has been seen durable, and must stay so.
#[derive(Debug, Default)]
pub struct Promises {
    /// Runs whose acceptance was answered.
    pub accepted: BTreeSet<RunId>,
    /// Runs of which a person asked some part again.
    pub retried: BTreeSet<RunId>,
    ends: BTreeMap<AttemptId, AttemptEnd>,
    /// Delays seen, by attempt: a restart neither forgets nor shortens them.
    delays: BTreeMap<AttemptId, Timestamp>,
}

type Check = Result<(), String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

impl Promises {
    /// After every commit that became durable.
    pub fn check_stored(&mut self, model: &Model, known: &Definitions, live: &Executors) -> Check {
        for id in &self.accepted {
            ensure(model.run(*id).is_some(), || format!("run {id} was accepted and is lost"))?;
        }
        for (head, _) in model.runs(&everything()) {
            let run = model.run(head.id).expect("listed runs exist");
            let definition = &known[&head.workflow];
            self.check_run(model, &run, definition)?;
            check_gone(&run, live)?;
        }
        Ok(())
    }

    fn check_run(&mut self, model: &Model, run: &StoredRun, definition: &Definition) -> Check {
        for row in &run.tasks {
            check_row(row, definition)?;
            if let Some(attempt) = &row.attempt {
                self.check_end(attempt)?;
                self.check_delay(row, attempt)?;
            }
        }
        let mut numbers: BTreeMap<TaskNo, Vec<u32>> = BTreeMap::new();
        for past in model.attempts(run.head.key) {
            self.check_end(&past.attempt)?;
            numbers.entry(past.task.no).or_default().push(past.attempt.number);
        }
        for row in &run.tasks {
            let mut seen = numbers.remove(&row.task.no).unwrap_or_default();
            let current = row.attempt.as_ref().filter(|attempt| !is_refused(attempt));
            seen.extend(current.map(|attempt| attempt.number));
            seen.sort_unstable();
            let gapless: Vec<u32> = (1..=row.attempts).collect();
            ensure(seen == gapless, || format!("attempts of {:?} are {seen:?}", row.task))?;
        }
        Ok(())
    }

    /// An outcome is recorded exactly once.
    fn check_end(&mut self, attempt: &Attempt) -> Check {
        let Some(end) = &attempt.end else {
            let known = self.ends.get(&attempt.id);
            return ensure(known.is_none(), || format!("{:?} lost its end", attempt.id));
        };
        let known = self.ends.entry(attempt.id).or_insert_with(|| end.clone());
        ensure(known == end, || format!("{:?} ended twice: {known:?}, {end:?}", attempt.id))
    }

    fn check_delay(&mut self, row: &TaskRow, attempt: &Attempt) -> Check {
        if let Some(until) = row.until {
            let known = *self.delays.entry(attempt.id).or_insert(until);
            ensure(until == known, || format!("the delay of {:?} changed", row.task))?;
        }
        Ok(())
    }

    /// When an order to start is carried out: it was durable first, its delay has passed, and
    /// its dependencies are satisfied as recorded.
    pub fn check_start(
        &self,
        (model, known): (&Model, &Definitions),
        ticket: Ticket,
        now: Timestamp,
    ) -> Check {
        let heads = model.runs(&everything());
        let (head, _) = heads
            .iter()
            .find(|(head, _)| head.key == ticket.run)
            .ok_or("a task of a run that is not stored was started")?;
        let run = model.run(head.id).expect("listed runs exist");
        let row = run.tasks.iter().find(|row| row.task == ticket.task);
        let current = row.filter(|row| {
            row.fact.is_live() && row.attempt.as_ref().is_some_and(|a| a.id == ticket.attempt)
        });
        let Some(row) = current else {
            return Err(format!("{:?} was started before it was durable", ticket.task));
        };
        // A person may have sent back what this one once followed from, or ended its delay.
        if self.retried.contains(&head.id) {
            return Ok(());
        }
        for past in model.attempts(head.key).iter().filter(|past| past.task == row.task) {
            let delay = self.delays.get(&past.attempt.id);
            ensure(delay.is_none_or(|until| *until <= now), || {
                format!("{:?} was started before its delay had passed", ticket.task)
            })?;
        }
        check_edges(&run, &known[&head.workflow], ticket.task.no)
    }

    /// At the end of a world: every run is final, and rightly so.
    pub fn check_final(&self, model: &Model, known: &Definitions, now: Timestamp) -> Check {
        for (head, progress) in model.runs(&everything()) {
            let run = model.run(head.id).expect("listed runs exist");
            let status = progress.status;
            ensure(status.is_final(), || {
                let unsettled = run.tasks.iter().filter(|row| !row.fact.is_settled());
                let rows: Vec<&TaskRow> = unsettled.collect();
                format!("run {:?} is stuck: {status:?}, {rows:?}", head.key)
            })?;
            let definition = &known[&head.workflow];
            let (graph, rows) = (Graph::new(definition), rows_of(&run, definition));
            let shape = Shape { definition, graph: &graph };
            for shown in words(shape, &progress, &rows, now) {
                ensure(shown.word.is_settled(), || format!("{} in a final run", shown.word))?;
            }
            let expected = match (&progress.cancel, verdict(shape, &rows)) {
                (Some(CancelCause::Asked(_)), _) => RunStatus::Cancelled,
                (Some(CancelCause::RunTimeout), _) | (None, Verdict::Failed(_)) => {
                    RunStatus::Failed
                }
                (None, Verdict::Cancelled(_)) => RunStatus::Cancelled,
                (None, Verdict::Success) => RunStatus::Success,
            };
            ensure(status == expected, || format!("{status:?}, should be {expected:?}"))?;
        }
        Ok(())
    }
}

fn everything() -> mainspring_store::RunsQuery {
    mainspring_store::RunsQuery { limit: usize::MAX, ..Default::default() }
}

fn is_refused(attempt: &Attempt) -> bool {
    matches!(attempt.end, Some(AttemptEnd::Refused(_)))
}

pub fn rows_of(run: &StoredRun, definition: &Definition) -> Rows {
    let mut rows = Rows::new(definition.tasks.len());
    run.tasks.iter().for_each(|row| rows.put(row.clone()));
    rows
}

fn check_row(row: &TaskRow, definition: &Definition) -> Check {
    let task = definition.task(row.task.no);
    let name = &task.name;
    ensure(row.tries <= task.retries.max + 1, || format!("{name}: {} tries", row.tries))?;
    ensure(row.losses <= LOSSES_MAX + 1, || format!("{name}: {} losses", row.losses))?;
    let delayed = row.fact == Fact::Delayed;
    ensure(delayed == row.until.is_some(), || format!("{name}: delayed without a time"))?;
    let settled = row.fact.is_settled();
    ensure(settled == row.settled_at.is_some(), || format!("{name}: settled without a time"))?;
    ensure(!settled || row.hold.is_none(), || format!("{name}: settled and held"))?;
    ensure(row.fact.is_live() || row.stopping.is_none(), || format!("{name}: stops nothing"))?;
    let live = row.attempt.as_ref().is_some_and(|attempt| attempt.end.is_none());
    ensure(live == row.fact.is_live(), || format!("{name}: live and ended at once"))
}

/// When the state says that it is over, the work is gone.
fn check_gone(run: &StoredRun, live: &Executors) -> Check {
    for row in run.tasks.iter().filter(|row| !row.fact.is_live()) {
        let alive = row.attempt.as_ref().is_some_and(|attempt| live.is_alive(attempt.id));
        ensure(!alive, || format!("{:?} is {:?} and still at work", row.task, row.fact))?;
    }
    Ok(())
}

fn check_edges(run: &StoredRun, definition: &Definition, no: TaskNo) -> Check {
    let (graph, rows) = (Graph::new(definition), rows_of(run, definition));
    let plan = Plan::new(Shape { definition, graph: &graph }, &rows);
    for position in graph.range(no) {
        let edge = EdgeNo(u32::try_from(position).expect("small"));
        ensure(plan.edge(edge) == EdgeState::Satisfied, || {
            let name = &definition.task(no).name;
            format!("{name} was started while {:?} is {:?}", graph.edge(edge), plan.edge(edge))
        })?;
    }
    Ok(())
}

/// Limits hold as recorded, over all runs.
pub fn check_limits(model: &Model, known: &Definitions, limits: &[(String, u32)]) -> Check {
    let mut used: BTreeMap<String, u32> = BTreeMap::new();
    let mut bounds: BTreeMap<String, u32> = limits.iter().cloned().collect();
    for (head, _) in model.runs(&everything()) {
        let definition = &known[&head.workflow];
        for (tier, max) in &definition.tiers {
            bounds.insert(format!("{}/{tier}", head.workflow), *max);
        }
        let run = model.run(head.id).expect("listed runs exist");
        for row in run.tasks.iter().filter(|row| row.fact.is_live()) {
            let tier = definition.task(row.task.no).tier.as_ref();
            let tier = tier.map(|tier| format!("{}/{tier}", head.workflow));
            let names = ["total".to_owned(), "executor:process".to_owned()];
            for name in names.into_iter().chain(tier) {
                *used.entry(name).or_default() += 1;
            }
        }
    }
    for (name, used) in used {
        let max = bounds.get(&name).copied().unwrap_or(u32::MAX);
        ensure(used <= max, || format!("{used} hold {name}, at most {max} may"))?;
    }
    Ok(())
}

/// A server that does not own a run shows exactly what its owner would.
pub fn check_views(world: &World, model: &Model, now: Timestamp) -> Check {
    for run in world.runs() {
        let Some(stored) = model.run(run.head.id) else { continue };
        let definition = &run.blueprint.definition;
        let rows = rows_of(&stored, definition);
        let theirs = words(run.blueprint.shape(), &stored.progress, &rows, now);
        let ours = words(run.blueprint.shape(), &run.progress, &run.rows, now);
        ensure(theirs == ours, || format!("owner: {ours:?}, others: {theirs:?}"))?;
    }
    Ok(())
}
