//! `doctor` and `completions`.

use crate::door::{Base, Door, Served, Way, begin};
use crate::rig::{Bench, finish};
use mainspring_throwaway::database;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

fn text<'a>(document: &'a serde_json::Value, check: &str, field: &str) -> &'a str {
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|it| it["check"] == check).expect("it was looked at");
    found[field].as_str().expect("a text")
}

fn state<'a>(document: &'a serde_json::Value, check: &str) -> &'a str {
    text(document, check, "state")
}

#[test]
fn all_is_well_where_nothing_is() {
    let bench = Bench::new();
    bench.run(&["doctor"]).is(0).prints("is not there yet");
    assert!(!bench.path(".mainspring").exists());
}

#[test]
fn a_server_is_looked_at_through_both_doors() {
    for way in Way::ALL {
        let served = Served::new(way);
        let done = served.run(&["doctor"]);
        done.is(0).prints("is ready");
        if way.door == Door::Socket {
            done.prints("process ").prints("owner, admin");
        }
        if way == (Way { door: Door::Socket, base: Base::Sqlite }) {
            done.prints("mainspring.db");
        }
        if let (Some(database), Door::Socket) = (&served.database, way.door) {
            done.prints("keeps its rows elsewhere");
            // Its lock is held by the server, which is no trouble for whoever only looks.
            let done = served.run(&["doctor", "--database", &database.url()]);
            done.is(0).prints("can be read").prints("is ready");
        }
        served.run(&["doctor", "-o", "yaml"]).is(0).prints("well: true");
    }
}

#[test]
fn what_is_wrong_is_found() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    let look = |code: i32| bench.run(&["doctor", "-o", "json"]).is(code).json();
    bench.run(&["run", "w.yaml"]).is(0);
    assert_eq!(state(&look(0), "data folder"), "ok");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path(".mainspring"), open).expect("changed");
    assert_eq!(state(&look(0), "data folder"), "warning");
    bench.write(".mainspring/mainspring.db", "no database");
    assert_eq!(state(&look(1), "database"), "problem");
    bench.run(&["doctor"]).is(1).prints("to do: ");
    bench.run(&["doctor", "--server", "http://127.0.0.1:1"]).is(1).prints("no server answers");
    let nowhere = "postgres://ann:hush@%2Fno%2Fsuch%2Ffolder/d";
    let done = bench.run(&["doctor", "--database", nowhere]);
    done.is(1).prints("cannot be reached");
    assert!(!done.stdout.contains("hush"), "{}", done.stdout);
    bench.write("file", "");
    bench.run(&["doctor", "--data", "file"]).is(1).prints("not a folder");
}

#[test]
fn who_is_at_work_is_told_without_passwords() {
    let (bench, database) = (Bench::new(), database());
    let url = database.url().replacen('@', ":hunter2@", 1);
    let args = ["--listen", "127.0.0.1:0", "--database", &url];
    let (server, _) = begin(&bench, &args);
    for format in ["table", "json", "yaml"] {
        let done = bench.run(&["doctor", "-o", format]);
        done.is(0).prints("server --listen 127.0.0.1:0 --database postgres://");
        assert!(!done.stdout.contains("hunter2"), "{}", done.stdout);
    }
    assert!(!server.heard.contains("hunter2"), "{}", server.heard);
}

#[test]
fn what_a_server_would_use_is_looked_at() {
    let bench = Bench::new();
    let look = |args: &[&str], code: i32| {
        let done = bench.run(&[&["doctor", "-o", "json"], args].concat());
        assert!(!done.stdout.contains("hush"), "{}", done.stdout);
        done.is(code).json()
    };
    assert_eq!(state(&look(&[], 0), "config"), "ok");
    bench.write("mainspring.toml", "data = \"other/data\"\n");
    let found = look(&[], 0);
    assert!(text(&found, "config", "found").contains("mainspring.toml"), "{found}");
    assert!(text(&found, "data folder", "found").starts_with("other/data "), "{found}");
    let found = look(&["--data", "third"], 0);
    assert!(text(&found, "data folder", "found").starts_with("third "), "{found}");
    bench.write("mainspring.toml", "database = \"postgres://ann:hush@127.0.0.1:1/d\"\n");
    let found = look(&[], 1);
    assert_eq!(state(&found, "database"), "problem");
    assert!(text(&found, "database", "found").contains("127.0.0.1"), "{found}");
    let mut command = bench.command(&["doctor", "-o", "json", "--config", "its.toml"]);
    bench.write("its.toml", "");
    command.env("MAINSPRING_DATA", "fourth");
    let found = finish(command).is(0).json();
    assert!(text(&found, "config", "found").contains("its.toml"), "{found}");
    assert!(text(&found, "data folder", "found").starts_with("fourth "), "{found}");
}

