//! Large logs: followed while they are written, moved when their attempt ends, read from wherever
//! they are, over kills and full disks. On both stores.

use crate::door::{Base, Door, Served, Way};
use crate::rig::Bench;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const IN_POSTGRES: Way = Way { door: Door::Socket, base: Base::Postgres };

/// Cuts off everybody else.
const CUT_OFF: &str = "select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()";

/// Lines that do not compress to nothing, each different.
fn write_lines(path: &Path, bytes: usize) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut file = std::io::BufWriter::new(fs::File::create(path).expect("made"));
    let mut state = 1_u64;
    for _ in 0..bytes / 1_000 {
        let mut line = [b'\n'; 1_000];
        for letter in &mut line[..999] {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *letter = LETTERS[(state >> 58) as usize];
        }
        file.write_all(&line).expect("written");
    }
    file.flush().expect("written");
}

/// What is in the blob folder, what is being written included.
fn blobs(bench: &Bench) -> Vec<PathBuf> {
    let folders = fs::read_dir(bench.path(".mainspring/blobs")).into_iter().flatten();
    let files = folders.flatten().flat_map(|folder| fs::read_dir(folder.path()).expect("a folder"));
    files.flatten().map(|file| file.path()).collect()
}

fn log_files(bench: &Bench) -> usize {
    fs::read_dir(bench.path(".mainspring/logs")).expect("a folder").count()
}

/// The most memory that the process has ever held at once, in KiB.
fn memory_peak(served: &Served) -> u64 {
    let path = format!("/proc/{}/status", served.pid().as_raw_nonzero());
    let status = fs::read_to_string(path).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("said");
    peak.trim().trim_end_matches(" kB").parse().expect("a number")
}

const BIG: &str = "\
name: w
tasks:
  a: { log_limit: 200MiB, run: 'echo begun; echo up > up; cat gate big' }
";

/// What is there, from its end, and then what comes; one attempt and no other.
#[test]
fn a_log_is_followed_from_its_last_lines_on() {
    let text = "name: w
tasks:
  a:
    retries: { max: 1, delay: 1ms }
    run: 'seq $MAINSPRING_ATTEMPT 5; cat gate; echo done; [ $MAINSPRING_ATTEMPT = 2 ]'
";
    let bench = Bench::with(text);
    bench.fifo("gate");
    let run = bench.start(&["run", "w.yaml"]);
    while !bench.run(&["logs", "last", "a"]).stdout.ends_with("5\n") {}
    let follower = bench.start_shell("exec $M logs last a -f --tail 2 > followed");
    let first = bench.start_shell("exec $M logs last a -f --attempt 1 --tail 1 > first");
    for (name, begun) in [("followed", "4\n5\n"), ("first", "5\n")] {
        while bench.read(name) != begun {
            assert!(begun.starts_with(&bench.read(name)), "{}", bench.read(name));
        }
    }
    bench.write("gate", "");
    first.done().is(0);
    assert_eq!(bench.read("first"), "5\ndone\n");
    while !bench.run(&["logs", "last", "a"]).stdout.starts_with("2\n") {}
    bench.write("gate", "");
    follower.done().is(0);
    assert_eq!(bench.read("followed"), "4\n5\ndone\n2\n3\n4\n5\ndone\n");
    run.done().is(0);
    let past = bench.run(&["logs", "last", "a", "-f", "--attempt", "1", "--tail", "2"]);
    assert_eq!(past.is(0).stdout, "5\ndone\n");
    let both = bench.run(&["logs", "last", "a", "-f", "--attempt", "3"]);
    both.is(2).says("has no attempt 3");
}

/// Fifty megabytes, followed across the end, read in whole, from the end and in part.
fn travels(mut served: Served) {
    let bench = &served.bench;
    write_lines(&bench.path("big"), 50_000_000);
    bench.write("w.yaml", BIG);
    bench.fifo("up");
    bench.fifo("gate");
    served.run(&["apply", "w.yaml"]).is(0);
    let before = memory_peak(&served);
    served.trigger(&[]);
    assert_eq!(bench.hear("up"), "up\n");
    let follower = bench.start_shell("exec $M logs last a -f > followed");
    while bench.read("followed") != "begun\n" {
        std::thread::yield_now();
    }
    bench.write("gate", "");
    follower.done().is(0);
    served.run(&["watch", "last"]).is(0);
    same(bench, "(echo begun; cat big) > whole; cmp whole followed");
    same(bench, "$M logs last a > read; cmp whole read");
    same(bench, "tail -n 20000 whole > end; $M logs last a --tail 20000 > read; cmp end read");
    let grown = memory_peak(&served) - before;
    println!("the server grew by {grown} KiB from {before}");
    assert!(grown < 30_000, "the log is held in memory: {grown} KiB more");
    assert_eq!(log_files(bench), 0, "the file goes when the log is in the blob store");
    match &served.database {
        None => assert_eq!(blobs(bench).len(), 1),
        Some(database) => {
            assert_eq!(blobs(bench).len(), 0);
            let chunks = database.sql("select count(*) from mainspring.blob_chunks");
            assert!(chunks.parse::<u32>().expect("a number") > 100, "{chunks} chunks");
        }
    }
    served.kill();
    let place = served.database.as_ref().map(|database| format!("--database {}", database.url()));
    let (bench, place) = (&served.bench, place.unwrap_or_default());
    same(bench, &format!("$M logs last a {place} > read; cmp whole read"));
    same(
        bench,
        &format!("tail -n 7 whole > end; $M logs last a --tail 7 {place} > read; cmp end read"),
    );
    for command in ["runs", "show last", "workflows"] {
        bench.shell(&format!("exec $M {command} {place}")).is(0).prints("w");
    }
}

