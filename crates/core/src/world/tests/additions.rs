//! Tasks that are added to a run while it lives.

use super::stage::Stage;
use crate::kernel::row::RunStatus;
use crate::sketch::sketch;
use crate::world::batch::Change;
use crate::world::input::{Addition, Order, Refusal, Reply};
use std::sync::Arc;

/// The order that adds these lines to what is on the stage.
fn addition(stage: &Stage, base: &str, text: &str) -> Order {
    let definition = Arc::new(sketch(&format!("{base}\n{text}")));
    let after = stage.stored.as_ref().expect("stored").1.additions;
    Order::Add(Box::new(Addition { text: text.into(), definition, after }))
}

/// Adds them; the stage goes by the new definition from then on.
fn add(stage: &mut Stage, base: &str, text: &str) -> Result<Reply, Refusal> {
    let order = addition(stage, base, text);
    let Order::Add(addition) = &order else { panic!("an addition") };
    stage.definition = Arc::clone(&addition.definition);
    stage.rows.grow(stage.definition.tasks.len());
    stage.order(order)
}

#[track_caller]
fn check(base: &str, script: &str, text: &str, expect: &str) {
    let mut stage = Stage::new(base);
    stage.play(script);
    add(&mut stage, base, text).expect("the run lives");
    assert_eq!(stage.shown(), expect);
}

#[test]
fn what_is_added_runs_when_what_it_stands_on_allows_it() {
    check("a\nb", "", "c\nd: c", "running: a=dispatched b=dispatched c=dispatched d=pending");
    check("a\nb", "a ok", "c: a", "running: a=success b=dispatched c=dispatched");
    check(
        "a\nb",
        "a fail",
        "c: a\nd finally: a",
        "running: a=failed b=dispatched c=blocked d=dispatched",
    );
    check("a\nb", "a ok", "c: a/failed", "running: a=success b=dispatched c=skipped");
}

#[test]
fn a_settled_output_that_memory_has_let_go_of_is_read_again() {
    let large = format!("ok=\"{}\"", "x".repeat(1_000));
    let mut stage = Stage::new("a\nb");
    stage.play(&format!("a {large}"));
    add(&mut stage, "a\nb", "c: a").expect("the run lives");
    let told = stage.told[&crate::ids::TaskRef::plain(crate::ids::TaskNo(2))].to_value();
    assert_eq!(told["a"].as_str().map(str::len), Some(1_000));
}

#[test]
fn the_run_ends_with_what_was_added() {
    let mut stage = Stage::new("a");
    add(&mut stage, "a", "b: a\nc fan=2: b").expect("the run lives");
    stage.play("a ok; b ok; c/0 ok; c/1 fail");
    assert_eq!(stage.shown(), "failed: a=success b=success c=failed");
    let (_, progress) = stage.stored.clone().expect("stored");
    assert_eq!((progress.counts.total, progress.additions), (3, 1));
    stage.play("retry; c/1 ok");
    assert_eq!(stage.shown(), "success: a=success b=success c=success");
}

#[test]
fn a_crash_forgets_nothing_of_it() {
    let mut stage = Stage::new("a");
    add(&mut stage, "a", "b: a").expect("the run lives");
    add(&mut stage, "a\nb: a", "c: b").expect("the run lives");
    stage.play("a ok; crash; b alive; b ok; crash; c alive; c ok");
    assert_eq!(stage.shown(), "success: a=success b=success c=success");
    let added = stage.changes.iter().filter_map(|change| match change {
        Change::NewAddition(_, row) => Some((row.number, row.by.as_str())),
        _ => None,
    });
    assert_eq!(added.collect::<Vec<_>>(), [(1, "ann"), (2, "ann")]);
}

#[test]
fn a_paused_run_takes_them_and_rests() {
    let mut stage = Stage::new("a");
    stage.play("pause");
    add(&mut stage, "a", "b").expect("it lives");
    assert_eq!(stage.shown(), "paused: a=dispatched b=ready");
    stage.play("resume");
    assert_eq!(stage.shown(), "running: a=dispatched b=dispatched");
}

#[test]
fn a_run_that_is_over_or_being_cancelled_refuses_them() {
    let mut stage = Stage::new("a");
    stage.play("cancel");
    let order = addition(&stage, "a", "b");
    assert_eq!(stage.order(order.clone()), Err(Refusal::RunIs(RunStatus::Cancelling)));
    stage.play("a gone");
    assert_eq!(stage.order(order), Err(Refusal::RunIs(RunStatus::Cancelled)));
    assert_eq!(stage.shown(), "cancelled: a=cancelled", "nothing has changed");
    let mut stage = Stage::new("a");
    let early = addition(&stage, "a", "c");
    add(&mut stage, "a", "b").expect("it lives");
    assert_eq!(stage.order(early), Err(Refusal::AddedMeanwhile));
}

#[test]
fn an_end_that_is_not_taken_yet_is_put_off() {
    // Decided, and in no batch: the order of the two decides.
    let mut stage = Stage::new("a");
    let ticket = *stage.live.values().next().expect("live");
    let what = super::stage::report("ok");
    let report = crate::work::Report { ticket, what };
    let input = crate::world::input::Input::Report(report);
    stage.world.apply(stage.now, input, Default::default()).expect("live");
    add(&mut stage, "a", "b: a").expect("it has not ended");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
}

#[test]
fn outputs_of_the_run_are_worked_out_at_its_end() {
    let base = "@outputs=a\na";
    let mut stage = Stage::new(base);
    stage.play("silence; a ok=1");
    add(&mut stage, base, "b: a").expect("its output is being worked out");
    stage.play("answers; b ok");
    assert_eq!(stage.shown(), "success: a=success b=success");
}
