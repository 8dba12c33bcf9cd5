//! What finished work left while nobody could take it: it waits, and nothing of it is lost.

use crate::by_hand::ended;
use crate::rig::Rig;
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::output::Output;
use mainspring_core::work::{ArtifactOut, Outcome};
use mainspring_core::world::input::Verb;
use mainspring_store::Store as _;

const LEAVES: &str = "{a: {run: x, artifacts: {out: [f]}}, \
                       b: {run: x, depends_on: [a], artifacts: {in: [a/f]}}}";

fn large() -> Outcome {
    let json = Json::parse(&format!("\"{}\"", "0123456789".repeat(50_000)));
    Outcome::Success(Some(json.expect("JSON").into()))
}

fn full(rig: &Rig, puts: u32) {
    *rig.store.blobs.failing.lock().expect("unpoisoned") = puts;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_output_waits_for_room() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    full(&rig, 3);
    rig.hand.end("a", large());
    rig.until(run, RunStatus::Success).await;
    let stored = rig.store.run(run).await.expect("readable").expect("stored");
    let output = &stored.tasks[0].output;
    assert!(matches!(output, Some(Output::Blob(blob)) if blob.bytes == 500_002), "{output:?}");
    let said = rig.blob_troubles();
    assert_eq!(said, ["its output cannot be put away: no space left"], "said once");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_wait_for_room() {
    let rig = Rig::new().await;
    let run = rig.start(LEAVES).await;
    rig.hand.wait_for("start a");
    let file = rig.store.logs().folder.join("left");
    std::fs::write(&file, "text").expect("written");
    let file = file.to_str().expect("UTF-8").to_owned();
    let left = ArtifactOut { path: "f".to_owned(), file, bytes: 4, executable: true };
    let mut end = ended(Outcome::Success(None), None);
    end.artifacts.push(left);
    full(&rig, 2);
    rig.hand.end_with("a", end);
    rig.hand.wait_for("start b");
    let brought = rig.hand.brought("b");
    let text = std::fs::read_to_string(&brought[0].source).expect("there");
    assert_eq!((&*brought[0].path, brought[0].executable, &*text), ("f", true, "text"));
    rig.hand.succeed("b");
    rig.until(run, RunStatus::Success).await;
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_does_not_want_to_wait_cancels() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    full(&rig, u32::MAX);
    rig.hand.end("a", large());
    rig.command(run, Verb::Cancel).await.expect("cancelled");
    rig.until(run, RunStatus::Cancelled).await;
    rig.hand.wait_for("settle a");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_landed_has_landed_though_what_it_put_out_is_not_wanted_any_more() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x, finalize: {run: y}}}").await;
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.hand.wait_for("start a");
    full(&rig, u32::MAX);
    rig.hand.end("a", large());
    rig.command(run, Verb::Cancel).await.expect("cancelled");
    rig.until(run, RunStatus::Cancelled).await;
    let stored = rig.store.run(run).await.expect("readable").expect("stored");
    assert_eq!(stored.tasks[0].fact, Fact::Success);
    rig.engine.shut_down();
}

/// The next life knows nothing of it but that it was dispatched.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_when_the_program_ends_is_done_again() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    full(&rig, u32::MAX);
    rig.hand.end("a", large());
    let store = std::sync::Arc::clone(&rig.store);
    rig.engine.shut_down();
    let reborn = Rig::over(store, None).await;
    full(&reborn, 0);
    reborn.hand.wait_for("start a");
    reborn.hand.end("a", large());
    reborn.until(run, RunStatus::Success).await;
    reborn.engine.shut_down();
}
