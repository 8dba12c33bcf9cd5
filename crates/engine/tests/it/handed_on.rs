//! Files from task to task: whose they are, which of them are taken, and what a cached success
//! brings along.

use crate::by_hand::ended;
use crate::rig::Rig;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::time::Span;
use mainspring_core::work::{ArtifactOut, Outcome};
use mainspring_store::{Blobs as _, Store as _};

/// Ends a task well, with these files.
fn leave(rig: &Rig, task: &str, files: &[(&str, &str)]) {
    rig.hand.wait_for(&format!("start {task}"));
    let mut end = ended(Outcome::Success(Some(Json::empty_object().into())), None);
    for (path, text) in files {
        let file = rig.store.logs().folder.join(format!("left-{task}-{path}"));
        std::fs::write(&file, text).expect("written");
        let (path, file) = ((*path).to_owned(), file.to_str().expect("UTF-8").to_owned());
        let bytes = text.len() as u64;
        end.artifacts.push(ArtifactOut { path, file, bytes, executable: false });
    }
    rig.hand.end_with(task, end);
}

/// What was brought to a task that starts now.
fn brought(rig: &Rig, task: &str) -> Vec<(String, String)> {
    rig.hand.wait_for(&format!("start {task}"));
    let read = |file: &str| std::fs::read_to_string(file).expect("there");
    rig.hand.brought(task).into_iter().map(|it| (it.path, read(&it.source))).collect()
}

