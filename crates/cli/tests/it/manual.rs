//! The page on the command line: every example on it works, and prints what it says.

use crate::door::{Door, Served};
use crate::rig::finish;
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
