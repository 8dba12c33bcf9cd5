//! What runs always: after a failure, a cancel, a timeout, and for how long.

use super::stage::{Stage, check, check_said};
use crate::kernel::row::Cancelled;
use crate::time::Timestamp;

#[test]
fn it_runs_after_a_failure_like_a_finally() {
    let sketch = "a\nb: a\nc always=30: a, b";
    check(sketch, "a fail; c ok", "failed: a=failed b=blocked c=success");
    check(sketch, "a ok; b ok; c ok", "success: a=success b=success c=success");
    check(sketch, "a ok; b ok; c start; wait 3000; c ok", "success: a=success b=success c=success");
}

#[test]
fn it_runs_after_a_cancel_once_what_it_depends_on_is_settled() {
    let sketch = "a\nb: a\nc always=30: a, b";
    check(sketch, "cancel", "cancelling: a=dispatched b=cancelled c=pending");
    check(sketch, "cancel; a gone", "cancelling: a=cancelled b=cancelled c=dispatched");
    check(sketch, "cancel; a gone; c ok", "cancelled: a=cancelled b=cancelled c=success");
    check_said(sketch, "cancel; a gone; c ok", "start a; stop a cancel; start c; end");
}

#[test]
fn it_runs_after_the_run_timed_out() {
    let sketch = "@timeout=60\na\nb: a\nc always=30: b";
    check(sketch, "wait 60", "cancelling: a=dispatched b=cancelled c=dispatched");
    check(sketch, "wait 60; c ok; a gone", "failed: a=cancelled b=cancelled c=success");
    check(sketch, "wait 60; a gone; c fail", "failed: a=cancelled b=cancelled c=failed");
}

#[test]
fn one_that_is_at_work_goes_on() {
    let sketch = "a\nb\nc always=30: a";
    check_said(
        sketch,
        "a ok; cancel; b gone; c ok",
        "start a; start b; start c; stop b cancel; end",
    );
    check(sketch, "a ok; cancel; b gone; c ok", "cancelled: a=success b=cancelled c=success");
}

#[test]
fn its_grace_counts_from_when_all_others_are_settled() {
    let sketch = "a\nb\nc always=30: a";
    let until = "cancel; a gone; c start; wait 1000; b gone; wait 29";
    check(sketch, until, "cancelling: a=cancelled b=cancelled c=running");
    let late = format!("{until}; wait 1; c gone");
    check(sketch, &late, "cancelled: a=cancelled b=cancelled c=cancelled");
    let mut stage = Stage::new(sketch);
    stage.play(&late);
    let no = stage.definition.task_no("c").expect("a task");
    let row = stage.rows.get(no).expect("a row");
    assert_eq!(row.cancelled, Some(Cancelled::GraceOver));
}

#[test]
fn a_grace_goes_on_over_a_crash() {
    let sketch = "a\nc always=30: a";
    let crashed = "cancel; a gone; wait 20; crash; c alive; wait 9";
    check(sketch, crashed, "cancelling: a=cancelled c=running");
    let late = format!("{crashed}; wait 1; crash; c alive; c gone");
    check(sketch, &late, "cancelled: a=cancelled c=cancelled");
    check_said(
        sketch,
        &late,
        "start a; stop a cancel; start c; reattach c; stop c cancel; reattach c; stop c cancel; end",
    );
}

#[test]
fn a_grace_that_ended_while_nobody_looked_is_over() {
    let mut stage = Stage::new("a\nc always=30: a\nd always=30: c");
    stage.play("cancel; a gone");
    stage.now = Timestamp(stage.now.0 + 31_000_000);
    stage.play("crash; c unknown");
    assert_eq!(stage.shown(), "cancelled: a=cancelled c=cancelled d=cancelled");
}

