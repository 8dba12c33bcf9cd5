//! Child runs: begun by a task, and what their ends, holds and cancels mean for both.

use super::family::{Family, check};
use crate::error::ErrorClass;
use crate::json::Json;
use crate::kernel::row::{AttemptEnd, Cancelled, RunStatus};
use crate::limits::{BATCH_BYTES_MAX, CHILD_DEPTH_MAX};
use crate::output::Output;
use crate::world::input::{ActiveRuns, DeleteWorkflow, Input, Order, Refusal, Verb};

#[test]
fn a_task_waits_for_the_run_that_it_begins() {
    let (main, kid) = ("a child=kid\nb: a", "x");
    check(main, kid, "", "main#1 running: a=waiting b=pending | kid#1 running: x=dispatched");
    let ended = "main#1 running: a=success b=dispatched | kid#1 success: x=success";
    check(main, kid, "kid.x ok", ended);
    check(main, kid, "crash; kid.x alive; crash; kid.x ok", ended);
}

#[test]
fn a_child_knows_where_it_comes_from_and_takes_over_what_its_parent_was_given() {
    let mut family = Family::new(&[("main", "a child=kid retries=1 delay=0"), ("kid", "x")]);
    family.play("kid.x fail");
    let main = &family.run("main").head;
    for (name, attempt) in [("kid#1", 1), ("kid#2", 2)] {
        let head = &family.run(name).head;
        let parent = head.parent.as_deref().expect("a child");
        assert_eq!((parent.run, &*parent.name, parent.attempt), (main.id, "a", attempt));
        assert_eq!(head.triggered_by, format!("run {}", main.id));
        assert_eq!((head.priority, &head.labels), (main.priority, &main.labels));
        assert_eq!(head.workdir, main.workdir);
    }
}

#[test]
fn what_the_child_puts_out_is_the_tasks_output() {
    let mut family = Family::new(&[("main", "a child=kid"), ("kid", "x\n@outputs=x")]);
    family.play("kid.x ok={\"n\":1}");
    let output = family.row("main", "a").output.clone();
    assert_eq!(output, Some(Output::Inline(Json::parse("{\"x\":{\"n\":1}}").expect("JSON"))));
    let mut family = Family::new(&[("main", "a child=kid"), ("kid", "x")]);
    family.play("kid.x ok={\"n\":1}");
    assert_eq!(family.row("main", "a").output, None, "it has no `outputs`");
}

#[test]
fn a_failed_child_fails_its_attempt_with_its_class_and_names_itself() {
    let mut family = Family::new(&[("main", "a child=kid\nb: a"), ("kid", "x")]);
    family.play("kid.x fail");
    assert_eq!(family.shown(), "main#1 failed: a=failed b=blocked | kid#1 failed: x=failed");
    let kid = family.run("kid").head.id;
    let error = family.row("main", "a").failure().expect("an error");
    assert_eq!(error.class, ErrorClass::Exit);
    assert!(error.message.starts_with(&format!("run {kid} failed: task 'x' failed")), "{error:?}");
}

#[test]
fn retries_begin_a_new_child_each_and_wait_their_delay() {
    let (main, kid) = ("a child=kid retries=2", "x");
    check(main, kid, "kid.x fail", "main#1 running: a=pending | kid#1 failed: x=failed");
    check(
        main,
        kid,
        "kid.x fail; crash; wait 1; kid#2.x fail; wait 2; kid#3.x ok",
        "main#1 success: a=success | kid#1 failed: x=failed | kid#2 failed: x=failed | \
         kid#3 success: x=success",
    );
    check(
        main,
        kid,
        "kid.x fail; wait 1; kid.x fail; wait 2; kid.x fail; wait 9",
        "main#1 failed: a=failed | kid#1 failed: x=failed | kid#2 failed: x=failed | \
         kid#3 failed: x=failed",
    );
}

