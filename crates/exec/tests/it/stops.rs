//! Attempts that are stopped, and what else is gone when one ends.

use crate::rig::{Rig, With, argv, fifo, hear, is_alive, shell, ticket, until};
use mainspring_core::json::Json;
use mainspring_core::output::Output;
use mainspring_core::spec::definition::OutputFrom;
use mainspring_core::time::Span;
use mainspring_core::work::{Ended, Launch, Outcome, ProcessWork, ReportKind};
use mainspring_exec::Executor;
use std::time::{Duration, Instant};

fn never_started() -> Ended {
    let outcome = Outcome::Stopped;
    Ended::unstarted(outcome)
}

#[test]
fn a_stop_ends_it() {
    let rig = Rig::new();
    let ticket = rig.started(argv(&["sleep", "1000"]));
    rig.stop(ticket);
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket), Ended { started: true, ..never_started() });
    rig.stop(ticket);
    assert_eq!(rig.rest(), [], "one end is all there is");
}

#[test]
fn a_stop_that_overtakes_its_start_means_it_never_starts() {
    let rig = Rig::new();
    let launch = shell("echo > $MARK").env("MARK", rig.path("mark"));
    let ticket = launch.ticket;
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket), never_started());
    rig.start(launch);
    // Something else passes through the same queue meanwhile, twice: there are two threads.
    rig.run(argv(&["true"]));
    rig.run(argv(&["true"]));
    assert!(!rig.path("mark").exists());
    assert_eq!(rig.executor.held().len(), 3);
}

#[test]
fn a_stop_right_after_the_start_is_never_missed() {
    let rig = Rig::new();
    for _ in 0..50 {
        let ticket = rig.start(argv(&["sleep", "1000"]));
        rig.stop(ticket);
        let mut report = rig.next();
        if report.what == ReportKind::Started {
            report = rig.next();
        }
        let ReportKind::Ended(ended) = report.what else { panic!("{report:?}") };
        assert_eq!((report.ticket, ended.outcome), (ticket, Outcome::Stopped));
    }
}

/// Ready, then it waits until it is told to stop. What it waits for is there before the trap is, and
/// hears no TERM: a shell that is just forking one would have two that know of the trap.
fn trapping(rig: &Rig, on_term: &str) -> Launch {
    let ready = fifo(rig, "ready");
    let wait = "trap '' TERM; sleep 1000 & trap 'TRAP' TERM; echo > $READY; while :; do wait; done";
    shell(&wait.replace("TRAP", on_term)).env("READY", ready)
}

#[test]
fn it_may_clean_up_and_that_is_logged() {
    let rig = Rig::new();
    let ticket = rig.started(trapping(&rig, "echo cleaning; exit 0"));
    hear(&rig.path("ready"));
    rig.stop(ticket);
    let ended = rig.end_of(ticket);
    assert_eq!(ended.outcome, Outcome::Stopped);
    let written = crate::rig::Written::of(&rig.log(ticket, ended.log.as_ref()));
    assert_eq!(written.stdout, b"cleaning\n");
}

/// The same line as the second step of its task.
fn finalizing(launch: Launch) -> Launch {
    Launch { finalizes: Some(ticket().attempt), ..launch }
}

#[test]
fn what_lands_while_it_is_being_stopped_has_landed() {
    let rig = Rig::new();
    let line = "setsid sleep 1000 & echo 7 > $MAINSPRING_OUTPUT; echo landed; exit 0";
    let ticket = rig.started(finalizing(trapping(&rig, line)));
    hear(&rig.path("ready"));
    rig.stop(ticket);
    let ended = rig.end_of(ticket);
    let seven = Json::parse("7").unwrap();
    assert_eq!(ended.outcome, Outcome::Success(Some(Output::Inline(seven))));
    let written = crate::rig::Written::of(&rig.log(ticket, ended.log.as_ref()));
    assert_eq!(written.stdout, b"landed\n");
    assert_eq!(carriers(&ticket), [""; 0], "nothing of it is left");
}

#[test]
fn a_finalizer_that_ends_badly_while_it_is_being_stopped_is_stopped() {
    let rig = Rig::new();
    let short = |work: &mut ProcessWork| work.kill_grace = Span::from_ms(100);
    for (name, on_term) in [
        ("fails", "exit 3"),
        ("is killed", ":"),
        ("has an output that is none", "echo { > $MAINSPRING_OUTPUT; exit 0"),
    ] {
        let ticket = rig.started(finalizing(trapping(&rig, on_term).with(short)));
        hear(&rig.path("ready"));
        rig.stop(ticket);
        assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped, "{name}");
        std::fs::remove_file(rig.path("ready")).unwrap();
    }
}

#[test]
fn what_ignores_the_first_signal_gets_the_second_after_the_grace() {
    let rig = Rig::new();
    let grace = Span::from_ms(300);
    let ticket = rig.started(trapping(&rig, ":").with(|work| work.kill_grace = grace));
    hear(&rig.path("ready"));
    let begin = Instant::now();
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
    assert!(begin.elapsed() >= grace.to_std());
}

#[test]
fn a_process_that_is_suspended_can_be_stopped() {
    let rig = Rig::new();
    let ready = fifo(&rig, "ready");
    let ticket =
        rig.started(shell("echo $$ > $READY; kill -STOP $$; sleep 1000").env("READY", &ready));
    let pid = hear(&ready);
    until("it to be suspended", || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap().contains(") T ")
    });
    // The grace is a minute: it ends because it is woken up.
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
}

