//! Successes that are taken instead of running again.

use crate::grouped::Grouped;
use mainspring_core::ids::RunId;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::output::Output;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cache(BTreeMap<CacheKey, CacheRow>);

impl Cache {
    pub fn write(&mut self, grouped: &Grouped<'_>) {
        if let Some(moment) = grouped.cache_expired_at {
            self.0.retain(|_, row| row.expires_at > moment);
        }
        for (key, row) in &grouped.cache {
            self.0.insert((*key).clone(), (*row).clone());
        }
    }

    /// What a run has in the blob store goes with it.
    pub fn lose_blobs_of(&mut self, run: RunId) {
        self.0.retain(|_, row| row.run != run || !matches!(row.output, Some(Output::Blob(_))));
    }

    pub fn get(&self, key: &CacheKey) -> Option<CacheRow> {
        self.0.get(key).cloned()
    }
}
