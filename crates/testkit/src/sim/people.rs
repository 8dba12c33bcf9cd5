//! People and programs: they trigger, pause, resume, cancel (some by force) and retry at random
//! moments.

use crate::sim::trouble::{Luck, Trouble};
use mainspring_core::ids::{RunId, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{Command, Named, Order, Trigger, Verb};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run that nobody ever accepted.
pub const NO_RUN: RunId = RunId::from_bytes([9; 16]);

pub fn trigger(luck: &mut Luck, workflow: Arc<str>) -> Trigger {
    let workflow = if luck.strikes(Trouble::Strangers, 40) { "nowhere".into() } else { workflow };
    Trigger {
        workflow,
        version: None,
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority: i32::try_from(luck.below(2)).expect("small"),
        triggered_by: "simulation".to_owned(),
        workdir: "/".to_owned(),
    }
}

/// None when the kind of command that came up is switched off.
pub fn command(
    luck: &mut Luck,
    run: RunId,
    definition: &Definition,
    rows: &[TaskRow],
) -> Option<Command> {
    let (verb, trouble) = match luck.below(4) {
        0 => (Verb::Pause, Trouble::Pauses),
        1 => (Verb::Resume, Trouble::Pauses),
        2 if luck.strikes(Trouble::Force, 4) => (Verb::ForceCancel, Trouble::Cancels),
        2 => (Verb::Cancel, Trouble::Cancels),
        _ => (Verb::Retry, Trouble::Retries),
    };
    let order = match luck.below(5) {
        0 | 1 => Order::Run(verb),
        2 if verb == Verb::Retry => {
            let count = 1 + luck.below(3);
            Order::RetryTasks((0..count).map(|_| name(luck, definition)).collect())
        }
        2 => Order::Task(named(luck, definition), verb),
        _ => match fitting(luck, definition, rows, verb) {
            Some(named) => Order::Task(named, verb),
            None => Order::Task(named(luck, definition), verb),
        },
    };
    let run = if luck.strikes(Trouble::Strangers, 40) { NO_RUN } else { run };
    luck.strikes(trouble, 1).then_some(Command { run, order, by: "someone".to_owned() })
}

/// Somebody who has looked first: one to which the order may apply.
fn fitting(
    luck: &mut Luck,
    definition: &Definition,
    rows: &[TaskRow],
    verb: Verb,
) -> Option<Named> {
    let fits = |row: &&TaskRow| match verb {
        Verb::Resume => row.hold.is_some(),
        Verb::Retry => matches!(row.fact, Fact::Failed | Fact::Cancelled),
        Verb::Pause | Verb::Cancel | Verb::ForceCancel => !row.fact.is_settled(),
    };
    let found: Vec<TaskRef> = rows.iter().filter(fits).map(|row| row.task).collect();
    let task = found.get(luck.pick(found.len().max(1)))?;
    Some(Named { task: Arc::clone(&definition.task(task.no).name), index: task.index })
}

fn name(luck: &mut Luck, definition: &Definition) -> Arc<str> {
    if luck.strikes(Trouble::Strangers, 40) {
        return "nobody".into();
    }
    Arc::clone(&definition.tasks[luck.pick(definition.tasks.len())].name)
}

/// A task, or now and then one of its instances; one that is no group has none.
fn named(luck: &mut Luck, definition: &Definition) -> Named {
    let task = name(luck, definition);
    let no = definition.task_no(&task);
    let is_group = no.is_some_and(|no| definition.task(no).fan_out.is_some());
    let has_index =
        if is_group { luck.below(2) == 0 } else { luck.strikes(Trouble::Strangers, 40) };
    let index = has_index.then(|| u32::try_from(luck.below(5)).expect("small"));
    Named { task, index }
}

/// What ends every hold, so that a world can come to rest.
pub fn resume(run: RunId, task: Option<Named>) -> Command {
    let order = task.map_or(Order::Run(Verb::Resume), |named| Order::Task(named, Verb::Resume));
    Command { run, order, by: "someone".to_owned() }
}

/// What an order is about: its verb, and the tasks that it names; none: the run as a whole.
/// Names that the definition lacks are left out.
pub fn meant(order: &Order, definition: &Definition) -> (Verb, Option<Vec<TaskRef>>) {
    let place = |name: &str, index| Some(TaskRef { no: definition.task_no(name)?, index });
    match order {
        Order::Run(verb) => (*verb, None),
        Order::Task(named, verb) => {
            (*verb, Some(place(&named.task, named.index).into_iter().collect()))
        }
        Order::RetryTasks(names) => {
            (Verb::Retry, Some(names.iter().filter_map(|name| place(name, None)).collect()))
        }
    }
}

pub const fn word(order: &Order) -> &'static str {
    match order {
        Order::Run(Verb::Pause) | Order::Task(_, Verb::Pause) => "pause",
        Order::Run(Verb::Resume) | Order::Task(_, Verb::Resume) => "resume",
        Order::Run(Verb::Cancel) | Order::Task(_, Verb::Cancel) => "cancel",
        Order::Run(Verb::ForceCancel) | Order::Task(_, Verb::ForceCancel) => "force cancel",
        Order::Run(Verb::Retry) | Order::Task(_, Verb::Retry) => "retry",
        Order::RetryTasks(_) => "retry several",
    }
}