#[test]
fn each_has_its_own_grace_and_what_never_began_is_cancelled_with_it() {
    let sketch = "a\nc always=30: a\nd always=60: c\ne always=10: d";
    let script = "cancel; a gone; wait 10";
    check(sketch, script, "cancelling: a=cancelled c=dispatched d=pending e=cancelled");
    let script = format!("{script}; wait 20; c gone");
    check(sketch, &script, "cancelling: a=cancelled c=cancelled d=dispatched e=cancelled");
    let script = format!("{script}; wait 30; d gone");
    check(sketch, &script, "cancelled: a=cancelled c=cancelled d=cancelled e=cancelled");
}

#[test]
fn it_is_tried_again_within_its_grace() {
    let sketch = "a\nc always=30 retries=3 delay=5: a";
    check(sketch, "cancel; a gone; c fail; wait 5; c ok", "cancelled: a=cancelled c=success");
    check(
        sketch,
        "cancel; a gone; c fail; wait 5; c fail; wait 10; c fail; wait 14",
        "cancelling: a=cancelled c=pending",
    );
    check(
        sketch,
        "cancel; a gone; c fail; wait 5; c fail; wait 10; c fail; wait 15",
        "cancelled: a=cancelled c=cancelled",
    );
}

#[test]
fn a_cancel_lifts_its_hold() {
    let sketch = "a\nc always=30: a\nw always=30 sleep=5: a\ng always=30 fan=2 at_once=1: a";
    check(
        sketch,
        "pause c; a ok; pause w; pause g; g/0 gone; wait 10; cancel; c ok; g/0 ok; g/1 ok",
        "cancelled: a=success c=success w=success g=success",
    );
}

#[test]
fn a_paused_run_that_is_cancelled_still_cleans_up() {
    check(
        "a\nb: a\nc always=30: b",
        "pause; a ok; cancel; c ok",
        "cancelled: a=success b=cancelled c=success",
    );
}

#[test]
fn force_waits_for_nobody() {
    let sketch = "a\nb: a\nc always=30: b\nd always=30: c";
    check(sketch, "force", "cancelled: a=cancelled b=cancelled c=cancelled d=cancelled");
    check(
        sketch,
        "cancel; a gone; c start; force",
        "cancelled: a=cancelled b=cancelled c=cancelled d=cancelled",
    );
    check_said("a\nc always=30: a", "cancel; cancel", "start a; stop a cancel; refused run_state");
}

#[test]
fn a_fan_out_that_runs_always_goes_on() {
    let sketch = "a\ng always=30 fan=3 at_once=1: a";
    check(sketch, "a ok; g/0 ok; cancel; g/1 ok; g/2 ok", "cancelled: a=success g=success");
    check(
        sketch,
        "cancel; a gone; g/0 ok; g/1 ok; wait 30; g/2 gone",
        "cancelled: a=cancelled g=cancelled",
    );
}

#[test]
fn a_retry_takes_back_what_ran_because_of_the_cancel() {
    let sketch = "a\nb: a\nc always=30: b\nd: c";
    let cancelled = "pause; a ok; cancel; c ok";
    check(sketch, cancelled, "cancelled: a=success b=cancelled c=success d=cancelled");
    let again = format!("{cancelled}; retry");
    check(sketch, &again, "running: a=success b=dispatched c=pending d=pending");
    check(
        sketch,
        &format!("{again}; b ok; c ok; d ok"),
        "success: a=success b=success c=success d=success",
    );
    let failed = "a fail; c ok; d ok; retry";
    check(sketch, failed, "running: a=dispatched b=pending c=pending d=pending");
}

#[test]
fn a_retry_of_one_that_was_stopped_starts_it_again() {
    let sketch = "a\nc always=30: a";
    let script = "a ok; cancel; wait 30; c gone; retry c; c ok";
    check(sketch, script, "success: a=success c=success");
}

#[test]
fn a_drain_puts_it_off_and_the_next_life_starts_it_again() {
    let mut stage = Stage::new("a\nc always=30: a");
    stage.play("cancel; a gone");
    stage.world.start_nothing_more();
    stage.world.stop_all(stage.now);
    stage.settle();
    stage.play("c gone; crash; c ok");
    assert_eq!(stage.shown(), "cancelled: a=cancelled c=success");
}