#[test]
fn a_condition_is_not_worked_out_again_for_another_child() {
    // `if` of a sketch is always true; what is asked the second time is only what it waits for.
    check(
        "a child=kid if retries=1 delay=0",
        "x",
        "kid.x fail; kid.x ok",
        "main#1 success: a=success | kid#1 failed: x=failed | kid#2 success: x=success",
    );
}

#[test]
fn a_rejection_inside_stays_one_and_is_not_retried() {
    let kid = "x approval within=5";
    let mut family = Family::new(&[("main", "a child=kid retries=3"), ("kid", kid)]);
    family.play("wait 5");
    assert_eq!(family.shown(), "main#1 failed: a=failed | kid#1 failed: x=failed");
    let error = family.row("main", "a").failure().expect("an error");
    assert_eq!(error.class, ErrorClass::Rejected);
}

#[test]
fn a_child_that_is_cancelled_by_itself_cancels_its_task() {
    let mut family = Family::new(&[("main", "a child=kid retries=3\nb: a"), ("kid", "x")]);
    family.play("cancel kid; kid.x gone");
    let shown = "main#1 cancelled: a=cancelled b=cancelled | kid#1 cancelled: x=cancelled";
    assert_eq!(family.shown(), shown);
    let row = family.row("main", "a");
    assert_eq!(row.cancelled, Some(Cancelled::ChildCancelled));
    let end = row.attempt.as_ref().and_then(|attempt| attempt.end.clone());
    assert_eq!(end, Some(AttemptEnd::Cancelled));
}

#[test]
fn a_cancel_goes_down_and_the_parent_is_cancelled_when_the_work_is_gone() {
    let (main, kid) = ("a child=kid\nb: a", "x\ny child=deep: x/started");
    let mut family = Family::new(&[("main", main), ("kid", kid), ("deep", "z")]);
    family.play("kid.x start; cancel main");
    assert_eq!(
        family.shown(),
        "main#1 cancelling: a=waiting b=cancelled | kid#1 cancelling: x=running y=waiting | \
         deep#1 cancelling: z=dispatched"
    );
    assert!(family.said.contains(&"stop deep#1.z cancel".to_owned()), "{:?}", family.said);
    let told = format!("{:?}", family.explained("main"));
    assert!(told.contains("is being stopped because of a cancel (run_cancelled)"), "{told}");
    family.play("kid.x gone; crash");
    assert_eq!(family.run("main").progress.status, RunStatus::Cancelling);
    family.play("deep.z gone");
    assert_eq!(
        family.shown(),
        "main#1 cancelled: a=cancelled b=cancelled | kid#1 cancelled: x=cancelled y=cancelled | \
         deep#1 cancelled: z=cancelled"
    );
}

#[test]
fn cancelling_the_task_cancels_its_child() {
    check(
        "a child=kid\nb: a\nc",
        "x",
        "cancel main.a; kid.x gone",
        "main#1 running: a=cancelled b=cancelled c=dispatched | kid#1 cancelled: x=cancelled",
    );
    // Below another one that is cancelled.
    check(
        "a sleep=9\nb child=kid: a/started",
        "x",
        "cancel main.a; kid.x gone",
        "main#1 cancelled: a=cancelled b=cancelled | kid#1 cancelled: x=cancelled",
    );
}

#[test]
fn by_force_everything_below_is_given_up() {
    let (main, kid) = ("a child=kid", "x child=deep");
    let mut family = Family::new(&[("main", main), ("kid", kid), ("deep", "z")]);
    family.play("cancel main; force main");
    let shown = "main#1 cancelled: a=cancelled | kid#1 cancelled: x=cancelled | \
                 deep#1 cancelled: z=cancelled";
    assert_eq!(family.shown(), shown);
    let end = family.row("deep", "z").attempt.as_ref().and_then(|attempt| attempt.end.clone());
    assert_eq!(end, Some(AttemptEnd::Abandoned));
    check(
        "a child=kid\nb",
        "x",
        "force main.a",
        "main#1 running: a=cancelled b=dispatched | kid#1 cancelled: x=cancelled",
    );
}

