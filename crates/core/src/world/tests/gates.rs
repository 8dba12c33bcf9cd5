//! `max_active_runs` and concurrency groups: who is let in, who waits, who gives way.

use super::stage::Stage;
use crate::ids::RunId;
use crate::json::Json;
use crate::kernel::row::RunStatus;
use crate::sketch::sketch;
use crate::world::input::{Command, Deploy, Input, Order, Refusal, Reply, Trigger, Verb};
use std::collections::BTreeMap;
use std::sync::Arc;

pub fn trigger(stage: &mut Stage, priority: i32, group: Option<&str>) -> Result<RunId, Refusal> {
    let trigger = Trigger {
        workflow: "sketch".into(),
        version: None,
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority,
        triggered_by: "test".into(),
        workdir: "/".into(),
        group: group.map(Into::into),
        again: None,
    };
    match stage.world.apply(stage.now, Input::Trigger(trigger), Default::default())? {
        Reply::Accepted { run } => {
            settle(stage);
            Ok(run)
        }
        reply => panic!("{reply:?}"),
    }
}

/// The stage follows its first run only; here there are several.
fn settle(stage: &mut Stage) {
    while stage.world.deadline().is_some() {
        let _ = stage.world.take_batch(stage.now);
    }
    stage.world.verify(stage.now).expect("the indexes are true");
}

pub fn status(stage: &Stage, run: RunId) -> Option<RunStatus> {
    stage.world.run(run).map(|run| run.progress.status)
}

pub fn order(stage: &mut Stage, run: RunId, verb: Verb) -> Result<Reply, Refusal> {
    let command = Command { run, order: Order::Run(verb), by: "ann".into() };
    let answer = stage.world.apply(stage.now, Input::Command(command), Default::default());
    settle(stage);
    answer
}

/// Cancels a run by force, so that nothing of it is left.
pub fn end(stage: &mut Stage, run: RunId) {
    order(stage, run, Verb::ForceCancel).expect("cancelled");
    assert_eq!(status(stage, run), None);
}

#[test]
fn runs_beyond_the_number_wait_and_are_let_in_when_one_ends() {
    let mut stage = Stage::new("@max_active=1\na");
    let second = trigger(&mut stage, 0, None).expect("accepted");
    let third = trigger(&mut stage, 0, None).expect("accepted");
    assert_eq!(status(&stage, second), Some(RunStatus::Pending));
    let waiting = stage.world.run(second).expect("it is here");
    assert_eq!((waiting.progress.started_at, waiting.progress.opened_at), (None, None));
    let first = stage.run;
    end(&mut stage, first);
    assert_eq!(status(&stage, second), Some(RunStatus::Running));
    assert_eq!(status(&stage, third), Some(RunStatus::Pending));
    let begun = &stage.world.run(second).expect("it is here").progress;
    assert_eq!((begun.started_at, begun.opened_at), (Some(stage.now), Some(stage.now)));
}

#[test]
fn higher_priority_is_let_in_first_then_the_older() {
    let mut stage = Stage::new("@max_active=1\na");
    let runs = [0, 0, 5].map(|priority| trigger(&mut stage, priority, None).expect("accepted"));
    let first = stage.run;
    end(&mut stage, first);
    let active = |stage: &Stage| runs.map(|run| status(stage, run) == Some(RunStatus::Running));
    assert_eq!(active(&stage), [false, false, true]);
    end(&mut stage, runs[2]);
    assert_eq!(active(&stage), [true, false, false]);
}

#[test]
fn paused_and_cancelling_runs_are_active() {
    let mut stage = Stage::new("@max_active=1\na");
    let (first, second) = (stage.run, trigger(&mut stage, 0, None).expect("accepted"));
    order(&mut stage, first, Verb::Pause).expect("paused");
    assert_eq!(status(&stage, second), Some(RunStatus::Pending));
    order(&mut stage, first, Verb::Cancel).expect("cancelled");
    assert_eq!(status(&stage, first), Some(RunStatus::Cancelling));
    assert_eq!(status(&stage, second), Some(RunStatus::Pending));
}

#[test]
fn a_pending_run_is_cancelled_at_once_and_not_paused() {
    let mut stage = Stage::new("@max_active=1\na");
    let second = trigger(&mut stage, 0, None).expect("accepted");
    let refused = order(&mut stage, second, Verb::Pause);
    assert_eq!(refused, Err(Refusal::RunIs(RunStatus::Pending)));
    order(&mut stage, second, Verb::Cancel).expect("cancelled");
    assert_eq!(status(&stage, second), None, "it is final");
    let third = trigger(&mut stage, 0, None).expect("accepted");
    let first = stage.run;
    end(&mut stage, first);
    assert_eq!(status(&stage, third), Some(RunStatus::Running));
}

#[test]
fn the_latest_versions_number_counts() {
    let mut stage = Stage::new("@max_active=1\na");
    let second = trigger(&mut stage, 0, None).expect("accepted");
    let mut deploy = |text: &str, hash| {
        let definition = Arc::new(sketch(text));
        let deploy = Deploy { definition, text: text.into(), hash: [hash; 32] };
        let input = Input::Deploy(deploy);
        stage.world.apply(stage.now, input, Default::default()).expect("deployed");
        settle(&mut stage);
        status(&stage, second)
    };
    assert_eq!(deploy("@max_active=2\na", 2), Some(RunStatus::Running));
    assert_eq!(deploy("@max_active=1\na", 3), Some(RunStatus::Running), "nothing is stopped");
    let third = trigger(&mut stage, 0, None).expect("accepted");
    let first = stage.run;
    end(&mut stage, first);
    assert_eq!(status(&stage, third), Some(RunStatus::Pending));
    end(&mut stage, second);
    assert_eq!(status(&stage, third), Some(RunStatus::Running));
}

