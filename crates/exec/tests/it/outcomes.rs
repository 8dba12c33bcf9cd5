//! How attempts end by themselves: exits, outputs, and starts that fail.

use crate::rig::{Rig, With, argv, failure, shell};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::json::Json;
use mainspring_core::limits::{ENV_VALUE_BYTES_MAX, OUTPUT_BYTES_MAX};
use mainspring_core::output::Output;
use mainspring_core::spec::definition::OutputFrom;
use mainspring_core::work::{Ended, Launch, Outcome};
use mainspring_exec::Executor;
use std::collections::BTreeSet;

fn output(json: &str) -> Outcome {
    Outcome::Success(Some(Output::Inline(Json::parse(json).unwrap())))
}

fn from_stdout(line: &str) -> Launch {
    shell(line).with(|work| work.output = OutputFrom::Stdout)
}

#[test]
fn silence_and_zero_is_success_without_output_or_log() {
    let ended = Rig::new().run(argv(&["true"]));
    let outcome = Outcome::Success(None);
    let artifacts = Vec::new();
    assert_eq!(ended, Ended { artifacts, ..Ended::of(outcome) });
}

#[test]
fn a_code_is_a_failure_of_class_exit() {
    assert_eq!(failure(Rig::new().run(shell("exit 3"))), TaskError::exit(3));
}

#[test]
fn a_signal_is_a_failure_of_class_exit() {
    let error = failure(Rig::new().run(shell("kill -SEGV $$")));
    assert_eq!(error, TaskError::signal(11, "SIGSEGV"));
}

#[test]
fn output_comes_from_its_file() {
    let ended = Rig::new().run(shell("echo ' [1, 2] ' > $MAINSPRING_OUTPUT; echo noise"));
    assert_eq!(ended.outcome, output("[1, 2]"));
}

#[test]
fn output_comes_from_stdout_when_asked() {
    let ended = Rig::new().run(from_stdout("echo noise >&2; echo '{\"a\": 1}'"));
    assert_eq!(ended.outcome, output("{\"a\": 1}"));
    assert!(ended.log.is_some(), "it is logged all the same");
}

#[test]
fn the_file_wins_over_stdout() {
    let ended = Rig::new().run(from_stdout("echo 2 > $MAINSPRING_OUTPUT; echo 1"));
    assert_eq!(ended.outcome, output("2"));
}

#[test]
fn nothing_written_is_no_output() {
    let ended = Rig::new().run(from_stdout(": > $MAINSPRING_OUTPUT; echo"));
    assert_eq!(ended.outcome, Outcome::Success(None));
}

#[test]
fn broken_output_is_quoted() {
    for launch in [from_stdout("echo '{oops'"), shell("echo '{oops' > $MAINSPRING_OUTPUT")] {
        let error = failure(Rig::new().run(launch));
        assert_eq!(error.class, ErrorClass::Logic);
        assert!(error.message.contains("not valid JSON"), "{}", error.message);
        assert!(error.message.contains("{oops"), "{}", error.message);
    }
}

#[test]
fn long_broken_output_is_quoted_in_part() {
    let error = failure(Rig::new().run(from_stdout("head -c 100000 /dev/zero | tr '\\0' x")));
    assert!(error.message.len() < 1000, "{}", error.message);
    assert!(error.message.contains('…'), "{}", error.message);
}

#[test]
fn output_that_is_not_utf_8_is_broken() {
    let error = failure(Rig::new().run(from_stdout("printf '\"\\377\"'")));
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("utf-8"), "{}", error.message);
}

#[test]
fn a_failed_exit_is_the_outcome_whatever_the_output() {
    assert_eq!(failure(Rig::new().run(from_stdout("echo '{oops'; exit 4"))), TaskError::exit(4));
}

