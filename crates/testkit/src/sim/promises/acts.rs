//! What is ordered from executors, compared with what is durable when it is carried out.

use crate::sim::executors::Executors;
use crate::sim::life::Order;
use crate::sim::outputs::Blobs;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::items::items;
use crate::sim::promises::record::{Record, everything};
use crate::sim::promises::rows::row_of;
use crate::sim::store::whole;
use mainspring_core::evaluate::{Asked, Question};
use mainspring_core::ids::{RunId, RunKey, TaskNo, TaskRef, Ticket};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::launch::StartAttempt;
use mainspring_core::output::Output;
use mainspring_core::spec::definition::Each;
use mainspring_core::work::{Launch, Work};
use mainspring_core::world::batch::Effect;
use mainspring_store::Model;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub struct Acts {
    announced: BTreeMap<RunId, u32>,
}

impl Acts {
    pub fn check(
        &mut self,
        order: &Order,
        model: &Model,
        executors: &Executors,
        record: &Record,
    ) -> Check {
        match order {
            // Told twice what it holds already, an executor does nothing.
            Order::Effect(Effect::Start(start)) if executors.holds(start.ticket) => Ok(()),
            Order::Effect(Effect::Start(start)) => {
                let durable = is_live(model, start.ticket);
                // What was given up meanwhile is started, then stopped.
                let abandoned = record.was_abandoned(start.ticket.attempt);
                if abandoned && !durable {
                    return Ok(());
                }
                Promise::DurableFirst.ensure(durable, || format!("started: {:?}", start.ticket))?;
                check_told(model, start)
            }
            Order::Effect(Effect::Stop(_, stop)) => {
                let known = is_stopping_or_over(model, stop.ticket);
                Promise::DurableFirst.ensure(known, || format!("stopped: {stop:?}"))
            }
            Order::Effect(Effect::KillUnconfirmed(what)) => {
                let known = is_stopping_or_over(model, what.ticket);
                Promise::DurableFirst.ensure(known, || format!("unconfirmed: {what:?}"))
            }
            Order::Effect(Effect::Settle(_, ticket)) | Order::Forget(ticket) => {
                let over = !is_live(model, *ticket);
                Promise::SettledLast.ensure(over, || format!("{ticket:?} is not over"))
            }
            Order::Effect(Effect::RunEnded(run)) => {
                let times = self.announced.entry(*run).or_default();
                *times += 1;
                let ended = record.finals.get(run).copied().unwrap_or(0);
                Promise::Announced.ensure(*times <= ended, || {
                    format!("run {run} ended {ended} times, announced {times} times")
                })
            }
            Order::Effect(Effect::Evaluate(question)) => check_question(model, question),
            Order::Effect(Effect::Reattach(..)) | Order::OnlyThese(_) => Ok(()),
        }
    }
}

fn is_stopping_or_over(model: &Model, ticket: Ticket) -> bool {
    let row = durable_row(model, ticket);
    row.is_none_or(|row| row.stopping.is_some()) || !is_live(model, ticket)
}

/// Whether a task runs is asked before anything is stored of it, and a list when its group is.
fn check_question(model: &Model, question: &Question) -> Check {
    let rows = durable_rows(model, question.run).unwrap_or_default();
    let fact = |no| row_of(&rows, TaskRef::plain(no)).map_or(Fact::None, |row| row.fact);
    let said = || format!("asked: {:?}", question.what);
    match question.what {
        Asked::Opening(no) => Promise::Conditions.ensure(fact(no) != Fact::Delayed, said),
        Asked::Items(no)
        | Asked::Noops { task: no, .. }
        | Asked::List { task: no, .. }
        | Asked::Work { task: no, .. } => {
            Promise::DurableFirst.ensure(fact(no) != Fact::None || was_asked_back(&rows, no), said)
        }
        Asked::Parking(_) | Asked::RunOutput => Ok(()),
    }
}

/// It went back since the question was asked.
fn was_asked_back(rows: &[TaskRow], no: TaskNo) -> bool {
    row_of(rows, TaskRef::plain(no)).is_some_and(|row| row.group.is_some())
}

fn durable_rows(model: &Model, run: RunKey) -> Option<Vec<TaskRow>> {
    let heads = model.runs(&everything());
    let (head, _) = heads.iter().find(|(head, _)| head.key == run)?;
    Some(whole(model, head.id)?.tasks)
}

