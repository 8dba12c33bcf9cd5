//! The same request under the same key gets the same answer, until the key is dropped.

use super::begin::{accept, begin, key};
use crate::asking::{ask, commit};
use crate::rows::{bulk_id, head, idempotency_key, key_row, progress, run_id};
use mainspring_core::kernel::record::{IdempotencyKey, KeyAnswer};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{Fence, Store};

fn use_key(store: &dyn Store, fence: Fence, name: &str, answer: KeyAnswer, at: i64) {
    commit(store, fence, vec![Change::NewKey(key_row(name, answer, at))]).unwrap();
}

/// Which of these keys are known.
fn known(store: &dyn Store, names: &[&'static str]) -> Vec<&'static str> {
    let is_known = |name: &&str| ask(store.key(&idempotency_key(name))).is_some();
    names.iter().copied().filter(is_known).collect()
}

pub fn the_first_answer_under_a_key_stands(store: &dyn Store) {
    let fence = begin(store);
    let answers = [
        KeyAnswer::Run(run_id(1)),
        KeyAnswer::Version { number: 3, is_new: true },
        KeyAnswer::Bulk(bulk_id(4)),
        KeyAnswer::Done,
    ];
    for (name, answer) in ["a", "b", "c", "d"].into_iter().zip(answers) {
        use_key(store, fence, name, answer.clone(), 7);
        use_key(store, fence, name, KeyAnswer::Run(run_id(9)), 8);
        let expected = key_row(name, answer, 7);
        assert_eq!(ask(store.key(&idempotency_key(name))), Some(expected));
    }
}

pub fn a_key_is_known_by_who_asked_for_what(store: &dyn Store) {
    let fence = begin(store);
    use_key(store, fence, "k", KeyAnswer::Done, 7);
    let key = idempotency_key("k");
    let other_body = IdempotencyKey { body: [9; 32], ..key.clone() };
    let found = ask(store.key(&other_body)).expect("the body is not part of what is looked for");
    assert_eq!(found.key.body, [5; 32]);
    let bob = IdempotencyKey { principal: "bob".into(), ..key.clone() };
    let elsewhere = IdempotencyKey { route: "deploy".into(), ..key };
    assert_eq!(ask(store.key(&bob)), None);
    assert_eq!(ask(store.key(&elsewhere)), None);
}

pub fn old_keys_are_dropped_unless_their_run_is_stored(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Success);
    accept(store, fence, 2, RunStatus::Success);
    use_key(store, fence, "run kept", KeyAnswer::Run(run_id(1)), 1);
    use_key(store, fence, "run dropped", KeyAnswer::Run(run_id(2)), 1);
    use_key(store, fence, "run unknown", KeyAnswer::Run(run_id(3)), 1);
    use_key(store, fence, "no run", KeyAnswer::Done, 1);
    use_key(store, fence, "young", KeyAnswer::Done, 5);
    let names = ["run kept", "run dropped", "run unknown", "no run", "young"];
    assert!(!ask(store.has_old_keys(Timestamp(1))));
    commit(store, fence, vec![Change::DropKeys(Timestamp(1))]).unwrap();
    assert_eq!(known(store, &names), names);
    assert!(ask(store.has_old_keys(Timestamp(2))));
    let changes = vec![Change::DropKeys(Timestamp(5)), Change::DropRun(key(2), 2)];
    commit(store, fence, changes).unwrap();
    assert_eq!(known(store, &names), ["run kept", "young"]);
    assert!(!ask(store.has_old_keys(Timestamp(5))), "the one that is kept is not old");
    assert!(ask(store.has_old_keys(Timestamp(6))));
}

pub fn a_key_outlives_its_run_while_it_is_young(store: &dyn Store) {
    let fence = begin(store);
    let answer = KeyAnswer::Run(run_id(1));
    let changes = vec![
        Change::NewKey(key_row("k", answer.clone(), 5)),
        Change::NewRun(head(1), progress(RunStatus::Success, 1)),
    ];
    commit(store, fence, changes).unwrap();
    let drop = vec![Change::DropRun(key(1), 1), Change::DropKeys(Timestamp(5))];
    commit(store, fence, drop).unwrap();
    assert_eq!(ask(store.key(&idempotency_key("k"))), Some(key_row("k", answer, 5)));
    commit(store, fence, vec![Change::DropKeys(Timestamp(6))]).unwrap();
    assert_eq!(ask(store.key(&idempotency_key("k"))), None);
}

pub fn a_key_that_is_used_as_it_is_dropped_is_new(store: &dyn Store) {
    let fence = begin(store);
    use_key(store, fence, "k", KeyAnswer::Done, 1);
    let again = key_row("k", KeyAnswer::Run(run_id(1)), 9);
    let changes = vec![Change::NewKey(again.clone()), Change::DropKeys(Timestamp(5))];
    commit(store, fence, changes).unwrap();
    assert_eq!(ask(store.key(&idempotency_key("k"))), Some(again));
}
