//! Pause and resume, of a run and of one task.

use super::stage::{check, check_said};

#[test]
fn a_paused_run_starts_nothing_and_keeps_results() {
    check("a\nb: a", "pause; a ok", "paused: a=success b=ready");
    check("a\nb: a", "pause; a ok; resume", "running: a=success b=dispatched");
    check("a noop\nb\nc noop: b", "pause; b ok", "paused: a=success b=success c=ready");
    check("a\nb", "pause; a ok; b ok; resume", "success: a=success b=success");
}

#[test]
fn a_retry_that_comes_due_while_paused_starts_on_resume() {
    check("a retries=1", "a fail; pause; wait 5", "paused: a=ready");
    check("a retries=1", "a fail; pause; wait 5; resume", "running: a=dispatched");
    check("a retries=1", "pause; a fail; resume; wait 1", "running: a=dispatched");
}

#[test]
fn holding_a_pending_task_holds_only_that_one() {
    let sketch = "a\nb: a\nc: a\nd: b";
    check(sketch, "pause b; a ok", "running: a=success b=paused c=dispatched d=pending");
    check(sketch, "pause b; a ok; c ok", "running: a=success b=paused c=success d=pending");
    check(
        sketch,
        "pause b; a ok; c ok; resume b",
        "running: a=success b=dispatched c=success d=pending",
    );
}

#[test]
fn holding_a_live_task_kills_it_uncounted() {
    check_said("a", "a start; pause a", "start a; stop a pause");
    check("a", "a start; pause a", "running: a=running");
    check("a", "a start; pause a; a gone", "running: a=paused");
    check("a", "a start; pause a; a gone; resume a", "running: a=dispatched");
    check("a", "a start; pause a; a gone; resume a; a fail", "failed: a=failed");
}

#[test]
fn an_outcome_reached_first_stands() {
    check("a", "a start; pause a; a ok", "success: a=success");
    check("a retries=1", "pause a; a fail", "running: a=paused");
}

#[test]
fn a_held_task_that_can_never_run_is_settled() {
    check("a\nb: a", "pause b; a fail", "failed: a=failed b=blocked");
}

#[test]
fn what_does_not_apply_is_refused() {
    check_said("a", "resume", "start a; refused run_state");
    check_said("a", "pause; pause", "start a; refused run_state");
    check_said("a", "a ok; pause", "start a; end; refused run_state");
    check_said("a\nb: a", "a ok; pause a", "start a; start b; refused task_settled");
    check_said("a", "resume a", "start a; refused task_not_held");
    check_said("a\nb: a", "pause b; pause b", "start a; refused task_held");
    check_said("a", "cancel a; pause a", "start a; stop a cancel; refused task_stopping");
    let twice = "start a; stop a pause; stop a cancel; refused task_stopping";
    check_said("a", "pause a; cancel a; resume a", twice);
    check_said("a\nb: a", "cancel; pause b", "start a; stop a cancel; refused run_state");
}
