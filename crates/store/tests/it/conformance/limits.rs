//! Limits that somebody set, and what rates count.

use super::begin::begin;
use crate::asking::{ask, commit};
use mainspring_core::kernel::ledger::{Ledger, LedgerRow};
use mainspring_core::kernel::limit::{Bound, LimitRow, Rate};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::batch::Change;
use mainspring_store::Store;

const RATE: Rate = Rate { starts: 100, per: Span::from_secs(60) };

pub fn the_last_word_on_a_limit_stands(store: &dyn Store) {
    let fence = begin(store);
    let row = |name: &str, bound| LimitRow { name: name.into(), bound };
    let total = row("total", Bound::of(0));
    let rated = row("api", Bound { limit: 5, rate: Some(RATE) });
    // Twice in one batch, and again in the next.
    let changes = [row("api", Bound::of(1)), total.clone(), rated.clone()];
    commit(store, fence, changes.map(Change::PutLimit).to_vec()).unwrap();
    assert_eq!(ask(store.limits()).set, [rated, total.clone()]);
    let plain = row("api", Bound::of(7));
    commit(store, fence, vec![Change::PutLimit(plain.clone())]).unwrap();
    assert_eq!(ask(store.limits()).set, [plain, total]);
}

pub fn what_rates_count_is_read_as_it_was_written(store: &dyn Store) {
    let fence = begin(store);
    let mut ledger = Ledger::default();
    for at in [1, 1, 1_700_000_000_000_000, 1_700_000_900_000_000] {
        ledger.note(Timestamp(at), RATE);
        let row = LedgerRow { name: "etl/gpu".into(), ledger: ledger.clone() };
        commit(store, fence, vec![Change::PutLedger(row.clone())]).unwrap();
        assert_eq!(ask(store.limits()).ledgers, [row]);
    }
    assert_eq!(ledger.starts(), 4);
}
