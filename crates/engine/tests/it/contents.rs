//! What runs put into the blob store: it goes with them.

use crate::rig::Rig;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::time::{Span, Timestamp};
use mainspring_engine::retention::Retention;
use mainspring_store::{BlobName, Blobs as _};
use mainspring_testkit::shaky::Shaky;
use std::sync::atomic::Ordering;

const DAY: u64 = 86_400_000_000;
/// More than are removed at once.
const MANY: u8 = 250;

fn retention(store: &Shaky) -> Retention {
    Retention { runs: Span(30 * DAY), logs: store.logs() }
}

fn in_days(days: u64) -> Timestamp {
    let since = std::time::UNIX_EPOCH.elapsed().expect("after 1970");
    Timestamp(i64::try_from(since.as_micros()).expect("before 294246")) + Span(days * DAY)
}

fn put(store: &Shaky, run: RunId, contents: u8) {
    for number in 0..contents {
        store.blobs.put(BlobName::Content(run, [number; 32]), &mut &b"x"[..]).expect("put");
    }
}

fn count(store: &Shaky, run: RunId) -> usize {
    let all = store.blobs.list(None, usize::MAX).expect("listed");
    let is_its = |name: BlobName| matches!(name, BlobName::Content(of, _) if of == run);
    all.iter().filter(|entry| is_its(entry.name)).count()
}

/// A run that has ended, with contents.
async fn over(rig: &Rig, contents: u8) -> RunId {
    let run = rig.start("{a: {run: x}}").await;
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.until(run, RunStatus::Success).await;
    put(&rig.store, run, contents);
    run
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forgotten_run_takes_all_that_it_put_out_along() {
    let rig = Rig::new().await;
    let run = over(&rig, MANY).await;
    let live = rig.start("{a: {run: x}}").await;
    put(&rig.store, live, 3);
    let retention = retention(&rig.store);
    let forget = retention.forget(&rig.engine, &*rig.store, in_days(31));
    assert_eq!(forget.await.expect("done"), 1);
    assert_eq!((count(&rig.store, run), count(&rig.store, live)), (0, 3));
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_opened_again_just_before_it_is_forgotten_keeps_what_it_put_out() {
    let rig = Rig::new().await;
    let run = over(&rig, 3).await;
    rig.store.opens_again.store(true, Ordering::Relaxed);
    let retention = retention(&rig.store);
    retention.forget(&rig.engine, &*rig.store, in_days(31)).await.expect("done");
    assert_eq!(count(&rig.store, run), 3);
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contents_of_runs_that_are_gone_are_swept_when_they_are_old() {
    let rig = Rig::new().await;
    let run = over(&rig, 3).await;
    let gone = RunId::from_bytes([7; 16]);
    put(&rig.store, gone, 2);
    let retention = retention(&rig.store);
    for (days, swept, left) in [(29, 0, 2), (31, 2, 0)] {
        let sweep = retention.sweep(&*rig.store, in_days(days)).await;
        assert_eq!(sweep.expect("done"), swept);
        assert_eq!((count(&rig.store, run), count(&rig.store, gone)), (3, left));
    }
    rig.engine.shut_down();
}
