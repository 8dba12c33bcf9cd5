//! Limits that somebody set, and what rates count.

use crate::contract::StoredLimits;
use crate::grouped::Grouped;
use mainspring_core::kernel::ledger::LedgerRow;
use mainspring_core::kernel::limit::LimitRow;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    set: BTreeMap<Arc<str>, LimitRow>,
    ledgers: BTreeMap<Arc<str>, LedgerRow>,
}

impl Limits {
    pub fn write(&mut self, grouped: &Grouped<'_>) {
        for row in grouped.limits.values() {
            self.set.insert(Arc::clone(&row.name), (*row).clone());
        }
        for row in grouped.ledgers.values() {
            self.ledgers.insert(Arc::clone(&row.name), (*row).clone());
        }
    }

    pub fn all(&self) -> StoredLimits {
        StoredLimits {
            set: self.set.values().cloned().collect(),
            ledgers: self.ledgers.values().cloned().collect(),
        }
    }
}
