//! What a process finds around it: environment, stdin, descriptors, signals, group.

use crate::rig::{Rig, With, argv, shell};
use mainspring_core::json::Json;
use mainspring_core::limits::ENV_VALUE_BYTES_MAX;
use mainspring_core::work::Launch;
use std::collections::BTreeMap;

fn environment(rig: &Rig, launch: Launch) -> BTreeMap<String, String> {
    let text = rig.written(launch).text();
    let variables = text.split('\0').filter_map(|entry| entry.split_once('='));
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn env_command() -> Launch {
    argv(&["env", "-0"])
}

#[test]
fn the_environment_is_clean_and_says_where_it_is() {
    // Any variable of ours that a task would not see unless it is passed by name.
    let (passed, value) = std::env::vars()
        .find(|(name, _)| !["PATH", "HOME", "LANG"].contains(&name.as_str()))
        .unwrap();
    let rig = Rig::passing(&[&passed, "NOT_SET_ANYWHERE"]);
    let mut launch = env_command().env("HOME", "/elsewhere").env("MAINSPRING_TASK", "forged");
    launch.input = Json::parse("{\"a\":\"b c\"}").unwrap();
    launch.run_input = Json::parse("[1]").unwrap();
    launch.attempt = 7;
    launch.instance = Some((4, 9));
    let attempt = launch.ticket.attempt.to_string();
    let output = rig.path("work").join(format!("{attempt}.output.json"));
    let found = environment(&rig, launch);
    let expected: BTreeMap<String, String> = [
        (passed.as_str(), value.as_str()),
        ("HOME", "/elsewhere"),
        ("MAINSPRING_ATTEMPT", "7"),
        ("MAINSPRING_ATTEMPT_ID", &attempt),
        ("MAINSPRING_COUNT", "9"),
        ("MAINSPRING_DATA_ID", &rig.data_id),
        ("MAINSPRING_INDEX", "4"),
        ("MAINSPRING_INPUT", "{\"a\":\"b c\"}"),
        ("MAINSPRING_OUTPUT", output.to_str().unwrap()),
        ("MAINSPRING_RUN_ID", "03030303-0303-0303-0303-030303030303"),
        ("MAINSPRING_RUN_INPUT", "[1]"),
        ("MAINSPRING_TASK", "load"),
        ("MAINSPRING_WORKFLOW", "nightly"),
        ("PATH", &std::env::var("PATH").unwrap()),
    ]
    .into_iter()
    .chain(std::env::var("LANG").as_deref().ok().map(|lang| ("LANG", lang)))
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_task_that_is_no_instance_has_no_index() {
    let found = environment(&Rig::new(), env_command());
    assert!(!found.contains_key("MAINSPRING_INDEX") && !found.contains_key("MAINSPRING_COUNT"));
}

#[test]
fn large_inputs_come_in_files_that_go_with_the_attempt() {
    let rig = Rig::new();
    let large = format!("\"{}\"", "x".repeat(ENV_VALUE_BYTES_MAX));
    let mut launch = shell(
        "test -z \"$MAINSPRING_INPUT$MAINSPRING_RUN_INPUT\" && cat $MAINSPRING_INPUT_FILE && \
         cmp $MAINSPRING_INPUT_FILE $MAINSPRING_RUN_INPUT_FILE",
    );
    launch.input = Json::parse(&large).unwrap();
    launch.run_input = Json::parse(&large).unwrap();
    assert_eq!(rig.written(launch).text(), large);
    assert_eq!(rig.files_in("work"), [""; 0]);
}

#[test]
fn an_input_of_64_kib_is_still_a_variable() {
    let rig = Rig::new();
    let text = format!("\"{}\"", "x".repeat(ENV_VALUE_BYTES_MAX - 2));
    let mut launch = env_command();
    launch.input = Json::parse(&text).unwrap();
    assert_eq!(environment(&rig, launch)["MAINSPRING_INPUT"], text);
}

#[test]
fn stdin_is_the_input_however_large() {
    let rig = Rig::new();
    let mut launch = argv(&["cat"]);
    let text = format!("\"{}\"", "y".repeat(4_000_000));
    launch.input = Json::parse(&text).unwrap();
    assert!(rig.written(launch).text() == text);
}

#[test]
fn stdin_that_nobody_reads_holds_up_nothing() {
    let rig = Rig::new();
    let mut launch = argv(&["true"]);
    launch.input = Json::parse(&format!("\"{}\"", "y".repeat(4_000_000))).unwrap();
    assert_eq!(rig.written(launch).text(), "");
}

#[test]
fn it_has_no_descriptors_but_three() {
    let rig = Rig::new();
    // One that was opened without close-on-exec, as a careless library would.
    let careless = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&careless, rustix::io::FdFlags::empty()).unwrap();
    // `ls` itself opens the fourth.
    assert_eq!(rig.written(argv(&["ls", "/proc/self/fd"])).text(), "0\n1\n2\n3\n");
}

#[test]
fn signals_are_as_new_and_it_leads_its_own_group() {
    let rig = Rig::new();
    let text = rig.written(argv(&["cat", "/proc/self/status", "/proc/self/stat"])).text();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_ascii_whitespace().last().unwrap().to_owned()
    };
    // The test itself ignores SIGPIPE, as every Rust program does.
    assert_eq!(field("SigIgn:"), "0000000000000000");
    assert_eq!(field("SigBlk:"), "0000000000000000");
    let pid = field("Pid:");
    let stat: Vec<&str> = text.lines().last().unwrap().split(' ').collect();
    assert_eq!((stat[0], stat[4]), (pid.as_str(), pid.as_str()));
}

#[test]
fn the_limit_on_open_files_is_raised_for_us_alone() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // Enough for every other test of this process, and below the hard limit anywhere.
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(3_000), maximum }).unwrap();
    assert_eq!(mainspring_exec::raise_open_files().unwrap(), maximum);
    assert_eq!(getrlimit(Resource::Nofile).current, maximum);
    assert_eq!(
        Rig::new().written(shell("ulimit -n; ulimit -Hn")).text(),
        format!(
            "3000\n{}\n",
            match maximum {
                Some(hard) => hard.to_string(),
                None => "unlimited".to_owned(),
            }
        )
    );
}

#[test]
fn it_works_where_it_is_told_to() {
    let rig = Rig::new();
    let here = rig.folder.path().canonicalize().unwrap();
    let launch = shell("pwd -P").with(|work| work.workdir = here.to_str().unwrap().to_owned());
    assert_eq!(rig.written(launch).text(), format!("{}\n", here.display()));
}
