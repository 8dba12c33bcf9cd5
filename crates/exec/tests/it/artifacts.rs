//! Files between tasks, through the workdir of each.

use crate::rig::{Rig, With, argv, failure, fifo, hear, shell, ticket, until};
use mainspring_core::error::ErrorClass;
use mainspring_core::work::{Ended, Life, Outcome, Reattached, ReportKind};
use mainspring_exec::{ARTIFACT_BYTES_MAX, Executor};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A rig with a folder to work in.
fn stage() -> (Rig, PathBuf) {
    let rig = Rig::new();
    let workdir = rig.path("here");
    std::fs::create_dir(&workdir).unwrap();
    (rig, workdir)
}

fn texts(ended: &Ended) -> Vec<(String, String)> {
    let read = |file: &str| std::fs::read_to_string(file).unwrap();
    ended.artifacts.iter().map(|out| (out.path.clone(), read(&out.file))).collect()
}

fn entries(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_are_there_when_it_starts() {
    let (rig, workdir) = stage();
    std::fs::write(rig.path("one"), "new one\n").unwrap();
    std::fs::write(rig.path("two"), "two\n").unwrap();
    std::fs::write(workdir.join("one"), "a former one, and longer\n").unwrap();
    // Replaced as well, and what it leads to is left alone.
    std::fs::write(rig.path("target"), "target").unwrap();
    symlink("../target", workdir.join("link")).unwrap();
    let launch = shell("cat one new/folders/two link; echo changed > one")
        .workdir(&workdir)
        .brings("one", &rig.path("one"))
        .brings("new/folders/two", &rig.path("two"))
        .brings("link", &rig.path("two"));
    assert_eq!(rig.written(launch).text(), "new one\ntwo\ntwo\n");
    assert_eq!(std::fs::read_to_string(rig.path("one")).unwrap(), "new one\n", "a copy");
    assert_eq!(std::fs::read_to_string(rig.path("target")).unwrap(), "target");
    assert_eq!(entries(&workdir), ["link", "new", "one"]);
}

#[test]
fn a_file_that_cannot_be_put_there_is_named() {
    let (rig, workdir) = stage();
    std::fs::write(rig.path("source"), "x").unwrap();
    std::fs::create_dir(workdir.join("folder")).unwrap();
    std::fs::write(workdir.join("file"), "x").unwrap();
    symlink("..", workdir.join("above")).unwrap();
    symlink("/", workdir.join("root")).unwrap();
    for (path, says) in [
        ("../x", "leads out of the folder"),
        ("/x", "leads out of the folder"),
        ("above/x", "leads out of the folder"),
        ("root/x", "leads out of the folder"),
        ("folder", "there is a folder"),
        ("file/x", "a part of it is not a folder"),
        ("", "it is a folder"),
        ("folder/..", "it is a folder"),
    ] {
        let error = rig.fail(argv(&["true"]).workdir(&workdir).brings(path, &rig.path("source")));
        assert_eq!(error.class, ErrorClass::Logic, "{error:?}");
        let expected = format!("artifact {path} cannot be put into {}", workdir.display());
        assert!(error.message.starts_with(&expected), "{}", error.message);
        assert!(error.message.contains(says), "{}", error.message);
    }
    assert_eq!(entries(&workdir), ["above", "file", "folder", "root"]);
    assert!(!rig.path("x").exists() && !std::path::Path::new("/x").exists());
    let error = rig.fail(argv(&["true"]).workdir(&workdir).brings("x", &rig.path("nothing")));
    assert_eq!(error.class, ErrorClass::Internal, "not the task's doing");
    assert!(error.message.contains("artifact x") && error.message.contains("nothing"));
    let below_a_file = rig.path("source").join("no");
    let nowhere = argv(&["true"]).workdir(&below_a_file).brings("x", &rig.path("source"));
    let error = rig.fail(nowhere);
    let expected = format!("workdir {}", below_a_file.display());
    assert!(error.class == ErrorClass::Logic && error.message.starts_with(&expected), "{error:?}");
}

#[test]
fn a_workdir_that_is_not_there_is_made() {
    let (rig, workdir) = stage();
    std::fs::write(rig.path("source"), "x").unwrap();
    let workdir = workdir.join("one/two");
    let ended =
        rig.run(argv(&["test", "-f", "x"]).workdir(&workdir).brings("x", &rig.path("source")));
    assert_eq!(ended.outcome, Outcome::Success(None));
}

/// The source is a fifo: the test decides how long it takes.
#[test]
fn one_that_is_stopped_while_it_waits_for_files_never_starts() {
    let (rig, workdir) = stage();
    let source = fifo(&rig, "source");
    let launch = shell("touch started").workdir(&workdir).brings("file", &source);
    let ticket = rig.start(launch);
    let mut writer = std::fs::OpenOptions::new().write(true).open(&source).unwrap();
    // It is being copied; others start meanwhile.
    rig.run(argv(&["true"]));
    assert_eq!(rig.executor.held().len(), 2);
    rig.stop(ticket);
    std::io::Write::write_all(&mut writer, b"more").unwrap();
    drop(writer);
    let ended = rig.end_of(ticket);
    assert_eq!((ended.outcome, ended.started), (Outcome::Stopped, false));
    assert_eq!(entries(&workdir), [""; 0]);
    rig.executor.settle(ticket);
    assert_eq!(rig.executor.held().len(), 1);
}

#[test]
fn a_question_about_one_that_waits_for_files_is_answered_by_its_start() {
    let (rig, workdir) = stage();
    let source = fifo(&rig, "source");
    let ticket = rig.start(shell("cat file").workdir(&workdir).brings("file", &source));
    let writer = std::fs::OpenOptions::new().write(true).open(&source).unwrap();
    let question = mainspring_core::work::Question { ticket, number: 3 };
    rig.executor.reattach(question, Life::This);
    drop(writer);
    assert_eq!(rig.next().what, ReportKind::Reattached(3, Reattached::Running));
    assert_eq!(rig.end_of(ticket).outcome, Outcome::Success(None));
}

#[test]
fn one_that_waits_for_files_when_the_server_ends_says_nothing() {
    let (rig, workdir) = stage();
    let source = fifo(&rig, "source");
    rig.start(shell("true").workdir(&workdir).brings("file", &source));
    let writer = std::fs::OpenOptions::new().write(true).open(&source).unwrap();
    rig.executor.shut_down();
    drop(writer);
    assert_eq!(rig.rest(), []);
}

#[test]
fn files_of_a_success_are_copied_before_anyone_can_change_them() {
    let (rig, workdir) = stage();
    symlink("sub/two", workdir.join("near")).unwrap();
    let line = "mkdir sub; echo one > one; echo two > sub/two; echo 7 > $MAINSPRING_OUTPUT";
    let launch = shell(line).workdir(&workdir).leaves("one").leaves("sub/two").leaves("near");
    let ticket = rig.started(launch);
    let ended = rig.end_of(ticket);
    std::fs::write(workdir.join("one"), "changed").unwrap();
    std::fs::remove_dir_all(workdir.join("sub")).unwrap();
    let text = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let expected = [text("one", "one\n"), text("sub/two", "two\n"), text("near", "two\n")];
    assert_eq!(texts(&ended), expected);
    assert_eq!(ended.artifacts.iter().map(|out| out.bytes).collect::<Vec<_>>(), [4, 4, 4]);
    assert!(ended.artifacts.iter().all(|out| out.file.starts_with('/')));
    // There until it is settled, however often it is asked for.
    assert_eq!(rig.reattached(ticket, Life::This), Reattached::Ended(ended.clone()));
    assert_eq!(texts(&ended), expected);
    assert_eq!(rig.files_in("work").len(), 3);
    rig.executor.settle(ticket);
    until("its copies are gone", || rig.files_in("work").is_empty());
}

#[test]
fn a_success_without_its_files_is_none() {
    let (rig, workdir) = stage();
    std::fs::write(rig.path("outside"), "x").unwrap();
    symlink("../outside", workdir.join("out")).unwrap();
    symlink("/etc/passwd", workdir.join("far")).unwrap();
    let bytes = ARTIFACT_BYTES_MAX + 1;
    for (line, path, says) in [
        ("true", "missing", "was not found"),
        ("true", "no/such/folder", "was not found"),
        ("mkdir folder", "folder", "is a folder: an artifact is one file. List the files, or pack"),
        ("touch one.csv", "*.csv", "it is no pattern. List the files, or pack"),
        ("mkfifo fifo", "fifo", "is not a plain file"),
        ("true", "out", "leads out of the folder"),
        ("true", "far", "leads out of the folder"),
        ("true", "../outside", "leads out of the folder"),
        ("true", "/etc/passwd", "leads out of the folder"),
        (&format!("truncate -s {bytes} large"), "large", &format!("is {bytes} bytes; at most")),
    ] {
        // The first would be taken: no copy of it may stay.
        let launch = shell(&format!("{line}; echo 1 > good")).workdir(&workdir);
        let ended = rig.run(launch.leaves("good").leaves(path));
        assert_eq!(ended.artifacts, []);
        let error = failure(ended);
        assert_eq!(error.class, ErrorClass::Logic, "{error:?}");
        assert!(error.message.starts_with(&format!("artifact {path}")), "{}", error.message);
        assert!(error.message.contains(says), "{}", error.message);
        assert_eq!(rig.files_in("work"), [""; 0]);
    }
}

#[test]
fn only_a_success_leaves_files() {
    let (rig, workdir) = stage();
    let leaving = |line: &str| shell(line).workdir(&workdir).leaves("file");
    let failed = rig.run(leaving("echo 1 > file; exit 3"));
    assert_eq!((failure(failed.clone()).exit_code, failed.artifacts), (Some(3), Vec::new()));
    let broken = rig.run(leaving("echo '{' > $MAINSPRING_OUTPUT"));
    assert_eq!(broken.artifacts, []);
    let said = fifo(&rig, "said");
    let launch = leaving("trap 'exit 0' TERM; echo > $SAID; while :; do sleep 1; done");
    let ticket = rig.started(launch.env("SAID", &said));
    hear(&said);
    rig.stop(ticket);
    let stopped = rig.end_of(ticket);
    assert_eq!((stopped.outcome, stopped.artifacts), (Outcome::Stopped, Vec::new()));
    assert_eq!(rig.files_in("work"), [""; 0]);
}

#[test]
fn copies_of_one_that_was_settled_while_it_lived_are_gone_with_its_end() {
    let (rig, workdir) = stage();
    let go = fifo(&rig, "go");
    let launch = shell("cat $GO; echo 1 > file").workdir(&workdir).leaves("file").env("GO", &go);
    let ticket = rig.started(launch);
    rig.executor.settle(ticket);
    std::fs::write(&go, "").unwrap();
    rig.end_of(ticket);
    until("its copies are gone", || rig.files_in("work").is_empty());
}

#[test]
fn a_later_life_removes_the_copies_of_the_former() {
    let (rig, workdir) = stage();
    rig.run(shell("echo 1 > file").workdir(&workdir).leaves("file"));
    assert_eq!(rig.files_in("work").len(), 1);
    assert_eq!(rig.reborn().files_in("work"), [""; 0]);
}

/// Of its mode, and whatever the one before it was like.
#[test]
fn what_can_be_run_can_be_run_elsewhere() {
    let (rig, workdir) = stage();
    let line = "echo 'echo ran' > tool; echo x > data; chmod 700 tool; chmod 600 data";
    let ended = rig.run(shell(line).workdir(&workdir).leaves("tool").leaves("data"));
    assert_eq!(ended.artifacts.iter().map(|out| out.executable).collect::<Vec<_>>(), [true, false]);
    for (executable, mode) in [(true, "755\n"), (false, "644\n")] {
        std::fs::write(rig.path("source"), "x").unwrap();
        let mut launch = shell("stat -c %a file").workdir(&workdir);
        launch = launch.brings("file", &rig.path("source"));
        launch = launch.with(|work| work.artifacts_in[0].executable = executable);
        assert_eq!(rig.written(launch).text(), mode);
    }
}

/// Many attempts bring the same file to one folder: each finds it whole at any time.
#[test]
fn a_shared_workdir_never_shows_half_a_file() {
    let (rig, workdir) = stage();
    let text = "0123456789\n".repeat(100_000);
    std::fs::write(rig.path("source"), &text).unwrap();
    let read = "for i in 1 2 3 4 5; do cmp file $SOURCE || exit 1; done";
    for _ in 0..20 {
        let launch = shell(read).workdir(&workdir).brings("file", &rig.path("source"));
        let mut launch = launch.env("SOURCE", rig.path("source"));
        launch.ticket = ticket();
        rig.start(launch);
    }
    let mut ended = 0;
    while ended < 20 {
        if let ReportKind::Ended(end) = rig.next().what {
            assert_eq!(end.outcome, Outcome::Success(None));
            ended += 1;
        }
    }
    assert_eq!(entries(&workdir), ["file"]);
}
