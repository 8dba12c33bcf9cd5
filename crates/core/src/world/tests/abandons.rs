//! Cancel by force.

use super::stage::{Stage, check, check_said};
use crate::kernel::row::AttemptEnd;
use crate::world::batch::Effect;
use crate::world::input::{Command, Input, Order, Prefetched, Verb};

#[test]
fn a_run_is_cancelled_although_its_work_does_not_die() {
    check("a\nb: a", "a start; cancel; force", "cancelled: a=cancelled b=cancelled");
    check("a\nb: a", "a start; force", "cancelled: a=cancelled b=cancelled");
    check("a", "a start; cancel; crash; force", "cancelled: a=cancelled");
}

#[test]
fn one_task_is_cancelled_although_its_work_does_not_die() {
    check("a\nb", "a start; force a", "running: a=cancelled b=dispatched");
    check("a\nb", "a start; cancel a; force a", "running: a=cancelled b=dispatched");
    check("a\nb", "a start; b start; cancel; force a", "cancelling: a=cancelled b=running");
    check("a\nb: a", "force b; a ok", "cancelled: a=success b=cancelled");
}

/// Whoever holds it is not told to forget it, and goes on trying; its word comes too late.
#[test]
fn what_is_abandoned_is_stopped_and_not_forgotten() {
    check_said("a", "a start; force; a gone", "start a; stop a cancel; end; refused stale");
    let again = "start a; stop a cancel; reattach a; stop a cancel; end";
    check_said("a", "a start; cancel; crash; force", again);
    check_said("a", "a start; cancel a; crash; force a", again);
    // What was being stopped for another reason is told once more, too.
    let fast = "start a/0; start a/1; stop a/1 cancel; reattach a/1; stop a/1 cancel; end";
    check_said("a fan=2 fast", "a/0 fail; crash; force", fast);
    check_said("a fan=2 fast", "a/0 fail; crash; force a", fast);
    let mut stage = Stage::new("a");
    let order = Order::Run(Verb::ForceCancel);
    let force = Input::Command(Command { run: stage.run, order, by: "ann".to_owned() });
    stage.world.apply(stage.now, force, Prefetched::default()).expect("applied");
    let effects = stage.world.take_batch(stage.now).effects;
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Stop(..))));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Settle(..))));
}

#[test]
fn the_record_says_so() {
    let mut stage = Stage::new("a\nb");
    stage.play("a start; force a");
    let row = stage.rows.iter().next().expect("a has a row");
    let end = row.attempt.as_ref().and_then(|attempt| attempt.end.clone());
    assert_eq!(end, Some(AttemptEnd::Abandoned));
}

#[test]
fn there_must_be_something_to_abandon() {
    check_said("a\nb", "a ok; force a", "start a; start b; refused task_settled");
    check_said("a", "a ok; force", "start a; end; refused run_state");
}
