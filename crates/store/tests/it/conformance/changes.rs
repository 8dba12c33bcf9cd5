//! What has changed since a stamp.

use super::begin::{begin, key};
use crate::asking::{ask, commit, register};
use crate::rows::{OTHER, SCHEDULER, head, progress};
use mainspring_core::kernel::row::{RunProgress, RunStatus};
use mainspring_core::world::batch::Change;
use mainspring_store::Store;

pub fn runs_are_read_in_the_order_of_their_stamps(store: &dyn Store) {
    let fence = begin(store);
    register(store, OTHER);
    let new = |number, stamp| Change::NewRun(head(number), progress(RunStatus::Running, stamp));
    let changes = vec![new(1, 30), new(2, 10), new(3, 20), new(5, 20), new(4, 20), new(6, 40)];
    commit(store, fence, changes).unwrap();
    let foreign = RunProgress { owner: OTHER, ..progress(RunStatus::Running, 15) };
    commit(store, fence, vec![Change::NewRun(head(7), foreign)]).unwrap();
    let changed = |after, limit| -> Vec<(u64, u64)> {
        let found = ask(store.changed(SCHEDULER, after, limit));
        found.iter().map(|(head, now)| (head.key.sequence(), now.stamp)).collect()
    };
    let all = [(2, 10), (3, 20), (4, 20), (5, 20), (1, 30), (6, 40)];
    assert_eq!(changed(0, 100), all);
    assert_eq!(changed(10, 100), all[1..]);
    assert_eq!(changed(0, 1), all[..1]);
    assert_eq!(changed(0, 2), all[..4], "runs of one stamp are not torn apart");
    assert_eq!(changed(0, 4), all[..4]);
    assert_eq!(changed(20, 1), all[4..5]);
    assert_eq!(changed(40, 1), []);
    assert_eq!(changed(u64::MAX, 1), []);
    assert_eq!(changed(0, 0), []);
    let again = progress(RunStatus::Success, 50);
    commit(store, fence, vec![Change::PutRun(key(3), again.clone())]).unwrap();
    assert_eq!(ask(store.changed(SCHEDULER, 40, 9)), [(head(3), again)]);
    assert_eq!(ask(store.changed(OTHER, 0, 9)).len(), 1);
}
