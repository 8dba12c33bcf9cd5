//! The database server is killed in the middle of commits, and comes back.

use crate::asking::{ask, commit, read};
use crate::chance::Chance;
use crate::child::{ON_THEIR_WAY, assert_whole, batch, last_whole};
use crate::rows::{SCHEDULER, run_id};
use crate::servers::{CUT_OFF, register_again};
use mainspring_store::{
    CommitError, Fence, Memory, Postgres, ReadError, Registration, RunsQuery, Store,
};
use mainspring_throwaway::{Durability, Server};
use std::ops::Range;
use std::sync::mpsc;

const ROUNDS: u64 = 6;

#[test]
fn a_batch_is_there_whole_or_not_at_all_after_the_server_was_killed() {
    let server = Server::start(Durability::Full);
    let store = Postgres::open(&server.create_database("db")).unwrap();
    let (model, mut chance) = (Memory::new(), Chance::new(3));
    let mut last = 0;
    for round in 1..=ROUNDS {
        let Registration { fence, next_run, .. } = register_again(&store);
        assert_eq!(next_run, last + 1, "round {round}");
        let enough = next_run + chance.below(25);
        let acknowledged = commit_until_killed(&store, fence, next_run..enough, &server);
        check_outage(&store, fence, acknowledged);
        server.restart();
        let new_fence = register_again(&store).fence;
        last = last_whole(&store);
        assert!(last >= acknowledged, "round {round}: {acknowledged} was acknowledged, {last} is");
        // Nothing more comes from the life under which the connection was lost.
        assert!(commit(&store, fence, batch(last + 1)).is_err());
        assert!(new_fence.epoch > fence.epoch);
        follow(&model, next_run, last);
        compare(&store, &model, last);
    }
    assert!(last > ROUNDS, "batches were committed");
}

/// Hands batches over, three on their way at once, has the server killed when so many of them
/// are durable, and returns the last one that was acknowledged.
fn commit_until_killed(
    store: &Postgres,
    fence: Fence,
    numbers: Range<u64>,
    server: &Server,
) -> u64 {
    let (fate, fates) = mpsc::channel();
    let hand_over = |number: u64| {
        let fate = fate.clone();
        let done = Box::new(move |result| fate.send((number, result)).unwrap());
        store.commit(fence, batch(number), done);
    };
    let mut next = numbers.start;
    let (mut acknowledged, mut on_their_way, mut failed) = (next - 1, 0, false);
    std::thread::scope(|scope| {
        let mut killer = None;
        loop {
            while on_their_way < ON_THEIR_WAY && !failed {
                hand_over(next);
                (next, on_their_way) = (next + 1, on_their_way + 1);
            }
            if on_their_way == 0 {
                break;
            }
            let (number, result) = fates.recv().unwrap();
            on_their_way -= 1;
            match result {
                Ok(()) => {
                    assert!(!failed, "batch {number} was written after one that failed");
                    acknowledged = number;
                }
                Err(CommitError::Failed { .. }) => failed = true,
                Err(error) => panic!("{error}"),
            }
            if acknowledged >= numbers.end && killer.is_none() {
                killer = Some(scope.spawn(|| server.kill()));
            }
        }
    });
    acknowledged
}

/// The server is there all the time: whoever tried again by itself would write a batch that
/// builds on one which is not there.
#[test]
fn nothing_is_written_after_a_batch_whose_fate_is_not_known() {
    let database = mainspring_throwaway::database();
    let store = Postgres::open(&database.url()).unwrap();
    let fence = register_again(&store).fence;
    let (fate, fates) = mpsc::channel();
    let hand_over = |number: u64| {
        let fate = fate.clone();
        store.commit(fence, batch(number), Box::new(move |result| fate.send(result).unwrap()));
    };
    let mut handed: u64 = 500;
    (1..=handed).for_each(hand_over);
    fates.recv().unwrap().unwrap();
    let mut is_durable = vec![true];
    std::thread::scope(|scope| {
        scope.spawn(|| database.sql(CUT_OFF));
        // However long the cut takes, there are always batches under way when it comes.
        while (is_durable.len() as u64) < handed {
            is_durable.push(fates.recv().unwrap().is_ok());
            if is_durable.last() == Some(&true) {
                handed += 1;
                hand_over(handed);
            }
        }
    });
    assert!(is_durable.is_sorted_by(|before, after| before >= after), "{is_durable:?}");
    assert_eq!(is_durable.last(), Some(&false), "the connection was cut before the last batch");
    let last = last_whole(&store);
    assert_eq!(register_again(&store).next_run, last + 1);
    (1..=last).for_each(|number| drop(assert_whole(&store, number)));
}

/// While the server is away everything fails, in words that help.
fn check_outage(store: &Postgres, fence: Fence, acknowledged: u64) {
    let error = read(store.run(run_id(1))).unwrap_err();
    let ReadError::Failed { what, .. } = &error else { panic!("{error:?}") };
    let helps = ["cannot be reached", "is starting or stopping"];
    assert!(helps.iter().any(|words| what.contains(words)), "{what}");
    assert!(read(store.ping()).is_err());
    let error = commit(store, fence, batch(acknowledged + 1)).unwrap_err();
    assert!(matches!(error, CommitError::Failed { .. }), "{error:?}");
}

/// Does to the model what was done to the database.
fn follow(model: &Memory, first: u64, last: u64) {
    let fence = model.register_now(SCHEDULER).fence;
    for number in first..=last {
        model.apply_now(fence, &batch(number)).unwrap();
    }
}

fn compare(store: &Postgres, model: &Memory, last: u64) {
    let everything = RunsQuery { limit: 100_000, ..RunsQuery::default() };
    assert_eq!(ask(store.runs(everything.clone())), model.runs_now(&everything));
    for number in 1..=last {
        let stored = assert_whole(store, number);
        assert_eq!(Some(stored), model.load_now(run_id(number)));
    }
    assert_eq!(ask(store.run(run_id(last + 1))), None);
}