#[test]
fn a_configuration_that_cannot_be_used_is_a_finding() {
    let bench = Bench::new();
    for (file, says) in [
        ("data =\n", "mainspring.toml"),
        ("date = \"here\"\n", "unknown field `date`"),
        ("retention = \"soon\"\n", "retention `soon`"),
        ("database = \"postgres://ann:hush@h/d\n", "line 1"),
        ("max_processes = 2\n[tiers]\n\"executor:process\" = 3\n", "one limit"),
    ] {
        bench.write("mainspring.toml", file);
        let done = bench.run(&["doctor", "-o", "json"]);
        let found = done.is(1).json();
        assert_eq!(state(&found, "config"), "problem");
        assert!(text(&found, "config", "found").contains(says), "{found}");
        assert!(!text(&found, "config", "to_do").is_empty());
        assert_eq!(state(&found, "open files"), "ok", "the rest is looked at");
        assert!(!done.stdout.contains("hush"), "{}", done.stdout);
        bench.run(&["doctor"]).is(1).prints("problem  config");
        let refused = bench.run(&["server", "--print-config"]);
        assert!(!refused.is(2).stderr.contains("hush"), "{}", refused.stderr);
    }
    let found = bench.run(&["doctor", "--config", "nowhere.toml", "-o", "json"]).is(1).json();
    assert!(text(&found, "config", "found").contains("nowhere.toml cannot be read"), "{found}");
    bench.write("mainspring.toml", "");
    let mut command = bench.command(&["doctor", "-o", "json"]);
    command.env("MAINSPRING_LISTEN", "everywhere");
    assert_eq!(state(&finish(command).is(1).json(), "config"), "problem");
}

#[test]
fn executors_are_looked_at() {
    let bench = Bench::new();
    let found = bench.run(&["doctor", "-o", "json"]).is(0).json();
    assert_eq!(state(&found, "executors"), "ok");
    assert!(text(&found, "executors", "found").contains("/bin/sh"), "{found}");
    assert!(text(&found, "executors", "found").contains("git version "), "{found}");
    let mut command = bench.command(&["doctor", "-o", "json"]);
    command.env("PATH", bench.path("empty"));
    let found = finish(command).is(0).json();
    assert_eq!(state(&found, "executors"), "ok");
    assert!(text(&found, "executors", "found").contains("only workspaces"), "{found}");
    bench.write("mainspring.toml", "workdir = \"mainspring.toml\"\n");
    bench.run(&["doctor"]).is(1).prints("problem  executors").prints("is not a folder");
    bench.run(&["doctor", "--workdir", "nowhere"]).is(1).prints("nowhere is not there");
    bench.run(&["doctor", "--workdir", "."]).is(0);
}

#[test]
fn completions_are_scripts() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let done = bench.run(&["completions", shell]);
        done.is(0).prints("trigger").prints("mainspring");
        bench.write(shell, &done.stdout);
    }
    finish(bench.in_folder(Command::new("bash"), &["-n", "bash"])).is(0);
    let script = "source ./bash; COMP_WORDS=(mainspring tri); COMP_CWORD=1; \
                  _mainspring mainspring tri mainspring; echo ${COMPREPLY[@]}";
    let done = finish(bench.in_folder(Command::new("bash"), &["-c", script]));
    assert_eq!(done.is(0).stdout, "trigger\n");
    bench.run(&["completions", "cobol"]).is(2);
}