#[test]
fn the_tasks_timeout_stops_the_child_and_is_retried_like_any() {
    let mut family = Family::new(&[("main", "a child=kid within=5 retries=1"), ("kid", "x")]);
    family.play("wait 5");
    assert_eq!(family.shown(), "main#1 running: a=waiting | kid#1 cancelling: x=dispatched");
    family.play("crash; kid.x gone");
    assert_eq!(family.shown(), "main#1 running: a=pending | kid#1 cancelled: x=cancelled");
    family.play("wait 1; wait 5; kid.x gone");
    let error = family.row("main", "a").failure().cloned().expect("an error");
    assert_eq!(error.class, ErrorClass::Timeout);
    assert!(error.message.contains("timeout of 5s"), "{error:?}");
    assert_eq!(family.run("main").progress.status, RunStatus::Failed);
}

#[test]
fn the_runs_timeout_goes_down() {
    let mut family = Family::new(&[("main", "@timeout=5\na child=kid"), ("kid", "x")]);
    family.play("wait 5");
    assert_eq!(family.shown(), "main#1 cancelling: a=waiting | kid#1 cancelling: x=dispatched");
    family.play("kid.x gone");
    assert_eq!(family.shown(), "main#1 failed: a=cancelled | kid#1 cancelled: x=cancelled");
}

#[test]
fn a_hold_of_the_run_holds_its_children_and_ends_with_it() {
    let (main, kid) = ("a child=kid", "x\ny: x\nz child=deep");
    let mut family = Family::new(&[("main", main), ("kid", kid), ("deep", "d\ne: d")]);
    family.play("pause main; kid.x ok; deep.d ok; crash");
    assert_eq!(
        family.shown(),
        "main#1 paused: a=waiting | kid#1 paused: x=success y=ready z=waiting | \
         deep#1 paused: d=success e=ready"
    );
    let by = family.run("kid").progress.hold.as_ref().map(|hold| hold.by.clone());
    assert_eq!(by, Some(format!("run {}", family.run("main").head.id)));
    family.play("resume main");
    assert_eq!(
        family.shown(),
        "main#1 running: a=waiting | kid#1 running: x=success y=dispatched z=waiting | \
         deep#1 running: d=success e=dispatched"
    );
}

#[test]
fn what_a_person_paused_stays_so() {
    check(
        "a child=kid",
        "x",
        "pause kid; pause main; resume main",
        "main#1 running: a=waiting | kid#1 paused: x=dispatched",
    );
}

#[test]
fn a_child_is_not_resumed_while_it_is_held_from_above() {
    let mut family = Family::new(&[("main", "a child=kid"), ("kid", "x")]);
    family.play("pause main; resume kid");
    assert!(family.said.contains(&"refused held_by_parent".to_owned()), "{:?}", family.said);
    let mut family = Family::new(&[("main", "a child=kid"), ("kid", "x")]);
    family.play("pause kid; pause main.a; resume kid; resume main.a; resume kid");
    assert_eq!(family.shown(), "main#1 running: a=waiting | kid#1 running: x=dispatched");
    let refused = family.said.iter().filter(|said| *said == "refused held_by_parent").count();
    assert_eq!(refused, 1);
}

#[test]
fn a_hold_of_the_task_holds_its_child() {
    let (main, kid) = ("a child=kid\nb", "x\ny: x");
    let held = "pause main.a; kid.x ok";
    check(
        main,
        kid,
        held,
        "main#1 running: a=waiting b=dispatched | kid#1 paused: x=success y=ready",
    );
    check(
        main,
        kid,
        &format!("{held}; crash; pause main; resume main.a"),
        "main#1 paused: a=waiting b=dispatched | kid#1 paused: x=success y=ready",
    );
    check(
        main,
        kid,
        &format!("{held}; pause main; resume main; resume main.a"),
        "main#1 running: a=waiting b=dispatched | kid#1 running: x=success y=dispatched",
    );
}

