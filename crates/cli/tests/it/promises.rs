//! `db check`: clean where nothing is wrong, beside a server too; and each promise that is broken
//! by hand is found.

use crate::kept::{Kept, Kind, sqlite};
use serde_json::Value;
use std::fs;

/// `WHICH` is the gate, or something that is not waited for.
const WORK: &str = "name: w
tasks:
  a: { run: 'echo hi; echo 1 > $MAINSPRING_OUTPUT' }
  flaky: { retries: { max: 1, delay: 1ms }, run: '[ $MAINSPRING_ATTEMPT = 2 ]' }
  big: { run: seq 3000 }
  gate: { depends_on: [a, flaky, big], run: cat WHICH }
  last: { depends_on: [gate], run: 'true' }
";

/// One run that succeeded, one that failed, one that was cut off; and nobody at work.
fn at_rest(kind: Kind) -> Kept {
    let mut kept = Kept::new(kind);
    kept.serve();
    kept.apply(&WORK.replace("WHICH", "/dev/null"));
    kept.bench.run(&["trigger", "w", "--key", "once", "--wait"]).is(0);
    kept.apply(&WORK.replace("WHICH", "/not/there"));
    kept.bench.run(&["trigger", "w", "--wait"]).is(1);
    kept.apply(&WORK.replace("WHICH", "gate"));
    let cut_off = kept.trigger(&[]);
    kept.until(&cut_off, "gate", "running");
    kept.kill();
    kept
}

