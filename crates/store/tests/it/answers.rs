//! Every batch that is handed over is answered, whatever becomes of the connections meanwhile.
//!
//! ```text
//!  4 threads ── batch, wait, batch, wait … ──► store        main ── cut, register, cut, … ──► server
//! ```

use crate::rows::{head, progress};
use crate::servers::{CUT_OFF, register_again};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Change;
use mainspring_store::{CommitError, Fence, Postgres, Sqlite, Store};
use mainspring_throwaway::{Durability, Server, database};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{RwLock, mpsc};
use std::thread;
use std::time::Duration;

const HANDS: usize = 4;
/// Each of them keeps so many on their way.
const ON_THEIR_WAY: usize = 3;
/// Far longer than the store itself ever waits for its server.
const NEVER: Duration = Duration::from_secs(300);

/// Connections to this database so far, this test's own included.
const SESSIONS: &str = "select sessions from pg_stat_database where datname = current_database()";

#[test]
fn every_batch_is_answered_while_connections_are_cut() {
    let database = database();
    let store = Postgres::open(&database.url()).unwrap();
    let cuts = 40;
    let durable = hand_over_during(&store, cuts, &|round| {
        // Twice in a row now and then: the new connection goes while it is being made.
        (0..=round % 2).for_each(|_| drop(database.sql(CUT_OFF)));
    });
    let number = |sql| database.sql(sql).parse::<u64>().unwrap();
    let stored = number("select count(*) from mainspring.runs");
    assert!(durable > 0 && stored >= durable, "{durable} were acknowledged, {stored} are there");
    // One that is under way is not given up for a new one whenever something is handed over: the
    // server would have to deal with all of them.
    let sessions = number(SESSIONS);
    assert!(sessions < 10 * cuts, "{sessions} connections for {cuts} cuts");
}

#[test]
fn every_batch_is_answered_while_the_server_is_killed_and_comes_back() {
    let server = Server::start(Durability::None);
    let store = Postgres::open(&server.create_database("db")).unwrap();
    hand_over_during(&store, 5, &|_| {
        server.kill();
        server.restart();
    });
}

/// Those queued behind it too: a writer that is gone keeps nobody waiting.
#[test]
fn every_batch_is_answered_when_a_callback_panics() {
    let (folder, database) = (tempfile::tempdir().unwrap(), database());
    let stores: [Box<dyn Store>; 2] = [
        Box::new(Sqlite::open(&folder.path().join("db")).unwrap()),
        Box::new(Postgres::open(&database.url()).unwrap()),
    ];
    for store in stores {
        let fence = register_again(&*store).fence;
        let (queued, wait) = mpsc::channel::<()>();
        let panics = Box::new(move |_| {
            wait.recv().unwrap();
            panic!("a bug in a callback, as this test wants it");
        });
        store.commit(fence, Vec::new(), panics);
        let (fate, fates) = mpsc::channel();
        for _ in 0..5 {
            let fate = fate.clone();
            store.commit(fence, Vec::new(), Box::new(move |result| fate.send(result).unwrap()));
        }
        drop(fate);
        queued.send(()).unwrap();
        let fates: Vec<_> = fates.iter().collect();
        assert!(fates.len() == 5 && fates.iter().all(Result::is_err), "{fates:?}");
    }
}

/// Several threads hand over batches all the time, each time under the newest fence, while
/// `trouble` is made so many times. Returns how many batches were acknowledged.
fn hand_over_during(store: &Postgres, rounds: u64, trouble: &dyn Fn(u64)) -> u64 {
    let fence = RwLock::new(register_again(store).fence);
    let (next, durable) = (AtomicU64::new(1), AtomicU64::new(0));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // Also when trouble cannot be made: who hands over would go on for ever.
        let _over = Over(&is_over);
        for _ in 0..HANDS {
            scope.spawn(|| hand_over(store, (&fence, &next, &durable), &is_over));
        }
        for round in 0..rounds {
            trouble(round);
            *fence.write().unwrap() = register_again(store).fence;
            // So that the next cut hits a connection that is at work.
            let before = durable.load(Ordering::Relaxed);
            while durable.load(Ordering::Relaxed) == before && !is_over.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        }
    });
    durable.into_inner()
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn hand_over(
    store: &Postgres,
    (fence, next, durable): (&RwLock<Fence>, &AtomicU64, &AtomicU64),
    is_over: &AtomicBool,
) {
    let (fate, fates) = mpsc::channel();
    let mut on_their_way = 0;
    loop {
        while on_their_way < ON_THEIR_WAY && !is_over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let run = Change::NewRun(head(number), progress(RunStatus::Running, number));
            let fate = fate.clone();
            let done = Box::new(move |result| drop(fate.send((number, result))));
            store.commit(*fence.read().unwrap(), vec![run], done);
            on_their_way += 1;
        }
        if on_their_way == 0 {
            return;
        }
        let Ok((number, result)) = fates.recv_timeout(NEVER) else {
            is_over.store(true, Ordering::Relaxed);
            panic!("{on_their_way} batches were never answered");
        };
        on_their_way -= 1;
        match result {
            Ok(()) => drop(durable.fetch_add(1, Ordering::Relaxed)),
            // Its fence was outdated when it was looked at, or its connection was lost.
            Err(CommitError::Fenced | CommitError::Failed { .. }) => {}
            Err(error) => panic!("batch {number}: {error}"),
        }
    }
}
