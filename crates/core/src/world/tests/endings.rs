//! How runs end.

use super::stage::{Stage, check, check_said};
use crate::error::ErrorClass;

#[test]
fn a_run_puts_out_something_only_when_it_succeeds() {
    let output = |script: &str| {
        let mut stage = Stage::new("@outputs=a\na\nb: a");
        stage.play(script);
        let (_, progress) = stage.stored.clone().expect("stored");
        (stage.shown(), progress.output.map(|output| output.to_text().into_owned()))
    };
    let (shown, put_out) = output("a ok=7; b ok");
    assert_eq!(shown, "success: a=success b=success");
    assert!(put_out.expect("it succeeded").contains('7'));
    assert_eq!(output("a ok=7; b fail"), ("failed: a=success b=failed".to_owned(), None));
    let cancelled = "cancelled: a=success b=cancelled".to_owned();
    assert_eq!(output("a ok=7; cancel; b gone"), (cancelled, None));
}

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
