//! Cancel, of a run and of one task.

use super::stage::{Stage, check, check_said};

#[test]
fn cancelling_a_run_waits_for_what_is_live() {
    let sketch = "a\nb: a\nc";
    check(sketch, "a start; cancel", "cancelling: a=running b=cancelled c=dispatched");
    check(sketch, "cancel; a gone", "cancelling: a=cancelled b=cancelled c=dispatched");
    check(sketch, "cancel; a gone; c gone", "cancelled: a=cancelled b=cancelled c=cancelled");
}

#[test]
fn an_end_that_comes_while_cancelling_is_a_cancel() {
    check("a\nb: a", "cancel; a ok", "cancelled: a=cancelled b=cancelled");
    check("a retries=3", "cancel; a fail", "cancelled: a=cancelled");
}

#[test]
fn a_finally_does_not_run_after_a_cancel() {
    check("a\nr finally: a", "cancel; a gone", "cancelled: a=cancelled r=cancelled");
}

#[test]
fn a_cancel_lifts_holds_and_ends_delays() {
    check(
        "a retries=1\nb",
        "a fail; pause b; b gone; cancel",
        "cancelled: a=cancelled b=cancelled",
    );
    check("a\nb: a", "pause; a ok; cancel", "cancelled: a=success b=cancelled");
}

#[test]
fn cancelling_a_big_run_writes_a_handful_of_rows() {
    let mut text = "a".to_owned();
    for n in 0..5_000 {
        text += &format!("\nt{n}: a");
    }
    let mut stage = Stage::new(&text);
    let before = stage.changes.len();
    stage.play("cancel; a gone");
    assert!(stage.changes.len() - before <= 4, "{} rows", stage.changes.len() - before);
    assert!(stage.words().iter().all(|word| word == "cancelled"));
}

#[test]
fn cancelling_a_task_cancels_those_below_that_have_not_begun() {
    let sketch = "a\nb: a\nc: b\nd";
    check(
        sketch,
        "cancel a; a gone; d ok",
        "cancelled: a=cancelled b=cancelled c=cancelled d=success",
    );
    check(sketch, "cancel b; a ok; d ok", "cancelled: a=success b=cancelled c=cancelled d=success");
    check_said(
        sketch,
        "cancel a; cancel a",
        "start a; start d; stop a cancel; refused task_stopping",
    );
}

#[test]
fn not_through_a_finally_and_not_what_runs() {
    check("a\nr finally: a", "cancel a; a gone", "running: a=cancelled r=dispatched");
    check("a\nb: a/started", "a start; cancel a; a gone; b ok", "cancelled: a=cancelled b=success");
    check("a\nb: a/finished", "cancel a; a gone; b ok", "cancelled: a=cancelled b=success");
}

#[test]
fn a_ready_dependent_on_a_started_edge_is_cancelled_too() {
    let limits = [("total", 1), ("executor:process", 1)];
    let mut stage = Stage::with_limits("a\nb: a/started", &limits);
    stage.play("a start");
    assert_eq!(stage.shown(), "running: a=running b=ready");
    stage.play("cancel a; a gone");
    assert_eq!(stage.shown(), "cancelled: a=cancelled b=cancelled");
}

#[test]
fn a_pending_dependent_on_a_started_edge_is_cancelled_too() {
    check(
        "a\nc\nb: a/started, c",
        "a start; cancel a; a gone; c ok",
        "cancelled: a=cancelled c=success b=cancelled",
    );
}

#[test]
fn a_cancel_says_why() {
    let reason = |sketch: &str, script: &str, no: u32| {
        let mut stage = Stage::new(sketch);
        stage.play(script);
        stage.rows.get(crate::ids::TaskNo(no)).and_then(|row| row.cancelled)
    };
    use crate::kernel::row::Cancelled;
    assert_eq!(reason("a\nb: a", "cancel a; a gone", 0), Some(Cancelled::ByName));
    assert_eq!(reason("a", "cancel; a gone", 0), Some(Cancelled::RunCancelled));
    assert_eq!(reason("@timeout=5\na", "wait 5; a gone", 0), Some(Cancelled::RunTimeout));
    let held = "pause b; cancel a; a gone";
    assert_eq!(reason("a\nb: a", held, 1), Some(Cancelled::UpstreamCancelled));
    assert_eq!(reason("a", "cancel; a gone; retry", 0), None);
}

#[test]
fn a_blocked_task_that_is_held_stays_blocked() {
    check(
        "a\nb: a\nc: b\nd",
        "pause b; a fail; cancel; d gone",
        "cancelled: a=failed b=blocked c=blocked d=cancelled",
    );
}

#[test]
fn settled_tasks_are_immune() {
    check_said("a\nb: a", "a ok; cancel a", "start a; start b; refused task_settled");
    check_said("a", "a ok; cancel", "start a; end; refused run_state");
    check_said("a", "cancel; cancel", "start a; stop a cancel; refused run_state");
}

#[test]
fn a_start_that_is_heard_after_the_cancel_opens_nothing() {
    let sketch = "a\nb: a/started\nc: b";
    let cancelled = "cancelled: a=cancelled b=cancelled c=cancelled";
    check(sketch, "cancel a; a start; a gone", cancelled);
    check(sketch, "cancel a; a gone", cancelled);
    check_said(sketch, "cancel a; a start; a gone", "start a; stop a cancel; end");
    let sketch = "a fan=2\nb: a/started";
    check(sketch, "cancel a; a/0 start; a/0 gone; a/1 gone", "cancelled: a=cancelled b=cancelled");
}
