//! PostgreSQL databases: made, refused, shared, lost and found again.

use crate::asking::{ask, commit, read, register};
use crate::rows::{SCHEDULER, head, plain, progress, run_id, task};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Change;
use mainspring_store::{
    CommitError, ConnectError, Fence, Postgres, ReadError, Registration, Store,
};
use mainspring_throwaway::{Database, database};
use std::sync::{Arc, mpsc};

fn begin(database: &Database) -> (Postgres, Fence) {
    let store = Postgres::open(&database.url()).unwrap();
    let fence = register(&store, SCHEDULER).fence;
    (store, fence)
}

fn accept(number: u64) -> Vec<Change> {
    vec![Change::NewRun(head(number), progress(RunStatus::Running, number))]
}

/// Registers as soon as the store has found its way back.
pub fn register_again(store: &dyn Store) -> Registration {
    loop {
        if let Ok(registration) = read(store.register(SCHEDULER)) {
            return registration;
        }
    }
}

/// The lock that keeps other servers out, as the server shows it.
const HELD: &str = "select count(*) from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())";
/// Cuts off everybody else.
pub const CUT_OFF: &str = "select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and application_name like 'mainspring,%'";

#[test]
fn a_second_server_is_refused_until_the_first_has_gone() {
    let database = database();
    let (store, fence) = begin(&database);
    let refused = Postgres::open(&database.url()).unwrap_err();
    assert!(matches!(refused, ConnectError::Taken(_)), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains(&format!("mainspring, process {}", std::process::id())), "{said}");
    assert!(said.contains("stop it first"), "{said}");
    commit(&store, fence, accept(1)).unwrap();
    drop(store);
    let store = Postgres::open(&database.url()).unwrap();
    assert!(ask(store.run(run_id(1))).is_some());
}

#[test]
fn a_reader_looks_on_and_changes_nothing() {
    let database = database();
    let empty = Postgres::open_read_only(&database.url()).unwrap_err();
    assert!(matches!(empty, ConnectError::Empty(_)), "{empty:?}");
    let (store, fence) = begin(&database);
    let reader = Postgres::open_read_only(&database.url()).unwrap();
    commit(&store, fence, accept(1)).unwrap();
    assert!(ask(reader.run(run_id(1))).is_some());
    let refused = commit(&reader, fence, accept(2)).unwrap_err();
    assert_eq!(refused.to_string(), "the database was opened for reading only");
    let refused = read(reader.register(SCHEDULER)).unwrap_err();
    assert_eq!(refused.to_string(), "the database was opened for reading only");
    commit(&store, fence, accept(2)).unwrap();
}

#[test]
fn a_database_of_a_newer_version_is_refused() {
    let database = database();
    drop(Postgres::open(&database.url()).unwrap());
    database.sql("insert into mainspring.migrations (number, applied_at) values (99, 0)");
    let before = database.sql("select count(*) from mainspring.migrations");
    for opened in [Postgres::open(&database.url()), Postgres::open_read_only(&database.url())] {
        let refused = opened.unwrap_err();
        assert!(matches!(refused, ConnectError::Newer { found: 99, .. }), "{refused:?}");
        assert!(refused.to_string().contains("newer version of Mainspring"), "{refused}");
    }
    assert_eq!(database.sql("select count(*) from mainspring.migrations"), before);
}

#[test]
fn a_schema_of_somebody_else_is_left_alone() {
    let database = database();
    database.sql("create schema mainspring create table theirs (n int)");
    let refused = Postgres::open(&database.url()).unwrap_err();
    assert!(matches!(refused, ConnectError::Foreign(_)), "{refused:?}");
    assert_eq!(database.sql("select count(*) from mainspring.theirs"), "0");
}

#[test]
fn tables_of_others_are_not_in_the_way() {
    let database = database();
    database.sql("create table runs (theirs int); create table tasks (theirs int)");
    let (store, fence) = begin(&database);
    commit(&store, fence, accept(1)).unwrap();
    assert_eq!(database.sql("select count(*) from public.runs"), "0");
}

#[test]
fn what_cannot_be_opened_says_what_to_do_and_no_password() {
    let database = database();
    let url = database.url();
    let (server, _) = url.rsplit_once('/').unwrap();
    let nowhere = "postgres://ann:hush@%2Fno%2Fsuch%2Ffolder/d".to_owned();
    let missing = format!("{}/nothing_here", server.replace("mainspring@", "mainspring:hush@"));
    let nobody = url.replace("mainspring@", "nobody:hush@");
    for (url, expected) in [
        (nowhere, "cannot be reached"),
        (missing, "does not exist"),
        (nobody, "does not let this user in"),
        ("http://ann:hush@h/d".to_owned(), "does not begin with postgres://"),
    ] {
        for refused in [Postgres::open(&url), Postgres::open_read_only(&url)] {
            let error = refused.unwrap_err();
            let said = format!("{error} {error:?}");
            assert!(said.contains(expected) && error.to_string().contains(": "), "{said}");
            assert!(!said.contains("hush"), "{said}");
        }
    }
}

