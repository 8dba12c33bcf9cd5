//! Database files: made, refused, shared, left behind.

use crate::asking::{ask, commit, read, register};
use crate::child::{Process, assert_whole, last_whole};
use crate::rows::{SCHEDULER, head, plain, progress, run_id, task};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Change;
use mainspring_store::{CommitError, Fence, OpenError, ReadError, Sqlite, Store};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use tempfile::TempDir;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    (folder, path)
}

fn begin(path: &Path) -> (Sqlite, Fence) {
    let store = Sqlite::open(path).unwrap();
    let fence = register(&store, SCHEDULER).fence;
    (store, fence)
}

fn accept(number: u64) -> Vec<Change> {
    vec![Change::NewRun(head(number), progress(RunStatus::Running, number))]
}

/// Does something to the file behind the store's back.
fn tamper(path: &Path, sql: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_is_private() {
    let (folder, path) = place();
    let (store, fence) = begin(&path);
    commit(&store, fence, accept(1)).unwrap();
    for name in names(folder.path()) {
        let mode = fs::metadata(folder.path().join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn closing_finishes_what_was_handed_over_and_leaves_one_file() {
    let (folder, path) = place();
    let (store, fence) = begin(&path);
    let (fate, fates) = mpsc::channel();
    for number in 1..=20 {
        let fate = fate.clone();
        store.commit(fence, accept(number), Box::new(move |result| fate.send(result).unwrap()));
    }
    drop((store, fate));
    assert_eq!(fates.into_iter().map(Result::unwrap).count(), 20);
    assert_eq!(names(folder.path()), ["db"]);
    assert!(ask(Sqlite::open(&path).unwrap().run(run_id(20))).is_some());
}

#[test]
fn a_callback_may_hold_the_last_reference() {
    let (_folder, path) = place();
    let (store, fence) = begin(&path);
    let store = Arc::new(store);
    let (go, gone) = mpsc::channel::<()>();
    let (fate, told) = mpsc::channel();
    let held = Arc::clone(&store);
    let done = Box::new(move |result: Result<(), CommitError>| {
        gone.recv().unwrap();
        drop(held);
        fate.send(result).unwrap();
    });
    store.commit(fence, accept(1), done);
    drop(store);
    go.send(()).unwrap();
    told.recv().unwrap().unwrap();
}

#[test]
fn a_missing_file_is_not_made_by_a_reader() {
    let (folder, path) = place();
    let error = Sqlite::open_read_only(&path).unwrap_err();
    assert!(matches!(error, OpenError::Missing { .. }), "{error:?}");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_missing_folder_is_said() {
    let (_folder, path) = place();
    let error = Sqlite::open(&path.join("db")).unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let (_folder, path) = place();
    drop(begin(&path));
    tamper(&path, "pragma user_version = 1000");
    let before = fs::read(&path).unwrap();
    for error in [Sqlite::open(&path).unwrap_err(), Sqlite::open_read_only(&path).unwrap_err()] {
        assert!(matches!(error, OpenError::Newer { found: 1000, .. }), "{error:?}");
        assert!(error.to_string().contains("newer version of Mainspring"), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_reader_does_not_migrate() {
    let (_folder, path) = place();
    fs::write(&path, "").unwrap();
    let error = Sqlite::open_read_only(&path).unwrap_err();
    assert!(matches!(error, OpenError::Missing { .. }), "{error:?}");
    Sqlite::open(&path).unwrap();
    Sqlite::open_read_only(&path).unwrap();
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let (folder, path) = place();
    tamper(&path, "create table cats (name text)");
    let text = folder.path().join("text");
    fs::write(&text, "dear diary, ".repeat(100)).unwrap();
    for open in [Sqlite::open, Sqlite::open_read_only] {
        let error = open(&path).unwrap_err();
        assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
        let error = open(&text).unwrap_err();
        assert!(error.to_string().contains("is not a database"), "{error}");
    }
    assert_eq!(names(folder.path()), ["db", "text"]);
}

#[test]
fn a_reader_writes_nothing() {
    let (_folder, path) = place();
    let (writer, fence) = begin(&path);
    commit(&writer, fence, accept(1)).unwrap();
    let reader = Sqlite::open_read_only(&path).unwrap();
    assert!(matches!(read(reader.register(SCHEDULER)), Err(ReadError::Failed { .. })));
    let refused = commit(&reader, fence, accept(2)).unwrap_err();
    assert_eq!(refused.to_string(), "the database was opened for reading only");
    assert!(ask(reader.run(run_id(1))).is_some());
    commit(&writer, fence, accept(2)).unwrap();
    assert!(ask(reader.run(run_id(2))).is_some(), "it sees what is written after it opened");
}

#[test]
fn damage_is_named() {
    let (_folder, path) = place();
    let (store, fence) = begin(&path);
    let mut changes = accept(1);
    changes.push(Change::PutTask(RunKey::new(1, 1), task(plain(3))));
    commit(&store, fence, changes).unwrap();
    let check = |sql: &str, expected: &str| {
        tamper(&path, sql);
        let error = read(store.run(run_id(1))).unwrap_err();
        assert!(matches!(error, ReadError::Damaged(_)), "{error:?}");
        let said = error.to_string();
        assert!(said.contains(expected), "{said}");
    };
    check(
        "update tasks set fact = 'asleep'",
        "tasks (run 1099511627777, no 3, ix -1): column fact holds 'asleep'",
    );
    check("update tasks set fact = 'none', tries = -1", "column tries holds -1");
    check("update tasks set tries = 0, output = '{'", "column output holds '{': not valid JSON");
    check("update tasks set output = null, held_by = 'x'", "its hold is not whole");
    check(
        "update runs set status = 'lost'",
        "runs (key 1099511627777): column status holds 'lost'",
    );
    check("update runs set status = 'running', labels = '[]'", "column labels holds '[]'");
}

#[test]
fn whoever_reads_beside_a_writer_sees_whole_batches() {
    let (_folder, path) = place();
    let mut process = Process::writing(&path);
    process.next_ack().unwrap();
    let reader = Sqlite::open_read_only(&path).unwrap();
    let (mut last, mut looks) = (0, 0);
    while last < 300 {
        let now = last_whole(&reader);
        assert!(now >= last, "time went back");
        assert_whole(&reader, now);
        (last, looks) = (now, looks + 1);
    }
    assert!(looks > 10, "it looked while there was writing: {looks}");
    process.kill();
}

/// A folder where the reader may leave nothing: the file is readable after a clean end.
#[test]
fn a_closed_database_is_readable_in_a_folder_that_is_not() {
    let (folder, path) = place();
    drop(begin(&path));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let mut process = Process::reading(&path);
    assert_eq!(process.next("read ").as_deref(), Some("0"));
    assert_eq!(names(folder.path()), ["db"]);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_database_left_by_a_crash_is_not_read_by_half_in_such_a_folder() {
    let (folder, path) = place();
    drop(begin(&path));
    fs::write(folder.path().join("db-wal"), "something").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let mut process = Process::reading(&path);
    let said = process.next("refused ").expect("it says why");
    assert!(said.contains("db cannot be opened"), "{said}");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
}
