//! Outputs that cannot be read, for a moment or for good: whoever needs them waits or fails, and
//! nobody else.

use crate::rig::Rig;
use mainspring_core::error::ErrorClass;
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::kernel::row::{RunError, RunStatus};
use mainspring_core::work::Outcome;
use mainspring_core::world::input::Verb;
use mainspring_engine::Stopped;
use mainspring_store::Store as _;
use mainspring_testkit::shaky::Shaky;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The last one asks after what `a` put out when `w` is over.
fn late(last: &str) -> String {
    format!(
        "{{a: {{run: x}}, w: {{run: x}}, \
         {last}: {{run: x, depends_on: [a, w], if: \"tasks.a.output.x == 7\"}}}}"
    )
}

/// The last one is given what `a` put out when `w` is over.
const GIVEN: &str = "{a: {run: x}, w: {run: x}, b: {run: x, depends_on: [a, w]}}";

/// Too large for a row.
fn large() -> Outcome {
    let json = Json::parse(&format!(r#"{{"x": 7, "y": "{}"}}"#, "0123456789".repeat(50_000)));
    Outcome::Success(Some(json.expect("JSON").into()))
}

/// A run that will ask after a large output as soon as `w` ends.
async fn about_to_ask(rig: &Rig, tasks: &str) -> RunId {
    let run = rig.start(tasks).await;
    rig.hand.wait_for("start a");
    rig.hand.wait_for("start w");
    rig.hand.end("a", large());
    rig.hand.wait_for("settle a");
    run
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_output_fails_the_task_that_needs_it() {
    for tasks in [&late("b"), GIVEN] {
        let rig = Rig::new().await;
        let run = about_to_ask(&rig, tasks).await;
        rig.store.blobs.damage();
        rig.hand.succeed("w");
        rig.until(run, RunStatus::Failed).await;
        let stored = rig.store.run(run).await.expect("readable").expect("stored");
        let RunError { class, message } = stored.progress.error.expect("it says why");
        assert_eq!(class, ErrorClass::Internal);
        assert!(message.contains("is damaged in the blob store"), "{message}");
        assert_eq!(rig.blob_troubles(), [""; 0], "nobody waits for it");
        rig.engine.shut_down();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_an_output_holds_up_nobody_else() {
    let rig = Rig::new().await;
    rig.store.blobs.unreadable.store(true, Ordering::Relaxed);
    let mut waiting = Vec::new();
    // More than are worked at at once.
    for last in ["b", "c", "d"] {
        waiting.push(about_to_ask(&rig, &late(last)).await);
        rig.hand.succeed("w");
        rig.hand.wait_for("settle w");
    }
    let other = rig.start("{o: {run: x, if: \"run.id != ''\"}}").await;
    rig.hand.wait_for("start o");
    rig.hand.succeed("o");
    rig.until(other, RunStatus::Success).await;
    let cancelled = waiting.pop().expect("three");
    rig.command(cancelled, Verb::Cancel).await.expect("cancelled");
    rig.until(cancelled, RunStatus::Cancelled).await;
    rig.store.blobs.unreadable.store(false, Ordering::Relaxed);
    for (run, last) in waiting.into_iter().zip(["b", "c"]) {
        rig.hand.wait_for(&format!("start {last}"));
        rig.hand.succeed(last);
        rig.until(run, RunStatus::Success).await;
    }
    assert_eq!(rig.blob_troubles(), ["nobody answers"], "said once");
    rig.engine.shut_down();
}

/// An engine that does not wait for ever says why it ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn patience_with_blobs_has_an_end() {
    let rig = Rig::over(Arc::new(Shaky::default()), Some(Duration::ZERO)).await;
    rig.store.blobs.unreadable.store(true, Ordering::Relaxed);
    about_to_ask(&rig, &late("b")).await;
    rig.hand.succeed("w");
    assert_eq!(rig.engine.stopped().await, Stopped::Store("nobody answers".to_owned()));
    rig.engine.shut_down();
}