/// What is done by hand, which promise that breaks, and what is said of it. `<status>` is the key
/// of the run with that status, `<id>` an id that nobody has, `<blob>` 5,000 bytes.
#[rustfmt::skip] // One below the other.
const BREAKS: &[(&str, &str, &str)] = &[
    ("update runs set tasks_success = 1 where key = <success>",
        "counts", "its row counts 5 in all: 0 live, 0 waiting, 0 worker_done, 1 success"),
    ("update runs set additions = 1 where key = <success>",
        "versions", "1 times, 0 are there"),
    ("update runs set tasks_total = 7",
        "counts", "its row counts 7 in all"),
    ("update runs set tasks_live = 0 where key = <running>",
        "counts", "0 live"),
    ("update tasks set fact = 'delayed', until = 5, settled_at = null where run = <success> and no = 4",
        "final", "it is success, and task 'last' is ready"),
    ("update tasks set fact = 'running', started_at = 5, ending = null, ending_detail = null,
      finished_at = null, settled_at = null where run = <failed> and no = 3",
        "final", "it is failed, and task 'gate' is running"),
    ("delete from tasks where run = <success> and no = 4",
        "final", "it is success, and task 'last' is ready"),
    ("update runs set status = 'failed' where key = <success>",
        "final", "it is failed, and by its tasks it is success"),
    ("update runs set status = 'success' where key = <failed>",
        "final", "it is success, and by its tasks it is failed"),
    ("update runs set finished_at = null where key = <failed>",
        "final", "it is failed, and has no moment of its end"),
    ("update runs set held_by = 'x', held_at = 5 where key = <failed>",
        "final", "it is failed, and held"),
    ("update runs set status = 'running', finished_at = null where key = <success>",
        "goes_on", "it is running, and nothing is left to be done"),
    ("update runs set finished_at = 5 where key = <running>",
        "goes_on", "it is running, and has a moment of its end"),
    ("update runs set status = 'paused' where key = <running>",
        "goes_on", "a hold belongs to a paused run"),
    ("update runs set status = 'cancelling' where key = <running>",
        "goes_on", "who cancels belongs to a cancelling run"),
    ("update runs set opened_at = null where key = <running>",
        "goes_on", "was never opened"),
    ("update tasks set fact = 'waiting' where run = <running> and no = 3",
        "goes_on", "it is running, and none of its tasks can go on"),
    ("update tasks set no = 99 where run = <success> and no = 0",
        "tasks", "there is a row of task number 99, which it has not"),
    ("update tasks set ix = 1 where run = <success> and no = 0",
        "tasks", "task 'a' is success, and has an index"),
    ("update tasks set attempts = 0, attempt_number = null, attempt_id = null,
      dispatched_at = null, started_at = null where run = <running> and no = 3",
        "tasks", "task 'gate' is running, and has no attempt at work"),
    ("update tasks set ending = null where run = <success> and no = 0",
        "tasks", "task 'a' is success, and has an attempt at work"),
    ("update tasks set started_at = null where run = <running> and no = 3",
        "tasks", "task 'gate' is running, and its attempt has not started"),
    ("update tasks set finished_at = null where run = <success> and no = 0",
        "tasks", "its attempt's end has no moment"),
    ("update tasks set until = 5 where run = <success> and no = 0",
        "tasks", "the moment it waits for belongs to a delayed or parked task, or to a stop"),
    ("update tasks set settled_at = null where run = <success> and no = 0",
        "tasks", "the moment of its outcome belongs to a settled task"),
    ("update tasks set stopping = 'pause' where run = <success> and no = 0",
        "tasks", "and is being stopped, but is not at work"),
    ("update tasks set cancelled = 'by_name' where run = <success> and no = 0",
        "tasks", "why it is cancelled belongs to a task that is"),
    ("update tasks set output = '1' where run = <failed> and no = 3",
        "tasks", "its output or its last attempt says otherwise"),
    ("delete from attempts where run = <success>",
        "attempts", "task 'flaky': it used 2 attempt numbers, and has 2"),
    ("update attempts set number = 7 where run = <success>",
        "attempts", "task 'flaky': it used 2 attempt numbers, and has 2, 7"),
    ("update attempts set ending = null, ending_detail = null where run = <success>",
        "attempts", "attempt 1 gave way to another, and has not ended"),
    ("update attempts set no = 4 where run = <running>",
        "attempts", "task 'last' has attempts, and no row of its own"),
    ("update logs set inline = <blob> where run = <success> and inline is not null",
        "logs", "5000 bytes in the database; at most 4096"),
    ("insert into logs (run, attempt, file_bytes) values (<success>, <id>, 5)",
        "logs", "and no such attempt"),
    ("insert into logs (run, attempt, file_bytes) values (<success>, <id>, 5)",
        "log_files", "5 bytes: the log of 5 bytes is neither in the blob store"),
    ("update runs set stamp = 0 where key = <success>",
        "stamps", "no commit has stamp 0"),
    ("update runs set stamp = 9223372036854775807 where key = <success>",
        "stamps", "no commit has stamp 9223372036854775807"),
    ("delete from versions where number = 1",
        "versions", "workflow 'w' should have the versions 1 to 3, and 2 are there"),
    ("delete from versions where number = 1",
        "versions", "it is pinned to version 1 of 'w', which is not there"),
    ("update versions set text = text || '# more' where number = 2",
        "versions", "version 2 of 'w' has another text than its hash"),
    ("update versions set text = '{' where number = 2",
        "versions", "version 2 of 'w' cannot be read"),
    ("update versions set workflow = 'other' where number = 3",
        "versions", "version 3 of 'other' calls itself 'w'"),
    ("delete from workflows",
        "versions", "workflow 'w' has versions, and is not among the workflows"),
    ("update idempotency_keys set run = <id>",
        "keys", "key 'once' of owner"),
    ("insert into inputs (run, input) values (99, '1')",
        "strays", "inputs has rows of a run with key 99, which is not there"),
    ("insert into tasks (run, no, ix, fact, attempts, tries, losses, refusals, refused_for, ever_started)
      values (<success> + 1000, 0, -1, 'none', 0, 0, 0, 0, 0, <no>)",
        "strays", "tasks has rows of a run with key"),
    ("update runs set labels = '{' where key = <success>",
        "readable", "column labels holds '{'"),
    ("update runs set input = null where key = <success>",
        "readable", "its input is missing"),
    ("update tasks set fact = 'odd' where run = <success> and no = 0",
        "readable", "column fact holds 'odd'"),
    ("update runs set owner = 99",
        "readable", "column owner holds"),
    ("update idempotency_keys set answer = '{'",
        "readable", "column answer holds '{'"),
];

fn break_it(kept: &Kept, folder: &str, sql: &str) {
    let mut sql = sql.to_owned();
    for status in ["success", "failed", "running"] {
        let key = format!("(select key from runs where status = '{status}')");
        sql = sql.replace(&format!("<{status}>"), &key);
    }
    let id = "00000000000000000000000000000001";
    match kept.kind {
        Kind::Sqlite => {
            let sql = sql.replace("<id>", &format!("x'{id}'")).replace("<no>", "0");
            sqlite(&kept.bench, folder, &sql.replace("<blob>", "zeroblob(5000)"));
        }
        Kind::Postgres => {
            let sql = sql.replace("<id>", &format!("'{id}'::uuid")).replace("<no>", "false");
            kept.sql(&sql.replace("<blob>", "decode(repeat('00', 5000), 'hex')"));
        }
    }
}

