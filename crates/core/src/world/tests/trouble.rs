//! Retries, losses, refused starts, timeouts, stale reports.

use super::stage::{Stage, check, check_said};
use crate::kernel::row::AttemptEnd;
use crate::world::input::Refusal;

#[test]
fn two_retries_make_three_attempts_each_in_the_history() {
    let mut stage = Stage::new("a retries=2");
    stage.play("a fail; wait 1; a fail; wait 2; a fail");
    assert_eq!(stage.shown(), "failed: a=failed");
    assert_eq!(stage.history, ["a#1", "a#2"]);
    let row = stage.rows.get(crate::ids::TaskNo(0)).expect("a row");
    assert_eq!((row.attempts, row.tries), (3, 3));
}

#[test]
fn a_retry_waits_for_its_delay_and_the_delay_grows() {
    check("a retries=2", "a fail", "running: a=pending");
    check("a retries=2", "a fail; wait 1; a fail; wait 1", "running: a=pending");
    check("a retries=2", "a fail; wait 1; a fail; wait 2", "running: a=dispatched");
}

#[test]
fn a_delay_of_nothing_starts_again_at_once() {
    check("a retries=1 delay=0", "a fail", "running: a=dispatched");
}

#[test]
fn a_loss_uses_no_try_and_the_fourth_is_final() {
    let mut stage = Stage::new("a");
    stage.play("a lost; wait 1; a lost; wait 4; a lost; wait 16");
    assert_eq!(stage.shown(), "running: a=dispatched");
    stage.play("a lost");
    assert_eq!(stage.shown(), "failed: a=failed");
    let row = stage.rows.get(crate::ids::TaskNo(0)).expect("a row");
    assert_eq!((row.tries, row.losses), (0, 4));
}

#[test]
fn work_that_must_not_run_twice_fails_with_its_first_loss() {
    check("a once", "a lost", "failed: a=failed");
}

#[test]
fn a_refused_start_uses_no_attempt_number() {
    let mut stage = Stage::new("a");
    stage.play("a refuse");
    assert_eq!(stage.shown(), "running: a=pending");
    stage.play("wait 1; a refuse; wait 2; a ok");
    let row = stage.rows.get(crate::ids::TaskNo(0)).expect("a row");
    assert_eq!((row.attempts, row.tries, stage.history.len()), (1, 0, 0));
}

#[test]
fn refused_starts_are_bounded_by_the_start_timeout() {
    let mut stage = Stage::new("a");
    let mut refusals = 0;
    while stage.shown() != "failed: a=failed" {
        if stage.live.is_empty() {
            stage.play("wait 1");
        } else {
            stage.play("a refuse");
            refusals += 1;
        }
    }
    assert!((10..25).contains(&refusals), "{refusals} refusals in five minutes");
    let row = stage.rows.get(crate::ids::TaskNo(0)).expect("a row");
    let end = row.attempt.as_ref().and_then(|attempt| attempt.end.clone());
    let Some(AttemptEnd::Failed(error)) = end else { panic!("failed") };
    assert_eq!(error.class.word(), "start_timeout");
}

/// The last wait ends exactly when the start_timeout does.
#[test]
fn a_start_at_the_last_moment_is_bounded_too() {
    let mut stage = Stage::new("a");
    let mut said = stage.said.len();
    for wait in [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30, 30, 29] {
        said = stage.said.len();
        stage.play(&format!("a refuse; wait {wait}"));
    }
    assert_eq!(stage.said[said..].join("; "), "start a; stop a start_timeout");
    stage.play("a unstarted");
    assert_eq!(stage.shown(), "failed: a=failed");
}

#[test]
fn an_attempt_that_was_taken_ends_the_row_of_refusals() {
    let mut stage = Stage::new("a retries=3");
    while stage.rows.get(crate::ids::TaskNo(0)).is_none_or(|row| row.tries == 0) {
        stage.play(if stage.live.is_empty() { "wait 1" } else { "a refuse" });
    }
    stage.play("wait 1; a start; wait 10");
    assert_eq!(stage.shown(), "running: a=running", "refusals before do not shorten this one");
}

#[test]
fn waiting_for_a_permit_is_not_waiting_to_be_started() {
    let mut stage = Stage::new("@gpu=1\na tier=gpu\nb tier=gpu priority=1");
    stage.play("b refuse; a start; wait 400");
    assert_eq!(stage.shown(), "running: a=running b=ready");
    stage.play("a ok; b start; wait 10; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
}

#[test]
fn one_that_starts_while_it_is_stopped_for_not_starting_keeps_that_class() {
    let mut stage = Stage::new("a");
    stage.play("wait 300; a gone");
    let (_, progress) = stage.stored.as_ref().expect("stored");
    assert_eq!(progress.error.as_ref().map(|e| e.class.word()), Some("start_timeout"));
}

#[test]
fn a_timeout_is_recorded_only_when_the_work_is_gone() {
    check("a timeout=5", "a start; wait 4", "running: a=running");
    check("a timeout=5", "a start; wait 5", "running: a=running");
    check_said("a timeout=5", "a start; wait 5; wait 1", "start a; stop a timeout");
    check("a timeout=5", "a start; wait 5; a ok", "failed: a=failed");
    check("a timeout=5 retries=1", "a start; wait 5; a gone; wait 1", "running: a=dispatched");
}

#[test]
fn a_start_that_never_comes_is_a_start_timeout() {
    let mut stage = Stage::new("a");
    stage.play("wait 300; a unstarted");
    let (_, progress) = stage.stored.as_ref().expect("stored");
    assert_eq!(progress.error.as_ref().map(|e| e.class.word()), Some("start_timeout"));
}

#[test]
fn a_report_of_a_former_attempt_changes_nothing() {
    let mut stage = Stage::new("a retries=1");
    let old = stage.live.clone();
    stage.play("a fail; wait 1");
    let new = std::mem::replace(&mut stage.live, old);
    let before = stage.changes.len();
    let what = crate::work::ReportKind::Started;
    assert_eq!(stage.report("a", what), Err(Refusal::Stale));
    assert_eq!(stage.changes.len(), before);
    stage.live = new;
    stage.play("a ok");
    assert_eq!(stage.shown(), "success: a=success");
}

#[test]
fn a_second_end_of_one_attempt_changes_nothing() {
    let mut stage = Stage::new("a\nb: a");
    let live = stage.live.clone();
    stage.play("a ok");
    let after = std::mem::replace(&mut stage.live, live);
    stage.play("a fail");
    assert_eq!(stage.said.last().map(String::as_str), Some("refused stale"));
    stage.live = after;
    stage.play("b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
}

/// However long its log takes to be put away.
#[test]
fn work_that_was_over_in_time_does_not_time_out() {
    check("a timeout=5", "a start; wait 4; a over; wait 60; a ok", "success: a=success");
    check("a timeout=5", "a start; wait 4; a over; wait 60; a fail", "failed: a=failed");
    check_said("a timeout=5", "a start; wait 4; a over; wait 60", "start a");
    // Too late is too late, and so is a report on another attempt.
    check("a timeout=5", "a start; wait 6; a over; a ok", "failed: a=failed");
    check(
        "a timeout=5 retries=1",
        "a start; a over; a fail; wait 1; a start; wait 6; a gone",
        "failed: a=failed",
    );
}

/// Its definition or its values are at fault, and stay so.
#[test]
fn what_could_not_be_started_for_its_own_fault_is_not_tried_again() {
    check_said("a retries=2", "a missing", "start a; end");
    check("a retries=2", "a missing", "failed: a=failed");
}
