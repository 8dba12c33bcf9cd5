//! Disks that become full at any moment: the run ends with exit code 3 and what to do, and once
//! there is space it goes on to an end that agrees with what happened.

use crate::chance::{Chance, rounds};
use crate::oracle::{BEGIN, END, Oracle, losses, successes, tasks};
use crate::rig::{Bench, Done};
use std::fmt::Write as _;
use std::process::Command;

const TASKS: usize = 40;

/// Chains side by side whose outputs and logs eat the disk.
fn hungry(chance: &mut Chance) -> String {
    let mut text = String::from("name: w\ntasks:\n");
    for no in 0..TASKS {
        let upstream = no.checked_sub(4).map(|up| format!("t{up}")).unwrap_or_default();
        let bytes = 1 + chance.below(40_000);
        let _ = writeln!(
            text,
            "  t{no}: {{ depends_on: [{upstream}], run: '{BEGIN}; \
             echo some log; head -c {bytes} /dev/zero | tr \"\\0\" x; \
             (printf \"%s\" \"\\\"\"; head -c {bytes} /dev/zero | tr \"\\0\" y; echo \"\\\"\") > out-$MAINSPRING_TASK; \
             cat out-$MAINSPRING_TASK > $MAINSPRING_OUTPUT || exit 1; {END}', \
             retries: {{ max: 20, delay: 100ms, factor: 1 }} }}"
        );
    }
    text
}

/// The end of a life on a disk that is full, at whichever moment it became so.
fn check_first(bench: &Bench, done: &Done, (round, data): (&str, &str)) {
    match done.status.code() {
        // Too late to matter, or a task could not write what it had to.
        Some(0 | 1) => {}
        // Before the run was accepted.
        Some(2) => assert!(!bench.path("effects").exists(), "{round}: {}", done.stderr),
        Some(3) => {
            let said = &done.stderr;
            assert!(said.contains("mainspring run --resume") || said.contains("to see:"), "{said}");
            assert!(said.contains("full") || said.contains("reports an error"), "{round}: {said}");
            assert!(said.contains(data), "{round}: {said}");
        }
        code => panic!("{round}: {code:?}\n{}", done.stderr),
    }
    assert!(!done.stderr.contains("panic"), "{round}: {}", done.stderr);
}

/// A small file system of our own, with so much of it free.
fn on_a_small_disk(bench: &Bench, free_kb: u64) -> (Done, Done) {
    std::fs::create_dir(bench.path("disk")).expect("made");
    let filler_kb = 12 * 1_024 - free_kb;
    let script = format!(
        r#"
        mount -t tmpfs -o size=12m none disk || exit 90
        head -c {filler_kb}k /dev/zero > disk/filler
        $M run w.yaml --data disk/data > first.out 2> first.err; echo $? > first.code
        $M show last -o json --data disk/data > between.json 2> /dev/null
        rm disk/filler
        mount -o remount,size=64m disk || exit 91
        $M run --resume --data disk/data > second.out 2> second.err; echo $? > second.code
        exec $M show last -o json --data disk/data
        "#
    );
    bench.write("script", script);
    let shown = bench.shell("exec unshare -rm sh script");
    let end = |name: &str| Done {
        status: std::os::unix::process::ExitStatusExt::from_raw(
            bench.read(&format!("{name}.code")).trim().parse::<i32>().expect("a code") << 8,
        ),
        stdout: shown.stdout.clone(),
        stderr: bench.read(&format!("{name}.err")),
    };
    (end("first"), end("second"))
}

/// Files that may not grow beyond so much: every machine can do that.
fn with_small_files(bench: &Bench, free_kb: u64) -> (Done, Done) {
    let blocks = free_kb * 2;
    let first = bench.shell(&format!("ulimit -f {blocks}; exec $M run w.yaml"));
    let shown = bench.run(&["show", "last", "-o", "json"]);
    bench.write("between.json", shown.stdout);
    let mut second = bench.run(&["run", "--resume"]);
    second.stdout = bench.run(&["show", "last", "-o", "json"]).stdout;
    (first, second)
}

/// True when the store failed in the middle.
fn check(bench: &Bench, round: &str, (first, second): (Done, Done)) -> bool {
    let failed = first.status.code() == Some(3);
    let Ok(after) = serde_json::from_str(&second.stdout) else {
        // Never accepted: there is nothing to go on with, and nothing ran.
        assert!(!bench.path("effects").exists(), "{round}: {}", second.stderr);
        return false;
    };
    let expected: &[i32] = if failed { &[0, 1] } else { &[2] };
    let code = second.status.code().expect("it ended by itself");
    assert!(expected.contains(&code), "{round}: {code}\n{}\n{}", first.stderr, second.stderr);
    let oracle = Oracle::new(bench, round);
    oracle.agrees_with(&after);
    for no in 4..TASKS {
        oracle.began_after_the_end_of(&format!("t{no}"), &format!("t{}", no - 4));
    }
    for task in tasks(&after) {
        assert!(losses(task) <= 1, "{round}: {task}");
        assert!(task["finished_at"].is_string() || task["status"] == "blocked", "{round}: {task}");
    }
    if let Ok(between) = serde_json::from_str(&bench.read("between.json")) {
        oracle.kept(&successes(&between), &after);
    }
    failed
}

/// Whether this machine lets us mount something for ourselves.
fn can_mount() -> bool {
    let dir = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("unshare");
    command.args(["-rm", "mount", "-t", "tmpfs", "none", "/proc/self/cwd"]);
    command.current_dir(dir.path()).output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_disk_may_become_full_at_any_moment() {
    let mounts = can_mount();
    println!("small disks can be mounted: {mounts}");
    let failed = rounds(8, 8, |seed| {
        let mut chance = Chance::new(seed);
        let bench = Bench::with(&hungry(&mut chance));
        let round = format!("seed {seed}");
        let free_kb = 100 + chance.below(1_500);
        let small_disk = mounts && chance.below(2) == 0;
        let (first, second) = match small_disk {
            true => on_a_small_disk(&bench, free_kb),
            false => with_small_files(&bench, free_kb),
        };
        check_first(&bench, &first, (&round, if small_disk { "disk/data" } else { ".mainspring" }));
        check(&bench, &round, (first, second))
    });
    println!("the store failed in the middle of {failed} runs");
    assert!(failed > 0, "disks that never are full prove nothing");
}