#[test]
fn an_output_over_the_limit_names_its_size_and_the_limit() {
    let bytes = OUTPUT_BYTES_MAX + 1;
    for line in
        [format!("truncate -s {bytes} $MAINSPRING_OUTPUT"), format!("head -c {bytes} /dev/zero")]
    {
        let launch = from_stdout(&line).with(|work| work.log_bytes_max = 1 << 20);
        let error = failure(Rig::new().run(launch));
        assert_eq!(error.class, ErrorClass::Logic);
        assert!(error.message.contains(&format!("{bytes} bytes")), "{}", error.message);
        assert!(error.message.contains(&OUTPUT_BYTES_MAX.to_string()), "{}", error.message);
    }
}

#[test]
fn the_largest_output_is_kept_wherever_it_was_written() {
    let rig = Rig::new();
    let text = format!("\"{}\"", "x".repeat(OUTPUT_BYTES_MAX - 2));
    std::fs::write(rig.path("text"), &text).unwrap();
    for line in ["cat $TEXT", "cat $TEXT > $MAINSPRING_OUTPUT"] {
        let launch = from_stdout(line).env("TEXT", rig.path("text"));
        let ended = rig.run(launch.with(|work| work.log_bytes_max = 1 << 20));
        // Not compared as a whole: a failure would print it.
        let Outcome::Success(Some(Output::Inline(found))) = ended.outcome else {
            panic!("{line}: not a success with an output at hand")
        };
        assert!(found.as_str() == text, "{line}");
    }
}

#[test]
fn an_output_that_nests_too_deep_or_is_broken_far_from_its_start() {
    let deep = "printf '[%.0s' $(seq 65); printf ']%.0s' $(seq 65)";
    let error = failure(Rig::new().run(from_stdout(deep)));
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("nested more than 64 deep"), "{}", error.message);
    let large = "echo '['; seq -f %.0f, 100000; echo oops";
    let error = failure(Rig::new().run(from_stdout(large)));
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("not valid JSON"), "{}", error.message);
    assert!(error.message.contains("\"[\\n1,\\n2,"), "{}", error.message);
    assert!(error.message.len() < 1000, "{}", error.message);
}

#[test]
fn an_output_that_is_a_fifo_or_folder_is_refused() {
    for line in ["mkfifo $MAINSPRING_OUTPUT", "mkdir $MAINSPRING_OUTPUT"] {
        let error = failure(Rig::new().run(shell(line)));
        assert_eq!(error.class, ErrorClass::Logic);
    }
}

#[test]
fn a_command_that_does_not_exist() {
    let rig = Rig::new();
    let error = rig.fail(argv(&["no-such-command", "-v"]));
    let expected = TaskError::new(ErrorClass::Logic, "command not found: no-such-command");
    assert_eq!(error, expected);
    let error = rig.fail(argv(&["/nowhere/at-all"]));
    assert_eq!(error.message, "command not found: /nowhere/at-all");
}

#[test]
fn a_workdir_that_does_not_exist() {
    let rig = Rig::new();
    let error = rig.fail(argv(&["true"]).with(|work| work.workdir = "/no/where".to_owned()));
    assert_eq!(error, TaskError::new(ErrorClass::Logic, "workdir /no/where does not exist"));
    let error = rig.fail(argv(&["true"]).with(|work| work.workdir = "/etc/passwd".to_owned()));
    let expected = "workdir /etc/passwd is not a directory";
    assert_eq!(error, TaskError::new(ErrorClass::Logic, expected));
}

#[test]
fn a_file_that_may_not_be_executed() {
    let error = Rig::new().fail(argv(&["/etc/passwd"]));
    assert_eq!(error.class, ErrorClass::Permission);
    assert!(error.message.contains("/etc/passwd"), "{}", error.message);
}

#[test]
fn a_script_without_its_interpreter_and_one_without_first_line() {
    let rig = Rig::new();
    for (name, text, says) in
        [("lost", "#!/no/interpreter\n", "interpreter"), ("bare", "echo\n", "no #! line")]
    {
        write_executable(&rig.path(name), text);
        let path = rig.path(name);
        let error = rig.fail(argv(&[path.to_str().unwrap()]));
        assert_eq!(error.class, ErrorClass::Logic);
        assert!(error.message.contains(says), "{}", error.message);
    }
}