#[test]
fn a_retry_may_have_to_wait() {
    let mut stage = Stage::new("@max_active=1\na");
    stage.play("a fail");
    let second = trigger(&mut stage, 0, None).expect("accepted");
    assert_eq!(status(&stage, second), Some(RunStatus::Running));
    stage.play("retry");
    assert_eq!(stage.shown(), "pending: a=ready");
    stage.play("crash");
    assert_eq!(stage.shown(), "running: a=dispatched", "nobody else is there any more");
    stage.play("a ok");
    assert_eq!(stage.shown(), "success: a=success");
}

#[test]
fn nobody_is_let_in_while_the_server_ends() {
    let mut stage = Stage::new("@max_active=1\na");
    let second = trigger(&mut stage, 0, None).expect("accepted");
    stage.world.start_nothing_more();
    let first = stage.run;
    end(&mut stage, first);
    assert_eq!(status(&stage, second), Some(RunStatus::Pending));
}

#[test]
fn runs_of_a_group_wait_for_each_other_and_for_nobody_else() {
    let mut stage = Stage::new("@group=1/queue\na");
    let [one, other, same] =
        ["x", "y", "x"].map(|key| trigger(&mut stage, 0, Some(key)).expect("accepted"));
    assert_eq!(status(&stage, one), Some(RunStatus::Running));
    assert_eq!(status(&stage, other), Some(RunStatus::Running));
    assert_eq!(status(&stage, same), Some(RunStatus::Pending));
    end(&mut stage, one);
    assert_eq!(status(&stage, same), Some(RunStatus::Running));
}

#[test]
fn one_whose_own_limit_has_room_is_not_held_up_by_one_whose_limit_has_none() {
    let mut stage = Stage::new("@group=1/queue\na");
    let [first, second] = [(); 2].map(|()| trigger(&mut stage, 0, Some("x")).expect("accepted"));
    let definition = Arc::new(sketch("@group=3/queue\na"));
    let deploy = Deploy { definition, text: "more".into(), hash: [2; 32] };
    stage.world.apply(stage.now, Input::Deploy(deploy), Default::default()).expect("deployed");
    let [third, fourth] = [(); 2].map(|()| trigger(&mut stage, 0, Some("x")).expect("accepted"));
    assert_eq!(status(&stage, first), Some(RunStatus::Running));
    assert_eq!(status(&stage, second), Some(RunStatus::Pending), "at most one beside none");
    assert_eq!(status(&stage, third), Some(RunStatus::Running), "at most three");
    assert_eq!(status(&stage, fourth), Some(RunStatus::Running));
    for run in [first, third, fourth] {
        end(&mut stage, run);
    }
    assert_eq!(status(&stage, second), Some(RunStatus::Running));
}

#[test]
fn a_group_that_skips_says_who_holds_it() {
    let mut stage = Stage::new("@group=1/skip\na");
    let one = trigger(&mut stage, 0, Some("x")).expect("accepted");
    let refused = trigger(&mut stage, 0, Some("x"));
    assert_eq!(refused, Err(Refusal::GroupHeld { group: "x".into(), run: one }));
    assert!(trigger(&mut stage, 0, Some("y")).is_ok());
    end(&mut stage, one);
    assert!(trigger(&mut stage, 0, Some("x")).is_ok());
}

#[test]
fn a_group_that_cancels_lets_the_new_run_in_when_the_old_one_is_gone() {
    let mut stage = Stage::new("@group=1/cancel\na");
    let one = trigger(&mut stage, 0, Some("x")).expect("accepted");
    let two = trigger(&mut stage, 0, Some("x")).expect("accepted");
    assert_eq!(status(&stage, one), Some(RunStatus::Cancelling));
    assert_eq!(status(&stage, two), Some(RunStatus::Pending));
    // The one that waits gives way too, and at once.
    let three = trigger(&mut stage, 0, Some("x")).expect("accepted");
    assert_eq!(status(&stage, two), None);
    end(&mut stage, one);
    assert_eq!(status(&stage, three), Some(RunStatus::Running));
}

#[test]
fn only_as_many_as_needed_give_way() {
    let mut stage = Stage::new("@group=2/cancel\na");
    let [one, two, three] = [(); 3].map(|()| trigger(&mut stage, 0, Some("x")).expect("accepted"));
    assert_eq!(status(&stage, one), Some(RunStatus::Cancelling));
    assert_eq!(status(&stage, two), Some(RunStatus::Running));
    assert_eq!(status(&stage, three), Some(RunStatus::Pending));
}

#[test]
fn a_child_passes_a_group_that_an_ancestor_holds() {
    let mut stage = Stage::new("@group=1/queue\na");
    let parent = trigger(&mut stage, 0, Some("x")).expect("accepted");
    let held = |group: &str| {
        let group = group.into();
        stage.world.group_held(Some(&group), Some(parent)).map(|held| held.to_string())
    };
    assert_eq!(held("x"), None);
    assert_eq!(held("y"), Some("y".to_owned()));
}

#[test]
fn nothing_runs_always_in_a_run_that_was_not_let_in() {
    let mut stage = Stage::new("@max_active=1\na\nc always=30: a");
    let second = trigger(&mut stage, 0, None).expect("accepted");
    order(&mut stage, second, Verb::Cancel).expect("cancelled");
    assert_eq!(status(&stage, second), None, "it has ended at once");
}
