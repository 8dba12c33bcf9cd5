//! Runs that only wait leave memory and come back. Every other test here is played with that as
//! well: nobody notices.

use super::stage::{Stage, config};
use crate::world::World;
use crate::world::input::{
    ActiveRuns, DeleteWorkflow, Input, Order, Prefetched, Refusal, Reply, Verb,
};

fn is_asleep(stage: &Stage) -> bool {
    let asleep = stage.world.asleep().any(|(_, asleep)| asleep.id == stage.run);
    assert_ne!(asleep, stage.world.run(stage.run).is_some(), "it is in one place");
    asleep
}

#[test]
fn what_only_waits_leaves_memory() {
    for sketch in ["a approval\nb: a", "a sleep=5\nb: a", "a signal=k\nb: a\nc approval"] {
        assert!(is_asleep(&Stage::new(sketch)), "{sketch}");
    }
}

#[test]
fn a_life_begins_without_those_that_only_wait() {
    let is_loaded_asleep = |script: &str| {
        let mut stage = Stage::new("a approval\nb: a");
        stage.play(script);
        let mut world = World::new(&config(&[], 1_000));
        world.load(stage.now, stage.snapshot());
        world.asleep().any(|(_, asleep)| asleep.id == stage.run)
    };
    // Before anything else happens: the next run that is read takes its place.
    assert!(is_loaded_asleep(""));
    assert!(is_loaded_asleep("pause"));
    assert!(!is_loaded_asleep("approve a"), "its next task is at work");
}

#[test]
fn what_can_go_on_by_itself_stays() {
    for sketch in ["a approval\nb", "a approval\nb retries=1", "a approval fan=3", "a"] {
        assert!(!is_asleep(&Stage::new(sketch)), "{sketch}");
    }
    let mut stage = Stage::new("a approval\nb retries=1 delay=60");
    stage.play("b fail");
    assert!(!is_asleep(&stage), "a retry is due");
    stage.play("wait 60; b ok");
    assert!(is_asleep(&stage));
}

#[test]
fn a_command_brings_it_back_and_a_refusal_leaves_it_where_it_is() {
    let mut stage = Stage::new("a approval\nb: a");
    let refused = stage.order(Order::Run(Verb::Resume));
    assert!(refused.is_err());
    assert!(is_asleep(&stage));
    stage.play("pause");
    assert_eq!(stage.shown(), "paused: a=waiting b=pending");
    assert!(is_asleep(&stage));
    stage.play("resume; approve a");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    assert!(!is_asleep(&stage));
}

#[test]
fn its_timers_are_kept_and_the_run_s_own_too() {
    let mut stage = Stage::new("a sleep=50\nb sleep=20\nc: b");
    stage.play("wait 19");
    assert!(is_asleep(&stage));
    stage.play("wait 1; c ok");
    assert_eq!(stage.shown(), "running: a=waiting b=success c=success");
    assert!(is_asleep(&stage));
    stage.play("wait 30");
    assert_eq!(stage.shown(), "success: a=success b=success c=success");
    let mut stage = Stage::new("@timeout=10\na approval");
    stage.play("wait 10");
    assert_eq!(stage.shown(), "failed: a=cancelled");
}

#[test]
fn one_that_could_not_be_read_is_asked_for_again() {
    let mut stage = Stage::new("a sleep=5");
    let due = stage.now + crate::time::Span::from_secs(5);
    stage.world.wake(due);
    assert_eq!(stage.world.next_stirred(due), Some(stage.run));
    assert_eq!(stage.world.next_stirred(due), None);
    let again = stage.world.next_wake().expect("it is not forgotten");
    stage.world.wake(again);
    assert_eq!(stage.world.next_stirred(again), Some(stage.run));
}

#[test]
fn what_was_read_before_it_left_is_refused() {
    let mut stage = Stage::new("a signal=k\nb signal=l");
    let before = stage.snapshot();
    stage.play("signal other 1");
    let found = Prefetched { run: Some(before), ..Prefetched::default() };
    let answer = stage.world.apply(stage.now, Input::Rouse(stage.run), found);
    assert!(matches!(answer, Err(Refusal::Outdated)), "{answer:?}");
    assert!(is_asleep(&stage));
}

#[test]
fn a_workflow_with_runs_that_sleep_is_active() {
    let mut stage = Stage::new("a approval");
    let delete = |active| {
        let (name, by) = ("sketch".into(), "ann".to_owned());
        Input::DeleteWorkflow(DeleteWorkflow { name, active, by })
    };
    let refused = stage.apply(delete(ActiveRuns::Refuse));
    assert!(matches!(refused, Err(Refusal::WorkflowActive(1))), "{refused:?}");
    let without = stage.world.apply(stage.now, delete(ActiveRuns::Cancel), Prefetched::default());
    assert!(matches!(without, Err(Refusal::Outdated)), "{without:?}");
    assert!(!stage.world.needs(&delete(ActiveRuns::Cancel)).is_empty());
    let found = Prefetched { asleep: vec![stage.snapshot()], ..Prefetched::default() };
    let done = stage.world.apply(stage.now, delete(ActiveRuns::Cancel), found);
    assert!(matches!(done, Ok(Reply::Done)), "{done:?}");
    stage.settle();
    assert_eq!(stage.shown(), "cancelled: a=cancelled");
}
