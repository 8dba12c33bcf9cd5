//! Orders on many runs.

use super::begin::begin;
use crate::asking::{ask, commit};
use crate::rows::{bulk, bulk_end, bulk_id, run_id, token_id};
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkBy, BulkRow, BulkRuns, BulkState};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{Fence, Store};

fn order(store: &dyn Store, fence: Fence, rows: &[BulkRow]) {
    commit(store, fence, rows.iter().cloned().map(Change::NewBulk).collect()).unwrap();
}

fn at_work(store: &dyn Store) -> Vec<u8> {
    ask(store.unfinished_bulks()).iter().map(|row| row.id.as_bytes()[0]).collect()
}

pub fn orders_are_read_as_they_were_written(store: &dyn Store) {
    let fence = begin(store);
    let odd = "a\0b\u{10FFFF}'\"";
    let many: Vec<_> = (0..20_000).map(run_id).collect();
    let rows = [
        bulk(1),
        BulkRow {
            by: BulkBy { name: odd.into(), token: Some(token_id(3)), from: odd.into() },
            asked: Json::from_value(&serde_json::json!({ odd: [odd] })),
            until: Timestamp(77),
            matched: 20_001,
            state: BulkState::AtWork(BulkRuns { runs: many.into(), below: [run_id(1)].into() }),
            ..bulk(2)
        },
        BulkRow { state: BulkState::Over(bulk_end(9, odd)), ..bulk(3) },
    ];
    order(store, fence, &rows);
    for row in &rows {
        assert_eq!(ask(store.bulk(row.id)).as_ref(), Some(row));
    }
    assert_eq!(ask(store.bulk(bulk_id(4))), None);
    order(store, fence, &[BulkRow { matched: 99, ..bulk(1) }]);
    assert_eq!(ask(store.bulk(bulk_id(1))), Some(bulk(1)), "the first word stands");
}

pub fn those_at_work_are_listed_oldest_first(store: &dyn Store) {
    let fence = begin(store);
    let old = BulkRow { created_at: Timestamp(0), ..bulk(9) };
    // Made in the same moment: the id decides.
    let twin = BulkRow { created_at: bulk(2).created_at, ..bulk(3) };
    order(store, fence, &[twin, bulk(2), old.clone(), bulk(1)]);
    assert_eq!(at_work(store), [9, 1, 2, 3]);
    assert_eq!(ask(store.unfinished_bulks())[0], old, "whole");
    commit(store, fence, vec![Change::EndBulk(bulk_id(1), bulk_end(5, "x"))]).unwrap();
    assert_eq!(at_work(store), [9, 2, 3]);
}

pub fn the_first_word_on_an_end_stands(store: &dyn Store) {
    let fence = begin(store);
    order(store, fence, &[bulk(1), bulk(2)]);
    let ends = |first: &str, second: &str| {
        vec![
            Change::EndBulk(bulk_id(1), bulk_end(5, first)),
            Change::EndBulk(bulk_id(1), bulk_end(6, second)),
            Change::EndBulk(bulk_id(7), bulk_end(5, "nobody's")),
        ]
    };
    commit(store, fence, ends("first", "second")).unwrap();
    commit(store, fence, ends("third", "fourth")).unwrap();
    let over = BulkRow { state: BulkState::Over(bulk_end(5, "first")), ..bulk(1) };
    assert_eq!(ask(store.bulk(bulk_id(1))), Some(over), "its runs are gone, the rest is there");
    assert_eq!(ask(store.bulk(bulk_id(2))), Some(bulk(2)));
    assert_eq!(ask(store.bulk(bulk_id(7))), None);
    // Begun and over in one batch.
    let changes =
        vec![Change::EndBulk(bulk_id(3), bulk_end(8, "at once")), Change::NewBulk(bulk(3))];
    commit(store, fence, changes).unwrap();
    assert_eq!(at_work(store), [2]);
}

pub fn old_ones_that_are_over_are_dropped(store: &dyn Store) {
    let fence = begin(store);
    order(store, fence, &[bulk(1), bulk(2), bulk(3)]);
    assert!(!ask(store.has_old_bulks(Timestamp(i64::MAX))), "at work they are never old");
    let ends = [(1, 5), (2, 6)].map(|(no, at)| Change::EndBulk(bulk_id(no), bulk_end(at, "x")));
    commit(store, fence, ends.to_vec()).unwrap();
    assert!(!ask(store.has_old_bulks(Timestamp(5))));
    assert!(ask(store.has_old_bulks(Timestamp(6))));
    commit(store, fence, vec![Change::DropBulks(Timestamp(6)), Change::DropBulks(Timestamp(2))])
        .unwrap();
    let left: Vec<bool> = (1..4).map(|no| ask(store.bulk(bulk_id(no))).is_some()).collect();
    assert_eq!(left, [false, true, true]);
    commit(store, fence, vec![Change::DropBulks(Timestamp(i64::MAX))]).unwrap();
    assert_eq!(at_work(store), [3]);
    assert_eq!(ask(store.bulk(bulk_id(2))), None);
}
