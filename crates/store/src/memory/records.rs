//! What is kept of requests, and who may ask.

use crate::contract::Audited;
use crate::grouped::Grouped;
use mainspring_core::ids::{BulkId, RunId, TokenId};
use mainspring_core::kernel::bulk::{BulkRow, BulkState};
use mainspring_core::kernel::record::{
    AuditRow, IdempotencyKey, KeyAnswer, KeyRow, TokenKind, TokenRow,
};
use mainspring_core::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Who used the key, on which route, and the key.
type Place = (Arc<str>, Arc<str>, Arc<str>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Records {
    keys: BTreeMap<Place, KeyRow>,
    /// The first has the number 1.
    audit: Vec<AuditRow>,
    tokens: BTreeMap<TokenId, TokenRow>,
    bulks: BTreeMap<BulkId, BulkRow>,
}

impl Records {
    pub fn write(&mut self, grouped: &Grouped<'_>, is_stored: impl Fn(RunId) -> bool) {
        if let Some(before) = grouped.keys_dropped_before {
            self.drop_keys(before, is_stored);
        }
        for row in &grouped.keys {
            self.keys.entry(place(&row.key)).or_insert_with(|| (*row).clone());
        }
        self.audit.extend(grouped.audit.iter().map(|row| (*row).clone()));
        for row in &grouped.tokens {
            self.tokens.entry(row.id).or_insert_with(|| (*row).clone());
        }
        for id in &grouped.dropped_tokens {
            self.tokens.retain(|_, row| row.id != *id && row.kind != TokenKind::Session(*id));
        }
        self.write_bulks(grouped);
    }

    fn write_bulks(&mut self, grouped: &Grouped<'_>) {
        if let Some(before) = grouped.bulks_dropped_before {
            self.bulks.retain(|_, row| !is_over_before(row, before));
        }
        for row in &grouped.bulks {
            self.bulks.entry(row.id).or_insert_with(|| (*row).clone());
        }
        for (id, end) in &grouped.bulk_ends {
            if let Some(BulkRow { state: state @ BulkState::AtWork(_), .. }) =
                self.bulks.get_mut(id)
            {
                *state = BulkState::Over((*end).clone());
            }
        }
    }

    pub fn bulk(&self, id: BulkId) -> Option<BulkRow> {
        self.bulks.get(&id).cloned()
    }

    pub fn unfinished_bulks(&self) -> Vec<BulkRow> {
        let at_work = |row: &&BulkRow| matches!(row.state, BulkState::AtWork(_));
        let mut found: Vec<BulkRow> = self.bulks.values().filter(at_work).cloned().collect();
        found.sort_by_key(|row| (row.created_at, row.id));
        found
    }

    pub fn has_old_bulks(&self, before: Timestamp) -> bool {
        self.bulks.values().any(|row| is_over_before(row, before))
    }

    fn drop_keys(&mut self, before: Timestamp, is_stored: impl Fn(RunId) -> bool) {
        self.keys.retain(|_, row| !is_old(row, before, &is_stored));
    }

    pub fn has_old_keys(&self, before: Timestamp, is_stored: impl Fn(RunId) -> bool) -> bool {
        self.keys.values().any(|row| is_old(row, before, &is_stored))
    }

    pub fn key(&self, key: &IdempotencyKey) -> Option<KeyRow> {
        self.keys.get(&place(key)).cloned()
    }

    pub fn audit(&self, below: Option<u64>, limit: usize) -> Vec<Audited> {
        let numbers = 1..=u64::try_from(self.audit.len()).expect("a length fits 64 bits");
        let newest_first = numbers.rev().zip(self.audit.iter().rev());
        newest_first
            .filter(|(number, _)| below.is_none_or(|below| *number < below))
            .take(limit)
            .map(|(number, row)| Audited { number, row: row.clone() })
            .collect()
    }

    pub fn tokens(&self) -> Vec<TokenRow> {
        let mut found: Vec<TokenRow> = self.tokens.values().cloned().collect();
        found.sort_by_key(|row| (row.created_at, row.id));
        found
    }
}

fn is_old(row: &KeyRow, before: Timestamp, is_stored: impl Fn(RunId) -> bool) -> bool {
    let is_held = match &row.answer {
        KeyAnswer::Run(run) => is_stored(*run),
        KeyAnswer::Version { .. } | KeyAnswer::Bulk(_) | KeyAnswer::Done => false,
    };
    row.created_at < before && !is_held
}

fn is_over_before(row: &BulkRow, before: Timestamp) -> bool {
    matches!(&row.state, BulkState::Over(end) if end.at < before)
}

fn place(key: &IdempotencyKey) -> Place {
    (Arc::clone(&key.principal), Arc::clone(&key.route), Arc::clone(&key.key))
}