#[test]
fn a_child_may_be_steered_by_itself() {
    check(
        "a child=kid",
        "x\ny: x",
        "pause kid; kid.x ok; resume kid; cancel kid.y; kid.y gone",
        "main#1 cancelled: a=cancelled | kid#1 cancelled: x=success y=cancelled",
    );
}

#[test]
fn a_child_is_not_retried_by_itself() {
    let mut family = Family::new(&[("main", "a child=kid"), ("kid", "x")]);
    family.play("kid.x fail");
    let parent = family.run("main").head.id;
    for order in [Order::Run(Verb::Retry), Order::Task("x".into(), Verb::Retry)] {
        assert_eq!(family.order("kid", order), Err(Refusal::ChildRun(parent)));
    }
    family.play("retry main");
    let shown = "main#1 running: a=waiting | kid#1 failed: x=failed | kid#2 running: x=dispatched";
    assert_eq!(family.shown(), shown);
}

#[test]
fn a_task_of_a_child_that_goes_on_may_be_retried() {
    check(
        "a child=kid",
        "x\ny",
        "kid.x fail; retry kid.x; kid.x ok; kid.y ok",
        "main#1 success: a=success | kid#1 success: x=success y=success",
    );
}

#[test]
fn a_fan_out_begins_a_child_for_each_and_so_many_at_once() {
    let mut family = Family::new(&[("main", "a child=kid fan=3 at_once=2"), ("kid", "x")]);
    let two =
        "main#1 running: a=running | kid#1 running: x=dispatched | kid#2 running: x=dispatched";
    assert_eq!(family.shown(), two);
    assert_eq!(family.run("kid#2").head.parent.as_deref().and_then(|it| it.task.index), Some(1));
    family.play("kid#1.x ok; crash; kid#2.x ok; kid#3.x ok");
    assert_eq!(family.run("main").progress.status, RunStatus::Success);
}

#[test]
fn with_fail_fast_the_other_children_are_cancelled() {
    let mut family = Family::new(&[("main", "a child=kid fan=3 fast"), ("kid", "x")]);
    family.play("kid#2.x fail; kid#1.x gone");
    assert_eq!(family.run("main").progress.status, RunStatus::Running);
    family.play("kid#3.x gone");
    assert_eq!(
        family.shown(),
        "main#1 failed: a=failed | kid#1 cancelled: x=cancelled | kid#2 failed: x=failed | \
         kid#3 cancelled: x=cancelled"
    );
}

#[test]
fn instances_are_tried_again_with_a_new_child() {
    let mut family = Family::new(&[("main", "a child=kid fan=2 retries=1"), ("kid", "x")]);
    family.play("kid#1.x fail; kid#2.x ok; wait 1; kid#3.x ok");
    assert_eq!(family.run("main").progress.status, RunStatus::Success);
    assert_eq!(family.run("kid#3").head.parent.as_deref().map(|it| it.attempt), Some(2));
}

#[test]
fn a_group_that_is_cancelled_waits_for_its_children() {
    let mut family = Family::new(&[("main", "a child=kid fan=2"), ("kid", "x")]);
    family.play("cancel main; kid#1.x gone");
    assert_eq!(family.run("main").progress.status, RunStatus::Cancelling);
    family.play("kid#2.x gone");
    assert_eq!(family.run("main").progress.status, RunStatus::Cancelled);
}

#[test]
fn holding_a_group_or_an_instance_holds_what_it_began() {
    let mut family = Family::new(&[("main", "a child=kid fan=2"), ("kid", "x")]);
    let status = |family: &Family| {
        let status = |name| family.run(name).progress.status;
        (status("kid#1"), status("kid#2"))
    };
    let (paused, running) = (RunStatus::Paused, RunStatus::Running);
    family.play("pause main.a/1");
    assert_eq!(status(&family), (running, paused));
    family.play("pause main.a");
    assert_eq!(status(&family), (paused, paused));
    // Whoever lifts the hold of a group lifts those of its instances.
    family.play("resume main.a");
    assert_eq!(status(&family), (running, running));
}

