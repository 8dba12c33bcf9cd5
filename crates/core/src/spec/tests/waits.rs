//! Tasks that wait: what may be written, and what is said of the rest.

use super::told;
use crate::kernel::record::Role;
use crate::spec;
use crate::spec::control::{Control, Decider, OnReject, OnSilence, OnTimeout, Sleep};
use crate::time::Span;

fn control(task: &str) -> Control {
    let text = format!("name: w\ntasks:\n  a: {{ {task} }}\n");
    let parsed = spec::parse(&text, &spec::Context::STORED).expect(task);
    parsed.definition.tasks[0].control().cloned().expect(task)
}

/// The code and the message of everything that is wrong with a task.
#[track_caller]
fn wrong(task: &str, expected: &str) {
    let told = told(&format!("name: w\ntasks:\n  a: {{ {task} }}\n"));
    assert!(told.contains(expected), "{task}: {told}");
}

#[test]
fn a_sleep_is_a_duration_or_a_moment() {
    assert!(matches!(control("sleep: 5m"), Control::Sleep(Sleep::For(_))));
    assert!(matches!(control("sleep: '${{ input.pause }}'"), Control::Sleep(Sleep::For(_))));
    let moment = "sleep: { until: \"2030-01-31T06:00:00Z\" }";
    assert!(matches!(control(moment), Control::Sleep(Sleep::Until(_))));
    wrong("sleep: 5", "has no unit");
    wrong("sleep: soon", "is not a duration");
    wrong("sleep: {}", "needs the field `until`");
    wrong("sleep: { until: tomorrow }", "is not a moment");
    wrong("sleep: { until: 2030-01-31T06:00:00 }", "is not a moment");
    wrong("sleep: '${{ nothing }}'", "E4");
}

#[test]
fn a_wait_is_for_a_signal() {
    let Control::Wait(wait) = control("wait: { signal: paid }") else { panic!("a wait") };
    assert_eq!((wait.timeout, wait.on_timeout), (None, OnTimeout::Fail));
    let text = "wait: { signal: 'p-${{ run.id }}', timeout: 1h, on_timeout: continue }";
    let Control::Wait(wait) = control(text) else { panic!("a wait") };
    assert_eq!(wait.timeout, Some(Span::from_secs(3_600)));
    assert_eq!(wait.on_timeout, OnTimeout::Continue);
    wrong("wait: {}", "needs the field `signal`");
    wrong("wait: { signal: '' }", "is empty");
    // Characters are counted, as wherever a signal is sent.
    let Control::Wait(_) = control(&format!("wait: {{ signal: {} }}", "ä".repeat(128))) else {
        panic!("a wait")
    };
    wrong(&format!("wait: {{ signal: {} }}", "ä".repeat(129)), "129 characters, at most 128");
    wrong("wait: { signal: x, timeout: 0s }", "longer than 0");
    wrong("wait: { signal: x, on_timeout: reject }", "must be one of");
    wrong("wait: { signal: x, until: y }", "E101");
    wrong("wait: paid", "must be a map");
}

#[test]
fn an_approval_says_who_may_decide_and_what_follows() {
    let Control::Approval(approval) = control("approval: { message: Ship it? }") else {
        panic!("an approval")
    };
    assert!(approval.by.is_empty() && approval.timeout.is_none());
    assert_eq!(approval.on_timeout, OnSilence::Reject);
    assert_eq!(approval.on_reject, OnReject::Fail);
    let text =
        "approval: { message: x, by: [Ann B., admin], on_timeout: fail, on_reject: continue }";
    let Control::Approval(approval) = control(text) else { panic!("an approval") };
    assert_eq!(approval.by, [Decider::Name("Ann B.".into()), Decider::Role(Role::Admin)]);
    assert!(approval.may_decide("Ann B.", Role::Viewer));
    assert!(approval.may_decide("bob", Role::Admin));
    assert!(!approval.may_decide("admin", Role::Operator));
    wrong("approval: {}", "needs the field `message`");
    wrong("approval: { message: x, by: [] }", "`by` must have from 1 to");
    wrong("approval: { message: x, by: 7 }", "must be a name or a list of names");
    wrong("approval: { message: x, by: '${{ input.who }}' }", "takes no template");
    wrong("approval: { message: x, on_reject: skip }", "must be one of");
    wrong("approval: { message: '${{ tasks.b.output }}' }", "b");
    wrong("approval: { message: x }, sleep: 5s", "A task does one thing");
}

#[test]
fn an_approval_that_only_viewers_could_give_is_refused_where_it_is_written() {
    let found = told("name: w\ntasks:\n  a: { approval: { message: x, by: [ann, viewer] } }\n");
    assert!(found.contains("E218 3:42 The role `viewer` may look"), "{found}");
    assert!(found.contains("write `operator`"), "{found}");
    wrong("approval: { message: x, by: viewer }", "E218");
    // One that was deployed when nobody minded is read as it was.
    let Control::Approval(approval) = control("approval: { message: x, by: viewer }") else {
        panic!("an approval")
    };
    assert_eq!(approval.by, [Decider::Role(Role::Viewer)]);
}

#[test]
fn a_child_run_is_of_a_workflow_that_may_come_later() {
    let Control::Child(child) = control("workflow: convert-one") else { panic!("a child") };
    assert_eq!((&*child.workflow, child.version, child.timeout), ("convert-one", None, None));
    let text = "workflow: convert-one, version: 3, timeout: 5m, retries: 2, input: { day: x }";
    let Control::Child(child) = control(text) else { panic!("a child") };
    assert_eq!((child.version, child.timeout), (Some(3), Some(Span::from_secs(300))));
    let parsed = spec::parse(
        "name: w\ndefaults: { timeout: 10m, retries: 4 }\ntasks: { a: { workflow: w } }\n",
        &spec::Context::STORED,
    );
    let task = parsed.expect("it may run itself").definition.tasks[0].clone();
    assert_eq!(task.retries.max, 4);
    let Some(Control::Child(child)) = task.control() else { panic!("a child") };
    assert_eq!(child.timeout, Some(Span::from_secs(600)));
}

#[test]
fn what_does_not_go_with_a_child_run_is_refused_with_its_place() {
    let found = told("name: w\ntasks:\n  a: { workflow: x, env: { A: b }, tier: gpu }\n");
    assert!(found.contains("E217 3:21 `env` does not go with `workflow`"), "{found}");
    assert!(found.contains("in the tasks of the other workflow"), "{found}");
    wrong("workflow: x, outputs: { type: object }", "E217");
    wrong("workflow: 5", "must be text");
    wrong("workflow: 'a b'", "is not allowed");
    wrong("workflow: '${{ input.which }}'", "template");
    wrong("workflow: x, version: 0", "E109");
    wrong("workflow: x, version: '3'", "E104");
    wrong("run: x, version: 3", "`version` does not go with `run`");
    wrong("workflow: x, run: y", "A task does one thing");
    wrong("workflow: x, input: { day: '${{ tasks.b.output }}' }", "b");
}

#[test]
fn what_has_no_effect_on_a_wait_is_told() {
    let told = told("name: w\ntasks:\n  a: { sleep: 5s, retries: 2, timeout: 1h, tier: gpu }\n");
    assert!(told.contains("`retries` has no effect on a `sleep` task"), "{told}");
    assert!(told.contains("`timeout` has no effect on a `sleep` task"), "{told}");
}
