//! Commits that fail: nothing that was answered is lost, nothing runs twice, running work is
//! not touched.

use crate::rig::{Rig, trigger};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::input::Verb;
use mainspring_engine::{NotDone, Stopped};
use mainspring_store::{RunsQuery, Store as _};
use mainspring_testkit::shaky::{Fate, Shaky};
use std::sync::Arc;
use std::time::Duration;

const CHAIN: &str = "{a: {run: x}, b: {run: x, depends_on: [a]}}";

/// The end of `a` meets these fates before it is durable.
async fn end_under(fates: &[Fate]) {
    let rig = Rig::new().await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    rig.store.next(fates);
    rig.hand.succeed("a");
    rig.hand.wait_for("start b");
    rig.hand.succeed("b");
    rig.until(run, RunStatus::Success).await;
    rig.hand.wait_for("settle b");
    assert_eq!(rig.hand.starts_of_each_attempt(), [1, 1], "each attempt was started once");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_was_lost_is_asked_for_again() {
    end_under(&[Fate::Lost]).await;
    end_under(&[Fate::Lost, Fate::Lost]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_that_was_durable_after_all_is_not_recorded_twice() {
    end_under(&[Fate::DurableButReportedFailed]).await;
    end_under(&[Fate::Lost, Fate::DurableButReportedFailed]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asked_hears_that_the_outcome_is_unknown() {
    for (fate, runs) in [(Fate::Lost, 1), (Fate::DurableButReportedFailed, 2)] {
        let rig = Rig::new().await;
        rig.start("{a: {run: x}}").await;
        rig.hand.wait_for("start a");
        rig.store.next(&[fate]);
        let answer = rig.engine.submit(trigger()).await;
        assert!(matches!(answer, Err(NotDone::UnknownOutcome)), "{answer:?}");
        let query = RunsQuery { limit: 10, ..RunsQuery::default() };
        assert_eq!(rig.store.runs(query).await.expect("readable").len(), runs);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_very_end_was_lost_is_loaded_again() {
    let rig = Rig::alone().await;
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    rig.store.next(&[Fate::Lost, Fate::Lost]);
    rig.hand.succeed("a");
    rig.until(run, RunStatus::Success).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_goes_on_trying_while_the_store_fails() {
    let rig = Rig::new().await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    *rig.store.failing_loads.lock().expect("unpoisoned") = 3;
    rig.store.next(&[Fate::Lost]);
    rig.hand.succeed("a");
    rig.hand.wait_for("start b");
    rig.hand.succeed("b");
    rig.until(run, RunStatus::Success).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_store_is_away_people_are_refused_and_reports_wait() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    *rig.store.failing_loads.lock().expect("unpoisoned") = u32::MAX;
    rig.store.next(&[Fate::Lost]);
    let answer = rig.engine.submit(trigger()).await;
    assert!(matches!(answer, Err(NotDone::UnknownOutcome)), "{answer:?}");
    rig.hand.succeed("a");
    for _ in 0..2 {
        let (triggered, cancelled) =
            tokio::join!(rig.engine.submit(trigger()), rig.command(run, Verb::Cancel));
        assert!(matches!(triggered, Err(NotDone::StoreAway)), "{triggered:?}");
        assert!(matches!(cancelled, Err(NotDone::StoreAway)), "{cancelled:?}");
    }
    *rig.store.failing_loads.lock().expect("unpoisoned") = 0;
    rig.until(run, RunStatus::Success).await;
    rig.engine.submit(trigger()).await.expect("it is back");
}

/// A load that came after that would take the store away from the next life.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_has_ended_loads_nothing_any_more() {
    let rig = Rig::new().await;
    rig.start("{a: {run: x}}").await;
    *rig.store.failing_loads.lock().expect("unpoisoned") = u32::MAX;
    rig.store.next(&[Fate::Lost]);
    let answer = rig.engine.submit(trigger()).await;
    assert!(matches!(answer, Err(NotDone::UnknownOutcome)), "{answer:?}");
    rig.engine.shut_down();
    while tokio::runtime::Handle::current().metrics().num_alive_tasks() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(*rig.store.failing_loads.lock().expect("unpoisoned"), u32::MAX, "nobody loads");
}

/// Whoever hears that there is no world can be told why.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_the_store_failed_is_known_before_anybody_hears_that_it_did() {
    for _ in 0..50 {
        let rig = Rig::new().await;
        rig.start("{a: {run: x}}").await;
        rig.store.next(&[Fate::Lost]);
        let answer = rig.engine.submit(trigger()).await;
        assert!(matches!(answer, Err(NotDone::UnknownOutcome)), "{answer:?}");
        assert_eq!(rig.store_troubles(), ["the disk is full"]);
        rig.engine.shut_down();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_gives_up_when_its_patience_is_over_and_a_new_life_goes_on() {
    let store = Arc::new(Shaky::default());
    let rig = Rig::over(Arc::clone(&store), Some(Duration::ZERO)).await;
    let run = rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    store.next(&[Fate::Lost]);
    rig.hand.succeed("a");
    assert_eq!(rig.engine.stopped().await, Stopped::Store("the disk is full".to_owned()));
    let answer = rig.command(run, Verb::Cancel).await;
    assert!(matches!(answer, Err(NotDone::Stopped)), "{answer:?}");
    rig.engine.shut_down();

    let stored = store.run(run).await.expect("readable").expect("stored");
    let reborn = Rig::over(store, None).await;
    assert_eq!(reborn.loaded_stamp(), stored.progress.stamp, "observers hear where it goes on");
    reborn.hand.wait_for("start a");
    reborn.hand.succeed("a");
    reborn.hand.wait_for("start b");
    reborn.hand.succeed("b");
    reborn.until(run, RunStatus::Success).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_the_disk_did_not_confirm_is_never_tried_again() {
    let rig = Rig::new().await;
    rig.start(CHAIN).await;
    rig.hand.wait_for("start a");
    rig.store.next(&[Fate::Unconfirmed]);
    rig.hand.succeed("a");
    let Stopped::Store(why) = rig.engine.stopped().await else { panic!("it goes on") };
    assert_eq!(why, "the disk did not confirm a write: EIO");
}
