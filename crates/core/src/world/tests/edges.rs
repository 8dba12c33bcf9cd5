//! Each `when`, `on_failure` and `allow_failure`.

use super::stage::check;

#[test]
fn a_chain_runs_in_order() {
    check("a\nb: a\nc: b", "", "running: a=dispatched b=pending c=pending");
    check("a\nb: a\nc: b", "a start", "running: a=running b=pending c=pending");
    check("a\nb: a\nc: b", "a ok", "running: a=success b=dispatched c=pending");
    check("a\nb: a\nc: b", "a ok; b ok; c ok", "success: a=success b=success c=success");
}

#[test]
fn a_failure_blocks_everything_below_it_and_siblings_go_on() {
    check("a\nb: a\nc: b\nd", "a fail", "running: a=failed b=blocked c=blocked d=dispatched");
    check("a\nb: a\nc: b\nd", "a fail; d ok", "failed: a=failed b=blocked c=blocked d=success");
}

#[test]
fn a_finally_runs_after_failure_and_never_handles_it() {
    check("a\nb: a\nr finally: a, b", "a fail", "running: a=failed b=blocked r=dispatched");
    check("a\nb: a\nr finally: a, b", "a fail; r ok", "failed: a=failed b=blocked r=success");
}

#[test]
fn a_finally_waits_until_all_its_dependencies_are_settled() {
    check("a\nb\nr finally: a, b", "a fail", "running: a=failed b=dispatched r=pending");
    check("a\nb\nr finally: a, b", "a fail; b ok", "running: a=failed b=success r=dispatched");
}

#[test]
fn started_opens_at_the_start_and_stays() {
    check("a\nb: a/started", "", "running: a=dispatched b=pending");
    check("a\nb: a/started", "a start", "running: a=running b=dispatched");
    check("a\nb: a/started", "a start; a fail", "running: a=failed b=dispatched");
    check("a\nb: a/started", "a start; a fail; b ok", "failed: a=failed b=success");
}

#[test]
fn any_outcome_but_never_started_implies_started() {
    check("a\nb: a/started", "a fail", "running: a=failed b=dispatched");
    check("a\nb: a/started", "a missing", "failed: a=failed b=blocked");
    check("a once\nb: a/started", "a lost", "running: a=failed b=dispatched");
    check("a\nb: a/started", "a lost", "running: a=pending b=dispatched");
}

#[test]
fn when_failed_runs_on_failure_and_handles_it() {
    let sketch = "a\nh: a/failed\nb: a";
    check(sketch, "a fail", "running: a=failed h=dispatched b=blocked");
    check(sketch, "a fail; h ok", "success: a=failed h=success b=blocked");
    check(sketch, "a fail; h fail", "failed: a=failed h=failed b=blocked");
    check(sketch, "a ok; b ok", "success: a=success h=skipped b=success");
}

#[test]
fn completed_and_finished() {
    check("a\nb: a/completed", "a ok", "running: a=success b=dispatched");
    check("a\nb: a/completed", "a fail", "failed: a=failed b=blocked");
    check("a\nb: a/finished", "a fail; b ok", "failed: a=failed b=success");
}

#[test]
fn an_allowed_failure_lets_its_dependents_run() {
    check("a allow\nb: a", "a fail", "running: a=failed b=dispatched");
    check("a allow\nb: a", "a fail; b ok", "success: a=failed b=success");
}

#[test]
fn with_several_causes_blocked_wins_over_skipped() {
    let sketch = "a\nb\nc: a/failed, b\nd: c";
    check(sketch, "a ok", "running: a=success b=dispatched c=skipped d=skipped");
    check(sketch, "a ok; b fail", "failed: a=success b=failed c=blocked d=blocked");
}

#[test]
fn a_noop_is_settled_in_place_whatever_the_depth() {
    let mut chain = "t0 noop".to_owned();
    for n in 1..12_000 {
        chain += &format!("\nt{n} noop: t{}", n - 1);
    }
    let stage = super::stage::Stage::new(&chain);
    assert!(stage.words().iter().all(|word| word == "success"));
    assert!(stage.stored.as_ref().is_some_and(|(_, run)| run.counts.success == 12_000));
}