#[track_caller]
fn finds(whole: &Value, promise: &str, said: &str) {
    assert_eq!(whole["clean"], false);
    let violations = whole["violations"].as_array().expect("a list");
    let found = violations.iter().find(|it| {
        it["promise"] == promise && it["what"].as_str().is_some_and(|what| what.contains(said))
    });
    let found = found.unwrap_or_else(|| panic!("no {promise} {said:?} in {whole:#}"));
    assert!(found["to_do"].as_str().is_some_and(|it| !it.is_empty()));
    let is_of_a_run = !["strays", "keys", "integrity"].contains(&promise)
        && !said.starts_with("workflow ")
        && !said.starts_with("version ")
        && !said.contains("answer");
    if is_of_a_run {
        assert_eq!(found["run"].as_str().map(str::len), Some(36), "{found:#}");
    }
}

#[test]
fn what_is_broken_in_a_file_is_found() {
    let kept = at_rest(Kind::Sqlite);
    kept.check(0);
    for (sql, promise, said) in BREAKS {
        kept.bench.shell("rm -rf broken && cp -r .mainspring broken").is(0);
        break_it(&kept, "broken", sql);
        let done = kept.bench.run(&["db", "check", "--data", "broken", "-o", "json"]);
        println!("{sql}");
        finds(&done.is(1).json(), promise, said);
    }
    let drawn = kept.bench.run(&["db", "check", "--data", "broken"]);
    drawn.is(1).prints("looked at 3 runs").prints("to do: ").prints("violation");
}

#[test]
fn what_is_broken_in_postgresql_is_found() {
    let kept = at_rest(Kind::Postgres);
    kept.check(0);
    let tables = "schedulers versions workflows runs inputs tasks attempts logs idempotency_keys";
    let each =
        |sql: &dyn Fn(&str) -> String| tables.split(' ').map(sql).collect::<Vec<_>>().join(";");
    kept.sql("create schema kept");
    kept.sql(&each(&|table| format!("create table kept.{table} as table {table}")));
    let mended = each(&|table| {
        format!("delete from {table}; insert into {table} select * from kept.{table}")
    });
    for (sql, promise, said) in BREAKS {
        break_it(&kept, "", &format!("{mended}; {sql}"));
        println!("{sql}");
        finds(&kept.check(1), promise, said);
    }
    kept.sql(&mended);
    kept.check(0);
}

/// Where a table begins in the file.
fn page_of(table: &str, path: &std::path::Path) -> std::ops::Range<usize> {
    let conn = rusqlite::Connection::open(path).expect("a database");
    let sql = "select (rootpage - 1) * 4096 from sqlite_schema where name = ?1";
    let start: usize = conn.query_row(sql, [table], |row| row.get(0)).expect("a table");
    start..start + 4096
}

#[test]
fn what_is_broken_beside_the_rows_is_found() {
    let kept = at_rest(Kind::Sqlite);
    let bench = &kept.bench;
    fs::remove_dir_all(bench.path(".mainspring/blobs")).expect("removed");
    finds(&kept.check(1), "log_files", "neither in the blob store nor in the data folder");
    bench.write(".mainspring/id", "00000000-0000-7000-8000-000000000000\n");
    finds(&kept.check(1), "owner", "here works 00000000-0000-7000-8000-000000000000");
    fs::remove_file(bench.path(".mainspring/id")).expect("removed");
    finds(&kept.check(1), "owner", "here works nobody");
    assert!(!bench.path(".mainspring/id").exists(), "a check makes nothing");
    sqlite(bench, ".mainspring", "pragma wal_checkpoint(truncate)");
    let path = bench.path(".mainspring/mainspring.db");
    let mut bytes = fs::read(&path).expect("a database");
    let page = page_of("audit", &path);
    bytes[page].fill(0xff);
    fs::write(&path, bytes).expect("written");
    finds(&kept.check(1), "integrity", "");
}

/// A large log, a large output of a task and of the run, and a file.
const CONTENTS: &str = r#"name: w
tasks:
  a:
    run: |
      seq 3000
      seq 60000 | sed 's/.*/"&"/; 1s/^/[/; $!s/$/,/; $s/$/]/' > $MAINSPRING_OUTPUT
      seq 9000 > left.txt
    artifacts: { out: [left.txt] }
outputs: { all: '${{ tasks.a.output }}' }
"#;

