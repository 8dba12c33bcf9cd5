//! The reference: blobs in a map.

use super::contract::{BlobEntry, BlobError, BlobReader, Blobs};
use super::name::BlobName;
use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

#[derive(Debug, Default)]
pub struct MemoryBlobs {
    kept: Mutex<Kept>,
}

type Kept = BTreeMap<BlobName, (Arc<[u8]>, Timestamp)>;

impl MemoryBlobs {
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Each call is one change of the map.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blobs for MemoryBlobs {
    fn put(&self, name: BlobName, content: &mut dyn Read) -> Result<(), BlobError> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).map_err(|source| {
            let what = format!("what should be kept as {name} cannot be read: {source}");
            BlobError { what, source: Some(source.into()) }
        })?;
        self.kept().insert(name, (bytes.into(), super::folder::moment(SystemTime::now())));
        Ok(())
    }

    fn open(&self, name: BlobName) -> Result<Option<BlobReader>, BlobError> {
        let bytes = self.kept().get(&name).map(|(bytes, _)| Arc::clone(bytes));
        Ok(bytes.map(|bytes| Box::new(Cursor::new(bytes)) as BlobReader))
    }

    fn remove(&self, name: BlobName, put_before: Timestamp) -> Result<(), BlobError> {
        self.kept().retain(|kept, (_, put_at)| *kept != name || *put_at >= put_before);
        Ok(())
    }

    fn remove_contents(&self, run: RunId, limit: usize) -> Result<usize, BlobError> {
        let mut kept = self.kept();
        let all = BlobName::Content(run, [0; 32])..=BlobName::Content(run, [0xff; 32]);
        let names: Vec<BlobName> = kept.range(all).take(limit).map(|(name, _)| *name).collect();
        names.iter().for_each(|name| drop(kept.remove(name)));
        Ok(names.len())
    }

    fn list(&self, after: Option<BlobName>, limit: usize) -> Result<Vec<BlobEntry>, BlobError> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let kept = self.kept();
        let found = kept.range((after, Bound::Unbounded)).take(limit);
        Ok(found.map(|(name, (_, put_at))| BlobEntry { name: *name, put_at: *put_at }).collect())
    }
}
