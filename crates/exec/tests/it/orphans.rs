//! Nothing outlives the server for long, and nothing dead is kept.

use crate::rig::{Rig, With, fifo, hear, is_alive, shell, until};
use mainspring_core::work::Outcome;
use mainspring_exec::kill_leftovers;
use std::path::Path;
use std::process::{Command, Stdio};

/// Set in the environment of a copy of this test program that plays a server about to be killed.
const ROLE: &str = "MAINSPRING_TEST_DOOMED_FOLDER";

/// Not a test by itself, unless another one sets the variable: a server that starts a child and a grandchild in a session of its own, and waits
/// to be killed.
#[test]
fn doomed_server() {
    let Ok(folder) = std::env::var(ROLE) else { return };
    let rig = Rig::new();
    std::fs::write(format!("{folder}/data_id"), &rig.data_id).unwrap();
    let line = "setsid sh -c 'echo $$ > $FOLDER/escapee; while :; do sleep 1000; done' & \
                echo $$ > $FOLDER/child; sleep 1000 & wait";
    rig.started(shell(line).env("FOLDER", folder));
    rig.next();
    unreachable!("it is killed before anything ends");
}

#[test]
fn what_a_killed_server_leaves_is_found_and_killed() {
    let rig = Rig::new();
    let (child, escapee) = (fifo(&rig, "child"), fifo(&rig, "escapee"));
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "orphans::doomed_server", "--nocapture"])
        .env(ROLE, rig.folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (child, escapee) = (hear(&child), hear(&escapee));
    let data_id = std::fs::read_to_string(rig.path("data_id")).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    // Nobody does anything about this one but the kernel.
    until("the child's death with its parent", || !is_alive(&child));
    assert!(is_alive(&escapee), "a session of its own outlives the server");
    let killed = kill_leftovers(&data_id).unwrap();
    assert!(killed >= 1, "{killed}");
    assert!(!is_alive(&escapee));
    assert_eq!(kill_leftovers(&data_id).unwrap(), 0);
}

#[test]
fn others_are_left_alone() {
    let rig = Rig::new();
    let ready = fifo(&rig, "ready");
    let ticket = rig.started(shell("echo $$ > $READY; sleep 1000").env("READY", &ready));
    let pid = hear(&ready);
    assert_eq!(kill_leftovers("another-data-folder").unwrap(), 0);
    assert_eq!(kill_leftovers("").unwrap(), 0);
    assert!(is_alive(&pid));
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
}

/// Children of this process that are dead and not reaped.
fn zombies() -> Vec<String> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap();
    let pids = processes.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let Some((_, rest)) = stat.rsplit_once(')') else { return false };
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        fields[0] == "Z" && fields[1] == own
    })
    .collect()
}

#[test]
fn orphans_are_reaped_and_children_of_others_are_not() {
    let rig = Rig::new();
    let (member, escapee) = (fifo(&rig, "member"), fifo(&rig, "escapee"));
    let mut somebodys = Command::new("true").spawn().unwrap();
    let pid = somebodys.id().to_string();
    let line = "sh -c 'echo $$ > $MEMBER; sleep 1000' & \
                setsid sh -c 'echo $$ > $ESCAPEE; sleep 1000' & wait";
    let ticket = rig.started(shell(line).env("MEMBER", &member).env("ESCAPEE", &escapee));
    let dead = [hear(&member), hear(&escapee)];
    rig.stop(ticket);
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Stopped);
    until("the dead to be reaped", || {
        let zombies = zombies();
        !dead.iter().any(|pid| zombies.contains(pid))
    });
    until("the other child's end", || zombies().contains(&pid));
    assert!(somebodys.wait().unwrap().success(), "its status was not taken");
}

#[test]
fn an_escapee_that_ends_later_is_reaped() {
    let rig = Rig::new();
    let (go, escapee) = (fifo(&rig, "go"), fifo(&rig, "escapee"));
    // It lets go of the pipes, so the attempt ends at once.
    let line = "setsid sh -c 'echo $$ > $ESCAPEE; cat $GO' > /dev/null 2>&1 & cat $ESCAPEE";
    let launch = shell(line).env("GO", &go).env("ESCAPEE", &escapee);
    let ticket = launch.ticket;
    let ended = rig.run(launch);
    let pid = crate::rig::Written::of(&rig.log(ticket, ended.log.as_ref())).text();
    let pid = pid.trim();
    assert!(is_alive(pid));
    std::fs::write(&go, "").unwrap();
    until("the escapee to be reaped", || !Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn a_follower_that_is_dropped_takes_its_process_along() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let rig = Rig::on(&runtime);
    let ready = fifo(&rig, "ready");
    rig.started(shell("echo $$ > $READY; sleep 1000").env("READY", &ready));
    let pid = hear(&ready);
    drop(runtime);
    until("its death", || !is_alive(&pid));
}
