//! People and programs: they trigger, pause, resume, cancel (some by force) and retry at random
//! moments.

use crate::sim::trouble::{Luck, Trouble};
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::json::Json;
use mainspring_core::spec::definition::Definition;
use mainspring_core::world::input::{Command, Order, Trigger, Verb};
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
pub fn command(luck: &mut Luck, run: RunId, definition: &Definition) -> Option<Command> {
    let (verb, trouble) = match luck.below(4) {
        0 => (Verb::Pause, Trouble::Pauses),
        1 => (Verb::Resume, Trouble::Pauses),
        2 if luck.strikes(Trouble::Force, 4) => (Verb::ForceCancel, Trouble::Cancels),
        2 => (Verb::Cancel, Trouble::Cancels),
        _ => (Verb::Retry, Trouble::Retries),
    };
    let order = match luck.below(3) {
        0 => Order::Run(verb),
        1 if verb == Verb::Retry => {
            let count = 1 + luck.below(3);
            Order::RetryTasks((0..count).map(|_| name(luck, definition)).collect())
        }
        _ => Order::Task(name(luck, definition), verb),
    };
    let run = if luck.strikes(Trouble::Strangers, 40) { NO_RUN } else { run };
    luck.strikes(trouble, 1).then_some(Command { run, order, by: "someone".to_owned() })
}

fn name(luck: &mut Luck, definition: &Definition) -> Arc<str> {
    if luck.strikes(Trouble::Strangers, 40) {
        return "nobody".into();
    }
    Arc::clone(&definition.tasks[luck.pick(definition.tasks.len())].name)
}

/// What ends every hold, so that a world can come to rest.
pub fn resume(run: RunId, task: Option<Arc<str>>) -> Command {
    let order = task.map_or(Order::Run(Verb::Resume), |name| Order::Task(name, Verb::Resume));
    Command { run, order, by: "someone".to_owned() }
}

/// What an order is about: its verb, and the tasks that it names; none: the run as a whole.
/// Names that the definition lacks are left out.
pub fn meant(order: &Order, definition: &Definition) -> (Verb, Option<Vec<TaskNo>>) {
    let numbers = |names: &[Arc<str>]| {
        names.iter().filter_map(|name| definition.task_no(name)).collect::<Vec<_>>()
    };
    match order {
        Order::Run(verb) => (*verb, None),
        Order::Task(name, verb) => (*verb, Some(numbers(std::slice::from_ref(name)))),
        Order::RetryTasks(names) => (Verb::Retry, Some(numbers(names))),
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
