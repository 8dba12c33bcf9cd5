//! An ordinary life: runs come to their end, commands are answered, a restart goes on.

use crate::rig::{Rig, trigger};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::input::{Refusal, Reply, Verb};
use mainspring_engine::NotDone;
use mainspring_store::Store as _;
use std::sync::Arc;

const CHAIN: &str = "{a: {run: x}, b: {run: x, depends_on: [a]}}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_goes_from_its_trigger_to_its_end() {
    let rig = Rig::new().await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.hand.wait_for("settle a");
    rig.hand.wait_for("start b");
    rig.hand.succeed("b");
    rig.until(run, RunStatus::Success).await;
    rig.hand.wait_for("settle b");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_run_is_read_back_for_a_retry() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    let error = mainspring_core::error::TaskError::exit(1);
    rig.hand.end("a", mainspring_core::work::Outcome::Failed(error));
    rig.until(run, RunStatus::Failed).await;
    assert_eq!(rig.command(run, Verb::Retry).await.expect("retried"), Reply::Done);
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.until(run, RunStatus::Success).await;
    let refused = rig.command(run, Verb::Retry).await;
    let is = Refusal::RunIs(RunStatus::Success);
    assert!(matches!(refused, Err(NotDone::Refused(why)) if why == is));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_waits_for_the_work_to_be_gone() {
    let rig = Rig::new().await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    rig.command(run, Verb::Cancel).await.expect("cancelling");
    rig.hand.wait_for("stop a");
    rig.until(run, RunStatus::Cancelling).await;
    rig.hand.end("a", mainspring_core::work::Outcome::Stopped);
    rig.until(run, RunStatus::Cancelled).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_by_force_waits_for_nobody() {
    let rig = Rig::new().await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    rig.command(run, Verb::ForceCancel).await.expect("cancelled");
    rig.until(run, RunStatus::Cancelled).await;
    rig.hand.wait_for("stop a");
    // What it says in the end changes nothing, and it may forget it.
    rig.hand.succeed("a");
    rig.hand.wait_for("settle a");
    rig.until(run, RunStatus::Cancelled).await;
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_workflow_and_an_unknown_run_are_refused() {
    let rig = Rig::new().await;
    let refused = rig.engine.submit(trigger()).await;
    assert!(matches!(refused, Err(NotDone::Refused(Refusal::WorkflowNotFound))));
    let nobody = mainspring_core::ids::RunId::from_bytes([9; 16]);
    let refused = rig.command(nobody, Verb::Cancel).await;
    assert!(matches!(refused, Err(NotDone::Refused(Refusal::RunNotFound))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_life_asks_after_what_the_former_one_started() {
    let rig = Rig::new().await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    let store = Arc::clone(&rig.store);
    rig.engine.shut_down();

    let reborn = Rig::over(store, None).await;
    reborn.hand.wait_for("reattach");
    // Nothing is known of it: a loss, and after its delay another attempt.
    reborn.hand.wait_for("start a");
    reborn.hand.succeed("a");
    reborn.hand.wait_for("start b");
    reborn.hand.succeed("b");
    reborn.until(run, RunStatus::Success).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_former_life_can_no_longer_write() {
    let first = Rig::new().await;
    let run = first.start("{a: {run: x}}").await;
    first.hand.wait_for("start a");
    let second = Rig::over(Arc::clone(&first.store), None).await;
    second.hand.wait_for("reattach");
    first.hand.succeed("a");
    assert_eq!(first.engine.stopped().await, mainspring_engine::Stopped::Fenced);
    second.hand.wait_for("start a");
    second.hand.succeed("a");
    second.until(run, RunStatus::Success).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_lets_work_end_and_starts_nothing_more() {
    let rig = Rig::new().await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    let drain = rig.engine.drain(std::time::Duration::from_secs(60));
    let finish = async {
        tokio::task::yield_now().await;
        rig.hand.succeed("a");
    };
    tokio::join!(drain, finish);
    let stored = rig.store.run(run).await.expect("readable").expect("stored");
    assert_eq!(stored.progress.counts.success, 1, "what ended is durable");
    assert_eq!(stored.progress.counts.live, 0, "nothing was started");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_stops_what_does_not_end_and_the_next_life_starts_it_again() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    let drain = rig.engine.drain(std::time::Duration::ZERO);
    let (hand, store) = (Arc::clone(&rig.hand), Arc::clone(&rig.store));
    let stopped = tokio::task::spawn_blocking(move || {
        hand.wait_for("stop a");
        hand.end("a", mainspring_core::work::Outcome::Stopped);
    });
    let (_, stopped) = tokio::join!(drain, stopped);
    stopped.expect("it was stopped");
    rig.engine.shut_down();
    let stored = store.run(run).await.expect("readable").expect("stored");
    assert_eq!(stored.progress.status, RunStatus::Running);
    assert_eq!((stored.tasks[0].tries, stored.tasks[0].losses), (0, 0), "it is not counted");
    let next = Rig::over(store, None).await;
    next.hand.wait_for("start a");
    next.engine.shut_down();
}
