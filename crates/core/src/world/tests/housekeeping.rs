//! Workflows hidden, old runs forgotten, records of who asked.

use super::stage::Stage;
use crate::kernel::record::{IdempotencyKey, KeyAnswer, Record};
use crate::kernel::row::RunStatus;
use crate::sketch::sketch;
use crate::time::Timestamp;
use crate::world::batch::Change;
use crate::world::input::{
    ActiveRuns, Command, DeleteWorkflow, Deploy, Forget, Forgotten, Input, Order, Prefetched,
    Refusal, Reply, Trigger, Verb,
};
use std::sync::Arc;

fn delete(active: ActiveRuns) -> Input {
    Input::DeleteWorkflow(DeleteWorkflow { name: "sketch".into(), active, by: "ann".to_owned() })
}

fn trigger() -> Input {
    Input::Trigger(Trigger {
        workflow: "sketch".into(),
        version: None,
        input: crate::json::Json::empty_object(),
        labels: std::collections::BTreeMap::new(),
        priority: 0,
        triggered_by: "ann".into(),
        workdir: "/".into(),
        group: None,
        again: None,
    })
}

fn deleted(stage: &Stage) -> Vec<bool> {
    let rows = stage.changes.iter().filter_map(|change| match change {
        Change::PutWorkflow(row) => Some(row.deleted_at.is_some()),
        _ => None,
    });
    rows.collect()
}

#[test]
fn a_workflow_with_active_runs_is_deleted_only_by_force() {
    let mut stage = Stage::new("a");
    stage.play("a start");
    let refused = stage.apply(delete(ActiveRuns::Refuse));
    assert_eq!(refused, Err(Refusal::WorkflowActive(1)));
    assert_eq!(stage.apply(delete(ActiveRuns::Cancel)), Ok(Reply::Done));
    assert_eq!(stage.shown(), "cancelling: a=running");
    assert_eq!(stage.apply(delete(ActiveRuns::Cancel)), Err(Refusal::WorkflowNotFound));
    assert_eq!(stage.apply(trigger()), Err(Refusal::WorkflowNotFound));
    assert_eq!(deleted(&stage), [false, true]);
}

#[test]
fn a_deleted_workflow_comes_back_with_its_numbers() {
    let mut stage = Stage::new("a");
    stage.play("a ok");
    assert_eq!(stage.apply(delete(ActiveRuns::Refuse)), Ok(Reply::Done));
    let definition = Arc::new(sketch("a"));
    let deploy = Deploy { definition, text: "sketch".into(), hash: [1; 32] };
    let reply = stage.apply(Input::Deploy(deploy));
    assert_eq!(reply, Ok(Reply::Deployed { version: 1, is_new: false }));
    assert_eq!(deleted(&stage), [false, true, false]);
    assert!(matches!(stage.apply(trigger()), Ok(Reply::Accepted { .. })));
}

fn forget(stage: &Stage) -> Input {
    let (head, progress) = stage.stored.clone().expect("a run is stored");
    let gone = Forgotten { key: head.key, id: head.id, stamp: progress.stamp };
    Input::Forget(Forget { runs: vec![gone], keys_before: Timestamp(0) })
}

fn dropped(stage: &Stage) -> usize {
    stage.changes.iter().filter(|change| matches!(change, Change::DropRun(..))).count()
}

#[test]
fn an_active_run_is_not_forgotten() {
    let mut stage = Stage::new("a");
    let input = forget(&stage);
    stage.apply(input.clone()).expect("applied");
    stage.play("a fail");
    stage.apply(input).expect("applied");
    assert_eq!(dropped(&stage), 0, "it has changed since it was looked at");
    let input = forget(&stage);
    stage.apply(input).expect("applied");
    assert_eq!(dropped(&stage), 1);
    let marks = stage.changes.iter().rev().find_map(|change| match change {
        Change::Marks { next_run, next_stamp } => Some((*next_run, *next_stamp)),
        _ => None,
    });
    let (_, progress) = stage.stored.as_ref().expect("stored");
    assert_eq!(marks.map(|(run, stamp)| (run, stamp > progress.stamp)), Some((1, true)));
}

#[test]
fn what_was_read_before_a_run_was_forgotten_does_not_bring_it_back() {
    let mut stage = Stage::new("a");
    stage.play("a fail");
    let snapshot = stage.snapshot();
    let input = forget(&stage);
    stage.apply(input).expect("applied");
    let by = "ann".to_owned();
    let retry = Command { run: stage.run, order: Order::Run(Verb::Retry), by };
    let found = Prefetched { run: Some(snapshot), ..Prefetched::default() };
    let answer = stage.world.apply(stage.now, Input::Command(retry), found);
    assert_eq!(answer, Err(Refusal::Outdated));
}

#[test]
fn what_is_accepted_leaves_a_record_and_what_is_refused_none() {
    let mut stage = Stage::new("a");
    let key = IdempotencyKey {
        principal: "ann".into(),
        route: "trigger".into(),
        key: "k".into(),
        body: [3; 32],
    };
    let record = |action| Record {
        by: "ann".into(),
        from: "127.0.0.1".into(),
        action,
        target: "workflow sketch".to_owned(),
        key: Some(key.clone()),
    };
    let recorded = |action, input| Input::Recorded(Box::new(record(action)), Box::new(input));
    let Ok(Reply::Accepted { run }) = stage.apply(recorded("run.trigger", trigger())) else {
        panic!("it is accepted")
    };
    stage.apply(recorded("run.resume", command(&stage, Verb::Resume))).expect_err("not paused");
    let audit: Vec<String> = stage.changes.iter().filter_map(audit_line).collect();
    assert_eq!(audit, [format!("ann 127.0.0.1 run.trigger run {run}")]);
    let answers = stage.changes.iter().filter_map(|change| match change {
        Change::NewKey(row) => Some((&row.key, &row.answer)),
        _ => None,
    });
    assert_eq!(answers.collect::<Vec<_>>(), [(&key, &KeyAnswer::Run(run))]);
    assert_eq!(stage.stored.as_ref().map(|(_, p)| p.status), Some(RunStatus::Running));
}

fn command(stage: &Stage, verb: Verb) -> Input {
    Input::Command(Command { run: stage.run, order: Order::Run(verb), by: "ann".to_owned() })
}

fn audit_line(change: &Change) -> Option<String> {
    let Change::NewAudit(row) = change else { return None };
    Some(format!("{} {} {} {}", row.by, row.from, row.action, row.target))
}
