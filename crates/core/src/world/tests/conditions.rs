//! Conditions: looked at once, when everything that a task stands on is satisfied.

use super::stage::{Stage, check};
use crate::error::ErrorClass;
use crate::ids::TaskNo;

#[test]
fn a_condition_that_is_false_skips_the_task_and_what_stands_on_it() {
    let sketch = "a\nb if=false: a\nc: b\nd finally: b";
    check(sketch, "a ok", "running: a=success b=skipped c=skipped d=dispatched");
    check(sketch, "a ok; d ok", "success: a=success b=skipped c=skipped d=success");
    check("a if=true\nb if=false", "", "running: a=dispatched b=skipped");
}

#[test]
fn a_condition_is_looked_at_when_all_that_it_stands_on_is_satisfied() {
    check("a\nb if=false: a", "", "running: a=dispatched b=pending");
    check("a\nb if=false: a", "a fail", "failed: a=failed b=blocked");
    check("a\nb if=false: a/started", "a start", "running: a=running b=skipped");
}

#[test]
fn a_condition_that_cannot_be_worked_out_fails_the_task() {
    let mut stage = Stage::new("a\nb if=1/0==1 retries=3: a\nc: b");
    stage.play("a ok");
    assert_eq!(stage.shown(), "failed: a=success b=failed c=blocked");
    let row = stage.rows.get(TaskNo(1)).expect("it is stored");
    let class = row.error.as_ref().map(|error| error.class);
    assert_eq!((class, row.attempts), (Some(ErrorClass::Logic), 0), "nothing was tried");
}

#[test]
fn what_a_condition_skipped_goes_back_with_what_it_stands_on() {
    let sketch = "a\nb if=false: a/finished\nc: b";
    check(sketch, "a fail", "failed: a=failed b=skipped c=skipped");
    check(sketch, "a fail; retry", "running: a=dispatched b=pending c=pending");
    check(sketch, "a fail; retry; a ok", "success: a=success b=skipped c=skipped");
}

/// It passed when it was looked at. That something else goes back does not make it another question.
#[test]
fn a_condition_is_looked_at_once_whatever_else_is_retried() {
    let mut stage =
        Stage::new("@one=1\nx tier=one\na\nf\ns if=tasks.a.status=='running' tier=one: a/started");
    stage.play("a start; f fail; a ok");
    assert_eq!(stage.shown(), "running: x=dispatched a=success f=failed s=ready");
    stage.play("retry f; x ok");
    assert_eq!(stage.shown(), "running: x=success a=success f=dispatched s=dispatched");
}
