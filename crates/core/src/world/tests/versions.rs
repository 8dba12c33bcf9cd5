//! Versions: content decides the number; runs stay with theirs.

use super::stage::Stage;
use crate::json::Json;
use crate::sketch::sketch;
use crate::world::batch::Change;
use crate::world::input::{Deploy, Input, KnownVersion, Need, Prefetched, Refusal, Reply, Trigger};
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
    assert_eq!(stage.apply(deploy("x", 1)), Ok(Reply::Deployed { version: 1 }));
    assert_eq!(stage.apply(deploy("x", 1)), Ok(Reply::Deployed { version: 1 }));
    assert_eq!(stage.apply(deploy("y", 2)), Ok(Reply::Deployed { version: 2 }));
    assert_eq!(versions(&stage) - before, 2);
}

#[test]
fn numbers_go_on_from_what_is_stored() {
    let mut stage = Stage::new("a");
    let input = deploy("x", 1);
    assert_eq!(stage.world.needs(&input), [Need::LatestVersion("w".into())]);
    let found = KnownVersion { number: 7, hash: [9; 32], definition: Arc::new(sketch("x")) };
    let found = Prefetched { version: Some(found), run: None };
    let reply = stage.world.apply(stage.now, input.clone(), found);
    assert_eq!(reply, Ok(Reply::Deployed { version: 8 }));
    assert_eq!(stage.world.needs(&input), []);
}

#[test]
fn a_tier_has_the_number_of_the_newest_version() {
    let mut stage = Stage::new("@gpu=8\na");
    let mut newer = sketch("@gpu=1\na");
    newer.name = "sketch".into();
    let deploy = Deploy { definition: Arc::new(newer), text: "newer".into(), hash: [2; 32] };
    stage.apply(Input::Deploy(deploy)).expect("deployed");
    let gpu = |stage: &Stage| {
        let found = stage.world.limits().all().find(|(name, ..)| *name == "tier:sketch/gpu");
        found.map(|(_, max, _)| max)
    };
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
        task: None,
        verb: crate::world::input::Verb::Retry,
        by: "ann".into(),
    };
    let found = Prefetched { run: Some(outdated), version: None };
    let answer = stage.world.apply(stage.now, Input::Command(command), found);
    assert_eq!(answer, Err(Refusal::Outdated));
}
