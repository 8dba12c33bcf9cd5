//! Limits on runs as they are told: what each allows, which runs hold it, which wait.

use super::gates::{end, order, status, trigger};
use super::stage::Stage;
use crate::ids::RunId;
use crate::kernel::row::RunStatus;
use crate::limits::{GROUPS_SHOWN_MAX, HOLDERS_SHOWN_MAX};
use crate::sketch::sketch;
use crate::view::tiers::{Counted, SourceWord, TierView};
use crate::world::input::{Deploy, Input, Refusal, Reply, SetRate, SetTier, Verb};
use std::sync::Arc;

fn told(stage: &mut Stage) -> Vec<TierView> {
    match stage.world.apply(stage.now, Input::RunLimits, Default::default()) {
        Ok(Reply::Tiers(limits)) => limits,
        answer => panic!("{answer:?}"),
    }
}

fn limit(stage: &mut Stage, name: &str) -> TierView {
    told(stage).into_iter().find(|limit| limit.name == name).expect("it is told")
}

fn holders(limit: &TierView) -> Vec<RunId> {
    limit.holders.iter().map(|it| it.run).collect()
}

fn waiters(limit: &TierView) -> Vec<RunId> {
    limit.waiters.iter().map(|it| it.run).collect()
}

#[test]
fn the_active_runs_of_a_workflow_are_told_with_those_that_wait() {
    let mut stage = Stage::new("@max_active=2\na");
    let first = stage.run;
    let second = trigger(&mut stage, 0, None).expect("accepted");
    let half = limit(&mut stage, "max_active_runs:sketch");
    assert_eq!((half.limit, half.in_use, half.waiting), (2, 2, 0));
    let [third, urgent] = [0, 5].map(|priority| trigger(&mut stage, priority, None).expect("in"));
    order(&mut stage, second, Verb::Pause).expect("paused");
    let full = limit(&mut stage, "max_active_runs:sketch");
    assert_eq!((full.in_use, full.waiting, full.is_full()), (2, 2, true));
    assert_eq!((full.counts, full.source), (Counted::Runs, SourceWord::Workflow));
    assert_eq!(full.workflow.as_deref(), Some("sketch"));
    assert_eq!(holders(&full), [first, second], "one that is paused is active");
    assert_eq!(waiters(&full), [urgent, third], "as they are let in");
    assert!(full.holders.iter().all(|it| it.task.is_none() && it.since == stage.now));
    for run in [first, second, third, urgent] {
        end(&mut stage, run);
    }
    assert_eq!(told(&mut stage), [], "nothing counts against it");
}

#[test]
fn a_run_that_only_waits_holds_its_place() {
    let mut stage = Stage::new("@max_active=1\na signal=go");
    let (first, since) = (stage.run, stage.now);
    assert_eq!(stage.world.asleep().count(), 1, "it has left memory");
    let second = trigger(&mut stage, 0, None).expect("accepted");
    let active = limit(&mut stage, "max_active_runs:sketch");
    assert_eq!((holders(&active), waiters(&active)), (vec![first], vec![second]));
    assert_eq!(active.holders[0].since, since);
}

#[test]
fn a_workflow_without_a_bound_has_no_such_limit() {
    let mut stage = Stage::new("a");
    assert_eq!(told(&mut stage), []);
}

#[test]
fn the_runs_of_a_group_are_told_by_its_key() {
    let mut stage = Stage::new("@group=1/queue\na");
    let [one, other, same] =
        ["x/y", "z", "x/y"].map(|key| trigger(&mut stage, 0, Some(key)).expect("accepted"));
    let group = limit(&mut stage, "concurrency_group:x/y");
    assert_eq!((group.limit, group.in_use, group.waiting), (1, 1, 1));
    assert_eq!((holders(&group), waiters(&group)), (vec![one], vec![same]));
    assert_eq!((group.counts, group.workflow), (Counted::Runs, None));
    let free = limit(&mut stage, "concurrency_group:z");
    assert_eq!((holders(&free), free.waiting), (vec![other], 0));
    end(&mut stage, one);
    let group = limit(&mut stage, "concurrency_group:x/y");
    assert_eq!((holders(&group), group.waiting), (vec![same], 0));
}

#[test]
fn of_runs_that_differ_in_the_limit_of_their_group_each_waits_by_its_own() {
    let mut stage = Stage::new("@group=1/queue\na");
    let [first, second] = [(); 2].map(|()| trigger(&mut stage, 0, Some("x")).expect("accepted"));
    let definition = Arc::new(sketch("@group=3/queue\na"));
    let deploy = Deploy { definition, text: "more".into(), hash: [2; 32] };
    stage.world.apply(stage.now, Input::Deploy(deploy), Default::default()).expect("deployed");
    let third = trigger(&mut stage, 0, Some("x")).expect("accepted");
    assert_eq!(status(&stage, third), Some(RunStatus::Running));
    let group = limit(&mut stage, "concurrency_group:x");
    assert_eq!((group.limit, group.in_use), (1, 2), "the limit of the one that is next");
    assert_eq!((holders(&group), waiters(&group)), (vec![first, third], vec![second]));
    end(&mut stage, first);
    end(&mut stage, third);
    assert_eq!(limit(&mut stage, "concurrency_group:x").limit, 1);
}

#[test]
fn a_run_waits_for_a_limit_only_if_that_one_is_full() {
    let mut stage = Stage::new("@group=1/queue\n@max_active=9\na");
    let [_, second] = [(); 2].map(|()| trigger(&mut stage, 0, Some("x")).expect("accepted"));
    assert_eq!(waiters(&limit(&mut stage, "concurrency_group:x")), [second]);
    let active = limit(&mut stage, "max_active_runs:sketch");
    assert_eq!((active.in_use, active.waiting, active.waiters), (2, 0, vec![]));
}

#[test]
fn only_so_many_groups_and_runs_are_told_those_that_are_waited_for_first() {
    let mut stage = Stage::new("@group=1/queue\na");
    for number in 0..GROUPS_SHOWN_MAX + 5 {
        trigger(&mut stage, 0, Some(&format!("g{number:03}"))).expect("accepted");
    }
    for _ in 0..HOLDERS_SHOWN_MAX + 5 {
        trigger(&mut stage, 0, Some("wanted")).expect("accepted");
    }
    let all = told(&mut stage);
    assert_eq!(all.len(), GROUPS_SHOWN_MAX);
    assert_eq!(all[0].name, "concurrency_group:wanted");
    assert_eq!((all[0].waiting, all[0].waiters.len()), (104, HOLDERS_SHOWN_MAX));
}

#[test]
fn a_limit_on_runs_is_set_by_nobody_but_the_workflow() {
    let mut stage = Stage::new("@max_active=1\na");
    for name in ["max_active_runs:sketch", "max_active_runs:other", "concurrency_group:x"] {
        let set = SetTier { name: name.into(), limit: Some(9), rate: SetRate::Keep };
        let refused = stage.apply(Input::SetTier(set));
        assert_eq!(refused, Err(Refusal::TierOfWorkflow(name.into())));
    }
}