fn durable_row(model: &Model, ticket: Ticket) -> Option<TaskRow> {
    row_of(&durable_rows(model, ticket.run)?, ticket.task).cloned()
}

/// What was put out after the dispatch may be told as well: an attempt that never started is
/// started with what there is then. What was taken back since may be told too.
fn check_told(model: &Model, start: &StartAttempt) -> Check {
    let rows = durable_rows(model, start.ticket.run).unwrap_or_default();
    let row = row_of(&rows, start.ticket.task);
    let Some(attempt) = row.and_then(|row| row.attempt.as_ref()) else { return Ok(()) };
    let landing = row.and_then(TaskRow::finalizing).and_then(|finalizer| finalizer.attempt);
    let number = landing.map_or(attempt.number, |landing| landing.number);
    let work = landing.map(|_| attempt.id);
    Promise::Told.ensure(start.attempt == number && start.finalizes == work, || {
        format!("{:?} is told that it is attempt {}", start.ticket, start.attempt)
    })?;
    let edges = &start.around.definition.task(start.ticket.task.no).depends_on;
    let told: BTreeSet<TaskNo> = start.around.upstream.iter().map(|upstream| upstream.no).collect();
    let all = edges.iter().all(|edge| told.contains(&edge.upstream));
    Promise::Told.ensure(all, || format!("{:?} is told of {told:?}", start.ticket))?;
    for upstream in &start.around.upstream {
        let row = row_of(&rows, TaskRef::plain(upstream.no));
        let output = row.and_then(TaskRow::readable_output);
        let settled_at = row.and_then(|row| row.settled_at);
        let before = settled_at.is_some_and(|at| at < attempt.dispatched_at);
        let told = upstream.output.as_ref();
        let holds = told == output || !before;
        Promise::Told.ensure(holds, || {
            format!("{:?} is not told what {:?} put out", start.ticket, upstream.no)
        })?;
    }
    Ok(())
}

/// What reaches the executor: an instance is told which one it is, and its item.
pub fn check_launch(model: &Model, blobs: &Blobs, start: &StartAttempt, launch: &Launch) -> Check {
    let rows = durable_rows(model, start.ticket.run).unwrap_or_default();
    if let Work::GitMerge(merge) = &launch.work {
        let work = row_of(&rows, start.ticket.task).and_then(|row| row.attempt.as_ref());
        let is_its = work.is_none_or(|work| work.id == merge.attempt);
        Promise::Told.ensure(is_its || !is_live(model, start.ticket), || {
            format!("{:?} lands in the name of {:?}", start.ticket, merge.attempt)
        })?;
    }
    let TaskRef { no, index: Some(index) } = start.ticket.task else { return Ok(()) };
    let own = row_of(&rows, TaskRef::plain(no)).filter(|row| row.fact == Fact::Open);
    let (Some(group), true) =
        (own.and_then(|row| row.group.as_ref()), is_live(model, start.ticket))
    else {
        return Ok(());
    };
    let input: serde_json::Value = launch.input.to_value();
    let mut expected = vec![("index", index.into()), ("count", group.count.into())];
    let fan_out = start.around.definition.task(no).fan_out.as_ref();
    if let Some(Each::From(path)) = fan_out.and_then(|fan_out| fan_out.foreach.as_ref()) {
        let value = |output: &Output| blobs.value(start.around.run, output);
        let items = items(&start.around.definition, &rows, (no, path.task), value);
        let times = group.count as usize / items.as_ref().map_or(1, |items| items.len().max(1));
        let item = items.as_ref().and_then(|items| items.get(index as usize / times.max(1)));
        expected.extend(item.map(|item| ("item", item.clone())));
        Promise::Told.ensure(item.is_some(), || format!("{:?} has no item", start.ticket))?;
    }
    Promise::Told
        .ensure(expected.iter().all(|(name, value)| input.get(name) == Some(value)), || {
            format!("{:?} is told {input}, should be {expected:?}", start.ticket)
        })
}

/// Whether the ticket names what is durably the live attempt of its task.
pub fn is_live(model: &Model, ticket: Ticket) -> bool {
    durable_row(model, ticket)
        .is_some_and(|row| row.live_attempt().is_some_and(|(id, _)| id == ticket.attempt))
}
