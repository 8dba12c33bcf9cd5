//! Kills that are not confirmed in time.

use super::stage::{Stage, check_said};
use crate::view::shapes::run_view;

/// Plays each script after the one before; a run says it needs somebody exactly after those that
/// end with an exclamation mark.
fn check_needs(sketch: &str, scripts: &[&str]) {
    let mut stage = Stage::new(sketch);
    for script in scripts {
        stage.play(script.trim_end_matches('!'));
        let (head, progress) = stage.stored.as_ref().expect("it was accepted");
        let needs = run_view(head, progress).attention.is_some();
        assert_eq!(needs, script.ends_with('!'), "after {script:?} of {scripts:?}");
    }
}

#[test]
fn a_run_needs_somebody_from_the_fifth_minute_until_the_work_is_gone() {
    check_needs("a timeout=7200", &["a start; cancel; wait 299", "wait 1!", "wait 60!", "a gone"]);
    check_needs("a timeout=10", &["a start; wait 10; wait 299", "wait 1!", "a gone"]);
    check_needs("a", &["a start; pause a; wait 300!", "a gone", "resume a; wait 600"]);
    let landing = ["a ok; a start; cancel; wait 299", "wait 1!", "a gone"];
    check_needs("a final=main final_timeout=7200", &landing);
    check_needs("a fan=2", &["a/0 start; a/1 start; cancel; wait 300!", "a/0 gone!", "a/1 gone"]);
}

#[test]
fn the_last_one_that_is_late_counts_and_no_other() {
    let sketch = "a timeout=7200\nb timeout=7200";
    let asked = "a start; b start; pause a; wait 200; cancel";
    check_needs(sketch, &[asked, "wait 100!", "a gone", "wait 199", "wait 1!", "b gone"]);
    check_needs(sketch, &[asked, "wait 100!", "b gone!", "a gone"]);
}

#[test]
fn it_is_told_once_for_each_and_again_in_another_life() {
    let stopped = "start a; stop a cancel; unconfirmed a";
    check_said("a timeout=7200", "a start; cancel; wait 300; wait 300", stopped);
    check_said("a timeout=7200", "cancel; wait 300; a start; wait 1", stopped);
    let again = format!("{stopped}; reattach a; unconfirmed a; stop a cancel");
    check_said("a timeout=7200", "a start; cancel; wait 300; crash; wait 1; a alive", &again);
}

#[test]
fn another_life_counts_from_the_first_order() {
    check_needs("a timeout=7200", &["a start; cancel; wait 299; crash; a alive", "wait 1!"]);
    let late = ["a start; cancel; wait 299; crash", "wait 600!", "crash!", "a unknown"];
    check_needs("a timeout=7200", &late);
}

#[test]
fn what_is_given_up_needs_nobody() {
    check_needs("a timeout=7200", &["a start; cancel; wait 300!", "force"]);
    check_needs("a timeout=7200\nb", &["a start; cancel a; wait 300!", "force a"]);
}
