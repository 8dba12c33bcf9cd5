//! People and programs: they trigger, pause, resume, cancel and retry at random moments.

use crate::sim::trouble::{Luck, Trouble};
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::json::Json;
use mainspring_core::world::input::{Command, Trigger, Verb};
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
pub fn command(luck: &mut Luck, run: RunId, tasks: u64) -> Option<Command> {
    let (verb, trouble) = match luck.below(4) {
        0 => (Verb::Pause, Trouble::Pauses),
        1 => (Verb::Resume, Trouble::Pauses),
        2 => (Verb::Cancel, Trouble::Cancels),
        _ => (Verb::Retry, Trouble::Retries),
    };
    let task = match luck.below(3) {
        0 => None,
        _ if luck.strikes(Trouble::Strangers, 40) => Some(TaskNo(u32::MAX)),
        _ => Some(TaskNo(u32::try_from(luck.below(tasks)).expect("small"))),
    };
    let run = if luck.strikes(Trouble::Strangers, 40) { NO_RUN } else { run };
    let by = "someone".to_owned();
    luck.strikes(trouble, 1).then_some(Command { run, task, verb, by })
}

/// What ends every hold, so that a world can come to rest.
pub fn resume(run: RunId, task: Option<TaskNo>) -> Command {
    Command { run, task, verb: Verb::Resume, by: "someone".to_owned() }
}

pub const fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Pause => "pause",
        Verb::Resume => "resume",
        Verb::Cancel => "cancel",
        Verb::Retry => "retry",
    }
}