#[test]
fn a_workflow_that_runs_itself_ends_where_depth_does() {
    let mut family = Family::new(&[("main", "a child=main")]);
    family.play("wait 0");
    assert_eq!(family.stored.len(), 1 + CHILD_DEPTH_MAX);
    let last = family.row(&format!("main#{}", 1 + CHILD_DEPTH_MAX), "a").clone();
    let error = last.failure().expect("an error");
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("17 levels deep"), "{error:?}");
    assert!(family.stored.values().all(|run| run.progress.status == RunStatus::Failed));
    let class = family.row("main#1", "a").failure().map(|error| error.class);
    assert_eq!(class, Some(ErrorClass::Logic));
}

#[test]
fn a_workflow_that_is_not_there_fails_the_task_until_it_is_deployed() {
    let mut family = Family::new(&[("main", "a child=kid retries=3")]);
    assert_eq!(family.shown(), "main#1 failed: a=failed");
    let error = family.row("main", "a").failure().cloned().expect("an error");
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("deploy it, then retry"), "{error:?}");
    family.deploy("kid", "x");
    family.play("retry main; kid.x ok");
    assert_eq!(family.shown(), "main#1 success: a=success | kid#1 success: x=success");
}

#[test]
fn a_child_is_of_the_latest_version_or_of_the_one_that_is_named() {
    let mut family = Family::new(&[("main", "a child=kid\nb child=kid/1: a"), ("kid", "old")]);
    family.play("kid.old ok; kid.old ok");
    let mut family = Family::new(&[("kid", "old"), ("main", "a child=kid\nb child=kid/1: a")]);
    family.deploy("kid", "new");
    family.play("crash");
    family.trigger("main", None);
    family.play("kid#2.new ok; kid#3.old ok");
    assert_eq!(family.run("main").progress.status, RunStatus::Success);
}

#[test]
fn children_do_not_count_for_max_active_runs() {
    let mut family = Family::new(&[("kid", "@max_active=1\nx"), ("main", "a child=kid")]);
    family.trigger("main", None);
    assert_eq!(
        family.shown(),
        "kid#1 running: x=dispatched | main#1 running: a=waiting | kid#2 running: x=dispatched"
    );
}

#[test]
fn a_child_passes_a_group_that_an_ancestor_holds_and_no_other() {
    // The key of every sketch is the same.
    let (main, mid) = ("@group=1/queue\na child=mid", "b child=kid");
    let mut family = Family::new(&[("other", "x"), ("main", main), ("mid", mid)]);
    family.deploy("kid", "@group=1/queue\nx");
    family.trigger("main", Some("key"));
    assert_eq!(family.run("kid").progress.status, RunStatus::Running);
    family.play("crash; kid.x ok");
    assert_eq!(family.run("main").progress.status, RunStatus::Success);
    // Nobody above holds it: it waits for its place, and its parent for it.
    family.trigger("kid", Some("key"));
    family.trigger("mid", None);
    assert_eq!(family.run("kid#3").progress.status, RunStatus::Pending);
    family.play("pause mid#2; kid#2.x ok");
    assert_eq!(family.run("kid#3").progress.status, RunStatus::Paused, "its parent is held");
    family.play("resume mid#2; kid#3.x ok");
    assert_eq!(family.run("mid#2").progress.status, RunStatus::Success);
}

#[test]
fn a_group_that_takes_no_other_refuses_a_child_too() {
    let mut family = Family::new(&[("kid", "@group=1/skip\nx"), ("main", "a child=kid")]);
    family.trigger("kid", Some("key"));
    family.trigger("main", None);
    let error = family.row("main", "a").failure().cloned().expect("an error");
    assert_eq!(error.class, ErrorClass::Logic, "it was not tried, and is not tried again");
    assert!(error.message.contains("holds the concurrency group"), "{error:?}");
}

