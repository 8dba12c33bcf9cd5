//! What is kept until an attempt is settled, and what a later life is told.

use crate::rig::{Rig, With, Written, argv, fifo, shell, ticket};
use mainspring_core::work::{Life, Outcome, Question, Reattached, ReportKind};
use mainspring_exec::Executor;

#[test]
fn an_outcome_is_kept_until_it_is_settled() {
    let rig = Rig::new();
    let go = fifo(&rig, "go");
    let ticket = rig.started(shell("cat $GO; echo hello; exit 3").env("GO", &go));
    assert_eq!(rig.reattached(ticket, Life::This), Reattached::Running);
    assert_eq!(rig.executor.held(), [ticket]);
    std::fs::write(&go, "").unwrap();
    let ended = rig.end_of(ticket);
    assert_eq!(rig.executor.held(), [ticket]);
    for _ in 0..2 {
        assert_eq!(rig.reattached(ticket, Life::This), Reattached::Ended(ended.clone()));
    }
    rig.executor.settle(ticket);
    rig.executor.settle(ticket);
    assert_eq!(rig.executor.held(), []);
    assert_eq!(rig.reattached(ticket, Life::This), Reattached::NeverStarted);
}

#[test]
fn an_attempt_that_never_came_was_never_started() {
    let rig = Rig::new();
    assert_eq!(rig.reattached(ticket(), Life::This), Reattached::NeverStarted);
    assert_eq!(rig.reattached(ticket(), Life::Former), Reattached::Unknown { log: None });
}

#[test]
fn a_start_that_is_given_twice_starts_once() {
    let rig = Rig::new();
    let launch = shell("echo once");
    let ticket = rig.started(launch.clone());
    let ended = rig.end_of(ticket);
    rig.start(launch);
    rig.run(argv(&["true"]));
    rig.run(argv(&["true"]));
    assert_eq!(rig.reattached(ticket, Life::This), Reattached::Ended(ended));
}

#[test]
fn every_reattach_is_answered_once_whenever_it_comes() {
    let rig = Rig::new();
    for _ in 0..50 {
        let ticket = rig.start(argv(&["true"]));
        rig.executor.reattach(Question { ticket, number: 9 }, Life::This);
        let mut answers = 0;
        let mut has_ended = false;
        while answers == 0 || !has_ended {
            match rig.next().what {
                ReportKind::Started => assert_eq!(answers, 0, "running, before it had started"),
                ReportKind::Reattached(9, Reattached::Ended(_)) => {
                    (answers, has_ended) = (answers + 1, true);
                }
                ReportKind::Reattached(9, Reattached::Running) => answers += 1,
                ReportKind::Ended(_) => has_ended = true,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(answers, 1);
    }
}

#[test]
fn one_that_is_settled_while_it_lives_is_gone_with_its_end() {
    let rig = Rig::new();
    let ticket = rig.started(shell("echo hello; sleep 1000"));
    rig.stop(ticket);
    rig.executor.settle(ticket);
    assert_eq!(rig.executor.held(), []);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
    assert_eq!(rig.files_in("logs"), [""; 0]);
}

#[test]
fn a_later_life_finds_the_log_and_empties_the_workshop() {
    let rig = Rig::new();
    let ticket = rig.started(shell("echo hello; echo 1 > $MAINSPRING_OUTPUT; sleep 1000"));
    crate::rig::until("its log and output", || {
        rig.files_in("logs").len() + rig.files_in("work").len() == 2
    });
    let reborn = rig.reborn();
    assert_eq!(reborn.files_in("work"), [""; 0]);
    let answer = reborn.reattached(ticket, Life::Former);
    let Reattached::Unknown { log } = answer else { panic!("{answer:?}") };
    assert_eq!(Written::of(&reborn.log(ticket, log.as_ref())).text(), "hello\n");
    reborn.executor.settle(ticket);
    assert_eq!(reborn.files_in("logs"), [""; 0]);
}