#[test]
fn contents_that_are_damaged_or_gone_are_found_and_said() {
    let bench = crate::rig::Bench::with(CONTENTS);
    bench.run(&["run", "w.yaml"]).is(0);
    let check = |code: i32| bench.run(&["db", "check", "-o", "json"]).is(code).json();
    let whole = check(0);
    assert_eq!(whole["looked_at"]["contents"], 3, "{whole:#}");
    bench.shell("cp -a .mainspring/blobs whole").is(0);
    let damage = "printf 'damaged' | dd of=$file bs=1 seek=20 conv=notrunc status=none";
    let each = "for file in $(find .mainspring/blobs -type f)";
    bench.shell(&format!("{each}; do {damage}; done")).is(0);
    let damaged = check(1);
    finds(&damaged, "log_files", "the log cannot be read: ");
    finds(&damaged, "outputs", "the output of task 'a'");
    finds(&damaged, "outputs", "the output of the run");
    finds(&damaged, "artifacts", "the artifacts of task 'a'");
    bench.run(&["logs", "last", "a"]).is(3).says("from a backup");
    bench.run(&["output", "last", "a"]).is(3).says("from a backup").says("rerun");
    bench.shell("find .mainspring/blobs -type f -delete").is(0);
    let gone = check(1);
    finds(&gone, "log_files", "neither in the blob store nor in the data folder");
    finds(&gone, "outputs", "is not there");
    finds(&gone, "artifacts", "the list of them is not in the blob store");
    bench.run(&["logs", "last", "a"]).is(3).says("from a backup");
    bench.run(&["output", "last", "a"]).is(3).says("from a backup").says("rerun");
    bench.shell("rm -r .mainspring/blobs && cp -a whole .mainspring/blobs").is(0);
    assert_eq!(check(0), whole);
}

#[test]
fn a_run_whose_outputs_cannot_be_made_is_no_violation() {
    let bench = crate::rig::Bench::with(
        "name: w\ntasks: { a: { noop: {} } }\noutputs: { x: \"${{ tasks.a.output.x }}\" }\n",
    );
    bench.run(&["run", "w.yaml"]).is(1).prints("the outputs of the run: `outputs.x`");
    bench.run(&["db", "check"]).is(0);
}

#[test]
fn a_run_that_waits_is_no_violation() {
    for action in ["sleep: 1h", "wait: { signal: go }", "approval: { message: Well }"] {
        let text = format!("name: w\ntasks: {{ a: {{ {action} }} }}\n");
        let bench = crate::rig::Bench::with(&text);
        let mut run = bench.start(&["run", "w.yaml"]);
        run.until("waiting    a");
        bench.run(&["db", "check"]).is(0);
        run.kill();
        drop(run);
        bench.run(&["db", "check"]).is(0);
    }
}

#[test]
fn what_cannot_be_read_is_no_violation() {
    let bench = crate::rig::Bench::new();
    bench.run(&["db", "check"]).is(2).says("there is no database");
    bench.run(&["db", "check", "--database", "mysql://x"]).is(2).says("postgres://");
    let nobody = "postgres://u:hush@127.0.0.1:1/d";
    let done = bench.run(&["db", "check", "--database", nobody]);
    assert!(!done.is(3).says("cannot be reached").stderr.contains("hush"), "{}", done.stderr);
    bench.shell("mkdir .mainspring; echo rubbish > .mainspring/mainspring.db").is(0);
    bench.run(&["db", "check"]).is(3).says("not a database");
    bench.write("mainspring.toml", "data = \"elsewhere\"\n");
    bench.run(&["db", "check"]).is(2).says("elsewhere/mainspring.db");
    bench.run(&["db", "check", "--data", ".mainspring"]).is(3).says("not a database");
}

/// Many small commits: retries, failures, outputs, fan-out and in.
const LOAD: &str = "name: w
tasks:
  gate: { run: cat gate }
  b: { retries: { max: 2, delay: 1ms }, run: '[ $MAINSPRING_ATTEMPT = 3 ]' }
  c: { run: 'echo 1 > $MAINSPRING_OUTPUT; seq 2000' }
  d: { depends_on: [b, c], run: exit 1, allow_failure: true }
  e: { depends_on: [d], on_failure: run, run: 'true' }
  f: { depends_on: [c], run: echo f }
  g: { depends_on: [e, f], noop: {} }
";

#[test]
fn a_live_database_under_load_is_clean() {
    for kind in Kind::ALL {
        let mut kept = Kept::new(kind);
        kept.serve();
        kept.apply(LOAD);
        let runs: Vec<String> = (0..12).map(|_| kept.trigger(&[])).collect();
        let looked = kept.check(0);
        assert_eq!(looked["looked_at"]["unfinished_runs"], 12, "all wait for the gate");
        kept.bench.run(&["pause", &runs[0]]).is(0);
        kept.bench.run(&["cancel", &runs[1]]).is(0);
        kept.check(0);
        kept.open();
        // Until all but the paused one have ended, and once more.
        while kept.check(0)["looked_at"]["unfinished_runs"] != 1 {}
        kept.bench.run(&["resume", &runs[0]]).is(0);
        kept.bench.run(&["watch", &runs[0]]).is(0);
        let looked = &kept.check(0)["looked_at"];
        assert_eq!(looked["runs"], 12);
        assert_eq!(looked["unfinished_runs"], 0);
    }
}