fn file(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

async fn error(rig: &Rig, run: RunId) -> String {
    rig.until(run, RunStatus::Failed).await;
    let stored = rig.store.run(run).await.expect("readable").expect("stored");
    stored.progress.error.expect("it says why").message
}

const CACHED: &str = "{a: {run: x, cache: {key: k, ttl: 1h}, artifacts: {out: [f]}}, \
                       b: {run: x, depends_on: [a], artifacts: {in: [a/f]}}}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cached_success_brings_its_files_along() {
    let rig = Rig::new().await;
    rig.start(CACHED).await;
    leave(&rig, "a", &[("f", "made once")]);
    assert_eq!(brought(&rig, "b"), [file("f", "made once")]);
    rig.hand.succeed("b");
    rig.hand.wait_for("settle b");
    let run = rig.start(CACHED).await;
    assert_eq!(brought(&rig, "b"), [file("f", "made once")]);
    rig.hand.succeed("b");
    rig.until(run, RunStatus::Success).await;
    assert_eq!(rig.hand.starts_of_each_attempt().len(), 3, "`a` ran once");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cached_success_that_lacks_a_file_is_none() {
    // Another file is wanted of it now; or those of the first run are gone.
    let other = CACHED.replace("[f]", "[g]").replace("a/f", "a/g");
    for (second, path, forgets) in [(other.as_str(), "g", false), (CACHED, "f", true)] {
        let rig = Rig::new().await;
        let first = rig.start(CACHED).await;
        leave(&rig, "a", &[("f", "made once")]);
        assert_eq!(brought(&rig, "b"), [file("f", "made once")]);
        rig.hand.succeed("b");
        rig.until(first, RunStatus::Success).await;
        if forgets {
            rig.store.blobs.remove_contents(first, usize::MAX).expect("removed");
        }
        let run = rig.start(second).await;
        leave(&rig, "a", &[(path, "made again")]);
        assert_eq!(brought(&rig, "b"), [file(path, "made again")]);
        rig.hand.succeed("b");
        rig.until(run, RunStatus::Success).await;
        rig.engine.shut_down();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cached_success_whose_time_is_up_is_none() {
    let rig = Rig::new().await;
    let task = |ttl: &str| format!("{{a: {{run: x, cache: {{key: k, ttl: {ttl}}}}}}}");
    let first = rig.start(&task("1ms")).await;
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.until(first, RunStatus::Success).await;
    let stored = rig.store.run(first).await.expect("readable").expect("stored");
    let over = stored.progress.finished_at.expect("it is over") + Span::from_ms(1);
    while mainspring_engine::clock::wall() <= over {
        tokio::task::yield_now().await;
    }
    // How long it counts is said when it is made, not when it is asked for.
    let second = rig.start(&task("1h")).await;
    rig.hand.wait_for("start a");
    rig.hand.succeed("a");
    rig.until(second, RunStatus::Success).await;
    assert_eq!(rig.hand.starts_of_each_attempt().len(), 2);
    let third = rig.start(&task("1ms")).await;
    rig.until(third, RunStatus::Success).await;
    assert_eq!(rig.hand.starts_of_each_attempt().len(), 2, "this one counts");
    rig.engine.shut_down();
}

/// The workflow was changed since: what counts is what it asks for now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cached_success_that_puts_out_something_else_is_none() {
    let small = r#"{"n": 1}"#.to_owned();
    let large = format!(r#"{{"n": "{}"}}"#, "x".repeat(100_000));
    for former in [small, large] {
        let rig = Rig::new().await;
        let task = |schema: &str| format!("{{a: {{run: x, cache: {{key: k, ttl: 1h}}{schema}}}}}");
        let put_out = |text: &str| {
            rig.hand.wait_for("start a");
            let output = Json::parse(text).expect("JSON");
            rig.hand.end_with("a", ended(Outcome::Success(Some(output.into())), None));
        };
        let first = rig.start(&task("")).await;
        put_out(&former);
        rig.until(first, RunStatus::Success).await;
        let asks = task(", outputs: {type: object, required: [rows]}");
        let second = rig.start(&asks).await;
        put_out(r#"{"rows": 2}"#);
        rig.until(second, RunStatus::Success).await;
        assert_eq!(rig.hand.starts_of_each_attempt().len(), 2);
        let third = rig.start(&asks).await;
        rig.until(third, RunStatus::Success).await;
        assert_eq!(rig.hand.starts_of_each_attempt().len(), 2, "this one fits");
        rig.engine.shut_down();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_wanted_twice_is_one() {
    let rig = Rig::new().await;
    rig.start(
        "{a: {run: x, artifacts: {out: [f, g]}}, \
         b: {run: x, depends_on: [a], artifacts: {in: [a, a/f]}}}",
    )
    .await;
    leave(&rig, "a", &[("f", "1"), ("g", "2")]);
    assert_eq!(brought(&rig, "b"), [file("f", "1"), file("g", "2")]);
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_files_of_one_name_are_refused_by_the_names_of_both_tasks() {
    let rig = Rig::new().await;
    let run = rig
        .start(
            "{a: {run: x, artifacts: {out: [f]}}, b: {run: x, artifacts: {out: [f]}}, \
             c: {run: x, depends_on: [a, b], artifacts: {in: [a/f, b/f]}}}",
        )
        .await;
    leave(&rig, "a", &[("f", "1")]);
    leave(&rig, "b", &[("f", "2")]);
    let error = error(&rig, run).await;
    assert!(error.contains("'a' and 'b' both left an artifact f:"), "{error}");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_not_there_is_told_with_those_that_are() {
    let rig = Rig::new().await;
    let run = rig
        .start(
            "{a: {run: x, artifacts: {out: [\"${{ 'f' }}\", g]}}, \
             b: {run: x, depends_on: [a], artifacts: {in: [a/h]}}}",
        )
        .await;
    leave(&rig, "a", &[("f", "1"), ("g", "2")]);
    let error = error(&rig, run).await;
    assert!(error.ends_with("there is no artifact a/h: 'a' left f, g"), "{error}");
    rig.engine.shut_down();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finally_takes_the_files_that_are_there() {
    let rig = Rig::new().await;
    rig.start(
        "{a: {run: x, artifacts: {out: [f]}}, b: {run: x, artifacts: {out: [g]}}, \
         c: {run: x, depends_on: [a, b], on_failure: run, artifacts: {in: [a/f, b/g, b]}}}",
    )
    .await;
    leave(&rig, "a", &[("f", "1")]);
    rig.hand.wait_for("start b");
    rig.hand.end("b", Outcome::Failed(TaskError::new(ErrorClass::Exit, "no")));
    assert_eq!(brought(&rig, "c"), [file("f", "1")]);
    rig.engine.shut_down();
}
