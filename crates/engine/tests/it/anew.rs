//! Runs that run another one anew: what they take over is theirs, whatever becomes of the former.

use crate::by_hand::ended;
use crate::rig::{Rig, trigger};
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::kernel::row::{AttemptEnd, RunStatus};
use mainspring_core::output::Output;
use mainspring_core::plan::dag::kept::Pinned;
use mainspring_core::spec::{Context, parse};
use mainspring_core::work::{ArtifactOut, Outcome};
use mainspring_core::world::input::{Input, Reply, Trigger};
use mainspring_engine::{NotDone, Rerun};
use mainspring_store::{Blobs as _, Store as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const TASKS: &str = "{a: {run: x, artifacts: {out: [f]}}, \
                      g: {run: x, parallel: 1, artifacts: {out: [h]}}, \
                      b: {run: x, depends_on: [a, g], artifacts: {in: [a/f, g/h]}}}";

/// Ends a task well, with a file and a large output.
fn leave(rig: &Rig, task: &str, path: &str, text: &str) {
    rig.hand.wait_for(&format!("start {task}"));
    let large = Json::parse(&format!("\"{}\"", text.repeat(300_000))).expect("JSON");
    let mut end = ended(Outcome::Success(Some(large.into())), None);
    let file = rig.store.logs().folder.join(format!("left-{path}"));
    std::fs::write(&file, text).expect("written");
    let (path, file) = (path.to_owned(), file.to_str().expect("UTF-8").to_owned());
    end.artifacts.push(ArtifactOut { path, file, bytes: text.len() as u64, executable: false });
    rig.hand.end_with(task, end);
}

async fn rerun(rig: &Rig, run: RunId, tasks: &str, from: &str) -> Result<RunId, NotDone> {
    let text = format!("name: w\ntasks: {tasks}\n");
    let definition = Arc::new(parse(&text, &Context::STORED).expect("good").definition);
    let former = rig.store.outline(run).await.expect("readable").expect("stored");
    let from = definition.task_no(from);
    let was = Arc::clone(&definition);
    let rerun = Rerun { former, was, definition, pinned: Pinned::Same, from, added: Vec::new() };
    let again = rig.engine.take_over(rerun).await?;
    let Input::Trigger(trigger) = trigger() else { panic!("a trigger") };
    let trigger = Trigger { again: Some(Box::new(again)), ..trigger };
    match rig.engine.submit(Input::Trigger(trigger)).await? {
        Reply::Accepted { run } => Ok(run),
        other => panic!("not a run: {other:?}"),
    }
}

/// What was brought to a task that starts now.
fn brought(rig: &Rig, task: &str) -> Vec<String> {
    rig.hand.wait_for(&format!("start {task}"));
    let read = |file: &str| std::fs::read_to_string(file).expect("there");
    rig.hand.brought(task).into_iter().map(|it| read(&it.source)).collect()
}

async fn first(rig: &Rig) -> RunId {
    let run = rig.start(TASKS).await;
    leave(rig, "a", "f", "1");
    leave(rig, "g", "h", "2");
    assert_eq!(brought(rig, "b"), ["1", "2"]);
    rig.hand.succeed("b");
    rig.until(run, RunStatus::Success).await;
    run
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_over_outlives_the_former_run() {
    let rig = Rig::new().await;
    let mut run = first(&rig).await;
    // A copy of a copy is as good as the first.
    for _ in 0..2 {
        let new = rerun(&rig, run, TASKS, "b").await.expect("over");
        rig.store.blobs.remove_contents(run, usize::MAX).expect("removed");
        assert_eq!(brought(&rig, "b"), ["1", "2"]);
        rig.hand.succeed("b");
        rig.until(new, RunStatus::Success).await;
        let stored = rig.store.outline(new).await.expect("readable").expect("stored");
        assert_eq!(stored.head.retry_of, Some(run));
        for row in &stored.tasks[..2] {
            let Some(Output::Blob(blob)) = &row.output else { panic!("{row:?} is small") };
            let name = mainspring_store::BlobName::Content(new, blob.hash);
            assert!(rig.store.blobs.open(name).expect("readable").is_some());
        }
        let end = stored.tasks[0].attempt.as_ref().and_then(|attempt| attempt.end.clone());
        assert_eq!(end, Some(AttemptEnd::Copied));
        run = new;
    }
    assert_eq!(rig.hand.starts_of_each_attempt().len(), 5, "`a` and `g` ran once");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_lost_is_made_again() {
    let rig = Rig::new().await;
    let run = first(&rig).await;
    rig.store.blobs.remove_contents(run, usize::MAX).expect("removed");
    let new = rerun(&rig, run, TASKS, "b").await.expect("over");
    leave(&rig, "a", "f", "3");
    leave(&rig, "g", "h", "4");
    assert_eq!(brought(&rig, "b"), ["3", "4"]);
    rig.hand.succeed("b");
    rig.until(new, RunStatus::Success).await;
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blob_store_that_is_away_lets_nothing_begin() {
    let rig = Rig::new().await;
    let run = first(&rig).await;
    rig.store.blobs.unreadable.store(true, Ordering::Relaxed);
    let refused = rerun(&rig, run, TASKS, "b").await.expect_err("nothing can be copied");
    assert!(matches!(refused, NotDone::Unreadable(_)), "{refused:?}");
    rig.store.blobs.unreadable.store(false, Ordering::Relaxed);
    let new = rerun(&rig, run, TASKS, "b").await.expect("over");
    assert_eq!(brought(&rig, "b"), ["1", "2"]);
    rig.hand.succeed("b");
    rig.until(new, RunStatus::Success).await;
    rig.engine.shut_down();
}
