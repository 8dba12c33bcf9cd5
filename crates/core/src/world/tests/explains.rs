//! Why things do not go on: every reason, from rows and from how limits stand.

use super::stage::Stage;
use crate::ids::TaskNo;
use crate::kernel::rows::Rows;
use crate::plan::dag::graph::Graph;
use crate::plan::dag::plan::Shape;
use crate::time::Timestamp;
use crate::view::explain::behind::{Place, behind};
use crate::view::explain::reason::Reason;
use crate::view::explain::seen::{Around, Seen};
use crate::view::explain::shapes::{Explained, Explanation};
use crate::view::explain::{Wanted, explain};
use crate::view::tiers::TierView;
use crate::world::input::{Input, Reply, SetRate, SetTier};

/// From what is stored, as anybody can read it.
pub fn explained(stage: &mut Stage, attended: bool, wanted: Wanted) -> Explanation {
    let tiers = tiers(stage);
    let (head, progress) = stage.stored.as_ref().expect("stored");
    let graph = Graph::new(&stage.definition);
    let shape = Shape { definition: &stage.definition, graph: &graph };
    let around = Around { limits: attended.then_some(&*tiers), behind: &[] };
    let rows: &Rows = &stage.rows;
    let seen = Seen { shape, head, progress, rows, around, now: stage.now };
    explain(seen, wanted, |no| {
        let rows = stage.instances.values().filter(|row| row.task.no == no);
        rows.filter(|row| !row.fact.is_settled()).cloned().collect()
    })
}

pub fn tiers(stage: &mut Stage) -> Vec<TierView> {
    match stage.world.apply(stage.now, Input::Tiers, Default::default()) {
        Ok(Reply::Tiers(tiers)) => tiers,
        other => panic!("{other:?}"),
    }
}

pub const ALL: Wanted = Wanted::From(TaskNo(0), 100);

/// One line for each reason; the run's own first.
pub fn lines(told: &Explanation) -> Vec<String> {
    let mut lines: Vec<String> =
        told.reasons.iter().map(|it| format!("the run: {}", it.text)).collect();
    let mut add = |task: &Explained| {
        assert!(!task.reasons.is_empty(), "{} has no reason", task.name);
        let index = task.index.map(|index| format!("[{index}]")).unwrap_or_default();
        let name = format!("{}{index}", task.name);
        for it in &task.reasons {
            lines.push(format!("{name:<12} {:<11} {}", task.status, it.text));
        }
    };
    for task in &told.tasks {
        add(task);
        task.instances.iter().for_each(&mut add);
    }
    lines
}

#[track_caller]
fn check(sketch: &str, script: &str, expect: &[&str]) {
    let mut stage = Stage::new(sketch);
    stage.play(script);
    let told = explained(&mut stage, true, ALL);
    let lines: Vec<String> = lines(&told)
        .iter()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(lines, expect);
}

#[test]
fn what_comes_first_is_named_with_its_state() {
    check(
        "a\nb\nc: a, b/started\nd finally: c",
        "a start",
        &[
            "a running attempt 1 runs for 0s",
            "b dispatched attempt 1 was handed over 0s ago and has not started yet",
            "c pending waits for a to succeed: it is running",
            "c pending waits for b to start: it is dispatched",
            "d pending waits for c to be settled: it is pending",
        ],
    );
}

#[test]
fn a_paused_run_says_by_whom() {
    check(
        "a checkpoint\nb: a\nc: b",
        "a ok; wait 5",
        &[
            "the run: the run is paused by checkpoint a for 5s",
            "b ready the run is paused by checkpoint a for 5s",
            "c pending waits for b to succeed: it is ready",
            "c pending the run is paused by checkpoint a for 5s",
        ],
    );
}

#[test]
fn a_run_that_is_being_cancelled_says_by_whom_and_until_when() {
    check(
        "a\nb: a\nc always=30: b\nd always=9: c",
        "cancel",
        &[
            "the run: the run is being cancelled by ann",
            "a dispatched is being stopped for 0s because of a cancel (run_cancelled), and counts until it is gone",
            "c dispatched attempt 1 was handed over 0s ago and has not started yet",
            "d pending waits for c to be settled: it is dispatched",
        ],
    );
    check(
        "a\nc always=30: a",
        "cancel; a gone; c start; wait 10",
        &[
            "the run: the run is being cancelled by ann",
            "c running attempt 1 runs for 10s",
            "c running its grace is over in 20s",
        ],
    );
}

#[test]
fn what_is_being_worked_out_is_waited_for() {
    let opening =
        "its expressions are being worked out, from outputs in the blob store if they are large";
    check("x\na if: x", "silence; x ok", &[&format!("a ready {opening}")]);
    let list = "the list of what its instances put out is being made";
    check(
        "a fan=1",
        "silence; a/0 ok",
        &["a running of 1 instances 1 success", &format!("a running {list}")],
    );
    check(
        "@outputs=a\na",
        "silence; a ok",
        &["the run: what the run puts out is being worked out"],
    );
}

