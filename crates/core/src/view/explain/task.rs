//! One task, or one instance of a fan-out.

use super::reason::{Evaluated, Reason};
use super::seen::Reading;
use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::row::{Attempt, AttemptEnd, Cancelled, Hold, Stopping, TaskRow};
use crate::limits::KILL_CONFIRMED_WITHIN;
use crate::plan::dag::edge::EdgeState;
use crate::plan::dag::graph::EdgeNo;
use crate::spec::definition::Task;
use crate::view::awaits::Awaits;
use crate::view::words::word;

impl Reading<'_> {
    /// Of a task that has no outcome.
    pub fn of_task(&self, no: TaskNo) -> Vec<Reason> {
        let row = self.row(no);
        let mut reasons = match row {
            Some(row) if row.fact == Fact::Open => self.of_group(no, row),
            Some(row) if row.fact != Fact::None => self.of_row(row),
            _ => self.of_unbegun(no, row),
        };
        let grace = self.task(no).always.zip(self.seen.progress.alone_since);
        reasons.extend(grace.map(|(it, since)| Reason::Grace { until: since + it.grace }));
        reasons
    }

    /// Nothing is stored of what it is doing.
    fn of_unbegun(&self, no: TaskNo, row: Option<&TaskRow>) -> Vec<Reason> {
        let mut reasons = self.dependencies(no);
        let is_open = reasons.is_empty();
        reasons.extend(row.and_then(|row| row.hold.as_deref()).map(held));
        reasons.extend(self.of_run(no));
        if is_open {
            self.add_start(no, Evaluated::Opening, &mut reasons);
        }
        reasons
    }

    /// What keeps something back of which nothing else is missing.
    pub fn add_start(&self, no: TaskNo, what: Evaluated, reasons: &mut Vec<Reason>) {
        reasons.extend(self.limits(no));
        if !reasons.is_empty() {
            return;
        }
        reasons.push(match self.is_attended() {
            false => Reason::Unattended,
            true if is_worked_out(self.task(no), what) => Reason::Evaluation { what },
            true => Reason::Starting,
        });
    }

    fn dependencies(&self, no: TaskNo) -> Vec<Reason> {
        let (graph, shape) = (self.seen.shape.graph, self.seen.shape);
        let run = (self.seen.progress, self.seen.rows);
        let mut reasons = Vec::new();
        for position in graph.range(no) {
            let edge = EdgeNo(u32::try_from(position).unwrap_or(u32::MAX));
            if self.plan.edge(edge) == EdgeState::Satisfied {
                continue;
            }
            let edge = graph.edge(edge);
            reasons.push(Reason::Dependency {
                task: self.task(edge.upstream).name.to_string(),
                when: edge.when.word(),
                state: word(shape, run, self.plan, (edge.upstream, self.seen.now)),
            });
        }
        reasons
    }

    /// By what its own row says: a plain task, or an instance that has been opened.
    pub fn of_row(&self, row: &TaskRow) -> Vec<Reason> {
        let no = row.task.no;
        let of_group = self.row(no).filter(|_| row.task.index.is_some());
        let holds = row.hold.iter().chain(of_group.and_then(|group| group.hold.as_ref()));
        let held = holds.map(|hold| held(hold));
        let attempt = row.attempt.as_ref();
        let mut reasons: Vec<Reason> = match row.fact {
            Fact::Dispatched | Fact::Running => {
                let live = row.stopping.map(|why| stopping(row, why));
                let live = live.or_else(|| attempt.map(|it| at_work(row.fact, it)));
                let left = (!self.is_attended()).then_some(Reason::Unattended);
                return live.into_iter().chain(left).chain(held).collect();
            }
            Fact::Waiting => {
                let stops = row.stopping.map(|why| stopping(row, why));
                let awaited = awaited(self.task(no), row);
                return stops.into_iter().chain(awaited).chain(held).collect();
            }
            Fact::WorkerDone => {
                let held: Vec<Reason> = held.collect();
                return self.landing(row).into_iter().chain(held).collect();
            }
            _ => held.collect(),
        };
        reasons.extend(self.of_run(no));
        let is_due = row.until.is_none_or(|until| until <= self.seen.now);
        if !is_due {
            reasons.extend(put_off(row));
            return reasons;
        }
        if row.task.index.is_some() {
            reasons.extend(self.row(no).and_then(|group| self.crowded(no, group)));
        }
        self.add_start(no, Evaluated::Instances, &mut reasons);
        reasons
    }
}

