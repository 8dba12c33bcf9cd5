//! Large logs: moved into the blob store before their end is told, never lost, forgotten with
//! their runs.

use crate::by_hand::ended;
use crate::rig::Rig;
use mainspring_core::ids::{AttemptId, RunId};
use mainspring_core::kernel::row::{Log, RunStatus};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::work::Outcome;
use mainspring_core::world::input::Verb;
use mainspring_engine::logs::LogText;
use mainspring_engine::retention::Retention;
use mainspring_store::{BlobName, Blobs as _, Store as _};
use mainspring_testkit::shaky::{Fate, Shaky};
use std::path::PathBuf;
use std::sync::Arc;

const ONE: &str = "{a: {run: x}}";
const LINES: usize = 500;
const DAY: u64 = 86_400_000_000;

fn file(store: &Shaky, attempt: AttemptId) -> PathBuf {
    store.logs().folder.join("logs").join(format!("{attempt}.log"))
}

/// Ends a task with a log in a file, as executors leave it.
fn end(rig: &Rig, task: &str) -> AttemptId {
    let attempt = rig.hand.attempt(task);
    let record = |no| format!("2026-11-15T23:44:22.123456Z o line {no}\n");
    let text: String = (0..LINES).map(record).collect();
    let path = file(&rig.store, attempt);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, &text).expect("written");
    let log = Some(Log::File { bytes: text.len() as u64 });
    rig.hand.end_with(task, ended(Outcome::Success(None), log));
    attempt
}

/// What a reader sees of it.
async fn lines(store: &Shaky, run: RunId, attempt: AttemptId) -> Option<usize> {
    let key = store.run(run).await.expect("readable").expect("stored").head.key;
    let log = LogText::open(store, &store.logs(), (key, attempt)).await.expect("it is somewhere");
    Some(
        log?.enumerate()
            .map(|(no, line)| assert_eq!(line.expect("read").text, format!("line {no}")))
            .count(),
    )
}

async fn row(store: &Shaky, run: RunId, attempt: AttemptId) -> Option<Log> {
    let key = store.run(run).await.expect("readable").expect("stored").head.key;
    store.log(key, attempt).await.expect("readable")
}

fn is_blob(store: &Shaky, attempt: AttemptId) -> bool {
    store.blobs.open(BlobName::Log(attempt)).expect("readable").is_some()
}

