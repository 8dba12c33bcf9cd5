//! Fan-out: opening, turns, strategies, fan-in, and orders about groups and instances.

use super::stage::{Stage, check, check_said, report};
use crate::error::{ErrorClass, TaskError};
use crate::evaluate::{Answer, Question};
use crate::ids::{TaskNo, TaskRef};
use crate::json::Json;
use crate::kernel::fact::Fact;
use crate::output::Output;
use crate::work::Report;
use crate::world::input::{Answered, Input, Named, Order, Prefetched, Refusal, Verb};

#[test]
fn parallel_makes_so_many_instances_and_the_group_succeeds_with_them() {
    check_said(
        "a fan=3\nb: a",
        "a/0 ok; a/2 ok; a/1 ok; b ok",
        "start a/0; start a/1; start a/2; start b; end",
    );
    let mut stage = Stage::new("a fan=3");
    stage.play("a/0 ok=1; a/2 ok={\"x\":2}; a/1 ok");
    assert_eq!(stage.shown(), "success: a=success");
    assert_eq!(stage.output("a").as_deref(), Some("[1,null,{\"x\":2}]"));
}

#[test]
fn foreach_makes_one_for_each_element_and_both_multiply() {
    let said = "start a; start b/0; start b/1";
    check_said("a\nb each=a: a", "a ok=[7,8]", said);
    let said = "start a; start b/0; start b/1; start b/2; start b/3";
    check_said("a\nb each=a fan=2: a", "a ok=[7,8]", said);
}

#[test]
fn zero_items_are_a_success_with_an_empty_list() {
    let mut stage = Stage::new("a\nb each=a: a\nc: b");
    stage.play("a ok=[]; c ok");
    assert_eq!(stage.shown(), "success: a=success b=success c=success");
    assert_eq!(stage.output("b").as_deref(), Some("[]"));
}

#[test]
fn a_bad_reference_fails_the_task_and_names_what_was_found() {
    let mut stage = Stage::new("a\nb each=a: a\nc: b");
    stage.play("a ok={\"x\":1}");
    assert_eq!(stage.shown(), "failed: a=success b=failed c=blocked");
    let error = stage.rows.get(TaskNo(1)).and_then(|row| row.error.clone());
    let message = error.expect("an error").message;
    assert_eq!(message, "`a` must be a list and is the map `{\"x\":1}`");
}

#[test]
fn no_more_at_once_than_concurrency_says() {
    check_said(
        "a fan=4 at_once=2",
        "a/1 ok; a/0 ok; a/2 ok; a/3 ok",
        "start a/0; start a/1; start a/2; start a/3; end",
    );
    let mut stage = Stage::new("a fan=4 at_once=2");
    stage.play("a/0 start");
    assert_eq!(stage.said, ["start a/0", "start a/1"]);
}

#[test]
fn the_rest_go_on_and_then_the_group_fails_with_its_list() {
    let mut stage = Stage::new("a fan=3\nb: a\nc finally: a");
    stage.play("a/1 fail; a/0 ok=1; a/2 ok=3; c ok");
    assert_eq!(stage.shown(), "failed: a=failed b=blocked c=success");
    assert_eq!(stage.output("a").as_deref(), Some("[1,null,3]"));
    let (_, progress) = stage.stored.as_ref().expect("stored");
    let message = progress.error.as_ref().expect("an error").message.clone();
    let told = "1 of 3 instances failed; the first, with index 1: exited with code 1";
    assert_eq!(message, format!("task 'a' failed: {told}"));
}

