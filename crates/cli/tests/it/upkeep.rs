//! `db migrate`, `db vacuum` and `db backup`, on both kinds of database.

use crate::kept::{Kept, Kind, sqlite};
use crate::rig::{Bench, finish, task};
use mainspring_throwaway::database;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

const WORK: &str = "name: w
tasks:
  big: { run: seq 3000 }
  gate: { depends_on: [big], run: cat gate }
  last: { depends_on: [gate], run: echo done }
";

#[test]
fn a_schema_is_brought_up_to_date() {
    let database = database();
    let (bench, url) = (Bench::new(), database.url());
    let migrate =
        |more: &[&str]| bench.run(&[&["db", "migrate", "--database", &url][..], more].concat());
    for _ in 0..2 {
        let done = migrate(&["--dry-run"]);
        let all = "schema 0 → 12, not done yet: 0001_first, 0002_blobs, 0003_outputs, 0004_limits, \
                   0005_waits, 0006_reruns, 0007_additions, 0008_graces, 0009_finalizers, \
                   0010_children, 0011_bulks, 0012_kills\n";
        assert_eq!(done.is(0).stdout, all);
    }
    let done = "schema 0 → 12: 0001_first, 0002_blobs, 0003_outputs, 0004_limits, 0005_waits, \
                0006_reruns, 0007_additions, 0008_graces, 0009_finalizers, \
                   0010_children, 0011_bulks, 0012_kills\n";
    assert_eq!(migrate(&[]).is(0).stdout, done);
    assert_eq!(migrate(&[]).is(0).stdout, "schema 12 is the newest: nothing to do\n");
    assert_eq!(migrate(&["-o", "json"]).is(0).json()["from"], 12);
    database.sql(
        "alter table mainspring.runs drop column unconfirmed_since;
         delete from mainspring.migrations where number = 12",
    );
    assert_eq!(migrate(&[]).is(0).stdout, "schema 11 → 12: 0012_kills\n");
    database.sql("insert into mainspring.migrations (number, applied_at) values (99, 0)");
    migrate(&[]).is(3).says("newer version of Mainspring");
    migrate(&["--dry-run"]).is(3).says("newer version of Mainspring");
}

#[test]
fn a_file_is_brought_up_to_date() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.run(&["db", "migrate"]).is(2).says("there is no database");
    assert!(!bench.path(".mainspring").exists(), "nothing is made where nothing was");
    bench.shell("mkdir -m 700 .mainspring; : > .mainspring/mainspring.db").is(0);
    let would = bench.run(&["db", "migrate", "--dry-run"]);
    let all = "0001_first, 0002_outputs, 0003_limits, 0004_waits, 0005_reruns, 0006_additions, \
               0007_graces, 0008_finalizers, 0009_children, 0010_bulks, 0011_kills";
    assert_eq!(would.is(0).stdout, format!("schema 0 → 11, not done yet: {all}\n"));
    let done = bench.run(&["db", "migrate"]);
    assert_eq!(done.is(0).stdout, format!("schema 0 → 11: {all}\n"));
    bench.run(&["run", "w.yaml"]).is(0);
    bench.run(&["db", "migrate"]).is(0).prints("nothing to do");
    let back = "alter table runs drop column unconfirmed_since; pragma user_version = 10";
    sqlite(&bench, ".mainspring", back);
    bench.run(&["db", "migrate"]).is(0).prints("schema 10 → 11: 0011_kills\n");
    bench.run(&["db", "check"]).is(0);
    sqlite(&bench, ".mainspring", "pragma user_version = 99");
    bench.run(&["db", "migrate"]).is(3).says("newer version of Mainspring");
}

#[test]
fn room_is_given_back() {
    for kind in Kind::ALL {
        let mut kept = Kept::new(kind);
        kept.serve();
        kept.apply("name: w\ntasks: { a: { noop: {} } }\n");
        kept.bench.run(&["trigger", "w", "--wait"]).is(0);
        let fill = kind.pick(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 9000)
             insert into inputs select i, hex(zeroblob(500)) from n; delete from inputs",
            "insert into inputs select i, repeat('x', 1000) from generate_series(1, 9000) i;
             delete from inputs",
        );
        kept.sql(fill);
        let held = kept.db(&["vacuum"]);
        match kind {
            Kind::Sqlite => held.is(2).says("end it first").says("in use by process"),
            // Servers may go on meanwhile.
            Kind::Postgres => held.is(0).prints(" before, "),
        };
        kept.end();
        let done = kept.db(&["vacuum", "-o", "json"]).is(0).json();
        let bytes = |name: &str| done[name].as_u64().expect("a size");
        if kind == Kind::Sqlite {
            assert!(bytes("before_bytes") > 8_000_000 && bytes("after_bytes") < 1_000_000);
        }
        kept.check(0);
        kept.serve();
        kept.bench.run(&["trigger", "w", "--wait"]).is(0);
    }
}

