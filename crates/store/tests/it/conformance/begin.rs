//! How every case begins, and what it looks at.

use crate::asking::{ask, commit, register};
use crate::rows::{SCHEDULER, head, progress, run_id};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::world::batch::Change;
use mainspring_store::{Fence, Store, StoredRun};

pub fn begin(store: &dyn Store) -> Fence {
    register(store, SCHEDULER).fence
}

pub fn accept(store: &dyn Store, fence: Fence, number: u64, status: RunStatus) {
    let change = Change::NewRun(head(number), progress(status, number));
    commit(store, fence, vec![change]).unwrap();
}

pub fn load(store: &dyn Store, number: u64) -> StoredRun {
    ask(store.run(run_id(number))).expect("the run is stored")
}

pub fn key(number: u64) -> RunKey {
    RunKey::new(1, number)
}
