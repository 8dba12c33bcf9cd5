//! Successes that are taken instead of running again.

use crate::ids::RunId;
use crate::output::Output;
use crate::time::Timestamp;
use std::sync::Arc;

/// Whose success: of this task of this workflow, whichever version, under this key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CacheKey {
    pub workflow: Arc<str>,
    pub task: Arc<str>,
    /// SHA-256 of the key as rendered.
    pub hash: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheRow {
    pub key: CacheKey,
    /// Where it was worked out, and where its blob is if it has one.
    pub run: RunId,
    pub output: Option<Output>,
    pub expires_at: Timestamp,
}
