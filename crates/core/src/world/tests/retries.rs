//! Retry by a person, of a run and of one task.

use super::stage::{Stage, check, check_said};
use crate::world::input::{Order, Refusal, Reply};

#[test]
fn a_failed_run_opens_again_with_what_failed() {
    let sketch = "a\nb: a\nc: b";
    check(sketch, "a ok; b fail; retry", "running: a=success b=dispatched c=pending");
    check(sketch, "a ok; b fail; retry; b ok; c ok", "success: a=success b=success c=success");
}

#[test]
fn attempt_numbers_go_on_and_tries_begin_again() {
    let mut stage = Stage::new("a retries=1");
    stage.play("a fail; wait 1; a fail; retry; a fail; wait 1; a ok");
    assert_eq!(stage.shown(), "success: a=success");
    assert_eq!(stage.history, ["a#1", "a#2", "a#3"]);
    let row = stage.rows.get(crate::ids::TaskNo(0)).expect("a row");
    assert_eq!((row.attempts, row.tries), (4, 1));
}

#[test]
fn what_ran_because_of_the_failure_goes_back_too() {
    let sketch = "a\nb: a\nr finally: a, b\nh: a/failed\nz: r";
    check(
        sketch,
        "a fail; r ok; h ok; z ok; retry",
        "success: a=failed b=blocked r=success h=success z=success",
    );
    check(
        sketch,
        "a fail; r ok; h fail; z ok; retry",
        "running: a=dispatched b=pending r=pending h=pending z=pending",
    );
}

#[test]
fn other_successes_stay() {
    check(
        "a\nb: a/started\nc\nd: c",
        "a start; b ok; c ok; d ok; a fail; retry",
        "running: a=dispatched b=success c=success d=success",
    );
}

#[test]
fn a_finally_below_a_blocked_task_goes_back() {
    check(
        "a\nb: a\nr finally: b",
        "a fail; r ok; retry",
        "running: a=dispatched b=pending r=pending",
    );
}

#[test]
fn one_task_of_a_running_run() {
    check("a\nb: a\nc", "a fail; retry a", "running: a=dispatched b=pending c=dispatched");
    check_said("a\nc", "a ok; retry a", "start a; start c; refused task_not_failed");
    check_said("a\nc", "a fail; retry", "start a; start c; refused run_state");
}

#[test]
fn a_dependent_that_must_go_back_and_runs_refuses_it() {
    check_said(
        "a\nr finally: a\nc",
        "a fail; retry a",
        "start a; start c; start r; refused dependent_running",
    );
    check(
        "a\nr finally: a\nc",
        "a fail; r ok; retry a",
        "running: a=dispatched r=pending c=dispatched",
    );
}

#[test]
fn what_waited_for_a_permit_waits_for_its_dependencies_again() {
    let limits = [("total", 1), ("executor:process", 1)];
    let mut stage = Stage::with_limits("a\nb priority=1\nc: a/finished", &limits);
    stage.play("b ok; a fail");
    assert_eq!(stage.shown(), "running: a=failed b=success c=dispatched");
    let mut stage = Stage::with_limits("a\nb\nc: a/finished", &limits);
    stage.play("a fail; retry a");
    assert_eq!(stage.shown(), "running: a=ready b=dispatched c=pending");
}

#[test]
fn a_cancelled_run_goes_on_where_it_was() {
    let sketch = "a\nb: a\nc: b";
    check(sketch, "a ok; cancel; b gone; retry", "running: a=success b=dispatched c=pending");
    check(
        sketch,
        "a ok; cancel; b gone; retry; b ok; c ok",
        "success: a=success b=success c=success",
    );
}

#[test]
fn a_success_is_not_retried() {
    check_said("a", "a ok; retry", "start a; end; refused run_state");
}

#[test]
fn the_timeout_of_the_run_counts_from_its_opening() {
    check("@timeout=10\na", "wait 8; a fail; wait 100; retry; wait 9", "running: a=dispatched");
    check(
        "@timeout=10\na",
        "wait 8; a fail; wait 100; retry; wait 10; a gone",
        "failed: a=cancelled",
    );
}

#[test]
fn several_tasks_are_retried_as_one() {
    let mut stage = Stage::new("a\nb\nc");
    stage.play("a fail; b fail; c fail");
    let order =
        |names: &[&str]| Order::RetryTasks(names.iter().map(|name| (*name).into()).collect());
    assert_eq!(stage.order(order(&["a", "nope"])), Err(Refusal::TaskNotFound("nope".into())));
    assert_eq!(stage.shown(), "failed: a=failed b=failed c=failed", "all or none");
    assert_eq!(stage.order(order(&["a", "c"])), Ok(Reply::Done));
    assert_eq!(stage.shown(), "running: a=dispatched b=failed c=dispatched");
    assert_eq!(stage.order(order(&["a", "b"])), Err(Refusal::TaskNotFailed));
}
