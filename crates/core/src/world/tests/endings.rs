//! How runs end.

use super::stage::{Stage, check, check_said};
use crate::error::ErrorClass;

#[test]
fn the_end_is_decided_after_the_cascade() {
    check(
        "a\nb: a\nc: b\nd finally: c",
        "a fail; d ok",
        "failed: a=failed b=blocked c=blocked d=success",
    );
}

#[test]
fn a_run_that_times_out_stops_what_is_live_and_fails() {
    let sketch = "@timeout=60\na\nb: a\nc";
    check(sketch, "wait 60", "cancelling: a=dispatched b=cancelled c=dispatched");
    check(sketch, "wait 60; a gone; c ok", "failed: a=cancelled b=cancelled c=cancelled");
    let mut stage = Stage::new(sketch);
    stage.play("wait 60; a gone; c gone");
    let (_, progress) = stage.stored.as_ref().expect("stored");
    let error = progress.error.as_ref().expect("a reason");
    assert_eq!(error.class, ErrorClass::Timeout);
    assert_eq!(error.message, "the run took longer than its timeout of 1m");
}

#[test]
fn a_run_says_which_task_failed_it() {
    let mut stage = Stage::new("a\nb");
    stage.play("a fail; b ok");
    let (_, progress) = stage.stored.as_ref().expect("stored");
    let error = progress.error.as_ref().expect("a reason");
    assert_eq!(error.message, "task 'a' failed: exited with code 1");
}

#[test]
fn a_paused_run_does_not_end_and_its_timeout_goes_on() {
    check("a", "pause; a ok", "paused: a=success");
    check("a", "pause; a ok; resume", "success: a=success");
    check("@timeout=10\na", "pause; wait 10; a gone", "failed: a=cancelled");
}

#[test]
fn one_end_is_said_once() {
    check_said("a", "a ok; wait 4000", "start a; end");
}
