//! Signals, and approvals that wait for somebody.

use super::begin::{accept, begin, key};
use crate::asking::{ask, commit};
use crate::rows::{instance, plain, run_id, task};
use mainspring_core::ids::TaskRef;
use mainspring_core::json::Json;
use mainspring_core::kernel::row::{AdditionRow, RunStatus, TaskRow};
use mainspring_core::kernel::wait::{ApprovalPlace, Awaited, SignalRow, Wait};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{Store, StoredApproval};

fn signal(number: u32, key: &str, value: &str) -> SignalRow {
    SignalRow {
        number,
        key: key.into(),
        value: Json::parse(value).unwrap(),
        by: "ann \0".to_owned(),
        at: Timestamp(i64::from(number)),
    }
}

pub fn the_newest_signal_of_each_key_is_read(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    accept(store, fence, 2, RunStatus::Running);
    let rows = [
        signal(1, "a", "{\"n\":  1}"),
        signal(2, "b\0", "null"),
        signal(3, "a", "\"é\""),
        signal(4, "A", "[]"),
        signal(9, "c", "1"),
        signal(10, "c", "2"),
    ];
    let changes = rows.iter().map(|row| Change::NewSignal(key(1), row.clone())).collect();
    commit(store, fence, changes).unwrap();
    let found = ask(store.signals(key(1)));
    assert_eq!(found, [1, 2, 3, 5].map(|at| rows[at].clone()));
    assert_eq!(ask(store.signals(key(2))), []);
    // The first word stands.
    commit(store, fence, vec![Change::NewSignal(key(1), signal(3, "a", "0"))]).unwrap();
    assert_eq!(ask(store.signals(key(1))), found);
}

fn place(since: i64, number: u64, task: TaskRef) -> ApprovalPlace {
    ApprovalPlace { since: Timestamp(since), run: key(number), task }
}

fn parked(at: TaskRef) -> TaskRow {
    let on = Some(Awaited::Approval { message: "really? \0".into(), decision: None });
    TaskRow { wait: Some(Box::new(Wait { on, ..Wait::default() })), ..task(at) }
}

/// Runs with rows that wait, listed at these places.
fn listed(store: &dyn Store, places: &[(i64, u64, TaskRef)]) -> Vec<StoredApproval> {
    let fence = begin(store);
    for number in 1..=3 {
        accept(store, fence, number, RunStatus::Running);
    }
    let mut found = Vec::new();
    for (since, number, task) in places {
        let (place, row) = (place(*since, *number, *task), parked(*task));
        let changes = vec![Change::ListApproval(place), Change::PutTask(place.run, row.clone())];
        commit(store, fence, changes).unwrap();
        let run = run_id(*number);
        found.push(StoredApproval { place, run, workflow: "build".into(), version: 1, row });
    }
    found
}

pub fn approvals_are_listed_in_pages_those_that_wait_longest_first(store: &dyn Store) {
    let places = [
        (-5, 2, plain(1)),
        (7, 1, plain(3)),
        (7, 2, plain(0)),
        (7, 2, instance(4, 0)),
        (7, 2, instance(4, 9)),
        (8, 1, plain(0)),
    ];
    let expected = listed(store, &places);
    assert_eq!(ask(store.approvals(None, 100)), expected);
    let mut pages = Vec::new();
    let mut after = None;
    loop {
        let page = ask(store.approvals(after, 2));
        let Some(last) = page.last() else { break };
        after = Some(last.place);
        pages.extend(page);
    }
    assert_eq!(pages, expected);
}

pub fn an_approval_that_is_settled_is_not_listed(store: &dyn Store) {
    let places = [(1, 1, plain(1)), (2, 1, plain(2)), (3, 2, plain(1))];
    let expected = listed(store, &places);
    let fence = begin(store);
    let gone = expected[0].place;
    // The last word counts, and one that is gone can go again.
    let changes = vec![
        Change::UnlistApproval(gone),
        Change::UnlistApproval(expected[1].place),
        Change::ListApproval(expected[1].place),
        Change::UnlistApproval(place(9, 3, plain(7))),
    ];
    commit(store, fence, changes).unwrap();
    assert_eq!(ask(store.approvals(None, 100)), expected[1..]);
}

pub fn signals_and_approvals_go_with_their_run(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Success);
    accept(store, fence, 2, RunStatus::Success);
    for number in [1, 2] {
        let changes = vec![
            Change::NewSignal(key(number), signal(1, "a", "1")),
            Change::PutTask(key(number), parked(plain(0))),
            Change::ListApproval(place(1, number, plain(0))),
        ];
        commit(store, fence, changes).unwrap();
    }
    commit(store, fence, vec![Change::DropRun(key(1), 1)]).unwrap();
    assert_eq!(ask(store.signals(key(1))), []);
    assert_eq!(ask(store.signals(key(2))).len(), 1);
    let left: Vec<_> = ask(store.approvals(None, 9)).iter().map(|it| it.run).collect();
    assert_eq!(left, [run_id(2)]);
}

pub fn additions_are_read_in_order_and_go_with_their_run(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Success);
    accept(store, fence, 2, RunStatus::Success);
    let row = |number: u32| AdditionRow {
        number,
        text: format!("tasks: {{ 'é{number}\0': {{}} }}").into(),
        by: "ann \0".to_owned(),
        at: Timestamp(i64::from(number)),
    };
    for number in [1, 2] {
        let changes = [2, 1, 10].map(|at| Change::NewAddition(key(number), row(at)));
        commit(store, fence, changes.into()).unwrap();
    }
    assert_eq!(ask(store.additions(key(1))), [1, 2, 10].map(row));
    // The first word stands.
    let other = AdditionRow { by: "bob".to_owned(), ..row(2) };
    commit(store, fence, vec![Change::NewAddition(key(1), other)]).unwrap();
    assert_eq!(ask(store.additions(key(1))), [1, 2, 10].map(row));
    let unknown = commit(store, fence, vec![Change::NewAddition(key(9), row(1))]);
    assert!(unknown.is_err(), "there is no such run");
    let fence = begin(store);
    commit(store, fence, vec![Change::DropRun(key(1), 1)]).unwrap();
    assert_eq!(ask(store.additions(key(1))), []);
    assert_eq!(ask(store.additions(key(2))).len(), 3);
}