#[test]
fn an_outcome_reached_before_the_stop_stands() {
    let rig = Rig::new();
    let (held, go) = (fifo(&rig, "held"), fifo(&rig, "go"));
    // The leader ends, but something in a session of its own holds its stdout.
    let line = "setsid sh -c 'echo > $HELD; sleep 1000' & cat $GO; echo $$ > $MAINSPRING_OUTPUT";
    let ticket = rig.started(shell(line).env("HELD", &held).env("GO", &go));
    hear(&held);
    std::fs::write(&go, "").unwrap();
    let output = rig.path("work").join(format!("{}.output.json", ticket.attempt));
    until("its output", || std::fs::read(&output).is_ok_and(|text| text.ends_with(b"\n")));
    let leader = std::fs::read_to_string(&output).unwrap();
    until("its leader's end", || !is_alive(leader.trim()));
    // Within the second in which the pipes are still read.
    rig.stop(ticket);
    let expected = Outcome::Success(Some(Output::Inline(Json::parse(&leader).unwrap())));
    assert_eq!(rig.end_of(ticket).outcome, expected);
    assert_eq!(carriers(&ticket), [""; 0], "stopped too late, but nothing is left");
}

fn carriers(ticket: &mainspring_core::ids::Ticket) -> Vec<String> {
    let needle = format!("MAINSPRING_ATTEMPT_ID={}", ticket.attempt);
    let processes = std::fs::read_dir("/proc").unwrap();
    let pids = processes.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    pids.filter(|pid| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == needle.as_bytes())
    })
    .collect()
}

/// Three processes: the leader, one in its group, one in a session of its own. Each says its pid.
fn family(rig: &Rig, leader_then: &str) -> (Launch, Vec<std::path::PathBuf>) {
    let fifos = vec![fifo(rig, "member"), fifo(rig, "escapee")];
    let line = format!(
        "sh -c 'trap \"\" TERM; echo $$ > $MEMBER; while :; do sleep 1000; done' & \
         setsid sh -c 'trap \"\" TERM; echo $$ > $ESCAPEE; while :; do sleep 1000; done' & \
         {leader_then}"
    );
    (shell(&line).env("MEMBER", &fifos[0]).env("ESCAPEE", &fifos[1]), fifos)
}

#[test]
fn a_stop_reaches_what_left_the_group_and_ignores_signals() {
    let rig = Rig::new();
    let (launch, fifos) = family(&rig, "wait");
    let ticket = rig.started(launch);
    let pids: Vec<String> = fifos.iter().map(|fifo| hear(fifo)).collect();
    assert!(pids.iter().all(|pid| is_alive(pid)));
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
    assert!(!pids.iter().any(|pid| is_alive(pid)), "the work is gone when its end is said");
    assert_eq!(carriers(&ticket), [""; 0]);
}

#[test]
fn an_end_by_itself_kills_the_group_only() {
    let rig = Rig::new();
    let go = fifo(&rig, "go");
    let (launch, fifos) = family(&rig, "cat $GO");
    let ticket = rig.started(launch.env("GO", &go));
    let pids: Vec<String> = fifos.iter().map(|fifo| hear(fifo)).collect();
    let begin = Instant::now();
    std::fs::write(&go, "").unwrap();
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Success(None));
    // The escapee holds the pipes: they are read a second more, not for ever.
    assert!(begin.elapsed() >= Duration::from_secs(1));
    until("the group's end", || !is_alive(&pids[0]));
    assert!(is_alive(&pids[1]));
    rig.executor.shut_down();
    assert!(!is_alive(&pids[1]));
}

#[test]
fn what_comes_within_the_last_second_is_kept() {
    let rig = Rig::new();
    let tied = fifo(&rig, "tied");
    // It writes when the leader is gone, which it knows by the fifo, and lets go of the pipe.
    let line = "setsid sh -c 'cat < $TIED; echo 7' & exec 9> $TIED";
    let launch = shell(line).env("TIED", &tied);
    let ended = rig.run(launch.with(|work| work.output = OutputFrom::Stdout));
    assert_eq!(ended.outcome, Outcome::Success(Some(Output::Inline(Json::parse("7").unwrap()))));
}

#[test]
fn an_escapee_that_writes_for_ever_holds_up_the_end_for_a_second() {
    let rig = Rig::new();
    let held = fifo(&rig, "held");
    let line = "setsid sh -c 'echo > $HELD; exec yes' & cat $HELD";
    let begin = Instant::now();
    let ended = rig.run(shell(line).env("HELD", &held).with(|work| work.log_bytes_max = 1 << 20));
    assert_eq!(ended.outcome, Outcome::Success(None));
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn many_stops_at_once() {
    let rig = Rig::new();
    let tickets: Vec<_> = (0..100).map(|_| rig.started(argv(&["sleep", "1000"]))).collect();
    for ticket in &tickets {
        rig.stop(*ticket);
    }
    for _ in &tickets {
        let report = rig.next();
        let ReportKind::Ended(ended) = report.what else { panic!("{report:?}") };
        assert_eq!(ended.outcome, Outcome::Stopped);
    }
}

#[test]
fn a_shutdown_kills_everything_and_says_nothing() {
    let rig = Rig::new();
    let (launch, fifos) = family(&rig, "wait");
    rig.started(launch);
    let pids: Vec<String> = fifos.iter().map(|fifo| hear(fifo)).collect();
    rig.executor.kill_all().unwrap();
    assert!(!pids.iter().any(|pid| is_alive(pid)));
    rig.start(shell("echo > $MARK").env("MARK", rig.path("mark")));
    let mark = rig.path("mark");
    let folder = std::sync::Arc::clone(&rig.folder);
    assert_eq!(rig.rest(), [], "the next life finds it lost");
    assert!(!mark.exists(), "{folder:?}: nothing starts any more");
}