#[test]
fn without_anybody_at_work_that_is_the_reason() {
    let mut stage = Stage::new("a\nb: a\nc tier=lost");
    stage.play("a start");
    let told = explained(&mut stage, false, ALL);
    let has = |task: &Explained| task.reasons.iter().any(|it| it.reason == Reason::Unattended);
    assert!(told.reasons.iter().any(|it| it.reason == Reason::Unattended));
    assert_eq!(told.tasks.iter().map(has).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn a_pending_run_names_those_that_it_is_behind() {
    let stage = Stage::new("a");
    let (head, _) = stage.stored.as_ref().expect("stored");
    let place = Place::Workflow { limit: 1, active: std::slice::from_ref(head) };
    let found = behind(head, &[place, Place::Workflow { limit: 2, active: &[] }]);
    let [reason] = found.as_slice() else { panic!("{found:?}") };
    let sentence = reason.sentence(Timestamp(0));
    let expect =
        format!("waits until fewer than 1 runs of the workflow 'sketch' are active: {}", head.id);
    assert_eq!(sentence, expect);
}

#[test]
fn pages_have_a_bound_and_say_where_the_next_one_begins() {
    let mut stage = Stage::new("a\nb\nc\nd");
    stage.play("b ok");
    let told = explained(&mut stage, true, Wanted::From(TaskNo(0), 2));
    let names: Vec<&str> = told.tasks.iter().map(|task| &*task.name).collect();
    assert_eq!((names, told.next.as_deref(), told.unsettled), (vec!["a", "c"], Some("d"), 3));
    let told = explained(&mut stage, true, Wanted::From(TaskNo(3), 2));
    assert_eq!((told.tasks.len(), told.next), (1, None));
    let told = explained(&mut stage, true, Wanted::Only(TaskNo(2)));
    assert_eq!((&*told.tasks[0].name, told.tasks.len()), ("c", 1));
    assert!(explained(&mut stage, true, Wanted::Only(TaskNo(1))).tasks.is_empty(), "it is settled");
}

#[test]
fn a_limit_of_nothing_and_one_that_nobody_has_say_so() {
    let mut stage = Stage::new("a tier=lost\nb: a");
    let told = lines(&explained(&mut stage, true, ALL));
    assert!(told[0].ends_with("lost lets nothing start: its limit is 0"), "{told:?}");
    let set = SetTier { name: "lost".into(), limit: Some(1), rate: SetRate::Off };
    stage.apply(Input::SetTier(set)).expect("set");
    let told = explained(&mut stage, true, ALL);
    assert!(matches!(told.tasks[0].reasons[0].reason, Reason::Dispatched { .. }));
}

/// What is said of a kill that takes so long.
#[track_caller]
#[test]
fn a_fan_out_that_is_held_as_a_whole_says_by_whom() {
    let mut stage = Stage::new("a fan=2");
    stage.play("pause a; a/0 gone; a/1 gone");
    let told = lines(&explained(&mut stage, true, ALL));
    assert!(told.iter().any(|line| line.starts_with("a ") && line.contains("held by")), "{told:?}");
}

fn check_kill(sketch: &str, script: &str, expect: &str) {
    let mut stage = Stage::new(sketch);
    stage.play(script);
    let told = lines(&explained(&mut stage, true, ALL));
    let line = told.iter().find_map(|line| line.split_once("is being stopped "));
    assert_eq!(line.map(|(_, rest)| rest), Some(expect), "{told:?}");
}

#[test]
fn a_kill_that_is_not_confirmed_in_time_says_how_to_give_the_work_up() {
    let gone = "and counts until it is gone";
    let late = "and is not known to be gone: `cancel --force` gives it up as abandoned";
    let timeout = "because of its timeout";
    check_kill(
        "a timeout=30",
        "a start; wait 30; wait 299",
        &format!("for 4m 59s {timeout}, {gone}"),
    );
    check_kill("a timeout=30", "a start; wait 30; wait 300", &format!("for 5m {timeout}, {late}"));
    let landing = "a final=main final_timeout=10";
    check_kill(landing, "a ok; a start; wait 10; wait 300", &format!("for 5m {timeout}, {late}"));
    let unstarted = format!("for 5m because of its start_timeout, {late}");
    check_kill("a", "wait 300; wait 300", &unstarted);
    check_kill("a final=main", "a ok; wait 300; wait 300", &unstarted);
    let pause = format!("for 6m because of a pause, {late}");
    check_kill("a", "a start; pause a; wait 360", &pause);
    check_kill("a final=main", "a ok; a start; pause a; wait 360", &pause);
    let run = format!("for 5m because of a cancel (run_timeout), {late}");
    check_kill("@timeout=60\na timeout=7200", "a start; wait 60; wait 300", &run);
    let asked = format!("for 6m because of a cancel (run_cancelled), {late}");
    check_kill("a timeout=7200", "a start; cancel; wait 360", &asked);
    check_kill("a timeout=7200", "cancel; wait 240; a start; wait 120", &asked);
    // It counts from the first order.
    let twice = format!("for 6m because of a cancel (by_name), {late}");
    check_kill("a timeout=7200", "a start; pause a; wait 240; cancel a; wait 120", &twice);
}
