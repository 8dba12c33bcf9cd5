//! Who asked for what.

use super::begin::{begin, key};
use crate::asking::{ask, commit};
use crate::rows::{audit_row, plain, task};
use mainspring_core::world::batch::Change;
use mainspring_store::Store;

fn targets(store: &dyn Store, below: Option<u64>, limit: usize) -> Vec<String> {
    ask(store.audit(below, limit)).into_iter().map(|entry| entry.row.target).collect()
}

pub fn the_audit_log_is_read_newest_first_in_pages(store: &dyn Store) {
    let fence = begin(store);
    for targets in [["a", "b"], ["c", "d"]] {
        let changes = targets.map(|target| Change::NewAudit(audit_row(target)));
        commit(store, fence, changes.into()).unwrap();
    }
    assert_eq!(targets(store, None, 100), ["d", "c", "b", "a"]);
    let page = ask(store.audit(None, 2));
    assert_eq!(page[1].row, audit_row("c"));
    assert_eq!(targets(store, Some(page[1].number), 1), ["b"]);
    assert_eq!(targets(store, Some(page[1].number), 100), ["b", "a"]);
    let last = ask(store.audit(None, 100))[3].number;
    assert_eq!(targets(store, Some(last), 100), [""; 0]);
    assert_eq!(targets(store, None, 0), [""; 0]);
}

pub fn what_was_refused_leaves_no_record(store: &dyn Store) {
    let fence = begin(store);
    commit(store, fence, vec![Change::NewAudit(audit_row("a"))]).unwrap();
    let contradiction = Change::PutTask(key(1), task(plain(0)));
    commit(store, fence, vec![Change::NewAudit(audit_row("b")), contradiction]).unwrap_err();
    commit(store, begin(store), vec![Change::NewAudit(audit_row("c"))]).unwrap();
    assert_eq!(targets(store, None, 100), ["c", "a"]);
}
