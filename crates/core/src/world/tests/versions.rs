//! Versions: content decides the number; runs stay with theirs.

use super::stage::Stage;
use crate::json::Json;
use crate::kernel::row::WorkflowRow;
use crate::sketch::sketch;
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::input::{
    Deploy, Input, KnownVersion, KnownWorkflow, Need, Prefetched, Refusal, Reply, Trigger,
};
use std::sync::Arc;

fn deploy(text: &str, hash: u8) -> Input {
    let mut definition = sketch(text);
    definition.name = "w".into();
    Input::Deploy(Deploy { definition: Arc::new(definition), text: text.into(), hash: [hash; 32] })
}

#[test]
fn the_same_text_twice_makes_no_new_version() {
    let mut stage = Stage::new("a");
    let versions = |stage: &Stage| {
        stage.changes.iter().filter(|change| matches!(change, Change::NewVersion(_))).count()
    };
    let before = versions(&stage);
    let deployed = |version, is_new| Ok(Reply::Deployed { version, is_new });
    assert_eq!(stage.apply(deploy("x", 1)), deployed(1, true));
    assert_eq!(stage.apply(deploy("x", 1)), deployed(1, false));
    assert_eq!(stage.apply(deploy("y", 2)), deployed(2, true));
    assert_eq!(versions(&stage) - before, 2);
}

#[test]
fn numbers_go_on_from_what_is_stored() {
    let mut stage = Stage::new("a");
    let input = deploy("x", 1);
    assert_eq!(stage.world.needs(&input), [Need::Workflow("w".into())]);
    let latest = KnownVersion { number: 7, hash: [9; 32], definition: Arc::new(sketch("x")) };
    let row = WorkflowRow {
        name: "w".into(),
        latest: 7,
        created_at: Timestamp(1),
        updated_at: Timestamp(2),
        deleted_at: None,
    };
    let workflow = Some(KnownWorkflow { row, latest });
    let found = Prefetched { workflow, ..Prefetched::default() };
    let reply = stage.world.apply(stage.now, input.clone(), found);
    assert_eq!(reply, Ok(Reply::Deployed { version: 8, is_new: true }));
    assert_eq!(stage.world.needs(&input), []);
}

#[test]
fn a_tier_has_the_number_of_the_newest_version() {
    let mut stage = Stage::new("@gpu=8\na");
    let mut newer = sketch("@gpu=1\na");
    newer.name = "sketch".into();
    let deploy = Deploy { definition: Arc::new(newer), text: "newer".into(), hash: [2; 32] };
    stage.apply(Input::Deploy(deploy)).expect("deployed");
    let gpu =
        |stage: &Stage| stage.world.limits().find("sketch/gpu").map(|limit| limit.bound.limit);
    assert_eq!(gpu(&stage), Some(1));
    stage.play("a fail; retry");
    assert_eq!(gpu(&stage), Some(1), "a run of the older version changes nothing");
}

#[test]
fn an_unknown_workflow_is_refused() {
    let mut stage = Stage::new("a");
    let trigger = Trigger {
        workflow: "nope".into(),
        version: None,
        input: Json::empty_object(),
        labels: std::collections::BTreeMap::new(),
        priority: 0,
        triggered_by: "test".into(),
        workdir: "/".into(),
        group: None,
        again: None,
    };
    assert_eq!(stage.apply(Input::Trigger(trigger)), Err(Refusal::WorkflowNotFound));
}

#[test]
fn an_older_reading_of_a_run_is_noticed() {
    let mut stage = Stage::new("a");
    let outdated = stage.snapshot();
    stage.play("a fail");
    let command = crate::world::input::Command {
        run: stage.run,
        order: crate::world::input::Order::Run(crate::world::input::Verb::Retry),
        by: "ann".into(),
    };
    let found = Prefetched { run: Some(outdated), ..Prefetched::default() };
    let answer = stage.world.apply(stage.now, Input::Command(command), found);
    assert_eq!(answer, Err(Refusal::Outdated));
}
