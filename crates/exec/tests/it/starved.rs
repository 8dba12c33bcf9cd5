//! A machine that has no more to give: the attempt is refused, and nothing was started.

use crate::rig::{Rig, shell};
use mainspring_core::work::{Life, Outcome, Question, ReportKind};
use mainspring_exec::Executor;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::{Command, Stdio};

const ROLE: &str = "MAINSPRING_TEST_STARVED";

/// Not a test by itself, unless another one sets the variable: a server of its own, because the limit is the whole process's.
#[test]
fn starved_server() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    let rig = Rig::new();
    rig.run(shell("true"));
    let before = getrlimit(Resource::Nofile);
    let launch = shell("echo fed");
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    // From none left to not quite enough.
    for spare in 0..4 {
        let current = Some(open - 1 + spare);
        setrlimit(Resource::Nofile, Rlimit { current, maximum: before.maximum }).unwrap();
        rig.start(launch.clone());
        let report = rig.next();
        assert_eq!(report.ticket, launch.ticket);
        assert!(matches!(report.what, ReportKind::Refused(_)), "{spare} spare: {report:?}");
        let again = Question { ticket: launch.ticket, number: 1 };
        rig.executor.reattach(again, Life::This);
        assert!(matches!(rig.next().what, ReportKind::Refused(_)), "said again until settled");
        rig.executor.settle(launch.ticket);
        assert_eq!(rig.executor.held().len(), 1, "as if it had never been given");
    }
    setrlimit(Resource::Nofile, before).unwrap();
    assert_eq!(rig.run(launch).outcome, Outcome::Success(None));
}

#[test]
fn without_descriptors_a_start_is_refused() {
    let server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "starved::starved_server", "--nocapture"])
        .env(ROLE, "1")
        .stdout(Stdio::null())
        .output()
        .unwrap();
    assert!(server.status.success(), "{}", String::from_utf8_lossy(&server.stderr));
}