impl Reading<'_> {
    /// Of a task whose work is done.
    fn landing(&self, row: &TaskRow) -> Vec<Reason> {
        let no = row.task.no;
        let Some(finalizer) = row.finalizing() else { return Vec::new() };
        if let Some(why) = row.stopping {
            return vec![stopping(row, why)];
        }
        if let Some(live) = finalizer.attempt.filter(|_| finalizer.fact.is_live()) {
            let since = live.started_at.unwrap_or(live.dispatched_at);
            return vec![Reason::Landing { attempt: live.number, since }];
        }
        let queue = self.task(no).finalize.as_deref().and_then(|it| finalizer.queue(it));
        let retry_at = row.until.filter(|until| *until > self.seen.now);
        let refused = finalizer.refused.as_deref().map(ToOwned::to_owned);
        let failed = finalizer.error.as_ref().map(|error| error.message.clone());
        let mut reasons = vec![Reason::Finalizer {
            state: finalizer.word(),
            since: finalizer.since,
            queue: queue.map(ToOwned::to_owned),
            retry_at,
            message: refused.or(failed),
        }];
        reasons.extend(self.of_run(no));
        if retry_at.is_none() {
            reasons.extend(self.landing_limits(queue));
        }
        reasons
    }
}

/// Since the first order to stop it, of whatever is live of a task. A child run says that itself.
fn stopping(row: &TaskRow, why: Stopping) -> Reason {
    let since = row.until.filter(|_| row.is_live()).map(|until| until - KILL_CONFIRMED_WITHIN);
    Reason::Stopping { why, reason: row.cancelled.map(Cancelled::word), since }
}

/// What is told of a hold.
pub fn held(hold: &Hold) -> Reason {
    Reason::Held { by: hold.by.clone(), since: hold.at }
}

/// Whether something is worked out before it can go on. What was put off has been before, unless
/// nobody carries it out.
fn is_worked_out(task: &Task, what: Evaluated) -> bool {
    match what {
        Evaluated::Opening => task.needs_answer(),
        _ => task.action.executor().is_none(),
    }
}

fn at_work(fact: Fact, attempt: &Attempt) -> Reason {
    let Attempt { number, dispatched_at, started_at, .. } = attempt;
    match (fact, started_at) {
        (Fact::Running, Some(since)) => Reason::Running { attempt: *number, since: *since },
        _ => Reason::Dispatched { attempt: *number, since: *dispatched_at },
    }
}

fn put_off(row: &TaskRow) -> Option<Reason> {
    let at = row.until?;
    let end = row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref());
    Some(match end {
        Some(AttemptEnd::Refused(why)) => Reason::StartRefused { at, missing: why.to_string() },
        Some(AttemptEnd::Failed(error)) => {
            let (class, message) = (Some(error.class), Some(error.message.clone()));
            Reason::Retry { at, class, message }
        }
        _ => Reason::Retry { at, class: None, message: None },
    })
}

fn awaited(task: &Task, row: &TaskRow) -> Option<Reason> {
    let awaits = Awaits::of(task, row)?;
    Some(match awaits {
        Awaits { signal: Some(key), until, .. } => Reason::Signal { key, until },
        Awaits { run: Some(run), until, .. } => Reason::Child { run, until },
        Awaits { message: Some(message), by, until, on_timeout, decided, .. } => {
            Reason::Approval { message, by: by.unwrap_or_default(), until, on_timeout, decided }
        }
        Awaits { until, since, .. } => Reason::Time { until: until.unwrap_or(since) },
    })
}