/// A run of one task that has ended with a large log.
async fn one(rig: &Rig) -> (RunId, AttemptId) {
    let run = rig.start(ONE).await;
    rig.hand.wait_for("start a");
    let attempt = end(rig, "a");
    rig.until(run, RunStatus::Success).await;
    rig.hand.wait_for("settle a");
    (run, attempt)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_log_is_moved_and_its_row_says_so() {
    let rig = Rig::new().await;
    let (run, attempt) = one(&rig).await;
    let store = Arc::clone(&rig.store);
    rig.engine.shut_down();
    assert!(matches!(row(&store, run, attempt).await, Some(Log::Blob { bytes }) if bytes > 4096));
    assert!(is_blob(&store, attempt) && !file(&store, attempt).exists());
    assert_eq!(lines(&store, run, attempt).await, Some(LINES));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_cannot_be_moved_stays_in_its_file_and_holds_up_nothing() {
    let rig = Rig::new().await;
    *rig.store.blobs.failing.lock().expect("unpoisoned") = 1;
    let (run, attempt) = one(&rig).await;
    assert_eq!(rig.logs_that_stay(), ["no space left"]);
    let store = Arc::clone(&rig.store);
    rig.engine.shut_down();
    assert!(matches!(row(&store, run, attempt).await, Some(Log::File { .. })));
    assert!(!is_blob(&store, attempt) && file(&store, attempt).exists());
    assert_eq!(lines(&store, run, attempt).await, Some(LINES));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_waits_for_its_log_and_for_no_other() {
    let rig = Rig::new().await;
    let run = rig.start("{a: {run: x}, b: {run: x}, c: {run: x, depends_on: [b]}}").await;
    rig.hand.wait_for("start a");
    rig.hand.wait_for("start b");
    let blobs = Arc::clone(&rig.store.blobs);
    let attempt = {
        let _closed = blobs.gate.lock().expect("unpoisoned");
        let attempt = end(&rig, "a");
        rig.hand.succeed("b");
        rig.hand.wait_for("start c");
        attempt
    };
    rig.hand.wait_for("settle a");
    rig.hand.succeed("c");
    rig.until(run, RunStatus::Success).await;
    assert_eq!(lines(&rig.store, run, attempt).await, Some(LINES));
    rig.engine.shut_down();
}

/// What a crash between the two would leave too: a blob that no row knows, and the file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_is_lost_after_the_log_was_moved_loses_nothing() {
    for fate in [Fate::Lost, Fate::DurableButReportedFailed] {
        let rig = Rig::new().await;
        let run = rig.start(ONE).await;
        rig.hand.wait_for("start a");
        rig.store.next(&[fate]);
        let attempt = end(&rig, "a");
        rig.hand.wait_for("settle a");
        rig.until(run, RunStatus::Success).await;
        assert_eq!(lines(&rig.store, run, attempt).await, Some(LINES), "{fate:?}");
        let store = Arc::clone(&rig.store);
        rig.engine.shut_down();
        assert!(matches!(row(&store, run, attempt).await, Some(Log::Blob { .. })));
        assert!(is_blob(&store, attempt) && !file(&store, attempt).exists());
        assert_eq!(store.blobs.list(None, 9).expect("listed").len(), 1);
    }
}

/// Its row says that it is in a file. Told of once more, it is moved after all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_moves_after_its_row_was_written_is_found() {
    let rig = Rig::new().await;
    let run = rig.start(ONE).await;
    rig.hand.wait_for("start a");
    *rig.store.blobs.failing.lock().expect("unpoisoned") = 1;
    rig.store.next(&[Fate::DurableButReportedFailed]);
    let attempt = end(&rig, "a");
    rig.hand.wait_for("settle a");
    rig.until(run, RunStatus::Success).await;
    let store = Arc::clone(&rig.store);
    rig.engine.shut_down();
    assert!(matches!(row(&store, run, attempt).await, Some(Log::File { .. })));
    assert!(is_blob(&store, attempt) && !file(&store, attempt).exists());
    assert_eq!(lines(&store, run, attempt).await, Some(LINES));
}

fn retention(store: &Shaky) -> Retention {
    Retention { runs: Span(30 * DAY), logs: store.logs() }
}

fn in_days(days: u64) -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().expect("after 1970");
    Timestamp(i64::try_from(since.as_micros()).expect("before 294246")) + Span(days * DAY)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgotten_run_takes_its_logs_along_wherever_they_are() {
    let rig = Rig::new().await;
    let (_, moved) = one(&rig).await;
    *rig.store.blobs.failing.lock().expect("unpoisoned") = 1;
    let (_, unmoved) = one(&rig).await;
    let retention = retention(&rig.store);
    assert!(is_blob(&rig.store, moved) && file(&rig.store, unmoved).exists());
    let forget = retention.forget(&rig.engine, &*rig.store, in_days(29));
    assert_eq!(forget.await.expect("done"), 0);
    assert!(is_blob(&rig.store, moved) && file(&rig.store, unmoved).exists());
    let forget = retention.forget(&rig.engine, &*rig.store, in_days(31));
    assert_eq!(forget.await.expect("done"), 2);
    assert!(!is_blob(&rig.store, moved) && !file(&rig.store, unmoved).exists());
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_opened_again_just_before_it_is_forgotten_keeps_its_logs() {
    let rig = Rig::new().await;
    let (run, attempt) = one(&rig).await;
    rig.store.opens_again.store(true, std::sync::atomic::Ordering::Relaxed);
    let retention = retention(&rig.store);
    retention.forget(&rig.engine, &*rig.store, in_days(31)).await.expect("done");
    assert_eq!(lines(&rig.store, run, attempt).await, Some(LINES));
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_that_no_row_knows_are_swept_when_they_are_old() {
    let rig = Rig::new().await;
    let (run, known) = one(&rig).await;
    let stray = AttemptId::from_bytes([7; 16]);
    rig.store.blobs.put(BlobName::Log(stray), &mut &b"x"[..]).expect("put");
    let sweep = async |retention: &Retention, days| {
        retention.sweep(&*rig.store, in_days(days)).await.expect("done")
    };
    let retention = retention(&rig.store);
    assert_eq!(sweep(&retention, 29).await, 0);
    assert!(is_blob(&rig.store, stray));
    let hasty = Retention { runs: Span::ZERO, ..retention.clone() };
    assert_eq!(sweep(&hasty, 0).await, 0, "its row may be on its way");
    assert!(is_blob(&rig.store, stray));
    assert_eq!(sweep(&retention, 31).await, 1);
    assert!(!is_blob(&rig.store, stray));
    assert_eq!(lines(&rig.store, run, known).await, Some(LINES), "what a row knows stays");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_given_up_by_force_can_still_be_read() {
    let rig = Rig::new().await;
    let run = rig.start(ONE).await;
    rig.hand.wait_for("start a");
    rig.command(run, Verb::ForceCancel).await.expect("cancelled");
    rig.hand.wait_for("stop a");
    let attempt = end(&rig, "a");
    rig.hand.wait_for("settle a");
    let store = Arc::clone(&rig.store);
    rig.engine.shut_down();
    assert_eq!(row(&store, run, attempt).await, None);
    assert_eq!(lines(&store, run, attempt).await, Some(LINES));
}