#[test]
fn an_argument_or_variable_that_cannot_be_passed_is_named() {
    let rig = Rig::new();
    let large = "x".repeat(ENV_VALUE_BYTES_MAX + 1);
    for (launch, says) in [
        (argv(&["true", "a\0b"]), "command[1] holds a NUL byte"),
        (shell("a\0b"), "run holds a NUL byte"),
        (argv(&["true"]).with(|work| work.workdir = "/\0".to_owned()), "workdir holds a NUL byte"),
        (argv(&["true"]).env("A", "a\0b"), "env.A holds a NUL byte"),
        (argv(&["true"]).env("A=B", "c"), "\"A=B\" has a name that is empty or holds '='"),
        (argv(&["true"]).env("LARGE", &large), "env.LARGE is 65537 bytes; at most 65536 are"),
        (argv(&["true", &large]), "command[1] is 65537 bytes; at most 65536 are"),
    ] {
        let error = rig.fail(launch);
        assert_eq!(error.class, ErrorClass::Logic);
        assert!(error.message.contains(says), "{}", error.message);
    }
    // Each fits, all of them do not.
    let many = (0..40).fold(argv(&["true"]), |launch, no| {
        launch.env(&format!("V{no}"), "x".repeat(ENV_VALUE_BYTES_MAX))
    });
    let error = rig.fail(many);
    assert_eq!(error.class, ErrorClass::Logic);
    assert!(error.message.contains("too long for the kernel"), "{}", error.message);
}

#[test]
fn the_path_is_the_tasks_own() {
    let rig = Rig::new();
    for folder in ["first", "second"] {
        std::fs::create_dir(rig.path(folder)).unwrap();
    }
    // In the first folder it may not be executed: the search goes on.
    std::fs::write(rig.path("first/greet"), "#!/bin/sh\necho no\n").unwrap();
    write_executable(&rig.path("second/greet"), "#!/bin/sh\necho hello $1\n");
    let path = format!("{0}/first:{0}/second", rig.folder.path().display());
    assert_eq!(rig.written(argv(&["greet", "you"]).env("PATH", path)).text(), "hello you\n");
    // Relative names and entries are taken from the working directory.
    let here = rig.folder.path().to_str().unwrap().to_owned();
    let relative = argv(&["./second/greet"]).with(|work| work.workdir = here.clone());
    assert_eq!(rig.written(relative).text(), "hello\n");
    let relative = argv(&["greet"]).env("PATH", "second").with(|work| work.workdir = here);
    assert_eq!(rig.written(relative).text(), "hello\n");
}

#[test]
fn two_hundred_at_once() {
    let rig = Rig::new();
    let mut waiting: BTreeSet<_> = (0..200)
        .map(|no| {
            rig.start(shell(&format!("echo {no} | tee $MAINSPRING_OUTPUT; exit $(({no} % 2))")))
        })
        .collect();
    let mut failed = 0;
    while !waiting.is_empty() {
        let report = rig.next();
        if let mainspring_core::work::ReportKind::Ended(ended) = report.what {
            assert!(waiting.remove(&report.ticket));
            assert!(ended.log.is_some());
            failed += usize::from(matches!(ended.outcome, Outcome::Failed(_)));
        }
    }
    assert_eq!(failed, 100);
    assert_eq!(rig.executor.held().len(), 200);
}

fn write_executable(path: &std::path::Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    // Written by another process: one that forks while we hold it open would make it busy.
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", "printf %s \"$1\" > \"$0\""])
        .arg(path)
        .arg(text)
        .status();
    assert!(status.unwrap().success());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn whatever_a_task_made_of_its_output_goes_with_it() {
    let rig = Rig::new();
    for line in [
        "mkdir $MAINSPRING_OUTPUT; touch $MAINSPRING_OUTPUT/x",
        "mkfifo $MAINSPRING_OUTPUT",
        "ln -s / $MAINSPRING_OUTPUT",
    ] {
        failure(rig.run(shell(line)));
        assert_eq!(rig.files_in("work"), [""; 0], "{line}");
    }
}
