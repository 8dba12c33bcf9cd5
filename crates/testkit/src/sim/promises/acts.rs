//! What is ordered from executors, compared with what is durable when it is carried out.

use crate::sim::executors::Executors;
use crate::sim::life::Order;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::{Record, everything};
use crate::sim::promises::rows::row_of;
use mainspring_core::ids::{RunId, Ticket};
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::launch::StartAttempt;
use mainspring_core::world::batch::Effect;
use mainspring_store::Model;
use std::collections::BTreeMap;

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
                Promise::DurableFirst
                    .ensure(durable || abandoned, || format!("started: {:?}", start.ticket))?;
                check_told(model, start)
            }
            Order::Effect(Effect::Stop(_, stop)) => {
                let row = durable_row(model, stop.ticket);
                let known = row.is_none_or(|row| row.stopping.is_some() || !row.fact.is_live());
                let other = !is_live(model, stop.ticket);
                Promise::DurableFirst.ensure(known || other, || format!("stopped: {stop:?}"))
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
            Order::Effect(Effect::Reattach(..)) | Order::OnlyThese(_) => Ok(()),
        }
    }
}

fn durable_rows(model: &Model, ticket: Ticket) -> Option<Vec<TaskRow>> {
    let heads = model.runs(&everything());
    let (head, _) = heads.iter().find(|(head, _)| head.key == ticket.run)?;
    Some(model.run(head.id)?.tasks)
}

fn durable_row(model: &Model, ticket: Ticket) -> Option<TaskRow> {
    row_of(&durable_rows(model, ticket)?, ticket.task.no).cloned()
}

/// What was put out after the dispatch may be told as well: an attempt that never started is
/// started with what there is then.
fn check_told(model: &Model, start: &StartAttempt) -> Check {
    let rows = durable_rows(model, start.ticket).unwrap_or_default();
    let attempt = row_of(&rows, start.ticket.task.no).and_then(|row| row.attempt.as_ref());
    let Some(attempt) = attempt else { return Ok(()) };
    Promise::Told.ensure(start.attempt == attempt.number, || {
        format!("{:?} is told that it is attempt {}", start.ticket, start.attempt)
    })?;
    for (upstream, told) in &start.upstream {
        let row = row_of(&rows, *upstream);
        let output = row.and_then(|row| row.output.as_ref());
        let before = row.and_then(|row| row.settled_at) < Some(attempt.dispatched_at);
        let holds = told.as_ref() == output || (told.is_none() && !before);
        Promise::Told.ensure(holds, || {
            format!("{:?} is not told what {upstream:?} put out", start.ticket)
        })?;
    }
    Ok(())
}

/// Whether the ticket names what is durably the live attempt of its task.
pub fn is_live(model: &Model, ticket: Ticket) -> bool {
    durable_row(model, ticket).is_some_and(|row| {
        row.fact.is_live() && row.attempt.is_some_and(|attempt| attempt.id == ticket.attempt)
    })
}