#[test]
fn closing_finishes_what_was_handed_over() {
    let database = database();
    let (store, fence) = begin(&database);
    let (fate, fates) = mpsc::channel();
    for number in 1..=20 {
        let fate = fate.clone();
        store.commit(fence, accept(number), Box::new(move |result| fate.send(result).unwrap()));
    }
    drop((store, fate));
    assert_eq!(fates.into_iter().map(Result::unwrap).count(), 20);
    assert_eq!(database.sql("select count(*) from mainspring.runs"), "20");
}

#[test]
fn a_callback_may_hold_the_last_reference() {
    let database = database();
    let (store, fence) = begin(&database);
    let store = Arc::new(store);
    let (go, gone) = mpsc::channel::<()>();
    let (fate, told) = mpsc::channel();
    let held = Arc::clone(&store);
    let done = Box::new(move |result| {
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
fn a_lost_connection_is_found_again_with_its_lock() {
    let database = database();
    let (store, fence) = begin(&database);
    commit(&store, fence, accept(1)).unwrap();
    assert!(ask(store.run(run_id(1))).is_some());
    for number in 2..=5 {
        database.sql(CUT_OFF);
        // A question is asked once more by itself.
        assert!(ask(store.run(run_id(1))).is_some());
        let fence = register_again(&store).fence;
        assert_eq!(database.sql(HELD), "1");
        commit(&store, fence, accept(number)).unwrap();
    }
    let refused = Postgres::open(&database.url()).unwrap_err();
    assert!(matches!(refused, ConnectError::Taken(_)), "{refused:?}");
}

/// Somebody waits for the lock, gets it the moment it is free, and lets go of it again.
#[test]
fn whoever_lost_the_lock_to_another_server_is_fenced_off() {
    let database = database();
    let (store, fence) = begin(&database);
    commit(&store, fence, accept(1)).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let config: tokio_postgres::Config = database.url().parse().unwrap();
    let (other, connection) = runtime.block_on(config.connect(tokio_postgres::NoTls)).unwrap();
    let connection = runtime.spawn(connection);
    let waiting = runtime.spawn(async move {
        other.batch_execute("select pg_advisory_lock(1298229614, 1)").await.unwrap();
        other
    });
    let queued = "select count(*) from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())";
    while database.sql(queued) != "1" {}
    database.sql(CUT_OFF);
    let other = runtime.block_on(waiting).unwrap();
    // The first may still be told of the loss itself.
    let fates = [2, 3].map(|number| commit(&store, fence, accept(number)));
    let Err(ReadError::Failed { what, .. }) = read(store.register(SCHEDULER)) else {
        panic!("another server has the lock");
    };
    assert!(what.contains("another server"), "{what}");
    let fenced = commit(&store, Fence { epoch: 9, ..fence }, accept(4));
    assert!(matches!(fenced, Err(CommitError::Fenced)), "{fenced:?}");
    assert!(fates.iter().all(Result::is_err), "{fates:?}");
    assert_eq!(database.sql("select count(*) from mainspring.runs"), "1");
    drop(other);
    runtime.block_on(connection).unwrap().unwrap();
    let fence = register_again(&store).fence;
    commit(&store, fence, accept(2)).unwrap();
}

#[test]
fn damage_is_named_by_table_row_and_column() {
    let database = database();
    let (store, fence) = begin(&database);
    let task = Change::PutTask(RunKey::new(1, 1), task(plain(3)));
    commit(&store, fence, [accept(1), vec![task]].concat()).unwrap();
    database.sql("update mainspring.tasks set fact = 'nonsense'");
    let error = read(store.run(run_id(1))).unwrap_err();
    assert!(matches!(error, ReadError::Damaged(_)), "{error:?}");
    let said = error.to_string();
    for part in ["tasks", "no 3", "column fact", "'nonsense'"] {
        assert!(said.contains(part), "{said}");
    }
    database.sql("update mainspring.runs set tasks_live = -1");
    assert!(matches!(read(store.run(run_id(1))), Err(ReadError::Damaged(_))));
}

#[test]
fn a_lost_table_fails_what_needs_it_and_says_so() {
    let database = database();
    let (store, _) = begin(&database);
    database.sql("drop schema mainspring cascade");
    let error = read(store.tokens()).unwrap_err();
    assert!(error.to_string().contains("lacks tables that were there"), "{error}");
    let error = read(store.ping()).unwrap_err();
    assert!(error.to_string().contains("lacks tables that were there"), "{error}");
}
