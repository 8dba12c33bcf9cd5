//! Checkpoints: the run is paused after their success.

use super::stage::{Stage, check, check_said};

fn held_by(stage: &Stage) -> Option<String> {
    let (_, progress) = stage.stored.as_ref().expect("stored");
    progress.hold.as_ref().map(|hold| hold.by.clone())
}

#[test]
fn a_run_is_paused_after_its_checkpoint_and_goes_on_when_resumed() {
    let sketch = "a checkpoint\nb: a\nc";
    check(sketch, "a ok; c start", "paused: a=success b=ready c=running");
    check_said(sketch, "a ok; c ok; resume; b ok", "start a; start c; start b; end");
    let mut stage = Stage::new(sketch);
    stage.play("a ok");
    assert_eq!(held_by(&stage).as_deref(), Some("checkpoint a"));
    stage.play("crash; c alive; resume; c ok; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success c=success");
}

#[test]
fn a_failure_is_no_checkpoint_and_a_retry_passes_it_again() {
    check(
        "a checkpoint retries=1 delay=1\nb: a",
        "a fail; wait 1",
        "running: a=dispatched b=pending",
    );
    check("a checkpoint\nb finally: a", "a fail", "running: a=failed b=dispatched");
    check("a checkpoint allow\nb: a", "a fail; b ok", "success: a=failed b=success");
    check("a checkpoint\nb: a", "a fail; retry; a ok", "paused: a=success b=ready");
}

#[test]
fn the_last_task_may_be_one() {
    check("a checkpoint", "a ok", "paused: a=success");
    check("a checkpoint", "a ok; resume", "success: a=success");
}

#[test]
fn every_kind_of_task_may_be_one() {
    check("a noop checkpoint\nb: a", "", "paused: a=success b=ready");
    check("a sleep=5 checkpoint\nb: a", "wait 5", "paused: a=success b=ready");
    check("a approval checkpoint\nb: a", "approve a", "paused: a=success b=ready");
    check("a fan=2 checkpoint\nb: a", "a/0 ok", "running: a=running b=pending");
    check("a fan=2 checkpoint\nb: a", "a/0 ok; a/1 ok", "paused: a=success b=ready");
    check("a fan=0 checkpoint\nb: a", "", "paused: a=success b=ready");
}

#[test]
fn a_run_that_is_paused_stays_with_whoever_paused_it() {
    let mut stage = Stage::new("a checkpoint\nb: a");
    stage.play("pause; a ok");
    assert_eq!(held_by(&stage).as_deref(), Some("ann"));
    stage.play("resume");
    assert_eq!(held_by(&stage).as_deref(), Some("checkpoint a"));
    stage.play("resume; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
}

#[test]
fn each_checkpoint_that_is_reached_while_the_run_is_paused_wants_a_resume_of_its_own() {
    let mut stage = Stage::new("a checkpoint\nb checkpoint\nc checkpoint\nd: a, b, c");
    stage.play("b ok; wait 1; c ok; wait 1; crash; a alive; a ok; wait 1");
    for held in ["checkpoint b", "checkpoint c", "checkpoint a"] {
        assert_eq!(held_by(&stage).as_deref(), Some(held));
        stage.play("resume; wait 1; crash");
    }
    assert_eq!(held_by(&stage), None);
    stage.play("d alive; d ok");
    assert_eq!(stage.shown(), "success: a=success b=success c=success d=success");
}

#[test]
fn a_run_that_is_being_cancelled_goes_on_with_that() {
    check(
        "a\nc always=9 checkpoint: a",
        "cancel; a gone; c ok",
        "cancelled: a=cancelled c=success",
    );
    check("a checkpoint\nb", "cancel; a ok; b gone", "cancelled: a=cancelled b=cancelled");
    check("@timeout=9\na checkpoint\nb: a", "a ok; wait 9", "failed: a=success b=cancelled");
}