#[test]
fn a_task_below_a_group_that_failed_sees_its_list() {
    let mut stage = Stage::new("a fan=3\nb finally: a");
    stage.play("a/1 fail; a/0 ok=1; a/2 ok=3");
    let b = TaskRef { no: TaskNo(1), index: None };
    assert_eq!(stage.told[&b].as_str(), r#"{"a":[1,null,3]}"#);
}

#[test]
fn fail_fast_cancels_those_that_wait_as_well() {
    let mut stage = Stage::new("a approval fan=5 at_once=3 fast\nb: a");
    stage.play("reject a/1");
    assert_eq!(stage.facts("a"), "cancelled failed cancelled");
    assert_eq!(stage.shown(), "failed: a=failed b=blocked");
}

#[test]
fn fail_fast_cancels_the_rest_and_opens_no_more() {
    let sketch = "a fan=5 at_once=3 fast";
    check_said(
        sketch,
        "a/1 fail; a/0 gone; a/2 gone",
        "start a/0; start a/1; start a/2; stop a/0 cancel; stop a/2 cancel; end",
    );
    let mut stage = Stage::new(sketch);
    stage.play("a/1 fail; a/0 gone; a/2 ok");
    assert_eq!(stage.shown(), "failed: a=failed");
    assert_eq!(stage.facts("a"), "cancelled failed cancelled");
}

#[test]
fn ignored_errors_are_null_in_the_list_of_a_success() {
    let mut stage = Stage::new("a fan=2 ignore\nb: a");
    stage.play("a/0 fail; a/1 ok=2; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
    assert_eq!(stage.output("a").as_deref(), Some("[null,2]"));
}

#[test]
fn a_failure_that_was_ignored_is_nothing_to_retry_once_the_group_has_succeeded() {
    let mut stage = Stage::new("a fan=2 ignore\nb");
    stage.play("a/0 fail; retry a/0; a/0 fail; a/1 ok; retry a/0; b fail; retry a/0");
    assert_eq!(stage.said.iter().filter(|said| **said == "refused task_not_failed").count(), 2);
    assert_eq!(stage.shown(), "failed: a=success b=failed");
}

#[test]
fn instances_have_their_own_retries() {
    check_said(
        "a fan=2 retries=1",
        "a/0 fail; a/1 ok; wait 1; a/0 ok",
        "start a/0; start a/1; start a/0; end",
    );
}

#[test]
fn a_started_edge_is_satisfied_by_any_instance() {
    check_said("a fan=2\nb: a/started", "a/1 start", "start a/0; start a/1; start b");
}

#[test]
fn noops_in_a_group_never_reach_an_executor() {
    let mut stage = Stage::new("a\nb noop each=a: a\nc: b");
    stage.play("a ok=[1,2,3]; c ok");
    assert_eq!(stage.said, ["start a", "start c", "end"]);
    assert_eq!(stage.output("b").as_deref(), Some("[{},{},{}]"));
}

/// Answers the one question about noops.
fn answer_noops(stage: &mut Stage, outcomes: &[Option<&str>]) {
    let outcome = |text: &Option<&str>| match text {
        Some(text) => Ok(Output::Inline(Json::parse(text).expect("JSON"))),
        None => Err(TaskError::new(ErrorClass::Logic, "no such field")),
    };
    let answer = Answer::Noops(outcomes.iter().map(outcome).collect());
    let Question { run, number, .. } = stage.questions.pop().expect("asked");
    let _ = stage.apply(Input::Answer(Answered { run, number, answer }));
}

#[test]
fn noops_that_failed_are_worked_out_again_one_by_one() {
    let mut stage = Stage::new("a\nb noop fan=3: a");
    stage.play("silence; a ok");
    answer_noops(&mut stage, &[Some("1"), None, None]);
    stage.play("answers");
    assert_eq!(stage.shown(), "failed: a=success b=failed");
    stage.play("silence; retry");
    answer_noops(&mut stage, &[Some("2")]);
    answer_noops(&mut stage, &[None]);
    stage.play("answers; silence; retry b/2");
    answer_noops(&mut stage, &[Some("3")]);
    stage.play("answers");
    assert_eq!(stage.shown(), "success: a=success b=success");
    assert_eq!(stage.output("b").as_deref(), Some("[1,2,3]"));
}

#[test]
fn a_crash_neither_repeats_nor_forgets_instances() {
    let mut stage = Stage::new("a\nb each=a at_once=2: a\nc: b");
    stage.play("a ok=[1,2,3,4]; b/0 ok=10; crash; b/1 alive; b/2 unknown; wait 1");
    assert_eq!(stage.facts("b"), "success running delayed dispatched");
    stage.play("b/1 ok=11; b/2 ok=12; b/3 ok=13; c ok");
    assert_eq!(stage.shown(), "success: a=success b=success c=success");
    assert_eq!(stage.output("b").as_deref(), Some("[10,11,12,13]"));
}

#[test]
fn one_that_never_started_is_told_its_item_after_a_reload() {
    let mut stage = Stage::new("a\nb each=a: a");
    stage.play("a ok=[7,8]; crash; b/1 never");
    let task = TaskRef { no: TaskNo(1), index: Some(1) };
    assert_eq!(stage.told[&task].as_str(), r#"{"a":[7,8],"count":2,"index":1,"item":8}"#);
}

#[test]
fn pausing_a_group_stops_its_instances_and_a_resume_starts_them_again() {
    check_said(
        "a fan=3 at_once=2",
        "pause a; a/0 gone; a/1 ok; resume a; a/0 ok; a/2 ok",
        "start a/0; start a/1; stop a/0 pause; stop a/1 pause; start a/0; start a/2; end",
    );
}

#[test]
fn one_instance_can_be_held_cancelled_and_retried() {
    let mut stage = Stage::new("a fan=2");
    stage.play("pause a/0; a/0 gone; a/1 ok");
    assert_eq!(stage.shown(), "running: a=running");
    stage.play("resume a/0; a/0 ok");
    assert_eq!(stage.shown(), "success: a=success");

    let mut stage = Stage::new("a fan=2\nb: a");
    stage.play("cancel a/0; a/0 gone; a/1 ok");
    assert_eq!(stage.shown(), "cancelled: a=cancelled b=cancelled");
    stage.play("retry a/0; a/0 ok; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
    assert_eq!(stage.facts("a"), "success success");
}

#[test]
fn one_that_is_being_cancelled_is_not_over_when_its_hold_is_lifted() {
    let mut stage = Stage::new("a fan=2 fast");
    stage.play("pause a/0; a/1 fail; resume a/0");
    assert_eq!(stage.facts("a"), "dispatched failed");
    stage.play("a/0 gone");
    assert_eq!(stage.facts("a"), "cancelled failed");
    assert_eq!(stage.shown(), "failed: a=failed");
}

#[test]
fn a_cancel_lifts_the_hold_of_a_group_before_its_work_is_gone() {
    for cancel in ["cancel a", "cancel"] {
        let mut stage = Stage::new("a fan=2");
        stage.play(&format!("pause a; {cancel}"));
        let row = stage.rows.get(TaskNo(0)).expect("a row");
        assert_eq!((row.fact, &row.hold), (Fact::Open, &None), "{cancel}");
        stage.play("a/0 gone; a/1 gone");
        assert_eq!(stage.shown(), "cancelled: a=cancelled");
    }
}

#[test]
fn an_instance_that_was_not_opened_cannot_be_told_apart() {
    check_said(
        "a fan=3 at_once=1\nb",
        "cancel a/2; cancel a/3; pause b/0; a/0 ok; cancel a/0",
        "start a/0; start b; refused not_started; refused instance_not_found; \
         refused not_a_group; start a/1; refused task_settled",
    );
}

#[test]
fn cancelling_a_group_stops_what_is_live_and_opens_no_more() {
    let mut stage = Stage::new("a fan=4 at_once=2\nb: a");
    stage.play("a/0 ok; cancel a; a/1 gone; a/2 gone");
    assert_eq!(stage.shown(), "cancelled: a=cancelled b=cancelled");
    assert_eq!(stage.facts("a"), "success cancelled cancelled");
}

#[test]
fn a_group_that_has_opened_goes_on_below_a_cancelled_task() {
    let mut stage = Stage::new("a\nb fan=2: a/started\nc: a");
    stage.play("a start; cancel a; a gone");
    assert_eq!(stage.shown(), "running: a=cancelled b=running c=cancelled");
    stage.play("b/0 ok; b/1 ok");
    assert_eq!(stage.shown(), "cancelled: a=cancelled b=success c=cancelled");
}

#[test]
fn cancelling_the_run_cancels_its_groups() {
    let mut stage = Stage::new("a fan=4 at_once=2 retries=1");
    stage.play("a/0 fail; cancel; a/1 gone; a/2 gone");
    assert_eq!(stage.shown(), "cancelled: a=cancelled");
    assert_eq!(stage.facts("a"), "cancelled cancelled cancelled");
}

#[test]
fn a_retry_takes_back_what_failed_and_opens_what_never_was() {
    let mut stage = Stage::new("a fan=4 at_once=2 fast\nb: a");
    stage.play("a/0 ok=0; a/1 fail; a/2 gone");
    assert_eq!(stage.shown(), "failed: a=failed b=blocked");
    stage.said.clear();
    stage.play("retry; a/1 ok=1; a/2 ok=2; a/3 ok=3; b ok");
    assert_eq!(stage.said, ["start a/1", "start a/2", "start a/3", "start b", "end"]);
    assert_eq!(stage.output("a").as_deref(), Some("[0,1,2,3]"));
}

#[test]
fn a_group_below_what_is_retried_opens_anew_with_other_numbers() {
    let mut stage = Stage::new("a\nb each=a: a/finished\nc: a");
    stage.play("a ok=[1]; b/0 fail; c fail");
    assert_eq!(stage.shown(), "failed: a=success b=failed c=failed");
    // What is above fails in its turn only if it is taken back.
    let mut stage = Stage::new("a\nx: a\nb each=a finally: a, x");
    stage.play("a ok=[1,2]; x fail; b/0 ok; b/1 ok; retry x; x ok");
    assert_eq!(stage.history, ["x#1"]);
    stage.play("b/0 ok; b/1 ok");
    assert_eq!(stage.shown(), "success: a=success x=success b=success");
    let row = stage.instances.values().next().expect("an instance");
    assert_eq!(row.attempts, 2);
}

#[test]
fn a_failed_group_waits_again_for_what_is_retried_with_it() {
    for sketch in ["a\nb fan=2 finally: a", "a allow\nb fan=2: a", "a\nb fan=2: a/failed"] {
        let mut stage = Stage::new(sketch);
        stage.play("a fail; b/0 fail; b/1 ok");
        stage.said.clear();
        stage.play("retry");
        assert_eq!(stage.said, ["start a"], "{sketch}");
        assert_eq!(stage.facts("b"), "", "{sketch}");
    }
    // Also when what it stood on has no row of its own.
    let mut stage = Stage::new("a\nb: a\nc fan=2 finally: b");
    stage.play("a fail; cancel; c/0 gone; c/1 gone");
    stage.said.clear();
    stage.play("retry");
    assert_eq!(stage.said, ["start a"]);
    // That something has started is for good.
    let mut stage = Stage::new("a\nb fan=2: a/started");
    stage.play("a start; b/0 fail; b/1 ok; a fail");
    stage.said.clear();
    stage.play("retry; b/0 ok; a ok");
    assert_eq!(stage.said, ["start a", "start b/0", "end"]);
}

#[test]
fn the_list_that_an_open_group_is_made_of_does_not_go_back() {
    let mut stage = Stage::new("a fan=2 allow\nb each=a: a");
    stage.play("a/0 ok=1; a/1 fail; retry a");
    assert_eq!(stage.said.last().map(String::as_str), Some("refused dependent_running"));
    stage.play("b/0 ok; b/1 ok");
    assert_eq!(stage.shown(), "success: a=failed b=success");
}

#[test]
fn a_cancelled_group_opens_anew_when_what_it_stood_on_goes_back() {
    let mut stage = Stage::new("r\na finally: r\nb each=a: a");
    stage.play("r fail; a ok=[1,2]; cancel b; b/0 gone; b/1 gone");
    assert_eq!(stage.shown(), "failed: r=failed a=success b=cancelled");
    stage.play("retry r; r ok; a ok=[3]; b/0 ok=4");
    assert_eq!(stage.shown(), "success: r=success a=success b=success");
    assert_eq!(stage.output("b").as_deref(), Some("[4]"));
}

#[test]
fn a_bad_reference_is_looked_at_again_also_when_it_was_a_good_one_before() {
    let mut stage = Stage::new("r\na finally: r\nb each=a: a\nc finally: b");
    stage.play("r fail; a ok=[1]; b/0 ok; c ok; retry r; r ok; a ok=7; c ok");
    assert_eq!(stage.shown(), "failed: r=success a=success b=failed c=success");
    stage.play("retry b");
    assert_eq!(stage.shown(), "running: r=success a=success b=failed c=dispatched");
    stage.play("c ok");
    assert_eq!(stage.shown(), "failed: r=success a=success b=failed c=success");
}

#[test]
fn an_answer_that_comes_too_late_changes_nothing() {
    let mut stage = Stage::new("a\nb each=a: a");
    stage.play("silence; a ok=[1,2]; pause; answers");
    assert_eq!(stage.shown(), "paused: a=success b=ready");
    stage.play("resume");
    assert_eq!(stage.shown(), "running: a=success b=running");
    check(
        "a\nb each=a: a",
        "silence; a ok=[1]; cancel; answers",
        "cancelled: a=success b=cancelled",
    );
}

#[test]
fn instances_and_other_tasks_share_limits() {
    let limits = [("total", 2), ("executor:process", 10)];
    let mut stage = Stage::with_limits("a fan=3\nb", &limits);
    assert_eq!(stage.said, ["start a/0", "start a/1"]);
    stage.play("a/0 ok; a/1 ok; a/2 ok; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
}

#[test]
fn a_condition_is_looked_at_once_for_all_attempts() {
    let mut stage = Stage::new("a if retries=1");
    stage.play("a fail; silence; crash; wait 1");
    assert_eq!(stage.questions.len(), 0);
    stage.play("a ok");
    assert_eq!(stage.shown(), "success: a=success");
}

/// Large enough to be worth a reading.
fn large() -> String {
    format!("\"{}\"", "x".repeat(300))
}

#[test]
fn an_output_that_nobody_can_read_any_more_leaves_memory_and_a_retry_brings_it_back() {
    let mut stage = Stage::new("a\nb: a\nc: b\nd");
    stage.play(&format!("a ok={}; b ok; c fail", large()));
    let output = |stage: &Stage, no| {
        let run = stage.world.run(stage.run).expect("it goes on");
        run.rows.get(crate::ids::TaskNo(no)).and_then(|row| row.output.clone())
    };
    assert_eq!(output(&stage, 0), None, "its one reader has settled");
    assert!(stage.output("a").is_some(), "its row keeps it");
    stage.play("retry c");
    assert!(output(&stage, 0).is_none_or(|found| found.to_text() == large()));
    stage.play("c ok; d ok");
    assert_eq!(stage.shown(), "success: a=success b=success c=success d=success");
}

#[test]
fn an_output_stays_as_long_as_somebody_may_read_it() {
    let mut stage = Stage::new("a\nb: a\nc: a, b\nd");
    stage.play(&format!("a ok={}; b ok", large()));
    let run = stage.world.run(stage.run).expect("it goes on");
    let output = run.rows.get(TaskNo(0)).and_then(|row| row.output.clone());
    assert_eq!(output.expect("c is yet to come").to_text(), large());
}

#[test]
fn a_final_run_with_an_output_that_nobody_reads_is_retried() {
    let mut stage = Stage::new("a\nb");
    stage.play(&format!("a ok={}; b fail", large()));
    assert_eq!(stage.shown(), "failed: a=success b=failed");
    stage.play("retry; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
    assert_eq!(stage.output("a"), Some(large()));
}

#[test]
fn an_output_that_came_with_the_batch_of_a_retry_is_stored() {
    let mut stage = Stage::new("a\nb\nc");
    stage.play("b fail");
    let ticket = stage.live[&TaskRef::plain(TaskNo(0))];
    let what = report(&format!("ok={}", large()));
    let input = Input::Report(Report { ticket, what });
    let _ = stage.world.apply(stage.now, input, Prefetched::default());
    stage.play("retry b");
    assert_eq!(stage.output("a"), Some(large()));
}

#[test]
fn one_that_is_tried_again_by_its_index_leaves_the_others_as_they_are() {
    let mut stage = Stage::new("a fan=4 at_once=1 fast\nb: a");
    stage.play("a/0 ok; a/1 fail");
    assert_eq!(stage.shown(), "failed: a=failed b=blocked");
    stage.said.clear();
    stage.play("retry a/1; a/1 ok");
    assert_eq!(stage.said, ["start a/1", "end"]);
    assert_eq!(stage.shown(), "cancelled: a=cancelled b=cancelled");
    stage.said.clear();
    stage.play("crash; retry; a/2 ok; a/3 ok; b ok");
    assert_eq!(stage.said, ["start a/2", "start a/3", "start b", "end"]);
    assert_eq!(stage.shown(), "success: a=success b=success");
}

#[test]
fn no_more_are_opened_while_a_thousand_wait_for_another_try() {
    let mut stage = Stage::new("a fan=3000 at_once=1 retries=1");
    for index in 0..1_001 {
        stage.play(&format!("a/{index} fail"));
    }
    assert_eq!(stage.said.len(), 1_001);
    assert_eq!(stage.said.last().map(String::as_str), Some("start a/1000"));
    stage.play("wait 1; a/0 ok");
    assert_eq!(stage.said[1_001..], ["start a/0", "start a/1"], "those come first");
}

#[test]
fn a_group_with_much_at_once_opens_until_twice_that_wait_for_another_try() {
    let mut stage = Stage::new("a fan=3000 at_once=600 retries=1");
    for index in 0..1_200 {
        stage.play(&format!("a/{index} fail"));
    }
    assert_eq!(stage.said.len(), 600 + 1_200);
    stage.play("a/1200 fail; a/1201 fail");
    assert_eq!(stage.said.last().map(String::as_str), Some("start a/1799"));
}

#[test]
fn counts_tell_who_waits_and_who_is_held() {
    let mut stage = Stage::new("a fan=4 retries=1");
    let counts = |stage: &Stage| {
        let group = stage.group("a");
        (group.unsettled(), group.delayed, group.held)
    };
    stage.play("a/0 start; a/1 fail; a/2 fail; pause a/2");
    assert_eq!(counts(&stage), (4, 1, 1));
    stage.play("pause a/0; a/0 gone; resume a/2");
    assert_eq!(counts(&stage), (4, 2, 1));
    stage.play("crash; wait 1; a/1 ok; a/2 ok; a/3 ok; resume a/0; a/0 ok");
    assert_eq!(counts(&stage), (0, 0, 0));
    assert_eq!(stage.shown(), "success: a=success");
}

#[test]
fn resuming_a_group_resumes_those_that_are_held_one_by_one() {
    let mut stage = Stage::new("a fan=3");
    stage
        .play("pause a/0; a/0 gone; pause a/1; a/1 gone; a/2 ok; resume a; a/0 ok; a/1 ok; resume");
    assert_eq!(stage.shown(), "success: a=success");
    let refused = stage.said.iter().filter(|said| said.starts_with("refused")).count();
    assert_eq!(refused, 1, "only the last: {:?}", stage.said);
}

#[test]
fn a_retry_of_a_group_that_is_still_open_takes_back_all_that_failed() {
    let mut stage = Stage::new("a fan=4\nb: a");
    stage.play("a/0 fail; a/2 fail; a/1 ok=1");
    stage.said.clear();
    stage.play("retry a; a/0 ok=0; a/2 ok=2; a/3 ok=3; b ok");
    assert_eq!(stage.said, ["start a/0", "start a/2", "start b", "end"]);
    assert_eq!(stage.output("a").as_deref(), Some("[0,1,2,3]"));
    let mut stage = Stage::new("a fan=2");
    stage.play("a/0 ok");
    let named = Named { task: "a".into(), index: None };
    assert_eq!(stage.order(Order::Task(named, Verb::Retry)), Err(Refusal::TaskNotFailed));
}

#[test]
fn a_list_that_would_be_too_deep_to_be_read_again_fails_its_group() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let mut stage = Stage::new("a fan=1");
    stage.play(&format!("a/0 ok={}", nested(63)));
    assert_eq!(stage.shown(), "success: a=success");
    let mut stage = Stage::new("a fan=1");
    stage.play(&format!("a/0 ok={}", nested(64)));
    assert_eq!(stage.shown(), "failed: a=failed");
    let error = stage.rows.get(TaskNo(0)).and_then(|row| row.failure()).expect("an error");
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("nests more than 64 deep"), "{error:?}");
}
