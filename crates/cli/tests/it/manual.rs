//! The page on the command line: every example on it works, and prints what it says.

use crate::door::{Door, Served};
use crate::rig::{Running, finish};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A command, and the lines that the page shows below it.
fn examples(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_console = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) => is_console = kind == "console",
            None if !is_console => {}
            None => match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => found.push((command.to_owned(), String::new())),
                (None, Some((_, shown))) => {
                    shown.push_str(line);
                    shown.push('\n');
                }
                (None, None) => panic!("output without a command: {line}"),
            },
        }
    }
    found
}

#[test]
fn every_example_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = fs::read_to_string(page).expect("the page");
    let served = Served::new(Door::Socket);
    let examples = examples(&page);
    assert!(examples.len() > 30, "{}", examples.len());
    for (command, shown) in examples {
        let script = format!("mainspring() {{ \"$M\" \"$@\"; }}; {command}");
        let mut bash = served.bench.in_folder(Command::new("bash"), &["-c", &script]);
        bash.env("M", crate::rig::PROGRAM);
        let done = finish(bash);
        println!("{command}\n{}{}", done.stdout, done.stderr);
        done.is(0);
        if !shown.is_empty() {
            assert_eq!(done.stdout, shown, "{command}");
        }
    }
}

/// What is to be copied into a terminal works there: lines with curl, and those they need.
#[test]
fn every_request_works() {
    let served = Served::with(Door::Socket, "name: nightly-report\ntasks: { a: { noop: {} } }\n");
    for (page, least) in [("README.md", 2), ("docs/server.md", 2)] {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let page = fs::read_to_string(page).expect("the page");
        let mut script = "set -e; mainspring() { \"$M\" \"$@\"; }\n".to_owned();
        let mut found = 0;
        for (command, _) in examples(&page) {
            if !command.contains("curl ") && !command.starts_with("TOKEN=") {
                continue;
            }
            found += 1;
            let command = command.replace("curl ", "curl --fail-with-body -sS ");
            let command = command.replace("http://127.0.0.1:8070", &served.url);
            match command.contains(" -N ") {
                // It goes on for as long as somebody listens.
                true => {
                    let exec = format!("exec {command}");
                    let bash = served.bench.in_folder(Command::new("bash"), &["-c", &exec]);
                    Running::new(bash).until_printed("event: ready");
                }
                false => script.push_str(&format!("{command}\n")),
            }
        }
        assert!(found >= least, "{found}");
        let mut bash = served.bench.in_folder(Command::new("bash"), &["-c", &script]);
        bash.env("M", crate::rig::PROGRAM);
        finish(bash).is(0);
    }
}

/// A command that the page does not tell of is one that nobody finds.
#[test]
fn every_command_is_told_of() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = fs::read_to_string(page).expect("the page");
    let served = crate::rig::Bench::new().run(&["--help"]);
    let commands = served.is(0).stdout.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in commands.take_while(|line| !line.is_empty()) {
        let Some(name) = line.strip_prefix("  ").and_then(|line| line.split(' ').next()) else {
            continue;
        };
        if !name.is_empty() && name != "help" {
            assert!(
                page.contains(&format!("`{name}")) || page.contains(&format!("mainspring {name}")),
                "{name}"
            );
        }
    }
}
