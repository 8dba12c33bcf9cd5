//! Finalizers: a task's second step, one after another in each queue.

use super::stage::{Stage, check, check_said};
use crate::ids::{TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::Finalizer;
use crate::kernel::row::TaskRow;
use crate::world::input::{Input, Reply, SetRate, SetTier};

const NO: TaskNo = TaskNo(0);

fn row(stage: &Stage) -> &TaskRow {
    stage.rows.get(NO).expect("a row")
}

fn finalizer(stage: &Stage) -> &Finalizer {
    row(stage).finalizer.as_deref().expect("a finalizer")
}

fn played(sketch: &str, script: &str) -> Stage {
    let mut stage = Stage::new(sketch);
    stage.play(script);
    stage
}

#[test]
fn a_task_succeeds_when_its_work_has_landed() {
    check("a final=main", "a ok=1", "running: a=worker_done");
    check_said("a final=main", "a ok=1", "start a; land a");
    let stage = played("a final=main", "a ok=1; a start; a ok=2");
    assert_eq!(stage.shown(), "success: a=success");
    assert_eq!(stage.output("a").as_deref(), Some("1"), "the output is that of the work");
    assert_eq!(stage.history, ["a#2 finalize"]);
    assert_eq!(finalizer(&stage).fact, Fact::Success);
}

#[test]
fn dependents_on_merged_wait_for_the_landing_and_those_on_completed_do_not() {
    let sketch = "a final=main\nb: a\nc: a/completed\nd: a/started\ne: a/finished\nf: a/failed";
    let told = "running: a=worker_done b=pending c=dispatched d=dispatched e=pending f=pending";
    check(sketch, "a ok=1", told);
    let told = "running: a=success b=dispatched c=dispatched d=dispatched e=dispatched f=skipped";
    check(sketch, "a ok=1; a ok", told);
    let told = "running: a=failed b=blocked c=dispatched d=dispatched e=dispatched f=dispatched";
    check(sketch, "a ok=1; a fail", told);
    let stage = played("a final=main\nc: a/completed", "a ok=7");
    let told = stage.told.iter().find(|(task, _)| task.no.0 == 1).map(|(_, input)| input);
    assert_eq!(told.expect("c started").as_str(), r#"{"a":7}"#);
}

#[test]
fn what_waits_on_done_work_that_does_not_land_never_starts() {
    let limits = [("total", 1), ("executor:process", 1)];
    let sketch = "a final=main priority=9\nb: a/completed\nc: a/completed";
    let mut stage = Stage::with_limits(sketch, &limits);
    stage.play("a ok; a fail");
    assert_eq!(stage.shown(), "failed: a=failed b=blocked c=blocked");
    let mut stage = Stage::with_limits(sketch, &limits);
    stage.play("a ok; a ok; b ok");
    assert_eq!(stage.shown(), "running: a=success b=success c=dispatched");
    // One that has begun goes on.
    let told = "running: a=failed b=dispatched c=dispatched";
    check(sketch, "a ok; a fail", told);
}

#[test]
fn one_at_a_time_lands_in_a_queue_and_queues_do_not_meet() {
    let sketch = "a final=main\nb final=main\nc final=docs\nd unqueued";
    let script = "a ok; b ok; c ok; d ok";
    let said = "start a; start b; start c; start d; land a; land c; land d";
    check_said(sketch, script, said);
    check_said(sketch, &format!("{script}; a ok"), &format!("{said}; land b"));
}

#[test]
fn higher_priority_lands_first_then_the_oldest() {
    let sketch = "a final=main\nb final=main\nc final=main\nd final=main priority=5";
    let script = "a ok; wait 1; c ok; wait 1; b ok; wait 1; d ok; a ok; d ok; c ok";
    let stage = played(sketch, script);
    let landed: Vec<_> = stage.said.iter().filter(|said| said.starts_with("land")).collect();
    assert_eq!(landed, ["land a", "land d", "land c", "land b"]);
}

#[test]
fn a_queue_is_a_limit_that_can_be_changed() {
    let mut stage = Stage::new("a final=main\nb final=main\nc final=main");
    stage.play("a ok; b ok; c ok");
    let limits = stage.world.limits();
    let queue = limits.find("queue:main").expect("it shows up");
    assert_eq!((queue.used, queue.bound.limit), (1, 1));
    let Ok(Reply::Tiers(tiers)) = stage.apply(Input::Tiers) else { panic!("they are told") };
    let queue = tiers.iter().find(|tier| tier.name == "queue:main").expect("it is listed");
    assert_eq!((queue.in_use, queue.waiting, queue.holders.len()), (1, 2, 1));
    let set = SetTier { name: "queue:main".into(), limit: Some(2), rate: SetRate::Keep };
    let reply = stage.apply(Input::SetTier(set));
    let Ok(Reply::Tiers(tiers)) = reply else { panic!("{reply:?}") };
    assert_eq!((tiers[0].in_use, tiers[0].limit), (1, 2));
    assert_eq!(stage.said.last().map(String::as_str), Some("land b"));
    assert_eq!(stage.world.limits().find("queue:main").map(|queue| queue.used), Some(2));
}

#[test]
fn the_tasks_own_permits_are_freed_when_its_work_is_done() {
    let sketch = "@gpu=1\na tier=gpu final=main\nb tier=gpu";
    check_said(sketch, "a ok", "start a; land a; start b");
    let limits = [("total", 1), ("executor:process", 9)];
    let mut stage = Stage::with_limits("a final=main\nb", &limits);
    stage.play("a ok");
    assert_eq!(stage.said.join("; "), "start a; land a", "what lands goes before more work");
    stage.play("a ok");
    assert_eq!(stage.said.join("; "), "start a; land a; start b");
    let mut stage = Stage::with_limits("a final=main\nb priority=5\nc", &limits);
    stage.play("b ok; a ok");
    assert_eq!(stage.said.join("; "), "start b; start a; land a");
    let mut stage = Stage::with_limits("a final=main priority=9\nb priority=5", &limits);
    stage.play("a ok");
    assert_eq!(stage.said.join("; "), "start a; land a");
    let mut stage = Stage::with_limits(
        "b priority=5\na priority=9 final=main\nc priority=9: a/started",
        &limits,
    );
    stage.play("a start; a ok");
    assert_eq!(stage.said.last().map(String::as_str), Some("land a"));
}

#[test]
fn what_is_in_the_way_of_a_merge_is_waited_for_without_an_end_and_without_permits() {
    let sketch = "a final=main\nb final=main";
    let mut stage = played(sketch, "a ok; b ok; a hindered");
    assert_eq!(stage.shown(), "running: a=worker_done b=worker_done");
    assert_eq!(stage.said.join("; "), "start a; start b; land a; land b", "the queue is free");
    assert_eq!(finalizer(&stage).refused.as_deref(), Some("it is in the way"));
    stage.play("b ok");
    // Far beyond its start_timeout.
    for seconds in [1, 2, 4, 8, 16, 300, 3_600].into_iter().chain([30; 12]) {
        stage.play(&format!("wait {seconds}; a hindered"));
        assert_eq!(stage.shown(), "running: a=worker_done b=success");
    }
    assert_eq!((row(&stage).attempts, stage.history.len()), (1, 1), "none of them was an attempt");
    stage.play("wait 30; a ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
}

#[test]
fn one_that_had_started_when_something_came_in_its_way_is_in_the_history() {
    let sketch = "a final=main final_retries=1";
    let stage = played(sketch, "a ok; a start; a barred; wait 1; a barred; wait 1");
    assert_eq!(stage.shown(), "running: a=worker_done", "it waits longer each time");
    assert_eq!(stage.history, ["a#2 finalize", "a#3 finalize"]);
    assert_eq!((finalizer(&stage).tries, finalizer(&stage).losses), (0, 0));
    let stage = played(sketch, "a ok; a barred; wait 1; a barred; wait 2; a ok");
    assert_eq!(stage.shown(), "success: a=success");
}

#[test]
fn what_waits_for_something_in_its_way_can_be_held_and_cancelled() {
    check("a final=main", "a ok; a hindered; cancel a", "cancelled: a=cancelled");
    check("a final=main", "a ok; cancel a; a hindered", "cancelled: a=cancelled");
    check("a final=main", "a ok; a start; cancel; a barred", "cancelled: a=cancelled");
    let held = "a ok; a start; pause a; a barred; wait 60";
    check("a final=main", held, "running: a=worker_done");
    check_said(
        "a final=main",
        &format!("{held}; resume a"),
        "start a; land a; stop a pause; land a",
    );
}

#[test]
fn a_failed_finalizer_is_tried_again_without_its_work() {
    let sketch = "a final=main final_retries=1";
    let script = "a ok=1; a fail";
    check(sketch, script, "running: a=worker_done");
    check_said(sketch, &format!("{script}; wait 1"), "start a; land a; land a");
    let stage = played(sketch, &format!("{script}; wait 1; a ok"));
    assert_eq!(stage.shown(), "success: a=success");
    assert_eq!(stage.history, ["a#2 finalize", "a#3 finalize"]);
    let stage = played(sketch, &format!("{script}; wait 1; a fail"));
    assert_eq!(stage.shown(), "failed: a=failed");
    let error = row(&stage).failure().expect("an error");
    assert_eq!(error.message, "its finalizer failed: exited with code 1");
    assert_eq!((error.exit_code, finalizer(&stage).tries, row(&stage).tries), (Some(1), 2, 0));
}

#[test]
fn another_finalizer_lands_while_one_waits_for_its_next_try() {
    let sketch = "a final=main final_retries=1\nb final=main";
    check_said(sketch, "a ok; b ok; a fail", "start a; start b; land a; land b");
}

#[test]
fn finished_work_is_kept_when_its_finalizer_failed_and_nobody_reads_it() {
    let stage = played("a final=main\nb finally: a", "a ok=1; a fail");
    assert_eq!(stage.output("a").as_deref(), Some("1"));
    let told = stage.told.iter().find(|(task, _)| task.no.0 == 1).map(|(_, input)| input);
    assert_eq!(told.expect("b started").as_str(), r#"{"a":null}"#);
    let stage = played("a final=main", "a ok=1; a fail; retry");
    assert_eq!(stage.shown(), "running: a=dispatched", "the whole task runs again");
    assert_eq!(stage.history, ["a#2 finalize", "a#1"]);
    assert_eq!(stage.said.join("; "), "start a; land a; end; start a");
    assert!(row(&stage).finalizer.is_none());
    check_said(
        "a final=main",
        "a ok=1; a fail; retry; a ok=2",
        "start a; land a; end; start a; land a",
    );
}

#[test]
fn a_lost_finalizer_is_tried_again_without_its_work() {
    let sketch = "a final=main";
    let script = "a ok=1; crash; a unknown";
    check(sketch, script, "running: a=worker_done");
    check_said(sketch, &format!("{script}; wait 1"), "start a; land a; reattach a; land a");
    let stage = played(sketch, &format!("{script}; wait 1; a lost; wait 4; a ok"));
    assert_eq!(stage.shown(), "success: a=success");
    assert_eq!((finalizer(&stage).losses, row(&stage).losses), (2, 0));
    check("a final=main final_once", script, "failed: a=failed");
    let four = "a lost; wait 1; a lost; wait 4; a lost; wait 16; a lost";
    check(sketch, &format!("a ok; {four}"), "failed: a=failed");
}

#[test]
fn a_crash_at_any_point_finds_the_finalizer_again() {
    let sketch = "a final=main final_retries=1";
    check(
        "a final=main\nb final=main",
        "a ok; b ok; crash; a alive; a ok; crash; b alive; b ok",
        "success: a=success b=success",
    );
    check_said(sketch, "a ok; a fail; crash; wait 1", "start a; land a; land a");
    check_said(sketch, "a ok; crash; a never", "start a; land a; reattach a; land a");
    check(sketch, "a ok; a start; crash; a alive; crash; a ok", "success: a=success");
    check_said(
        "a final=main",
        "a ok; cancel; crash; a alive",
        "start a; land a; stop a cancel; reattach a; stop a cancel",
    );
    check("a final=main", "a ok; cancel; crash; a unknown", "cancelled: a=cancelled");
}

#[test]
fn a_finalizer_that_runs_too_long_is_stopped() {
    let sketch = "a final=main final_timeout=10";
    check_said(sketch, "a ok; a start; wait 10", "start a; land a; stop a timeout");
    let stage = played(sketch, "a ok; a start; wait 10; a gone");
    assert_eq!(stage.shown(), "failed: a=failed");
    let error = row(&stage).failure().expect("an error");
    assert_eq!(error.message, "its finalizer failed: ran longer than its timeout of 10s");
    // What has landed has landed.
    check(sketch, "a ok; a start; wait 10; a ok", "success: a=success");
    check_said("a final=main", "a ok; wait 300", "start a; land a; stop a start_timeout");
}

#[test]
fn a_refused_start_of_a_finalizer_uses_no_number() {
    let stage = played("a final=main", "a ok; a refuse; wait 1; a ok");
    assert_eq!(stage.shown(), "success: a=success");
    assert_eq!(stage.history, ["a#2 finalize"]);
    let waits = "a ok; a refuse; wait 1; wait 299";
    check_said("a final=main", waits, "start a; land a; land a; stop a start_timeout");
}

#[test]
fn a_command_that_is_not_there_is_not_tried_again() {
    check("a final=main final_retries=3", "a ok; a missing", "failed: a=failed");
}

#[test]
fn holding_a_task_whose_work_is_done_holds_its_finalizer() {
    let sketch = "a final=main\nb final=main";
    // Queued: it leaves the line.
    let queued = "a ok; b ok; pause b; a ok";
    check(sketch, queued, "running: a=success b=worker_done");
    check_said(sketch, queued, "start a; start b; land a");
    check_said(sketch, &format!("{queued}; resume b"), "start a; start b; land a; land b");
    // Live: it is killed uncounted.
    let live = "a ok; a start; pause a; a gone";
    check_said("a final=main", live, "start a; land a; stop a pause");
    let stage = played("a final=main", live);
    assert_eq!((finalizer(&stage).tries, finalizer(&stage).fact), (0, Fact::Delayed));
    let resumed = format!("{live}; resume a");
    check_said("a final=main", &resumed, "start a; land a; stop a pause; land a");
    // An outcome that was reached first stands.
    check("a final=main", "a ok; pause a; a ok", "success: a=success");
    // Held while it worked: what lands it is held.
    check_said("a final=main", "pause a; a ok", "start a; stop a pause");
    check_said("a final=main", "pause a; a ok; resume a", "start a; stop a pause; land a");
}

#[test]
fn a_paused_run_lands_nothing_new() {
    check_said("a final=main", "pause; a ok", "start a");
    check_said("a final=main", "pause; a ok; resume", "start a; land a");
    check_said("a final=main\nb final=main", "a ok; b ok; pause; a ok", "start a; start b; land a");
    check("a final=main", "a ok; pause; a ok", "paused: a=success");
    check(
        "a final=main final_retries=1",
        "a ok; a fail; pause; wait 9; resume",
        "running: a=worker_done",
    );
    let script = "a ok; a fail; pause; wait 9; resume";
    check_said("a final=main final_retries=1", script, "start a; land a; land a");
}

#[test]
fn cancelling_withdraws_the_finalizer() {
    let sketch = "a final=main\nb final=main";
    // Queued: it never lands.
    let queued = "a ok; b ok; cancel b; a ok";
    check(sketch, queued, "cancelled: a=success b=cancelled");
    check_said(sketch, queued, "start a; start b; land a; end");
    // Delayed for another try.
    let delayed = "a ok; a fail; cancel a; wait 9";
    check("a final=main final_retries=1", delayed, "cancelled: a=cancelled");
    check_said("a final=main final_retries=1", delayed, "start a; land a; end");
    // Live: it is stopped first.
    let live = "a ok; a start; cancel a";
    check_said("a final=main", live, "start a; land a; stop a cancel");
    check("a final=main", live, "running: a=worker_done");
    check("a final=main", &format!("{live}; a gone"), "cancelled: a=cancelled");
    check("a final=main", &format!("{live}; a fail"), "cancelled: a=cancelled");
    // Held.
    check("a final=main", "pause; a ok; pause a; cancel a; resume", "cancelled: a=cancelled");
}

#[test]
fn what_lands_while_it_is_being_stopped_has_landed() {
    let live = "a ok; a start; cancel a; a ok";
    check("a final=main\nb: a", live, "running: a=success b=dispatched");
    check("a final=main", "a ok; a start; cancel; a ok", "cancelled: a=success");
    let stage = played("a final=main", "a ok; a start; cancel; a ok");
    assert_eq!(row(&stage).cancelled, None);
    // Nothing is held any more, and nothing lands again.
    let paused = "a ok; a start; pause a; a ok";
    check("a final=main", paused, "success: a=success");
    check_said("a final=main", paused, "start a; land a; stop a pause; end");
    check("@timeout=60\na final=main", "a ok; a start; wait 60; a ok", "failed: a=success");
    // The finalizer's own timeout leaves it a try, which it does not need.
    let retried = "a final=main final_timeout=10 final_retries=1";
    check_said(retried, "a ok; a start; wait 10; a ok", "start a; land a; stop a timeout; end");
}

#[test]
fn a_cancelled_or_timed_out_run_withdraws_its_finalizers() {
    let sketch = "a final=main\nb final=main";
    let script = "a ok; b ok; cancel";
    check(sketch, script, "cancelling: a=worker_done b=cancelled");
    check_said(
        sketch,
        &format!("{script}; a gone"),
        "start a; start b; land a; stop a cancel; end",
    );
    check(sketch, &format!("{script}; a gone"), "cancelled: a=cancelled b=cancelled");
    let timed = format!("@timeout=60\n{sketch}");
    check(&timed, "a ok; b ok; wait 60; a gone", "failed: a=cancelled b=cancelled");
    check(sketch, "a ok; b ok; force", "cancelled: a=cancelled b=cancelled");
    check("a final=main", "a ok; cancel; force a", "cancelled: a=cancelled");
    check("a final=main", "a ok; force a", "cancelled: a=cancelled");
}

#[test]
fn finished_work_below_a_cancelled_task_goes_on() {
    let sketch = "a\nb final=main: a/started";
    let script = "a start; b ok; cancel a; a gone";
    check(sketch, script, "running: a=cancelled b=worker_done");
    check(sketch, &format!("{script}; b ok"), "cancelled: a=cancelled b=success");
}

#[test]
fn a_drain_stops_finalizers_uncounted() {
    let mut stage = played("a final=main", "a ok; a start");
    stage.world.start_nothing_more();
    stage.world.stop_all(stage.now);
    stage.play("a gone; crash");
    assert_eq!(stage.said.join("; "), "start a; land a; stop a pause; land a");
    assert_eq!((finalizer(&stage).tries, finalizer(&stage).losses), (0, 0));
}

#[test]
fn a_report_about_the_work_is_stale_once_that_is_done() {
    let mut stage = played("a final=main", "");
    let ticket = *stage.live.values().next().expect("a is live");
    stage.play("a ok");
    let report = crate::work::Report { ticket, what: super::stage::report("fail") };
    assert!(stage.apply(Input::Report(report)).is_err());
    assert_eq!(stage.shown(), "running: a=worker_done");
}

#[test]
fn each_instance_of_a_group_lands_its_own_work() {
    let sketch = "a fan=3 at_once=1 final=main\nb: a\nc: a/completed\nd: a/started";
    let script = "a/0 start; a/0 ok=0; a/1 ok=1; a/2 ok=2";
    let stage = played(sketch, script);
    // At most one at work at a time; what only waits to land does not count.
    assert_eq!(
        stage.said.join("; "),
        "start a/0; start d; land a/0; start a/1; start a/2; start c"
    );
    assert_eq!((stage.group("a").worker_done, stage.group("a").unsettled()), (3, 3));
    assert_eq!(stage.shown(), "running: a=running b=pending c=dispatched d=dispatched");
    let stage = played(sketch, &format!("{script}; a/0 ok; a/1 ok; a/2 ok"));
    assert_eq!(stage.output("a").as_deref(), Some("[0,1,2]"));
    assert_eq!(stage.shown(), "running: a=success b=dispatched c=dispatched d=dispatched");
}

#[test]
fn an_instance_that_did_not_land_puts_nothing_into_the_list() {
    let sketch = "a fan=2 ignore final=main";
    let stage = played(sketch, "a/0 ok=0; a/1 ok=1; a/0 fail; a/1 ok");
    assert_eq!(stage.output("a").as_deref(), Some("[null,1]"));
    let sketch = "a fan=3 fast final=main";
    let stage = played(sketch, "a/0 ok=0; a/1 ok=1; a/0 fail; a/2 gone");
    assert_eq!(stage.facts("a"), "failed cancelled cancelled");
    assert_eq!(stage.shown(), "failed: a=failed");
}

/// What `b/1`, the last to start, is told as its item when everything else has happened before.
fn item_told(sketch: &str, script: &str) -> String {
    let stage = played(sketch, &format!("{script}; b/0 ok"));
    let last = TaskRef { no: TaskNo(1), index: Some(1) };
    let told =
        stage.told.get(&last).unwrap_or_else(|| panic!("{}: {:?}", stage.shown(), stage.said));
    told.to_value()["item"].to_string()
}

#[test]
fn a_fan_out_that_does_not_wait_for_the_landing_is_made_of_the_work() {
    let restarts = ["", "; crash; b/0 alive"];
    for restart in restarts {
        for end in ["a/0 ok; a/1 fail", "a/0 fail; a/1 fail", "a/0 ok; cancel a/1; a/1 gone"] {
            for strategy in ["", "ignore"] {
                let sketch =
                    format!("a fan=2 {strategy} final=main\nb each=a at_once=1: a/completed");
                let script = format!("a/0 ok=5; a/1 ok=6; {end}{restart}");
                assert_eq!(item_told(&sketch, &script), "6", "{sketch}: {script}");
            }
        }
        // The list of a plain task stays as well.
        let sketch = "a final=main\nb each=a at_once=1: a/completed";
        assert_eq!(item_told(sketch, &format!("a ok=[5,6]; a fail{restart}")), "6");
        // Whoever waits for the end, be it behind another task, is made of what has landed.
        let sketch = "a fan=2 ignore final=main\nb each=a at_once=1: a";
        let script = format!("a/0 ok=5; a/1 ok=6; a/0 ok; a/1 fail{restart}");
        assert_eq!(item_told(sketch, &script), "null");
    }
}

#[test]
fn whoever_opens_late_is_made_of_the_work_too() {
    let sketch = "a fan=2 ignore final=main\nb each=a at_once=1: a/completed, c\nc";
    assert_eq!(item_told(sketch, "a/0 ok=5; a/1 ok=6; a/0 ok; a/1 fail; c ok"), "6");
    let sketch = "a fan=2 ignore final=main\nb each=a at_once=1: a/completed, c\nc: a";
    assert_eq!(item_told(sketch, "a/0 ok=5; a/1 ok=6; a/0 ok; a/1 fail; c ok"), "null");
}

#[test]
fn holds_and_cancels_of_a_group_reach_its_finalizers() {
    let sketch = "a fan=2 final=main";
    let script = "a/0 ok; a/1 ok; pause a; a/0 gone";
    check_said(sketch, script, "start a/0; start a/1; land a/0; stop a/0 pause");
    let resumed = "start a/0; start a/1; land a/0; stop a/0 pause; land a/0";
    check_said(sketch, &format!("{script}; resume a"), resumed);
    let one = "a/0 ok; a/1 ok; pause a/1; a/0 ok";
    check_said(sketch, one, "start a/0; start a/1; land a/0");
    check_said(sketch, &format!("{one}; resume a/1"), "start a/0; start a/1; land a/0; land a/1");
    check(sketch, "a/0 ok; a/1 ok; cancel a; a/0 gone", "cancelled: a=cancelled");
    check(sketch, "a/0 ok; a/1 ok; cancel a/1; a/0 ok", "cancelled: a=cancelled");
    check(sketch, "a/0 ok; a/1 ok; cancel a/0; a/0 ok; a/1 ok", "success: a=success");
}

#[test]
fn a_retried_group_keeps_what_its_instances_had_done() {
    let sketch = "a fan=2 final=main";
    let script = "a/0 ok=0; a/1 ok=1; a/0 fail; a/1 ok; retry";
    let stage = played(sketch, script);
    assert_eq!(stage.facts("a"), "dispatched success");
    assert_eq!(stage.history, ["a/0#2 finalize", "a/1#2 finalize", "a/0#1"]);
    let stage = played(sketch, &format!("{script}; a/0 ok=5; a/0 ok"));
    assert_eq!(stage.output("a").as_deref(), Some("[5,1]"));
}

#[test]
fn a_finalizer_sees_what_its_task_put_out() {
    let stage = played("a\nb final=main: a", "a ok=1; b ok=2");
    let told = stage.told.iter().find(|(task, _)| task.no.0 == 1).map(|(_, input)| input);
    assert_eq!(told.expect("b lands").as_str(), r#"{"a":1,"b":2}"#);
}

#[test]
fn a_success_is_remembered_only_when_all_of_it_has_landed() {
    use crate::world::batch::Change;
    let remembered = |stage: &Stage| {
        let is_cache = |change: &&Change| matches!(change, Change::PutCache(_));
        stage.changes.iter().filter(is_cache).count()
    };
    let ended = |cache| {
        let mut ended = crate::work::Ended::of(crate::work::Outcome::Success(None));
        ended.cache = cache;
        crate::work::ReportKind::Ended(ended)
    };
    let note = crate::work::CacheNote { hash: [7; 32], ttl: crate::time::Span::from_secs(60) };
    let mut stage = played("a final=main", "");
    stage.report("a", ended(Some(note))).expect("taken");
    assert_eq!(remembered(&stage), 0);
    stage.play("crash; a alive; a ok");
    assert_eq!((remembered(&stage), stage.shown().as_str()), (1, "success: a=success"));
    let mut stage = played("a final=main", "");
    stage.report("a", ended(Some(note))).expect("taken");
    stage.play("a fail");
    assert_eq!(remembered(&stage), 0);
}
