//! A run once more, as another run: what it begins with, and what runs.

use super::stage::Stage;
use crate::ids::{RunId, TaskNo};
use crate::json::Json;
use crate::kernel::row::{AttemptEnd, RunStatus, TaskRow};
use crate::kernel::rows::Rows;
use crate::plan::dag::graph::Graph;
use crate::plan::dag::kept::{Beginning, Former, Pinned, kept};
use crate::plan::dag::plan::Shape;
use crate::sketch::sketch;
use crate::spec::definition::Definition;
use crate::world::input::{Again, Input, Order, Refusal, Reply, Trigger, Verb};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rows that a run begins with when it runs what is on the stage anew.
fn kept_rows(stage: &Stage, new: &Definition, from: &str, pinned: Pinned) -> Vec<TaskRow> {
    let from = new.task_no(from).expect("a task");
    let (was, graph) = (Graph::new(&stage.definition), Graph::new(new));
    let shape = Shape { definition: &stage.definition, graph: &was };
    let former = Former { shape, rows: &stage.rows };
    let begin = Beginning { from, pinned, lost: &std::collections::BTreeSet::new() };
    let kept = kept(former, Shape { definition: new, graph: &graph }, begin);
    kept.into_iter().map(|kept| kept.row).collect()
}

fn again(stage: &Stage, kept: Vec<TaskRow>) -> Input {
    let (head, progress) = stage.stored.clone().expect("a run is stored");
    let again = Again {
        of: head.id,
        stamp: progress.stamp,
        id: RunId::from_bytes([4; 16]),
        kept,
        added: None,
    };
    Input::Trigger(Trigger {
        workflow: head.workflow,
        version: Some(head.version),
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority: 0,
        triggered_by: "test".into(),
        workdir: "/".into(),
        group: None,
        again: Some(Box::new(again)),
    })
}

/// The stage with the new run on it.
fn rerun(stage: &mut Stage, from: Option<&str>) -> Result<Reply, Refusal> {
    let definition = Arc::clone(&stage.definition);
    let kept = from.map(|from| kept_rows(stage, &definition, from, Pinned::Same));
    let input = again(stage, kept.unwrap_or_default());
    let before = (stage.rows.clone(), stage.instances.clone(), stage.said.clone());
    stage.rows = Rows::new(definition.tasks.len());
    stage.instances.clear();
    stage.said.clear();
    let former = stage.run;
    stage.run = RunId::from_bytes([4; 16]);
    let answer = stage.apply(input);
    if answer.is_err() {
        (stage.rows, stage.instances, stage.said) = before;
        stage.run = former;
    }
    answer
}

/// A sketch, a script to its end, where to begin, what is shown at once and what was started.
#[track_caller]
fn check(text: &str, script: &str, from: Option<&str>, (shown, said): (&str, &str)) {
    let mut stage = Stage::new(text);
    stage.play(script);
    rerun(&mut stage, from).expect("the run is over");
    assert_eq!(stage.shown(), shown, "from {from:?}");
    assert_eq!(stage.said.join("; "), said, "from {from:?}");
}

#[test]
fn without_a_task_everything_runs_again() {
    check(
        "a\nb: a\nc",
        "a ok; b ok; c ok",
        None,
        ("running: a=dispatched b=pending c=dispatched", "start a; start c"),
    );
}

#[test]
fn what_is_not_below_the_task_is_copied() {
    check(
        "a\nb: a\nc: b\nd: a",
        "a ok=1; b ok; d ok; c ok",
        Some("b"),
        ("running: a=success b=dispatched c=pending d=success", "start b"),
    );
}

#[test]
fn what_had_not_succeeded_runs_anew_with_what_is_below_it() {
    check(
        "a\nb: a\nx\ny finally: x",
        "a ok; x fail; y ok; b ok",
        Some("b"),
        ("running: a=success b=dispatched x=dispatched y=pending", "start b; start x"),
    );
}

#[test]
fn a_skip_is_kept_and_what_stands_on_it() {
    let mut stage = Stage::new("a\ns if: a\nu: s\nf finally: u\nz: f");
    stage.play("silence; a ok");
    let question = stage.questions.remove(0);
    let answer = crate::evaluate::Answer::Skip;
    let crate::evaluate::Question { run, number, .. } = question;
    let given = crate::world::input::Answered { run, number, answer };
    stage.apply(Input::Answer(given)).expect("asked");
    stage.play("answers; f ok; z ok");
    assert_eq!(stage.shown(), "success: a=success s=skipped u=skipped f=success z=success");
    rerun(&mut stage, Some("z")).expect("the run is over");
    assert_eq!(stage.shown(), "running: a=success s=skipped u=skipped f=success z=dispatched");
    assert_eq!(stage.said, ["start z"]);
}

#[test]
fn a_task_below_a_skip_has_nothing_to_run() {
    let mut stage = Stage::new("a\nb: a/failed\nc: b");
    stage.play("a ok");
    rerun(&mut stage, Some("c")).expect("the run is over");
    assert_eq!(stage.shown(), "success: a=success b=skipped c=skipped");
    assert_eq!(stage.said, ["end"]);
}

