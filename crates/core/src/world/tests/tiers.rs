//! Limits that change while things run, rates, and how they are shown.

use super::stage::Stage;
use crate::ids::TaskNo;
use crate::kernel::limit::{Bound, LimitSetting, Source};
use crate::view::tiers::{SourceWord, TierView};
use crate::world::input::{Input, Refusal, Reply, SetRate, SetTier};

const PLENTY: [(&str, u32); 2] = [("total", 1_000), ("executor:process", 1_000)];

fn set(stage: &mut Stage, name: &str, bound: &str) -> Result<Reply, Refusal> {
    let Bound { limit, rate } = bound.parse().expect("a bound");
    let rate = rate.map_or(SetRate::Off, SetRate::To);
    stage.apply(Input::SetTier(SetTier { name: name.into(), limit: Some(limit), rate }))
}

fn tier(stage: &mut Stage, name: &str) -> TierView {
    let Ok(Reply::Tiers(tiers)) = stage.apply(Input::Tiers) else { panic!("tiers are told") };
    tiers.into_iter().find(|tier| tier.name == name).expect("it is known")
}

#[test]
fn a_higher_limit_takes_effect_at_once() {
    let mut stage = Stage::with_limits("a\nb\nc", &[("total", 1), ("executor:process", 9)]);
    assert_eq!(stage.shown(), "running: a=dispatched b=ready c=ready");
    set(&mut stage, "total", "3").expect("set");
    assert_eq!(stage.shown(), "running: a=dispatched b=dispatched c=dispatched");
}

#[test]
fn a_limit_below_what_is_in_use_lets_nothing_in_and_stops_nothing() {
    let mut stage = Stage::with_limits("a\nb\nc\nd", &[("total", 2), ("executor:process", 9)]);
    set(&mut stage, "total", "1").expect("set");
    stage.play("a ok");
    assert_eq!(stage.shown(), "running: a=success b=dispatched c=ready d=ready");
    stage.play("b ok");
    assert_eq!(stage.shown(), "running: a=success b=success c=dispatched d=ready");
    set(&mut stage, "total", "0").expect("set");
    stage.play("c ok");
    assert_eq!(stage.shown(), "running: a=success b=success c=success d=ready");
    assert!(!stage.said.iter().any(|said| said.starts_with("stop")));
}

#[test]
fn what_was_set_outlives_the_world_and_wins_over_the_configuration() {
    let limits = [("total", 1), ("executor:process", 9)];
    let mut stage = Stage::with_limits("a\nb\nc", &limits);
    set(&mut stage, "total", "2").expect("set");
    stage.crash(&limits);
    assert_eq!(stage.shown(), "running: a=dispatched b=dispatched c=ready");
    let configured =
        LimitSetting { source: Source::Config, ..LimitSetting::default_of("total", 9) };
    stage.world.configure(&[configured]);
    stage.settle();
    assert_eq!(stage.shown(), "running: a=dispatched b=dispatched c=ready");
    let total = tier(&mut stage, "total");
    assert_eq!((total.limit, total.source), (2, SourceWord::Api));
}

#[test]
fn a_configuration_that_is_read_anew_takes_effect_at_once() {
    let mut stage = Stage::with_limits("a\nb", &[("total", 1), ("executor:process", 9)]);
    let configured =
        LimitSetting { source: Source::Config, ..LimitSetting::default_of("total", 2) };
    stage.world.configure(&[configured]);
    stage.settle();
    assert_eq!(stage.shown(), "running: a=dispatched b=dispatched");
    stage.world.configure(&[LimitSetting::default_of("total", 0)]);
    stage.play("a ok");
    let total = tier(&mut stage, "total");
    assert_eq!((total.limit, total.in_use, total.source), (0, 1, SourceWord::Default));
}

#[test]
fn a_tier_that_nobody_has_set_lets_nothing_through_until_somebody_does() {
    let mut stage = Stage::new("a tier=gpu\nb tier=gpu\nc");
    assert_eq!(stage.shown(), "running: a=ready b=ready c=dispatched");
    assert_eq!(tier(&mut stage, "gpu").source, SourceWord::Default);
    set(&mut stage, "gpu", "1").expect("added");
    assert_eq!(stage.shown(), "running: a=dispatched b=ready c=dispatched");
    stage.play("a ok");
    assert_eq!(stage.shown(), "running: a=success b=dispatched c=dispatched");
    assert_eq!(tier(&mut stage, "gpu").in_use, 1);
}

#[test]
fn a_tier_that_leaves_the_configuration_lets_nothing_through_any_more() {
    let mut stage = Stage::new("a tier=gpu\nb tier=gpu: a");
    let gpu = LimitSetting { source: Source::Config, ..LimitSetting::default_of("gpu", 1) };
    stage.world.configure(&[gpu]);
    stage.settle();
    assert_eq!(stage.shown(), "running: a=dispatched b=pending");
    stage.world.configure(&[]);
    stage.play("a ok");
    assert_eq!(stage.shown(), "running: a=success b=ready");
    let run = stage.world.run(stage.run).expect("it is active");
    let full: Vec<&str> =
        stage.world.full_limits(run, TaskNo(1)).iter().map(|limit| &*limit.name).collect();
    assert_eq!(full, ["gpu"]);
}

