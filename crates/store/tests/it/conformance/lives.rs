//! Schedulers, their epochs, and what a fence keeps out.

use super::begin::{accept, begin, key};
use crate::asking::{ask, commit, register};
use crate::rows::{OTHER, SCHEDULER, head, progress, run_id};
use mainspring_core::kernel::row::{RunProgress, RunStatus};
use mainspring_core::world::batch::Change;
use mainspring_store::{CommitError, Fence, Store};

pub fn the_first_life_begins_with_epoch_one(store: &dyn Store) {
    let registration = register(store, SCHEDULER);
    assert_eq!(registration.fence, Fence { scheduler: SCHEDULER, epoch: 1 });
    assert_eq!((registration.ordinal, registration.next_run, registration.next_stamp), (1, 1, 1));
}

pub fn a_new_life_goes_on_where_the_last_one_ended(store: &dyn Store) {
    let fence = begin(store);
    let changes = vec![
        Change::NewRun(head(5), progress(RunStatus::Running, 30)),
        Change::NewRun(head(3), progress(RunStatus::Running, 40)),
    ];
    commit(store, fence, changes).unwrap();
    let registration = register(store, SCHEDULER);
    assert_eq!(registration.fence.epoch, 2);
    assert_eq!((registration.ordinal, registration.next_run, registration.next_stamp), (1, 6, 41));
}

pub fn schedulers_have_ordinals_of_their_own(store: &dyn Store) {
    let fence = begin(store);
    accept(store, fence, 9, RunStatus::Success);
    let other = register(store, OTHER);
    assert_eq!((other.ordinal, other.next_run, other.next_stamp), (2, 1, 1));
    assert_eq!(other.fence.epoch, 1);
    assert_eq!(register(store, SCHEDULER).ordinal, 1);
}

pub fn what_the_dead_left_unfinished_is_taken_over(store: &dyn Store) {
    let old = begin(store);
    let left = [(3, RunStatus::Running), (4, RunStatus::Success), (5, RunStatus::Cancelling)];
    for (number, status) in left {
        accept(store, old, number, status);
    }
    let new = register(store, OTHER);
    assert_eq!((new.ordinal, new.next_run, new.next_stamp), (2, 1, 2));
    assert_eq!(ask(store.unfinished(SCHEDULER)), []);
    assert_eq!(ask(store.unfinished(OTHER)), [(key(3), run_id(3)), (key(5), run_id(5))]);
    // As a commit of its own; what is final stays where it is.
    let changed = |of| -> Vec<(u64, u64)> {
        let found = ask(store.changed(of, 0, 9));
        found.iter().map(|(head, now)| (head.key.sequence(), now.stamp)).collect()
    };
    assert_eq!((changed(OTHER), changed(SCHEDULER)), (vec![(3, 1), (5, 1)], vec![(4, 4)]));
    let ended = RunProgress { owner: OTHER, ..progress(RunStatus::Success, 9) };
    let change = || vec![Change::PutRun(key(3), ended.clone())];
    let fenced = commit(store, old, change());
    assert!(matches!(fenced, Err(CommitError::Fenced)), "{fenced:?}");
    commit(store, new.fence, change()).unwrap();
    // Registering once more finds nothing.
    assert_eq!(register(store, OTHER).next_stamp, 10);
}

pub fn an_old_life_is_fenced_off(store: &dyn Store) {
    let old = begin(store);
    let new = begin(store);
    let change = Change::NewRun(head(1), progress(RunStatus::Pending, 1));
    let result = commit(store, old, vec![change.clone()]);
    assert!(matches!(result, Err(CommitError::Fenced)), "{result:?}");
    assert_eq!(ask(store.run(run_id(1))), None);
    commit(store, new, vec![change]).unwrap();
}

pub fn a_scheduler_that_never_registered_is_fenced_off(store: &dyn Store) {
    begin(store);
    let result = commit(store, Fence { scheduler: OTHER, epoch: 1 }, Vec::new());
    assert!(matches!(result, Err(CommitError::Fenced)), "{result:?}");
}

pub fn an_empty_batch_is_fenced_all_the_same(store: &dyn Store) {
    let old = begin(store);
    commit(store, old, Vec::new()).unwrap();
    begin(store);
    assert!(matches!(commit(store, old, Vec::new()), Err(CommitError::Fenced)));
}

pub fn a_store_answers_a_ping_and_nothing_changes(store: &dyn Store) {
    ask(store.ping());
    let fence = begin(store);
    accept(store, fence, 1, RunStatus::Running);
    ask(store.ping());
    accept(store, fence, 2, RunStatus::Running);
}