#[test]
fn a_workflow_with_child_runs_is_not_deleted_unless_they_are_cancelled() {
    let delete = |active| {
        let (name, by) = ("main".into(), "ann".to_owned());
        Input::DeleteWorkflow(DeleteWorkflow { name, active, by })
    };
    // It runs itself once: parent and child are of the same workflow.
    let mut family = Family::new(&[("top", "t child=main"), ("main", "a child=kid"), ("kid", "x")]);
    let refused = family.apply(delete(ActiveRuns::Refuse));
    assert_eq!(refused, Err(Refusal::WorkflowActive(1)));
    family.apply(delete(ActiveRuns::Cancel)).expect("deleted");
    family.play("kid.x gone");
    assert_eq!(family.run("top").progress.status, RunStatus::Cancelled);
    let mut family = Family::new(&[("main", "a child=main\nb sleep=9")]);
    family.play("wait 0");
    family.apply(delete(ActiveRuns::Cancel)).expect("deleted, children with their parents");
}

#[test]
fn waiting_for_a_child_takes_no_permits() {
    let mut family = Family::new(&[("main", "a child=kid"), ("kid", "x")]);
    let used: u32 = family.world.limits().all().map(|(_, limit)| limit.used).max().unwrap_or(0);
    assert_eq!(used, 1, "the child's task, and nothing else");
    family.play("kid.x ok");
}

#[test]
fn the_end_of_a_child_is_in_the_batch_that_opens_what_follows() {
    let mut family = Family::new(&[("main", "a child=kid\nb: a"), ("kid", "x")]);
    let before = family.stored.values().map(|run| run.progress.stamp).max();
    family.play("kid.x ok");
    let stamps: Vec<u64> = family.stored.values().map(|run| run.progress.stamp).collect();
    assert_eq!(stamps[0], stamps[1], "one commit");
    assert_eq!(Some(stamps[0]), before.map(|stamp| stamp + 1));
}

#[test]
fn the_end_of_a_child_ends_its_parent_in_the_same_batch_however_full_that_is() {
    let mut family = Family::new(&[("main", "a child=kid"), ("kid", "x")]);
    let heavy = "x".repeat(BATCH_BYTES_MAX);
    family.play(&format!("kid.x ok=\"{heavy}\""));
    assert_eq!(family.run("main").progress.status, RunStatus::Success);
    let stamps: Vec<u64> = family.stored.values().map(|run| run.progress.stamp).collect();
    assert_eq!(stamps[0], stamps[1], "one commit");
}

#[test]
fn a_cancel_lifts_the_hold_of_a_child_that_runs_always() {
    let (main, kid) = ("a\nc child=kid always=9", "x\ny: x");
    let goes_on =
        "main#1 cancelling: a=cancelled c=waiting | kid#1 running: x=success y=dispatched";
    check(main, kid, "pause main; kid.x ok; cancel main; main.a gone", goes_on);
    check(main, kid, "pause main.c; kid.x ok; cancel main; main.a gone", goes_on);
    let timed_out = format!("@timeout=5\n{main}");
    check(&timed_out, kid, "pause main; kid.x ok; wait 5; main.a gone", goes_on);
}

#[test]
fn a_checkpoint_of_a_child_that_was_held_by_its_parent_wants_its_own_resume() {
    let (main, kid) = ("a child=kid", "x checkpoint\ny: x");
    let mut family = Family::new(&[("main", main), ("kid", kid)]);
    family.play("pause main; kid.x ok; resume main");
    let shown = "main#1 running: a=waiting | kid#1 paused: x=success y=ready";
    assert_eq!(family.shown(), shown);
    let hold = family.run("kid").progress.hold.as_ref().expect("it is held");
    assert_eq!(hold.by_checkpoint(), Some("x"));
    family.play("resume kid; kid.y ok");
    assert_eq!(family.shown(), "main#1 success: a=success | kid#1 success: x=success y=success");
}
