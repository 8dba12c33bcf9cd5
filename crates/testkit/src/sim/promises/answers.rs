//! Questions and their answers: each once, after the commit, and true.

use crate::sim::library::Library;
use crate::sim::people::{self, meant};
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::rows::row_of;
use crate::sim::store::whole;
use crate::sim::tally::Tally;
use mainspring_core::ids::{RunId, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Closed;
use mainspring_core::kernel::row::{Cancelled, RunStatus, Stopping, TaskRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::input::{Command, Order, Refusal, Reply, Verb};
use mainspring_store::{Model, StoredRun};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub enum Asked {
    Deploy,
    Trigger,
    Rerun,
    Command(Command),
    Tier,
    Report,
    Answer,
}

/// A question that waits for its answer.
#[derive(Clone, Debug)]
pub struct Question {
    pub asked: Asked,
    /// When it was applied, and whether the world was different after.
    pub applied: Option<(Timestamp, Difference)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    None,
    Some,
}

pub type Answer = Result<Reply, Refusal>;

/// All answers of one commit, which is durable.
pub fn check(
    answers: &[(Question, Answer)],
    model: &Model,
    library: &Library,
    tally: &mut Tally,
) -> Check {
    let mut orders: BTreeMap<RunId, Vec<(&Command, Timestamp)>> = BTreeMap::new();
    for (question, answer) in answers {
        count(question, answer, tally);
        let Some((at, difference)) = question.applied else {
            return Err(Promise::AnsweredLast.broken(format!("{question:?} was never applied")));
        };
        match (&question.asked, answer) {
            (Asked::Trigger | Asked::Rerun, Ok(Reply::Accepted { run })) => {
                let stored = model.run(*run).is_some();
                Promise::AnsweredLast.ensure(stored, || format!("run {run} is not durable"))?;
            }
            (Asked::Command(command), Ok(_)) => {
                // Nothing may be left for force to do.
                let done = difference == Difference::Some || is_force(&command.order);
                Promise::Reflected
                    .ensure(done, || format!("{command:?} was done and changed nothing"))?;
                orders.entry(command.run).or_default().push((command, at));
            }
            (_, Err(refusal)) => {
                let owned = *refusal != Refusal::NotOwned;
                Promise::Owned.ensure(owned, || format!("{question:?}"))?;
                // Whoever runs something anew looks at it again.
                let current =
                    *refusal != Refusal::Outdated || matches!(question.asked, Asked::Rerun);
                Promise::ReadAgain.ensure(current, || format!("{question:?}"))?;
                Promise::RefusedUnchanged.ensure(difference == Difference::None, || {
                    format!("{question:?} was refused ({refusal}) and changed something")
                })?;
            }
            (_, Ok(_)) => {}
        }
    }
    for (run, orders) in orders {
        let stored = whole(model, run);
        let stored = stored.ok_or_else(|| Promise::AnsweredLast.broken("run not stored"))?;
        // With several in one commit the later ones may have undone the earlier.
        if let [(command, at)] = orders.as_slice() {
            let definition = library.of(model, &stored.head);
            let seen = match meant(&command.order, &definition) {
                Some(meant) => is_reflected(&stored, meant, *at),
                None => is_heard(&stored, model, command, *at),
            };
            Promise::Reflected.ensure(seen, || format!("{command:?}: {:?}", stored.progress))?;
        }
    }
    Ok(())
}

fn count(question: &Question, answer: &Answer, tally: &mut Tally) {
    match (&question.asked, answer) {
        (_, Err(refusal)) => tally.count(("refusal", refusal.code(), "")),
        (Asked::Command(command), Ok(_)) => {
            let group = match &command.order {
                Order::Run(_) => "run order",
                Order::Task(named, _) if named.index.is_some() => "instance order",
                Order::Rule(named, _) if named.index.is_some() => "instance order",
                Order::Task(..) | Order::RetryTasks(_) | Order::Rule(..) => "task order",
                Order::Signal(_) | Order::Add(_) => "run order",
            };
            tally.count((group, people::word(&command.order), "done"));
        }
        (Asked::Trigger, Ok(_)) => tally.count(("run", "accepted", "")),
        (Asked::Rerun, Ok(_)) => tally.count(("run", "anew", "")),
        (_, Ok(_)) => {}
    }
}

fn is_force(order: &Order) -> bool {
    matches!(order, Order::Run(Verb::ForceCancel) | Order::Task(_, Verb::ForceCancel))
}

fn is_reflected(run: &StoredRun, meant: (Verb, Option<Vec<TaskRef>>), at: Timestamp) -> bool {
    let status = run.progress.status;
    // A timeout in the same commit overrules everybody.
    let winding_down = run.progress.cancel.is_some();
    match meant {
        (Verb::Cancel, None) => winding_down,
        (Verb::ForceCancel, None) => winding_down && !run.tasks.iter().any(TaskRow::is_live),
        _ if winding_down => true,
        (Verb::Pause, None) => status == RunStatus::Paused,
        (Verb::Resume, None) => {
            let hold = run.progress.hold.as_ref();
            // It may have come to its next checkpoint.
            status != RunStatus::Paused || hold.is_some_and(|hold| hold.by_checkpoint().is_some())
        }
        (Verb::Retry, None) => status == RunStatus::Pending || run.progress.opened_at >= Some(at),
        (verb, Some(tasks)) => tasks.iter().all(|task| is_task_reflected(run, verb, *task)),
    }
}

/// A signal is there; of an approval it is known what was said.
fn is_heard(run: &StoredRun, model: &Model, command: &Command, at: Timestamp) -> bool {
    if let Order::Add(addition) = &command.order {
        let mut added = model.additions(run.head.key).into_iter();
        return added.any(|row| row.text == addition.text && row.at == at);
    }
    let Order::Signal(signal) = &command.order else { return true };
    let signals = model.all_signals(run.head.key);
    let mut same = signals.iter().filter(|row| row.key == signal.key && row.value == signal.value);
    same.any(|row| row.at == at && row.number <= run.progress.signals)
}

/// What ends its group in the same commit lifts the hold of an instance, and a cancel that of the
/// group itself.
fn is_closing(run: &StoredRun, task: TaskRef) -> bool {
    let group = row_of(&run.tasks, TaskRef::plain(task.no)).and_then(|row| row.group.as_ref());
    let closed = group.and_then(|group| group.closed);
    match task.index {
        Some(_) => closed.is_some(),
        None => matches!(closed, Some(Closed::Cancel(_))),
    }
}

fn is_task_reflected(run: &StoredRun, verb: Verb, task: TaskRef) -> bool {
    let Some(row) = row_of(&run.tasks, task) else {
        // Its group has gone back, and it with it.
        return verb == Verb::Retry && task.index.is_some();
    };
    let closed = row.group.as_ref().and_then(|group| group.closed);
    match verb {
        Verb::Pause => row.hold.is_some() || row.fact.is_settled() || is_closing(run, task),
        Verb::Resume => row.hold.is_none(),
        Verb::Cancel => {
            let stops =
                row.stopping == Some(Stopping::Cancel) || matches!(closed, Some(Closed::Cancel(_)));
            // What landed before it could be stopped has landed.
            let landed = row.fact == Fact::Success && row.finalizer.is_some();
            stops || landed || row.fact == Fact::Cancelled
        }
        // One that fails fast has failed, whoever hurries it.
        Verb::ForceCancel if closed == Some(Closed::FailFast) => {
            let is_live = |row: &&TaskRow| row.task.no == task.no && row.is_live();
            !run.tasks.iter().any(|row| is_live(&row))
        }
        Verb::ForceCancel => row.fact == Fact::Cancelled,
        Verb::Retry => {
            !matches!(row.fact, Fact::Failed | Fact::Cancelled) || failed_fast_since(run, row)
        }
    }
}

/// Another instance failed in the same commit: a group that had been asked for something would
/// not be closed like that.
fn failed_fast_since(run: &StoredRun, row: &TaskRow) -> bool {
    let group = row_of(&run.tasks, TaskRef::plain(row.task.no)).and_then(|row| row.group.as_ref());
    row.task.index.is_some()
        && row.cancelled == Some(Cancelled::FailFast)
        && group.is_some_and(|group| group.closed == Some(Closed::FailFast))
}
