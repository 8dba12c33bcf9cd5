//! Control tasks: parked until a moment, a signal or a person says otherwise.

use super::stage::{Stage, check, check_said};

#[test]
fn a_sleep_takes_its_time_and_nothing_else() {
    let sketch = "a sleep=5\nb: a";
    check(sketch, "", "running: a=waiting b=pending");
    check(sketch, "wait 4", "running: a=waiting b=pending");
    check(sketch, "wait 5", "running: a=success b=dispatched");
    check("a sleep=0\nb: a", "", "running: a=success b=dispatched");
}

#[test]
fn a_sleeper_takes_no_permits() {
    let mut stage = Stage::with_limits("a sleep=5\nb", &[("total", 1), ("executor:process", 1)]);
    stage.play("b ok; wait 5");
    assert_eq!(stage.shown(), "success: a=success b=success");
}

#[test]
fn a_restart_does_not_restart_the_clock() {
    let sketch = "a sleep=5";
    check(sketch, "wait 3; crash; wait 1", "running: a=waiting");
    check(sketch, "wait 3; crash; wait 2", "success: a=success");
}

#[test]
fn a_wait_puts_out_what_the_signal_says() {
    let mut stage = Stage::new("a signal=paid\nb: a");
    assert_eq!(stage.shown(), "running: a=waiting b=pending");
    stage.play("signal other 1");
    assert_eq!(stage.shown(), "running: a=waiting b=pending");
    stage.play("signal paid {\"n\":7}");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    assert_eq!(stage.output("a").as_deref(), Some("{\"n\":7}"));
}

