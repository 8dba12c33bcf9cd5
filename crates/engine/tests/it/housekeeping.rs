//! Workflows hidden and runs forgotten, through the store and over a restart.

use crate::rig::{Rig, trigger};
use mainspring_core::kernel::record::{IdempotencyKey, KeyAnswer, Record};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::input::{
    ActiveRuns, Command, DeleteWorkflow, Forget, Input, Order, Refusal, Reply, Verb,
};
use mainspring_engine::NotDone;
use mainspring_engine::retention::Retention;
use mainspring_store::Store as _;
use mainspring_testkit::shaky::Fate;
use std::sync::Arc;

const ONE: &str = "{a: {run: x}}";

fn delete() -> Input {
    let active = ActiveRuns::Refuse;
    Input::DeleteWorkflow(DeleteWorkflow { name: "w".into(), active, by: "test".to_owned() })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hidden_workflow_stays_hidden_and_comes_back_with_its_numbers() {
    let rig = Rig::new().await;
    let run = rig.start(ONE).await;
    let refused = rig.engine.submit(delete()).await;
    assert!(matches!(refused, Err(NotDone::Refused(Refusal::WorkflowActive(1)))));
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.until(run, RunStatus::Success).await;
    let store = Arc::clone(&rig.store);
    rig.engine.shut_down();

    let reborn = Rig::over(Arc::clone(&store), None).await;
    assert_eq!(reborn.engine.submit(delete()).await.expect("hidden"), Reply::Done);
    reborn.engine.shut_down();

    let reborn = Rig::over(store, None).await;
    let refused = reborn.engine.submit(trigger()).await;
    assert!(matches!(refused, Err(NotDone::Refused(Refusal::WorkflowNotFound))));
    let refused = reborn.engine.submit(delete()).await;
    assert!(matches!(refused, Err(NotDone::Refused(Refusal::WorkflowNotFound))));
    let run = reborn.start("{b: {run: x}}").await;
    let stored = reborn.store.run(run).await.expect("readable").expect("stored");
    assert_eq!(stored.head.version, 2);
    reborn.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgotten_run_is_gone_and_its_numbers_stay_used() {
    let rig = Rig::new().await;
    let run = rig.start(ONE).await;
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.until(run, RunStatus::Success).await;
    let before = rig.store.run(run).await.expect("readable").expect("stored");
    let expired = rig.store.expired(Timestamp(i64::MAX), 10).await.expect("readable");
    let runs: Vec<_> = expired.iter().map(|expired| expired.run).collect();
    assert_eq!(runs.len(), 1);
    let forget = Forget { runs, keys_before: Timestamp(i64::MAX) };
    rig.engine.submit(Input::Forget(forget)).await.expect("forgotten");
    assert_eq!(rig.store.run(run).await.expect("readable"), None);
    let refused = rig.command(run, Verb::Retry).await;
    assert!(matches!(refused, Err(NotDone::Refused(Refusal::RunNotFound))));
    let store = Arc::clone(&rig.store);
    rig.engine.shut_down();

    let reborn = Rig::over(store, None).await;
    let run = reborn.start(ONE).await;
    let after = reborn.store.run(run).await.expect("readable").expect("stored");
    assert!(after.head.key > before.head.key, "a key is never used again");
    assert!(after.progress.stamp > before.progress.stamp, "nor is a stamp");
    reborn.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_recorded_is_durable_with_its_answer() {
    let rig = Rig::new().await;
    let run = rig.start(ONE).await;
    let key = IdempotencyKey {
        principal: "ann".into(),
        route: "trigger".into(),
        key: "k".into(),
        body: [1; 32],
    };
    let record = Record {
        by: "ann".into(),
        from: "127.0.0.1".into(),
        action: "run.trigger",
        target: "workflow w".to_owned(),
        key: Some(key.clone()),
    };
    let recorded = Input::Recorded(Box::new(record), Box::new(trigger()));
    let Ok(Reply::Accepted { run: second }) = rig.engine.submit(recorded).await else {
        panic!("it is accepted")
    };
    assert_ne!(run, second);
    let found = rig.store.key(&key).await.expect("readable").expect("stored");
    assert_eq!(found.answer, KeyAnswer::Run(second));
    let audit = rig.store.audit(None, 10).await.expect("readable");
    let targets: Vec<&str> = audit.iter().map(|entry| entry.row.target.as_str()).collect();
    assert_eq!(targets, [format!("run {second}")]);
    rig.engine.shut_down();
}

/// No run has to expire for that, and nothing is written when no key is old.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_keys_go_although_every_run_stays() {
    let rig = Rig::new().await;
    let key = |name: &str| IdempotencyKey {
        principal: "ann".into(),
        route: "deploy".into(),
        key: name.into(),
        body: [1; 32],
    };
    let retention = Retention { runs: Span::from_secs(365 * 86_400), logs: rig.store.logs() };
    let run = rig.start(ONE).await;
    let input =
        Input::Command(Command { run, order: Order::Run(Verb::Pause), by: "ann".to_owned() });
    let record = Record {
        by: "ann".into(),
        from: "127.0.0.1".into(),
        action: "run.pause",
        target: format!("run {run}"),
        key: Some(key("k")),
    };
    let recorded = Input::Recorded(Box::new(record), Box::new(input));
    rig.engine.submit(recorded).await.expect("paused");
    let used_at = rig.store.key(&key("k")).await.expect("readable").expect("stored").created_at;
    let week = Span::from_secs(7 * 86_400);
    let store = &*rig.store;
    // What would be written now would be lost.
    rig.store.next(&[Fate::Lost]);
    assert_eq!(retention.forget(&rig.engine, store, used_at + week).await.expect("looked"), 0);
    assert!(
        rig.store.key(&key("k")).await.expect("readable").is_some(),
        "it is not older than that"
    );
    rig.store.forget_fates();
    let later = used_at + week + Span(1);
    assert_eq!(retention.forget(&rig.engine, store, later).await.expect("forgotten"), 0);
    assert!(rig.store.key(&key("k")).await.expect("readable").is_none());
    assert!(rig.store.run(run).await.expect("readable").is_some());
    rig.engine.shut_down();
}
