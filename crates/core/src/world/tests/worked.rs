//! `completed` edges on fan-outs whose instances land one after the other.

use super::stage::{Stage, check, check_said};

const SKETCH: &str = "a fan=2 final=main\nb: a/completed\nc: a";

fn played(sketch: &str, script: &str) -> Stage {
    let mut stage = Stage::new(sketch);
    stage.play(script);
    stage
}

#[test]
fn completed_waits_for_the_work_of_every_instance_and_for_no_landing() {
    check(SKETCH, "a/0 ok=1", "running: a=running b=pending c=pending");
    check(SKETCH, "a/0 ok=1; a/0 ok", "running: a=running b=pending c=pending");
    let stage = played(SKETCH, "a/0 ok=1; a/1 ok=2");
    assert_eq!(stage.shown(), "running: a=running b=dispatched c=pending");
    let told = stage.told.iter().find(|(task, _)| task.no.0 == 1).map(|(_, input)| input);
    assert_eq!(told.expect("b started").as_str(), r#"{"a":[1,2]}"#);
    let script = "a/0 ok=1; a/1 ok=2; b ok; a/0 ok; a/1 ok; c ok";
    let stage = played(SKETCH, script);
    assert_eq!(stage.shown(), "success: a=success b=success c=success");
    assert_eq!(stage.output("a").as_deref(), Some("[1,2]"));
}

#[test]
fn one_that_does_not_land_closes_what_has_not_begun() {
    let limits = [("total", 2), ("executor:process", 2)];
    let sketch = "a fan=2 final=main priority=9\nb: a/completed\nc: a/completed";
    let mut stage = Stage::with_limits(sketch, &limits);
    stage.play("a/0 ok; a/1 ok");
    assert_eq!(stage.shown(), "running: a=running b=dispatched c=ready");
    stage.play("a/0 fail; a/1 ok; b ok");
    assert_eq!(stage.shown(), "failed: a=failed b=success c=blocked");
}

#[test]
fn failures_that_are_ignored_are_null_in_what_is_told_before_the_landing() {
    let sketch = "a fan=2 ignore final=main\nb: a/completed";
    let stage = played(sketch, "a/0 fail; a/1 ok=2");
    let told = stage.told.iter().find(|(task, _)| task.no.0 == 1).map(|(_, input)| input);
    assert_eq!(told.expect("b started").as_str(), r#"{"a":[null,2]}"#);
    // What was said of the work does not count any more when it has not landed.
    let script = "silence; a/0 ok=1; a/1 ok=2; a/0 fail; answers";
    let stage = played(sketch, script);
    let told = stage.told.iter().find(|(task, _)| task.no.0 == 1).map(|(_, input)| input);
    assert_eq!(told.expect("b started").as_str(), r#"{"a":[null,2]}"#);
}

#[test]
fn cancelled_or_unopened_instances_are_no_work() {
    check(SKETCH, "a/0 ok; cancel a/1; a/1 gone", "running: a=running b=pending c=pending");
    let cancelled = "cancelled: a=cancelled b=cancelled c=cancelled";
    check(SKETCH, "a/0 ok; cancel a/1; a/1 gone; a/0 ok", cancelled);
    check(
        SKETCH,
        "a/0 ok; a/1 ok; cancel a; a/0 gone; b ok",
        "cancelled: a=cancelled b=success c=cancelled",
    );
    let sketch = "a fan=2 at_once=1 final=main\nb: a/completed";
    check(sketch, "a/0 ok", "running: a=running b=pending");
}

#[test]
fn a_crash_forgets_neither_the_list_nor_who_waits_for_it() {
    let stage = played(SKETCH, "a/0 ok=1; a/1 ok=2; b start; crash; b alive; a/0 alive");
    assert_eq!(stage.shown(), "running: a=running b=running c=pending");
    assert_eq!(stage.output("a").as_deref(), Some("[1,2]"));
    let stage = played(SKETCH, "silence; a/0 ok=1; a/1 ok=2; crash; answers");
    assert_eq!(stage.shown(), "running: a=running b=dispatched c=pending");
}

#[test]
fn an_instance_that_is_retried_takes_its_work_back() {
    let sketch = "a fan=3 ignore final=main\nb fan=1: a/completed\nd: a/completed, b";
    let script = "a/0 ok=0; a/1 ok=1; a/2 fail; b/0 ok";
    let stage = played(sketch, script);
    assert_eq!(stage.shown(), "running: a=running b=success d=dispatched");
    let stage = played(sketch, &format!("{script}; retry a/2"));
    assert_eq!((stage.group("a").worked, stage.output("a")), (false, None));
    let stage = played(sketch, &format!("{script}; retry a/2; a/2 ok=2"));
    assert_eq!(stage.output("a").as_deref(), Some("[0,1,2]"));
    // The list that an open fan-out is made of stays.
    let sketch = "a fan=2 ignore final=main\nb each=a: a/completed";
    let script = "a/0 ok=0; a/1 fail; retry a/1";
    check_said(
        sketch,
        script,
        "start a/0; start a/1; land a/0; start b/0; start b/1; refused dependent_running",
    );
}

#[test]
fn nobody_asks_for_a_list_that_nobody_waits_for() {
    let stage = played("a fan=2 final=main\nc: a", "silence; a/0 ok; a/1 ok");
    assert!(stage.questions.is_empty());
}
