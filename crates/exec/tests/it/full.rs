//! A disk without room for what a success has left: it is waited for, and nobody has to.

use crate::rig::{Rig, With, shell};
use mainspring_core::ids::Ticket;
use mainspring_core::work::{Outcome, Report, ReportKind};
use std::process::Command;

/// Set in a process whose temporary folder is a small disk of its own.
const SMALL: &str = "MAINSPRING_TEST_SMALL_DISK";

/// Whether this process has a small disk. One that has not runs this test again in one that has.
fn has_small_disk(test: &str) -> bool {
    if std::env::var_os(SMALL).is_some() {
        return true;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=2m none \"$TMPDIR\" || exit 90\nexec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", script, "sh"]);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    command.env(SMALL, "yes").env("TMPDIR", folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(90) || said.contains("unshare") {
        // What cannot be mounted is tried with a single copy, in `process/artifacts.rs`.
        return false;
    }
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}\n{said}");
    false
}

/// Work that is done, and for whose artifact there is no room.
fn waiting(rig: &Rig) -> Ticket {
    let line = "head -c 900000 /dev/zero > report; cat /dev/zero > filler 2> /dev/null; true";
    let ticket = rig.started(shell(line).workdir(rig.folder.path()).leaves("report"));
    assert_eq!(rig.next(), Report { ticket, what: ReportKind::Over });
    let why = rig.waits();
    assert!(why.contains("artifact report cannot be kept") && why.contains("Make room"), "{why}");
    ticket
}

#[test]
fn it_is_kept_as_soon_as_there_is_room() {
    if has_small_disk("full::it_is_kept_as_soon_as_there_is_room") {
        let rig = Rig::new();
        let ticket = waiting(&rig);
        std::fs::remove_file(rig.path("filler")).unwrap();
        let ended = rig.end_of(ticket);
        assert_eq!(ended.outcome, Outcome::Success(None));
        assert_eq!(std::fs::metadata(&ended.artifacts[0].file).unwrap().len(), 900_000);
    }
}

#[test]
fn a_stop_ends_the_wait() {
    if has_small_disk("full::a_stop_ends_the_wait") {
        let rig = Rig::new();
        let ticket = waiting(&rig);
        rig.stop(ticket);
        let ended = rig.end_of(ticket);
        assert_eq!((ended.outcome, ended.artifacts.len()), (Outcome::Stopped, 0));
        assert_eq!(rig.files_in("work"), [""; 0]);
    }
}
