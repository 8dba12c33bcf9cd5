//! Waiting for a store's answers. Nothing here sleeps: futures and channels only.

use mainspring_core::ids::SchedulerId;
use mainspring_core::world::batch::Change;
use mainspring_store::{CommitError, Fence, ReadError, Reading, Registration, Store};
use std::sync::mpsc;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().build().unwrap();
}

pub fn read<T>(reading: Reading<'_, T>) -> Result<T, ReadError> {
    RUNTIME.with(|runtime| runtime.block_on(reading))
}

pub fn ask<T>(reading: Reading<'_, T>) -> T {
    read(reading).expect("the store answers")
}

pub fn register(store: &dyn Store, scheduler: SchedulerId) -> Registration {
    ask(store.register(scheduler))
}

/// Hands a batch over and waits for its fate.
pub fn commit(store: &dyn Store, fence: Fence, changes: Vec<Change>) -> Result<(), CommitError> {
    let (fate, told) = mpsc::channel();
    store.commit(fence, changes, Box::new(move |result| fate.send(result).unwrap()));
    told.recv().expect("every commit is answered")
}
