//! `doctor` and `completions`.

use crate::door::{Base, Door, Served, Way};
use crate::rig::{Bench, finish};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

fn state<'a>(document: &'a serde_json::Value, check: &str) -> &'a str {
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|it| it["check"] == check).expect("it was looked at");
    found["state"].as_str().expect("a state")
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
