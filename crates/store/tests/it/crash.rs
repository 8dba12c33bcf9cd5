//! A process that writes is killed at any moment: what it acknowledged is there, and nothing
//! is there by half.

use crate::asking::{ask, register};
use crate::chance::Chance;
use crate::child::{Process, assert_whole, last_whole, open};
use crate::rows::{SCHEDULER, run_id};
use mainspring_store::Sqlite;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    survives_kills(path.as_os_str(), 20, &|| check_file(&path));
}

/// The next process has the database at once, although nobody gave back its lock.
#[test]
fn what_was_acknowledged_to_postgres_survives_a_kill() {
    let database = mainspring_throwaway::database();
    survives_kills(database.url().as_ref(), 8, &|| {});
}

fn survives_kills(place: &OsStr, rounds: u64, check: &dyn Fn()) {
    let mut chance = Chance::new(1);
    let mut acknowledged = 0;
    for round in 1..=rounds {
        acknowledged = kill_one(place, &mut chance).unwrap_or(acknowledged);
        let store = open(place);
        let last = last_whole(&*store);
        assert!(last >= acknowledged, "round {round}: {acknowledged} was acknowledged, {last} is");
        for number in 1..=last {
            assert_whole(&*store, number);
        }
        assert_eq!(ask(store.run(run_id(last + 1))), None);
        assert_eq!(register(&*store, SCHEDULER).next_run, last + 1);
        drop(store);
        check();
        acknowledged = last;
    }
    assert!(acknowledged > rounds, "the children did commit");
}

/// The last batch that was acknowledged, if any. The moment falls anywhere: from before the
/// file is there to between two commits.
fn kill_one(place: &OsStr, chance: &mut Chance) -> Option<u64> {
    let mut process = Process::writing(place);
    let mut last = None;
    let wanted = chance.below(30);
    for _ in 0..wanted {
        last = process.next_ack();
    }
    // Not to wait for something: to hit another moment each time.
    let spin = Duration::from_micros(chance.below(if wanted == 0 { 20_000 } else { 1_500 }));
    let begin = Instant::now();
    while begin.elapsed() < spin {
        std::hint::spin_loop();
    }
    process.kill().or(last)
}

fn check_file(path: &Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    let said: String = conn.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}

#[test]
fn a_reader_sees_what_a_killed_process_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut process = Process::writing(&path);
    let first = process.next_ack().unwrap();
    let acknowledged = process.kill().unwrap_or(first);
    let store = Sqlite::open_read_only(&path).unwrap();
    assert!(last_whole(&store) >= acknowledged);
}
