//! Tiers over several runs: those of one workflow, and those of all.

use super::family::Family;
use crate::world::input::{Input, SetRate, SetTier};

fn set(family: &mut Family, name: &str, limit: u32) {
    let set = SetTier { name: name.into(), limit: Some(limit), rate: SetRate::Off };
    family.apply(Input::SetTier(set)).expect("set");
}

#[test]
fn a_tier_of_the_server_bounds_tasks_of_every_workflow() {
    let mut family = Family::new(&[("main", "a tier=gpu"), ("other", "x tier=gpu\ny")]);
    set(&mut family, "gpu", 1);
    family.trigger("other", None);
    let full = "main#1 running: a=dispatched | other#1 running: x=ready y=dispatched";
    assert_eq!(family.shown(), full);
    family.play("main.a ok");
    let handed_on = "main#1 success: a=success | other#1 running: x=dispatched y=dispatched";
    assert_eq!(family.shown(), handed_on);
    // And the other way round.
    family.trigger("main", None);
    assert!(family.shown().ends_with("main#2 running: a=ready"), "{}", family.shown());
    set(&mut family, "gpu", 2);
    assert!(family.shown().ends_with("main#2 running: a=dispatched"), "{}", family.shown());
}

#[test]
fn a_workflows_own_tier_bounds_all_its_runs_together() {
    let mut family =
        Family::new(&[("main", "@gpu=1\na tier=gpu"), ("other", "@gpu=1\nx tier=gpu")]);
    family.trigger("main", None);
    // One of the same name is another one.
    family.trigger("other", None);
    let shown =
        "main#1 running: a=dispatched | main#2 running: a=ready | other#1 running: x=dispatched";
    assert_eq!(family.shown(), shown);
    family.play("main#1.a ok");
    assert!(family.shown().contains("main#2 running: a=dispatched"), "{}", family.shown());
}

#[test]
fn runs_of_every_version_count_against_the_newest_versions_number() {
    let mut family = Family::new(&[("main", "@gpu=2\na tier=gpu\nb tier=gpu\nc tier=gpu")]);
    assert_eq!(family.shown(), "main#1 running: a=dispatched b=dispatched c=ready");
    family.deploy("main", "@gpu=1\na tier=gpu");
    family.play("main.a ok");
    let fewer = "main#1 running: a=success b=dispatched c=ready";
    assert_eq!(family.shown(), fewer, "one is in use, and no more may be");
    family.trigger("main", None);
    assert_eq!(family.shown(), format!("{fewer} | main#2 running: a=ready"));
    family.deploy("main", "@gpu=3\na tier=gpu");
    let more = "main#1 running: a=success b=dispatched c=dispatched | main#2 running: a=dispatched";
    assert_eq!(family.shown(), more, "at once, for runs of older versions too");
}
