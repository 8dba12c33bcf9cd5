//! Data folders that are damaged, removed or not to be written: a clear error, no panic, no hang.

use crate::chance::{Chance, rounds};
use crate::rig::{Bench, Done};
use std::os::unix::fs::PermissionsExt;

/// A run that was cut off after some of its tasks.
fn cut_off() -> Bench {
    let mut text = String::from("name: w\ntasks:\n");
    for no in 0..30 {
        text.push_str(&format!("  t{no}: {{ run: 'seq 100; echo 1 > $MAINSPRING_OUTPUT' }}\n"));
    }
    text.push_str("  last: { depends_on: [t29], run: '[ -e again ] || kill -9 $PPID' }\n");
    let bench = Bench::with(&text);
    assert!(bench.run(&["run", "w.yaml"]).was_killed());
    bench.write("again", "");
    bench
}

/// Whole or refused, never anything else.
#[track_caller]
fn check(what: &str, done: &Done) {
    let code = done.status.code();
    assert!(matches!(code, Some(0..=3)), "{what}: {code:?} {:?}\n{}", done.status, done.stderr);
    assert!(!done.stderr.contains("panicked"), "{what}: {}", done.stderr);
    if matches!(code, Some(2 | 3)) {
        assert!(done.stderr.contains("error"), "{what}: {}", done.stderr);
    }
}

fn every_command(bench: &Bench, what: &str) {
    for arguments in [
        &["runs"][..],
        &["show", "last"],
        &["show", "last", "-o", "json"],
        &["logs", "last", "t7"],
        &["run", "--resume"],
        &["run", "w.yaml"],
    ] {
        let quoted = arguments.join(" ");
        let done = bench.shell(&format!("exec timeout -s KILL 60 $M {quoted}"));
        check(&format!("{what}: {quoted}"), &done);
    }
    assert_eq!(bench.alive(), [""; 0], "{what}");
}

#[test]
fn bytes_that_are_changed_anywhere_are_told_or_harmless() {
    rounds(6, 2, |seed| {
        let (mut chance, bench) = (Chance::new(seed), cut_off());
        for file in [".mainspring/mainspring.db", ".mainspring/mainspring.db-wal"] {
            let mut bytes = std::fs::read(bench.path(file)).unwrap_or_default();
            if bytes.is_empty() {
                continue;
            }
            for _ in 0..1 + chance.below(200) {
                let at = usize::try_from(chance.below(bytes.len() as u64)).expect("small");
                bytes[at] ^= u8::try_from(1 + chance.below(255)).expect("a byte");
            }
            bench.write(file, bytes);
        }
        every_command(&bench, &format!("seed {seed}"));
        true
    });
}

#[test]
fn files_that_are_cut_short_are_told_or_harmless() {
    rounds(6, 2, |seed| {
        let (mut chance, bench) = (Chance::new(seed), cut_off());
        let file = bench.path(match chance.below(3) {
            0 => ".mainspring/mainspring.db-wal",
            _ => ".mainspring/mainspring.db",
        });
        if let Ok(file) = std::fs::OpenOptions::new().write(true).open(file) {
            let bytes = file.metadata().expect("there").len();
            file.set_len(chance.below(bytes.max(1))).expect("cut");
        }
        every_command(&bench, &format!("seed {seed}"));
        true
    });
}

#[test]
fn what_is_no_database_is_said() {
    let bench = cut_off();
    for file in ["mainspring.db-wal", "mainspring.db-shm"] {
        std::fs::remove_file(bench.path(".mainspring").join(file)).expect("removed");
    }
    bench.write(".mainspring/mainspring.db", "rubbish".repeat(1_000));
    bench.run(&["run", "--resume"]).is(3).says("mainspring.db").says("not a database");
    bench.run(&["run", "w.yaml"]).is(3).says("not a database");
    bench.run(&["show", "last"]).is(3).says("not a database");
    bench.run(&["runs"]).is(3).says("not a database");
    bench.write(".mainspring/mainspring.db", "");
    bench.run(&["run", "--resume"]).is(2).says("nothing has been run here yet");
    bench.run(&["runs"]).is(2).says("nothing has been run here yet");
    for (file, said) in [("lock", "lock"), ("id", "scheduler id")] {
        let path = format!(".mainspring/{file}");
        let kept = bench.read(&path);
        std::fs::remove_file(bench.path(&path)).expect("removed");
        if file == "lock" {
            std::fs::create_dir(bench.path(&path)).expect("made");
        } else {
            bench.write(&path, "rubbish");
        }
        bench.run(&["run", "w.yaml"]).is(3).says(said);
        let _ = std::fs::remove_dir(bench.path(&path));
        bench.write(&path, kept);
    }
}

#[test]
fn a_folder_that_is_removed_while_it_works_is_said() {
    let cases =
        [".mainspring", ".mainspring/mainspring.db*", ".mainspring/work", ".mainspring/logs"];
    std::thread::scope(|scope| {
        for removed in cases {
            scope.spawn(move || remove(removed));
        }
    });
}

fn remove(removed: &str) {
    let bench = Bench::with(
        "name: w
tasks:
  a: { run: 'echo hi; echo up > up; cat gate; echo 1 > $MAINSPRING_OUTPUT' }
  b: { depends_on: [a], run: 'echo hi; echo 1 > $MAINSPRING_OUTPUT' }
",
    );
    bench.fifo("up");
    bench.fifo("gate");
    let running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    let id = bench.read(".mainspring/id");
    bench.shell(&format!("rm -r {removed}")).is(0);
    bench.write("gate", "");
    let done = running.done();
    check(removed, &done);
    if !bench.path(".mainspring/mainspring.db").exists() {
        // Whatever it did since would be forgotten.
        done.is(3).says("mainspring.db was removed").says("is gone with its database");
    }
    if !bench.path(".mainspring").exists() {
        std::fs::create_dir(bench.path(".mainspring")).expect("made");
        bench.write(".mainspring/id", id);
    }
    assert_eq!(bench.alive(), [""; 0], "{removed}");
}

#[test]
fn someone_without_rights_is_told_so() {
    let bench = cut_off();
    bench.shell("cp $M m; chmod 755 m . ; chmod 644 w.yaml").is(0);
    std::fs::set_permissions(bench.path(".mainspring"), PermissionsExt::from_mode(0o555))
        .expect("set");
    let root = bench.shell("[ $(id -u) = 0 ]").status.success();
    let switch = if root { "setpriv --reuid 65534 --clear-groups --regid 65534 --" } else { "" };
    for arguments in ["run w.yaml", "run --resume"] {
        let done = bench.shell(&format!("exec {switch} ./m {arguments}"));
        println!("{}", done.stderr);
        assert!(matches!(done.status.code(), Some(2 | 3)), "{}", done.stderr);
        assert!(!done.stderr.contains("panicked"));
        done.says("writ");
    }
    std::fs::set_permissions(bench.path(".mainspring"), PermissionsExt::from_mode(0o755))
        .expect("set");
    bench.run(&["run", "--resume"]).is(0);
}