#[test]
fn a_signal_that_comes_too_early_is_kept_and_the_newest_counts() {
    let mut stage = Stage::new("a\nb signal=paid: a");
    stage.play("signal paid 1; signal paid 2; crash; a alive; a ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
    assert_eq!(stage.output("b").as_deref(), Some("2"));
}

#[test]
fn one_signal_is_enough_for_every_wait_on_its_key() {
    check(
        "a signal=k\nb signal=k\nc signal=l",
        "signal k 1",
        "running: a=success b=success c=waiting",
    );
    check("a signal=k\nb signal=k: a", "signal k 1", "success: a=success b=success");
}

#[test]
fn a_retried_wait_asks_again() {
    let sketch = "a signal=k\nb: a\nc signal=k: b/finished\nd: b";
    let mut stage = Stage::new("a signal=k within=5\nb: a");
    stage.play("wait 5");
    assert_eq!(stage.shown(), "failed: a=failed b=blocked");
    stage.play("retry; signal k 1; b fail; retry");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    // What goes back takes only what is newer than what it took.
    let back = "signal k 1; b fail; retry b";
    check(sketch, back, "running: a=success b=dispatched c=pending d=pending");
    let again = format!("{back}; b ok");
    check(sketch, &again, "running: a=success b=success c=waiting d=dispatched");
    let newer = format!("{again}; signal k 2; d ok");
    check(sketch, &newer, "success: a=success b=success c=success d=success");
}

#[test]
fn a_wait_that_takes_too_long_fails_or_goes_on() {
    check("a signal=k within=5\nb: a", "wait 5", "failed: a=failed b=blocked");
    let mut stage = Stage::new("a signal=k within=5 late=continue\nb: a");
    stage.play("wait 4; crash; wait 1");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    assert_eq!(stage.output("a").as_deref(), Some("null"));
}

#[test]
fn an_approval_lets_what_follows_go_on() {
    let mut stage = Stage::new("a approval\nb: a");
    stage.play("crash; approve a");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    let output = stage.output("a").expect("it has an output");
    assert!(output.starts_with(r#"{"approved":true,"#) && output.contains(r#""by":"ann""#));
}

#[test]
fn a_rejection_never_looks_like_an_approval() {
    check("a approval\nb: a", "reject a", "failed: a=failed b=blocked");
    let mut stage = Stage::new("a approval lenient\nb: a");
    stage.play("reject a");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    assert!(stage.output("a").expect("an output").starts_with(r#"{"approved":false,"#));
}

#[test]
fn nobody_decides() {
    check("a approval within=5\nb: a", "wait 5", "failed: a=failed b=blocked");
    check("a approval within=5 late=fail\nb: a", "wait 5", "failed: a=failed b=blocked");
    check("a approval within=5 late=approve\nb: a", "wait 5", "running: a=success b=dispatched");
    let mut stage = Stage::new("a approval within=5 lenient\nb: a");
    stage.play("wait 5");
    assert!(stage.output("a").expect("an output").starts_with(r#"{"approved":false,"#));
}

#[test]
fn a_rejected_approval_is_not_retried_behind_anybodys_back() {
    check("a approval retries=3", "reject a; wait 100", "failed: a=failed");
    check("a approval", "reject a; retry", "running: a=waiting");
    check("a approval", "reject a; retry; approve a", "success: a=success");
}

#[test]
fn what_does_not_wait_is_not_decided() {
    check_said("a approval\nb: a", "approve a; approve a", "start b; refused task_settled");
    check_said("a\nb approval: a", "approve b", "start a; refused not_waiting");
    check_said("a", "approve a", "start a; refused not_an_approval");
    check_said("a approval", "approve a; approve a", "end; refused run_state");
    check_said("a approval", "cancel; approve a", "end; refused run_state");
    check_said("a signal=k", "signal k 1; signal k 1", "end; refused run_state");
}

#[test]
fn only_those_who_may_decide_do() {
    check_said("a approval by=bob", "approve a", "refused not_allowed");
    check_said("a approval by=admin", "reject a", "refused not_allowed");
    check("a approval by=bob+ann", "approve a", "success: a=success");
    check("a approval by=operator", "approve a", "success: a=success");
    check("a approval by=viewer", "approve a", "success: a=success");
}

#[test]
fn what_happens_to_a_held_wait_is_kept() {
    check("a sleep=5", "pause a; wait 9", "running: a=waiting");
    check("a sleep=5", "pause a; wait 9; resume a", "success: a=success");
    check("a sleep=5", "pause a; wait 2; resume a", "running: a=waiting");
    check("a signal=k", "pause a; signal k 1", "running: a=waiting");
    check("a signal=k", "pause a; signal k 1; crash; resume a", "success: a=success");
    check("a approval", "pause a; approve a; crash", "running: a=waiting");
    check("a approval", "pause a; reject a; crash; resume a", "failed: a=failed");
    check_said("a approval", "pause a; approve a; reject a", "refused decided");
}

#[test]
fn of_a_signal_and_a_timeout_while_held_the_first_counts() {
    let sketch = "a signal=k within=5";
    check(sketch, "pause a; signal k 1; wait 9; resume a", "success: a=success");
    check(sketch, "pause a; wait 9; signal k 1; resume a", "failed: a=failed");
    check_said("a approval within=5", "pause a; wait 9; approve a", "refused not_waiting");
}

#[test]
fn of_several_signals_the_newest_that_came_in_time_counts_held_or_not_begun() {
    let taken = |sketch: &str, script: &str| {
        let mut stage = Stage::new(sketch);
        stage.play(script);
        assert_eq!(stage.shown().split_once(' ').map(|(run, _)| run), Some("success:"), "{script}");
        stage.output("w")
    };
    let two = Some("2".to_owned());
    assert_eq!(taken("a\nw signal=k: a", "signal k 1; signal k 2; a ok"), two);
    assert_eq!(taken("w signal=k", "pause w; signal k 1; signal k 2; resume w"), two);
    let bounded = "w signal=k within=5";
    let held = "pause w; signal k 1; signal k 2; wait 9";
    assert_eq!(taken(bounded, &format!("{held}; resume w")), two);
    // What comes too late takes nothing back that was in time, and neither does a restart.
    assert_eq!(taken(bounded, &format!("{held}; signal k 3; crash; signal k 4; resume w")), two);
    check(bounded, "pause w; wait 9; signal k 1; signal k 2; resume w", "failed: w=failed");
}

#[test]
fn a_wait_that_was_held_past_its_end_takes_a_signal_once() {
    let sketch = "w signal=k within=5\nb: w\nc: b/failed";
    let mut stage = Stage::new("b\nw signal=k within=5: b/finished");
    stage.play("b fail; pause w; signal k 1; wait 9; signal k 2; resume w");
    assert_eq!(stage.output("w").as_deref(), Some("1"));
    // Asked again, it takes what came after that.
    stage.play("retry b; b ok");
    assert_eq!(stage.output("w").as_deref(), Some("2"));
    check(
        sketch,
        "pause w; signal k 1; wait 9; signal k 2; cancel w; retry",
        "running: w=success b=dispatched c=pending",
    );
}

#[test]
fn waits_go_on_in_a_paused_run_and_nothing_follows() {
    check("a sleep=5\nb: a", "pause; wait 5", "paused: a=success b=ready");
    check("a approval\nb: a", "pause; approve a", "paused: a=success b=ready");
    check("a approval\nb: a", "pause; approve a; resume", "running: a=success b=dispatched");
}

#[test]
fn a_cancel_ends_a_wait_at_once() {
    check("a approval\nb: a", "cancel", "cancelled: a=cancelled b=cancelled");
    check("a approval\nb: a", "cancel a", "cancelled: a=cancelled b=cancelled");
    check("a sleep=5\nb: a", "pause a; cancel a", "cancelled: a=cancelled b=cancelled");
    check(
        "a\nb approval: a/started",
        "a start; cancel a; a gone",
        "cancelled: a=cancelled b=cancelled",
    );
    check("a approval", "cancel; retry; approve a", "success: a=success");
    check("a approval", "force", "cancelled: a=cancelled");
}

#[test]
fn a_waiting_task_has_started() {
    check("a approval\nb: a/started", "", "running: a=waiting b=dispatched");
}

#[test]
fn the_runs_timeout_ends_a_wait() {
    check("@timeout=5\na approval", "wait 5", "failed: a=cancelled");
}

#[test]
fn every_wait_is_an_attempt() {
    let mut stage = Stage::new("a approval");
    stage.play("reject a; retry; reject a; retry; approve a");
    assert_eq!(stage.history, ["a#1", "a#2"]);
}

#[test]
fn instances_wait_and_count_for_concurrency() {
    let mut stage = Stage::new("a approval fan=3 at_once=2\nb: a");
    assert_eq!(stage.facts("a"), "waiting waiting");
    stage.play("approve a/1");
    assert_eq!(stage.facts("a"), "waiting success waiting");
    stage.play("approve a/0; crash; approve a/2");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
}

#[test]
fn a_decision_on_a_group_is_one_on_all_that_wait() {
    let mut stage = Stage::new("a approval fan=3\nb: a");
    stage.play("approve a");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    check("a approval fan=3 fast\nb: a", "reject a/1", "failed: a=failed b=blocked");
    check_said("a approval fan=3 at_once=1", "approve a/2", "refused not_started");
}

#[test]
fn a_held_group_keeps_what_comes() {
    let mut stage = Stage::new("a signal=k fan=2\nb: a");
    stage.play("pause a; signal k 1; crash");
    assert_eq!(stage.facts("a"), "waiting waiting");
    stage.play("resume a");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
    let mut stage = Stage::new("a sleep=5 fan=2");
    stage.play("pause a; wait 9; resume a");
    assert_eq!(stage.shown(), "success: a=success");
}

#[test]
fn a_group_that_goes_back_takes_only_newer_signals() {
    let mut stage = Stage::new("b\nc signal=k fan=2: b/finished\n");
    stage.play("signal k 1; b fail");
    assert_eq!(stage.shown(), "failed: b=failed c=success");
    stage.play("retry b; b ok");
    assert_eq!(stage.facts("c"), "waiting waiting");
    stage.play("crash; signal k 2");
    assert_eq!(stage.shown(), "success: b=success c=success");
}
