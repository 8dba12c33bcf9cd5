//! Loading: after a crash, after a failed commit.

use super::stage::{Stage, check, check_said};

#[test]
fn live_attempts_are_offered_again() {
    check_said("a\nb: a", "a start; crash", "start a; reattach a");
    check("a\nb: a", "a start; crash; a alive; a ok", "running: a=success b=dispatched");
}

#[test]
fn nothing_known_is_a_loss() {
    check("a", "crash; a unknown", "running: a=pending");
    check("a", "crash; a unknown; wait 1; a ok", "success: a=success");
}

#[test]
fn never_started_is_started_now_as_the_same_attempt() {
    let mut stage = Stage::new("a");
    let before = stage.live.clone();
    stage.play("crash; a never");
    assert_eq!(stage.live, before);
    assert_eq!(stage.said, ["start a", "reattach a", "start a"]);
}

#[test]
fn an_answer_to_an_earlier_question_or_a_second_one_starts_nothing() {
    check_said("a", "crash; a outdated", "start a; reattach a; refused stale");
    check_said("a", "crash; a never; a never", "start a; reattach a; start a; refused stale");
}

#[test]
fn an_attempt_being_stopped_is_stopped_again_and_settles_as_that() {
    check_said("a", "cancel; crash", "start a; stop a cancel; reattach a");
    // It was about to start when it was asked after, so that is all there is to hear of it.
    let again = "start a; stop a cancel; reattach a; stop a cancel";
    check_said("a", "cancel; crash; a start", again);
    check_said("a", "cancel; a start", "start a; stop a cancel");
    check_said("a", "cancel; crash; a alive", "start a; stop a cancel; reattach a; stop a cancel");
    check("a", "cancel; crash; a unknown", "cancelled: a=cancelled");
    check("a", "cancel; crash; a never", "cancelled: a=cancelled");
    check("a timeout=1", "a start; wait 1; crash; a unknown", "failed: a=failed");
    check("a", "pause a; crash; a unknown", "running: a=paused");
}

#[test]
fn a_retry_delay_is_neither_forgotten_nor_shortened() {
    check("a retries=1 delay=10", "a fail; crash; wait 9", "running: a=pending");
    check("a retries=1 delay=10", "a fail; crash; wait 10", "running: a=dispatched");
    check("a retries=1 delay=10", "a fail; wait 20; crash; a ok", "success: a=success");
}

#[test]
fn holds_and_cancels_survive() {
    check("a\nb: a", "pause b; a ok; crash; resume b; b ok", "success: a=success b=success");
    check("a\nb: a", "a ok; pause; crash", "paused: a=success b=dispatched");
    check("a noop\nb: a", "crash; b ok", "success: a=success b=success");
}
