//! A planned end.

use super::stage::Stage;

#[test]
fn nothing_starts_any_more_and_what_ends_is_kept() {
    let mut stage = Stage::new("a\nb: a");
    stage.world.start_nothing_more();
    stage.play("a ok");
    assert_eq!(stage.shown(), "running: a=success b=ready");
    stage.play("crash");
    assert_eq!(stage.shown(), "running: a=success b=dispatched");
}

#[test]
fn what_is_stopped_starts_again_in_the_next_life_uncounted() {
    let mut stage = Stage::new("a");
    stage.play("a start");
    stage.world.start_nothing_more();
    stage.world.stop_all(stage.now);
    stage.settle();
    stage.play("a gone");
    assert_eq!(stage.shown(), "running: a=ready");
    let row = stage.rows.iter().next().expect("a row");
    assert_eq!((row.tries, row.losses, row.attempts), (0, 0, 1));
    stage.play("crash");
    assert_eq!(stage.shown(), "running: a=dispatched");
    assert_eq!(stage.said.join("; "), "start a; stop a pause; start a");
}

/// One that succeeds while it is being stopped has succeeded.
#[test]
fn an_outcome_that_was_reached_first_stands() {
    let mut stage = Stage::new("a");
    stage.play("a start");
    stage.world.stop_all(stage.now);
    stage.settle();
    stage.play("a ok");
    assert_eq!(stage.shown(), "success: a=success");
}