#[track_caller]
fn same(bench: &Bench, script: &str) {
    let done = bench.shell(script);
    assert!(done.status.success(), "{script}: {}{}", done.stdout, done.stderr);
}

#[test]
fn fifty_megabytes_travel_through_a_folder() {
    travels(Served::new(Door::Socket));
}

#[test]
fn fifty_megabytes_travel_through_a_database() {
    travels(Served::new(IN_POSTGRES));
}

/// Whatever writes a log's row waits for ever.
const STALL: &str = "create function mainspring.stall() returns trigger language plpgsql as
    $$ begin perform pg_sleep(1000); return new; end $$;
    create trigger stall before insert on mainspring.logs execute function mainspring.stall()";

#[test]
fn a_kill_between_the_blob_and_its_row_loses_nothing() {
    let mut served = Served::new(IN_POSTGRES);
    let script = "[ $MAINSPRING_ATTEMPT = 2 ] || cat big";
    served.bench.write("w.yaml", format!("name: w\ntasks: {{ a: {{ run: '{script}' }} }}\n"));
    write_lines(&served.bench.path("big"), 1_000_000);
    served.run(&["apply", "w.yaml"]).is(0);
    let sql = |served: &Served, text: &str| served.database.as_ref().expect("there").sql(text);
    sql(&served, STALL);
    served.trigger(&[]);
    while sql(&served, "select count(*) from mainspring.blobs") != "1" {}
    served.kill();
    sql(&served, CUT_OFF);
    sql(&served, "drop function mainspring.stall cascade");
    assert_eq!(sql(&served, "select count(*) from mainspring.logs"), "0");
    assert_eq!(log_files(&served.bench), 1);
    served.begin_again();
    served.run(&["watch", "last"]).is(0);
    same(&served.bench, "$M logs last a --attempt 1 > read; cmp big read");
    let of = "select count(*) from mainspring.logs join mainspring.blobs
              on name = attempt::text || '.log.gz' where blob_bytes > 1000000";
    assert_eq!(sql(&served, of), "1");
    assert_eq!(sql(&served, "select count(*) from mainspring.blobs"), "1");
    assert_eq!(log_files(&served.bench), 0);
}

/// Killed while its task writes: what was written until then is kept.
#[test]
fn the_log_of_a_lost_attempt_is_moved_too() {
    let mut served = Served::new(Door::Socket);
    let script = "[ $MAINSPRING_ATTEMPT = 2 ] && exit; cat big; echo up > up; cat gate";
    served.bench.write("w.yaml", format!("name: w\ntasks: {{ a: {{ run: '{script}' }} }}\n"));
    served.bench.fifo("up");
    served.bench.fifo("gate");
    write_lines(&served.bench.path("big"), 1_000_000);
    served.run(&["apply", "w.yaml"]).is(0);
    served.trigger(&[]);
    assert_eq!(served.bench.hear("up"), "up\n");
    // Only what has been read from the pipe is there to be kept.
    while served.run(&["logs", "last", "a"]).is(0).stdout.len() < 1_000_000 {}
    served.kill();
    served.begin_again();
    served.run(&["watch", "last"]).is(0);
    same(&served.bench, "$M logs last a --attempt 1 > read; cmp big read");
    assert_eq!((blobs(&served.bench).len(), log_files(&served.bench)), (1, 0));
}

const MIDDLE: &str =
    "name: w\ntasks: { a: { run: 'cat big' }, b: { depends_on: [a], run: 'true' } }\n";

#[test]
fn a_log_that_cannot_be_moved_is_read_from_its_file() {
    let served = Served::with(Door::Socket, MIDDLE);
    write_lines(&served.bench.path("big"), 1_000_000);
    // Where blobs are written there is no folder, and none can be made.
    fs::create_dir_all(served.bench.path(".mainspring/blobs")).expect("made");
    served.bench.write(".mainspring/blobs/new", "in the way");
    served.run(&["trigger", "w", "--wait"]).is(0);
    assert_eq!(log_files(&served.bench), 1);
    same(&served.bench, "$M logs last a > read; cmp big read");
    same(&served.bench, "$M logs last a -f > read; cmp big read");
}

#[test]
fn a_disk_that_is_full_for_a_blob_loses_no_log() {
    let bench = Bench::with(MIDDLE);
    write_lines(&bench.path("big"), 6_000_000);
    fs::create_dir(bench.path("disk")).expect("made");
    // The log takes up 6 MB, its blob another 5: there is room for one of them.
    let script = "
        mount -t tmpfs -o size=9m none disk || exit 90
        $M run w.yaml --data disk/data || exit 91
        ls disk/data/logs disk/data/blobs/*
        $M logs last a --data disk/data > read
        cmp big read";
    bench.write("script", script);
    let done = bench.shell("exec unshare -rm sh script");
    if done.status.code() == Some(90) || done.stderr.contains("unshare") {
        // No mounts here: what cannot be written is tested above.
        println!("unshare -rm is not permitted: {}", done.stderr);
        return a_log_that_cannot_be_moved_is_read_from_its_file();
    }
    done.is(0).prints(".log\n");
    assert!(!done.stdout.contains(".log.gz"), "{}", done.stdout);
}
