//! Successes that are taken instead of running again.

use super::begin::{accept, begin, key};
use crate::asking::{ask, commit};
use crate::rows::{blob, cache_key, json, run_id};
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::output::Output;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::Store;

fn row(key: CacheKey, output: Option<Output>, expires_at: i64) -> CacheRow {
    CacheRow { key, run: run_id(1), output, expires_at: Timestamp(expires_at) }
}

pub fn a_cached_success_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    let rows = [
        row(cache_key("a", 1), Some(json("{\"n\":  1}")), 5),
        row(cache_key("a", 2), Some(blob(9)), i64::MAX),
        row(cache_key("b", 1), None, -1),
    ];
    commit(store, fence, rows.iter().cloned().map(Change::PutCache).collect()).unwrap();
    for row in rows {
        assert_eq!(ask(store.cached(&row.key)), Some(row), "whether or not its time is up");
    }
    let other = CacheKey { workflow: "other".into(), ..cache_key("a", 1) };
    for unknown in [cache_key("a", 3), cache_key("c", 1), other] {
        assert_eq!(ask(store.cached(&unknown)), None);
    }
}

pub fn a_later_success_replaces_the_former(store: &dyn Store) {
    let fence = begin(store);
    let rows = [
        row(cache_key("a", 1), Some(blob(1)), 5),
        row(cache_key("a", 1), Some(json("2")), 6),
        CacheRow { run: run_id(3), ..row(cache_key("a", 1), None, 4) },
    ];
    commit(store, fence, vec![Change::PutCache(rows[0].clone())]).unwrap();
    let both = rows[1..].iter().cloned().map(Change::PutCache).collect();
    commit(store, fence, both).unwrap();
    assert_eq!(ask(store.cached(&rows[0].key)).as_ref(), Some(&rows[2]));
}

pub fn what_has_expired_is_dropped(store: &dyn Store) {
    let fence = begin(store);
    let put = |hash, at| Change::PutCache(row(cache_key("a", hash), None, at));
    commit(store, fence, (1..=4).map(|hash| put(hash, i64::from(hash))).collect()).unwrap();
    let left = || -> Vec<u8> {
        (1..=4).filter(|hash| ask(store.cached(&cache_key("a", *hash))).is_some()).collect()
    };
    commit(store, fence, vec![Change::DropCache(Timestamp(0))]).unwrap();
    assert_eq!(left(), [1, 2, 3, 4]);
    let drops = vec![Change::DropCache(Timestamp(2)), Change::DropCache(Timestamp(1)), put(1, 2)];
    commit(store, fence, drops).unwrap();
    assert_eq!(left(), [1, 3, 4], "what is put meanwhile stays");
    commit(store, fence, vec![Change::DropCache(Timestamp(i64::MAX))]).unwrap();
    assert_eq!(left(), [0_u8; 0]);
}

/// A run takes its blobs with it.
pub fn what_names_a_blob_goes_with_its_run(store: &dyn Store) {
    let fence = begin(store);
    for number in [1, 2] {
        accept(store, fence, number, RunStatus::Success);
    }
    let rows = [
        row(cache_key("a", 1), Some(blob(1)), 9),
        row(cache_key("a", 2), Some(json("\"@\"")), 9),
        row(cache_key("a", 3), None, 9),
        CacheRow { run: run_id(2), ..row(cache_key("a", 4), Some(blob(1)), 9) },
    ];
    commit(store, fence, rows.iter().cloned().map(Change::PutCache).collect()).unwrap();
    commit(store, fence, vec![Change::DropRun(key(1), 99)]).unwrap();
    assert!(ask(store.cached(&rows[0].key)).is_some(), "its run has stayed");
    commit(store, fence, vec![Change::DropRun(key(1), 1)]).unwrap();
    assert_eq!(ask(store.cached(&rows[0].key)), None);
    for row in &rows[1..] {
        assert_eq!(ask(store.cached(&row.key)).as_ref(), Some(row));
    }
}