/// Where a copy's server is told to work.
fn restore(kept: &Kept) -> (Vec<String>, Option<mainspring_throwaway::Database>) {
    let folder = vec!["--data".to_owned(), "copy".to_owned()];
    if kept.kind == Kind::Sqlite {
        return (folder, None);
    }
    let database = database();
    let dump = kept.bench.path("copy/mainspring.dump");
    let mut command = Command::new("pg_restore");
    command.args(["--no-owner", "--dbname", &database.url()]).arg(dump);
    finish(command).is(0);
    let url = ["--database".to_owned(), database.url()];
    (folder.into_iter().chain(url).collect(), Some(database))
}

/// A server at work is copied, and the copy goes on where it stood.
fn copied(kind: Kind) {
    let mut kept = Kept::new(kind);
    kept.serve();
    kept.apply(WORK);
    let runs: Vec<String> = (0..3).map(|_| kept.trigger(&[])).collect();
    runs.iter().for_each(|run| kept.until(run, "gate", "running"));
    let more = kept.bench.start(&["trigger", "w", "--wait"]);
    kept.db(&["backup", "copy"])
        .is(0)
        .prints("copy: database ")
        .says("mainspring server --data copy");
    kept.db(&["backup", "copy"]).is(2).says("is there already");
    let mode = |name: &str| {
        let found = kept.bench.path(name).metadata().expect("there");
        found.permissions().mode() & 0o777
    };
    assert_eq!(mode("copy"), 0o700, "tokens are in it");
    if kind == Kind::Postgres {
        // The dump names its scheduler: the copy stands in for the first server.
        kept.kill();
    }
    let (place, _database) = restore(&kept);
    let place: Vec<&str> = place.iter().map(String::as_str).collect();
    let checked = kept.bench.run(&[&["db", "check", "-o", "json"][..], &place].concat());
    assert!(checked.is(0).json()["looked_at"]["log_files"].as_u64() >= Some(3));
    let args = [&["server", "--listen", "127.0.0.1:0"][..], &place].concat();
    let mut server = kept.bench.start(&args);
    server.until("listening");
    for run in &runs {
        let shown = kept.bench.run(&["show", run, "--data", "copy", "-o", "json"]).is(0).json();
        assert_eq!(task(&shown, "big")["status"], "success");
        let log = kept.bench.run(&["logs", run, "big", "--data", "copy"]);
        assert!(log.is(0).stdout.ends_with("\n2999\n3000\n"));
    }
    kept.open();
    for run in &runs {
        kept.bench.run(&["watch", run, "--data", "copy"]).is(0);
    }
    if kind == Kind::Sqlite {
        more.done().is(0);
        for run in &runs {
            kept.bench.run(&["watch", run]).is(0);
            let gate = task(&kept.bench.show(run), "gate").clone();
            assert_eq!(gate["attempt"], 1, "the copy's server kills nobody of the first one's");
        }
        kept.check(0);
    }
}

#[test]
fn a_file_is_copied_while_a_server_works_in_it() {
    copied(Kind::Sqlite);
}

#[test]
fn a_postgresql_database_is_copied_while_a_server_works_on_it() {
    copied(Kind::Postgres);
}

#[test]
fn what_cannot_be_copied_leaves_nothing_behind() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.run(&["db", "backup", "copy"]).is(2).says("there is no database");
    bench.run(&["run", "w.yaml"]).is(0);
    bench.run(&["db", "backup", "not/there/copy"]).is(2).says("its parent");
    bench.run(&["db", "backup", "w.yaml"]).is(2).says("is there already");
    let database = database();
    let url = database.url();
    bench.run(&["db", "backup", "copy", "--database", &url]).is(2).says("nothing to copy");
    bench.run(&["db", "migrate", "--database", &url]).is(0);
    let mut without = bench.command(&["db", "backup", "copy", "--database", &url]);
    without.env("PATH", bench.path(""));
    finish(without).is(2).says("pg_dump is not installed here").says("--schema=mainspring");
    let left = bench.shell("ls -A").stdout;
    assert!(!left.contains("copy"), "{left}");
    bench.shell("mkdir copy").is(0);
    bench.run(&["db", "backup", "copy", "-o", "json"]).is(0).prints("database_bytes");
    bench.run(&["runs", "--data", "copy"]).is(0).prints("success");
}

#[test]
fn secrets_stay_out_of_a_copy_and_that_is_said() {
    let bench = Bench::with("name: w\ntasks: { a: { noop: {} } }\n");
    bench.run(&["run", "w.yaml"]).is(0);
    let without = bench.run(&["db", "backup", "first"]);
    assert!(!without.is(0).stderr.contains("secrets"), "there are none: {}", without.stderr);
    bench.shell("mkdir .mainspring/secrets && echo hush > .mainspring/secrets/token").is(0);
    for (dest, format) in [("second", "table"), ("third", "json")] {
        let done = bench.run(&["db", "backup", dest, "-o", format]);
        done.is(0).says("secrets are not copied").says(&format!("{dest}/secrets"));
        assert!(!bench.path(dest).join("secrets").exists());
    }
}
