//! What every place for blobs does.

use super::name::BlobName;
use mainspring_core::ids::RunId;
use mainspring_core::time::Timestamp;
use std::error::Error;
use std::io::{self, Read};

/// Why something could not be done with a blob: what, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct BlobError {
    pub what: String,
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl From<BlobError> for io::Error {
    fn from(error: BlobError) -> Self {
        Self::other(error)
    }
}

/// A blob from its first byte to its last. One that is removed meanwhile is read to its end or
/// fails; it never seems to end early.
pub type BlobReader = Box<dyn Read + Send>;

/// A blob that is there, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobEntry {
    pub name: BlobName,
    pub put_at: Timestamp,
}

/// A place where blobs are kept.
///
/// A blob is there as a whole or not at all. Calls wait for a disk or a network: they are for
/// threads that may, never for asynchronous code.
pub trait Blobs: Send + Sync + 'static {
    /// Keeps all that the content has. A blob of this name is replaced: whoever puts the same
    /// thing again, not knowing of the first time, makes it young again.
    fn put(&self, name: BlobName, content: &mut dyn Read) -> Result<(), BlobError>;

    /// None when there is no such blob.
    fn open(&self, name: BlobName) -> Result<Option<BlobReader>, BlobError>;

    /// Removes a blob if it is there and was put before this moment.
    fn remove(&self, name: BlobName, put_before: Timestamp) -> Result<(), BlobError>;

    /// Removes contents of a run that goes, or is gone: at most so many, and says how many there
    /// were. None are left when that is zero.
    fn remove_contents(&self, run: RunId, limit: usize) -> Result<usize, BlobError>;

    /// Blobs after the one given, in an order of the place's own; none when that was the last.
    fn list(&self, after: Option<BlobName>, limit: usize) -> Result<Vec<BlobEntry>, BlobError>;
}