#[test]
fn a_group_is_copied_with_its_list_and_without_instances() {
    let mut stage = Stage::new("g fan=2\nh each=g: g\nz: h");
    stage.play("g/0 ok=1; g/1 ok=2; h/0 ok; h/1 ok; z ok");
    rerun(&mut stage, Some("h")).expect("the run is over");
    assert_eq!(stage.output("g").as_deref(), Some("[1,2]"));
    assert!(stage.group("g").copied);
    assert_eq!(stage.facts("g"), "", "its instances are in the other run");
    assert_eq!(stage.said, ["start h/0", "start h/1"]);
    assert_eq!(
        stage.told[&crate::ids::TaskRef { no: TaskNo(1), index: Some(1) }].to_value()["item"],
        2
    );
    stage.play("crash; h/0 alive; h/1 alive; h/0 ok; h/1 ok; z ok");
    assert_eq!(stage.shown(), "success: g=success h=success z=success");
}

#[test]
fn a_copy_is_told_as_one_and_goes_to_those_that_read_it() {
    let mut stage = Stage::new("a\nb: a");
    stage.play("a ok={\"n\":7}; b ok");
    rerun(&mut stage, Some("b")).expect("the run is over");
    let row = stage.rows.get(TaskNo(0)).expect("a row");
    let attempt = row.attempt.as_ref().expect("the one that made it");
    assert_eq!((attempt.number, &attempt.end), (1, &Some(AttemptEnd::Copied)));
    let told = stage.told[&crate::ids::TaskRef::plain(TaskNo(1))].to_value();
    assert_eq!(told, serde_json::json!({ "a": { "n": 7 } }));
    let (head, progress) = stage.stored.clone().expect("stored");
    assert!(head.retry_of.is_some_and(|former| former != head.id));
    assert_eq!(progress.counts.success, 1);
    stage.play("b fail; retry; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
    assert_eq!(stage.history, ["b#1"], "nothing of the former run is in it");
}

#[test]
fn a_run_that_is_not_over_is_refused() {
    let mut stage = Stage::new("a\nb: a");
    stage.play("a fail");
    let kept = kept_rows(&stage, &Arc::clone(&stage.definition), "b", Pinned::Same);
    let early = again(&stage, kept);
    stage.play("retry");
    let refusal = stage.world.apply(stage.now, early.clone(), Default::default());
    assert_eq!(refusal, Err(Refusal::RunIs(RunStatus::Running)));
    // Over again before what was read of it came to be used.
    let end = crate::world::tests::stage::report("fail");
    let ticket = *stage.live.values().next().expect("live");
    let report = crate::work::Report { ticket, what: end };
    stage.world.apply(stage.now, Input::Report(report), Default::default()).expect("live");
    stage.world.take_batch(stage.now);
    let refusal = stage.world.apply(stage.now, early, Default::default());
    assert_eq!(refusal, Err(Refusal::Outdated));
}

#[test]
fn another_version_is_met_by_name() {
    let was = "a\nb: a\ng fan=2\nn noop\ns: b";
    let check = |new: &str, from: &str, expected: &str| {
        let mut stage = Stage::new(was);
        stage.play("a ok; g/0 ok; g/1 ok; b ok; s ok");
        let new = sketch(new);
        let rows = kept_rows(&stage, &new, from, Pinned::Other);
        let names: Vec<&str> = rows.iter().map(|row| &*new.task(row.task.no).name).collect();
        assert_eq!(names.join(" "), expected, "{new:?}");
    };
    check("x\ns: b\nb: a\na".lines().rev().collect::<Vec<_>>().join("\n").as_str(), "s", "a b");
    // New tasks run, and what is below them; what is of another kind too.
    check("x\na: x\nb: a\ng fan=3\nn noop\ns", "s", "g n");
    check("a noop\nb: a\ng\nn\ns", "s", "");
    // What waits for something else now has not waited for it.
    check("a\nb: a/failed\ns", "s", "a");
}

#[test]
fn what_is_lost_runs_again() {
    let mut stage = Stage::new("a\nb: a\nc: b\nd");
    stage.play("a ok; d ok; b ok; c ok");
    let graph = Graph::new(&stage.definition);
    let shape = Shape { definition: &stage.definition, graph: &graph };
    let lost = [TaskNo(0)].into();
    let begin = Beginning { from: TaskNo(2), pinned: Pinned::Same, lost: &lost };
    let kept = kept(Former { shape, rows: &stage.rows }, shape, begin);
    assert_eq!(kept.iter().map(|kept| kept.row.task.no.0).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_cancel_of_the_new_run_leaves_what_was_copied() {
    let mut stage = Stage::new("a\nb: a");
    stage.play("a ok; b ok");
    rerun(&mut stage, Some("b")).expect("the run is over");
    stage.order(Order::Run(Verb::Cancel)).expect("running");
    stage.play("b gone");
    assert_eq!(stage.shown(), "cancelled: a=success b=cancelled");
}