#[test]
fn a_workflows_own_tier_is_not_set_by_anybody_else() {
    let mut stage = Stage::new("@gpu=1\na tier=gpu\nb tier=gpu");
    let refused = set(&mut stage, "sketch/gpu", "9");
    assert_eq!(refused, Err(Refusal::TierOfWorkflow("sketch/gpu".into())));
    assert_eq!(stage.shown(), "running: a=dispatched b=ready");
    // A tier of the server's with the same name is another one.
    set(&mut stage, "gpu", "9").expect("added");
    assert_eq!(stage.shown(), "running: a=dispatched b=ready");
}

#[test]
fn what_is_not_said_stays_and_a_new_tier_needs_a_limit() {
    let mut stage = Stage::new("a");
    let part = |limit, rate| SetTier { name: "api".into(), limit, rate };
    let refused = stage.apply(Input::SetTier(part(None, SetRate::Off)));
    assert_eq!(refused, Err(Refusal::TierNotFound("api".into())));
    set(&mut stage, "api", "5@100/1m").expect("added");
    stage.apply(Input::SetTier(part(Some(7), SetRate::Keep))).expect("set");
    let told = |stage: &mut Stage| {
        let tier = tier(stage, "api");
        (tier.limit, tier.rate)
    };
    assert_eq!(told(&mut stage), (7, Some("100/1m".to_owned())));
    stage.apply(Input::SetTier(part(None, SetRate::Off))).expect("set");
    assert_eq!(told(&mut stage), (7, None));
}

#[test]
fn a_rate_lets_so_many_start_in_a_time_and_wakes_by_itself() {
    let mut stage = Stage::new("@api=9@2/64s\na tier=api\nb tier=api\nc tier=api\nd");
    assert_eq!(stage.shown(), "running: a=dispatched b=dispatched c=ready d=dispatched");
    stage.play("a ok; b ok");
    assert_eq!(stage.shown(), "running: a=success b=success c=ready d=dispatched");
    let wake = stage.world.next_wake().expect("it is to be looked at again");
    assert!(wake.since(stage.now).0 <= 65_000_000, "{wake}");
    stage.play("wait 63");
    assert_eq!(stage.shown(), "running: a=success b=success c=ready d=dispatched");
    stage.play("wait 2");
    assert_eq!(stage.shown(), "running: a=success b=success c=dispatched d=dispatched");
}

#[test]
fn a_restart_does_not_forget_what_a_rate_has_counted() {
    let mut stage = Stage::new("@api=9@2/64s\na tier=api\nb tier=api\nc tier=api");
    stage.play("a ok; b ok; crash");
    assert_eq!(stage.shown(), "running: a=success b=success c=ready");
    stage.play("wait 65");
    assert_eq!(stage.shown(), "running: a=success b=success c=dispatched");
}

#[test]
fn retries_count_against_a_rate_and_another_number_counts_what_has_started() {
    let mut stage = Stage::new("a tier=api retries=5 delay=0");
    set(&mut stage, "api", "9@3/64s").expect("added");
    stage.play("a fail; a fail");
    assert_eq!(stage.shown(), "running: a=dispatched");
    stage.play("a fail");
    assert_eq!(stage.shown(), "running: a=ready");
    set(&mut stage, "api", "9@2/64s").expect("set");
    assert_eq!(stage.shown(), "running: a=ready");
    set(&mut stage, "api", "9@4/64s").expect("set");
    assert_eq!(stage.shown(), "running: a=dispatched");
}

#[test]
fn a_task_that_needs_two_limits_takes_both_or_none() {
    let mut stage = Stage::with_limits("@gpu=1\na tier=gpu\nb tier=gpu\nc", &[("total", 2)]);
    assert_eq!(stage.shown(), "running: a=dispatched b=ready c=dispatched");
    // Waiting for one, it holds nothing of the other.
    assert_eq!(tier(&mut stage, "total").in_use, 2);
    stage.play("c ok");
    assert_eq!(stage.shown(), "running: a=dispatched b=ready c=success");
    let total = tier(&mut stage, "total");
    assert_eq!((total.in_use, total.waiting), (1, 0), "it is not what keeps it waiting");
}

#[test]
fn holders_and_waiters_are_told_by_name() {
    let mut stage = Stage::new("@gpu=2\na tier=gpu\nb fan=5 at_once=3 tier=gpu");
    let gpu = tier(&mut stage, "sketch/gpu");
    let holders = gpu.holders.iter().map(|it| (it.task.as_deref(), it.index));
    assert_eq!(holders.collect::<Vec<_>>(), [(Some("a"), None), (Some("b"), Some(0))]);
    let waiters = gpu.waiters.iter().map(|it| (it.task.as_deref(), it.index));
    assert_eq!(waiters.collect::<Vec<_>>(), [(Some("b"), Some(1))]);
    assert_eq!((gpu.in_use, gpu.waiting, gpu.limit), (2, 2, 2));
    assert_eq!((gpu.workflow.as_deref(), gpu.source), (Some("sketch"), SourceWord::Workflow));
    assert!(gpu.holders.iter().all(|it| it.run == stage.run && it.since == stage.now));
    stage.crash(&PLENTY);
    assert_eq!(tier(&mut stage, "sketch/gpu"), gpu, "it follows from rows");
}
