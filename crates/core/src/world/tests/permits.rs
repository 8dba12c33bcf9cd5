//! Limits: sets of permits, order, tiers.

use super::stage::Stage;

#[test]
fn no_more_than_the_limit_is_dispatched() {
    let limits = [("total", 1_000), ("executor:process", 2)];
    let mut stage = Stage::with_limits("a\nb\nc\nd", &limits);
    assert_eq!(stage.shown(), "running: a=dispatched b=dispatched c=ready d=ready");
    stage.play("a ok");
    assert_eq!(stage.shown(), "running: a=success b=dispatched c=dispatched d=ready");
}

#[test]
fn a_tier_bounds_those_that_name_it_and_holds_up_no_one_else() {
    let mut stage = Stage::new("@gpu=1\na tier=gpu\nb tier=gpu\nc");
    assert_eq!(stage.shown(), "running: a=dispatched b=ready c=dispatched");
    stage.play("a fail");
    assert_eq!(stage.shown(), "running: a=failed b=dispatched c=dispatched");
}

#[test]
fn a_stopping_attempt_keeps_its_permits_until_it_is_gone() {
    let mut stage = Stage::new("@gpu=1\na tier=gpu timeout=5\nb tier=gpu");
    stage.play("a start; wait 5");
    assert_eq!(stage.shown(), "running: a=running b=ready");
    stage.play("a gone");
    assert_eq!(stage.shown(), "running: a=failed b=dispatched");
}

#[test]
fn higher_priority_goes_first() {
    let limits = [("total", 1), ("executor:process", 1_000)];
    let mut stage = Stage::with_limits("a priority=1\nb priority=5\nc priority=3", &limits);
    stage.play("b ok; c ok; a ok");
    assert_eq!(stage.said, ["start b", "start c", "start a", "end"]);
}
