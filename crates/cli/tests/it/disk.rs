//! Disks that are full and folders that cannot be written: a clear error, and nothing that was
//! reported done is lost.

use crate::rig::{Bench, Done};
use std::process::Command;

/// Tasks with outputs large enough to fill a small disk; each says that it ran.
fn hungry() -> String {
    let mut text = String::from("name: w\ndefaults: { output: stdout }\ntasks:\n");
    for no in 0..60 {
        let upstream = if no == 0 { String::new() } else { format!("depends_on: [t{}], ", no - 1) };
        text.push_str(&format!(
            "  t{no}: {{ {upstream}run: 'echo $MAINSPRING_TASK >> effects; head -c 40000 /dev/zero | tr \"\\\\0\" x | sed \"s/.*/\\\"&\\\"/\"' }}\n"
        ));
    }
    text
}

fn check_failed(done: &Done) {
    done.is(3)
        .says("the store fails, trying again")
        .says("To go on with the run: mainspring run --resume");
}

/// Everything succeeded in the end, and what was reported done before ran once.
fn check_resumed(bench: &Bench, first: &Done, second: &Done) {
    second.is(0).prints("60 success");
    let effects = bench.read("effects");
    for line in first.stderr.lines().filter_map(|line| line.strip_prefix("success    ")) {
        let task = line.split(' ').next().expect("a name");
        let times = effects.lines().filter(|ran| *ran == task).count();
        assert_eq!(times, 1, "{task} was reported done and ran {times} times");
    }
    assert!(first.stderr.contains("success    t0"), "something was done before: {}", first.stderr);
}

#[test]
fn a_file_that_may_not_grow_stops_the_run_until_it_may() {
    let bench = Bench::with(&hungry());
    let first = bench.shell("ulimit -f 2000; exec $M run w.yaml");
    check_failed(&first);
    assert_eq!(bench.alive(), [""; 0]);
    let second = bench.run(&["run", "--resume"]);
    check_resumed(&bench, &first, &second);
}

#[test]
fn a_disk_that_is_full_for_the_very_last_commit_leaves_no_run_stuck() {
    // Somewhere among these sizes it is the commit that ends the run which fails.
    for blocks in [80, 90, 100, 110, 120, 130] {
        let bench = Bench::with(
            "name: w\ntasks: { a: { run: 'echo hi' }, b: { depends_on: [a], run: 'echo hi' } }\n",
        );
        let done =
            bench.shell(&format!("ulimit -f {blocks}; exec timeout -s KILL 60 $M run w.yaml"));
        match done.status.code() {
            Some(3) if done.stderr.contains("run --resume") => {
                bench.run(&["run", "--resume"]).is(0);
            }
            // Never accepted, or the database made itself room in time.
            Some(0 | 3) => {}
            code => panic!("{blocks}: {code:?}\n{}", done.stderr),
        }
    }
}

#[test]
fn a_file_that_may_not_even_begin_starts_nothing() {
    let bench = Bench::with(&hungry());
    let done = bench.shell("ulimit -f 8; exec $M run w.yaml");
    done.is(3).says("error");
    assert!(!bench.path("effects").exists());
    bench.run(&["run", "w.yaml"]).is(0);
}

/// Whether this machine lets us mount something for ourselves.
fn can_mount() -> bool {
    let probe = "mount -t tmpfs none /proc/self/cwd";
    let dir = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", probe]).current_dir(dir.path());
    command.output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_full_disk_stops_the_run_until_there_is_space() {
    let bench = Bench::with(&hungry());
    if !can_mount() {
        // No mounts here: the other way to make writes fail is tested above, once more then.
        println!("unshare -rm is not permitted: the disk is made full by ulimit -f");
        let first = bench.shell("ulimit -f 2000; exec $M run w.yaml");
        check_failed(&first);
        let second = bench.run(&["run", "--resume"]);
        return check_resumed(&bench, &first, &second);
    }
    std::fs::create_dir(bench.path("disk")).expect("made");
    let script = r#"
        mount -t tmpfs -o size=24m none disk || exit 90
        head -c 23500000 /dev/zero > disk/filler
        $M run w.yaml --data disk/data > first.out 2> first.err; echo $? > first.code
        $M show last --data disk/data > shown.out 2>&1 || exit 91
        rm disk/filler
        exec $M run --resume --data disk/data
    "#;
    bench.write("script", script);
    let second = bench.shell("exec unshare -rm sh script");
    assert_eq!(bench.read("first.code").trim(), "3", "{}", bench.read("first.err"));
    let first = Done {
        status: second.status,
        stdout: bench.read("first.out"),
        stderr: bench.read("first.err"),
    };
    first.says("is full").says("mainspring run --resume").says("--data disk/data");
    check_resumed(&bench, &first, &second);
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let bench = Bench::with("name: w\ntasks: { a: { run: 'touch ran' } }\n");
    // Nobody may make a folder there, root included.
    let done = bench.run(&["run", "w.yaml", "--data", "/sys/mainspring"]);
    done.is(3).says("/sys/mainspring").says("--data").says("writable");
    bench.write("file", "");
    bench.run(&["run", "w.yaml", "--data", "file/data"]).is(2).says("file/data");
    bench.run(&["run", "w.yaml", "--data", "file"]).is(2);
    let long = vec!["d".repeat(200); 4].join("/");
    bench.run(&["run", "w.yaml", "--data", &long]).is(3).says("a shorter one");
    let done = bench.shell("exec $M run w.yaml --data \"$(printf 'no-\\377')\"");
    done.is(2).says("is not UTF-8");
    assert!(!bench.path("ran").exists());
}

#[test]
fn a_read_only_folder_can_be_looked_at_and_resumed_later() {
    if !can_mount() {
        // Then this is not root in a container, or one that forbids mounts: permissions do it.
        println!("unshare -rm is not permitted: what cannot be mounted is tested above");
        return a_folder_that_cannot_be_written_is_said();
    }
    let bench = Bench::with("name: w\ntasks: { a: { run: '[ -e again ] || kill -9 $PPID' } }\n");
    std::fs::create_dir(bench.path("disk")).expect("made");
    let script = r#"
        mount -t tmpfs none disk || exit 90
        $M run w.yaml --data disk/data 2> /dev/null
        touch again
        mount -o remount,ro disk || exit 91
        $M run --resume --data disk/data > resume.out 2> resume.err; echo $? > resume.code
        $M run w.yaml --data disk/data > fresh.out 2> fresh.err; echo $? > fresh.code
        $M runs --data disk/data > runs.out 2>&1; echo $? > runs.code
        mount -o remount,rw disk || exit 92
        exec $M run --resume --data disk/data
    "#;
    bench.write("script", script);
    bench.shell("exec unshare -rm sh script").is(0).prints("success w");
    assert_eq!(bench.read("resume.code").trim(), "3", "{}", bench.read("resume.err"));
    assert!(bench.read("resume.err").contains("writable"), "{}", bench.read("resume.err"));
    assert_eq!(bench.read("fresh.code").trim(), "3", "{}", bench.read("fresh.err"));
    assert!(bench.read("fresh.err").contains("writable"), "{}", bench.read("fresh.err"));
    println!("runs on a read-only disk: {}", bench.read("runs.out"));
}
