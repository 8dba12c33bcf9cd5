//! People and programs: they trigger, pause, resume, cancel and retry at random moments.

use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::json::Json;
use mainspring_core::world::chance::Chance;
use mainspring_core::world::input::{Command, Input, Trigger, Verb};
use std::collections::BTreeMap;
use std::sync::Arc;

pub fn trigger(chance: &mut Chance, workflow: &Arc<str>) -> Input {
    Input::Trigger(Trigger {
        workflow: Arc::clone(workflow),
        version: None,
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority: i32::try_from(chance.below(2)).expect("small"),
        triggered_by: "simulation".to_owned(),
        workdir: "/".to_owned(),
    })
}

pub fn command(chance: &mut Chance, run: RunId, tasks: u64) -> Input {
    let verb = Verb::ALL[usize::try_from(chance.below(4)).expect("small")];
    let task = match chance.below(3) {
        0 => None,
        // Now and then a task that does not exist.
        _ => Some(TaskNo(u32::try_from(chance.below(tasks + 1)).expect("small"))),
    };
    Input::Command(Command { run, task, verb, by: "someone".to_owned() })
}

/// What ends every hold, so that a world can come to rest.
pub fn resume(run: RunId, task: Option<TaskNo>) -> Input {
    Input::Command(Command { run, task, verb: Verb::Resume, by: "someone".to_owned() })
}
