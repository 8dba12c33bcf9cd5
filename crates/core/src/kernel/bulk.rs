//! An order on many runs, as it is kept: from the commit that accepts it to its end, and for a while
//! after. Nothing is decided by it. Whoever gave it out carries it out, run by run, and every order
//! on a run has a key of its own: to go over all of them once more does nothing twice.

use crate::ids::{BulkId, RunId, TokenId};
use crate::json::Json;
use crate::time::Timestamp;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkRow {
    pub id: BulkId,
    pub by: BulkBy,
    /// What to do, how, and to which runs: the filter as it was said.
    pub asked: Json,
    /// Runs accepted from this moment on were not looked at.
    pub until: Timestamp,
    /// How many were found.
    pub matched: u64,
    pub created_at: Timestamp,
    pub state: BulkState,
}

/// Who asked. It was allowed then, and goes on whatever became of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkBy {
    pub name: Arc<str>,
    pub token: Option<TokenId>,
    /// The peer's address.
    pub from: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkState {
    AtWork(BulkRuns),
    Over(BulkEnd),
}

/// The runs that were found. They are kept, and not looked for again: what the filter finds changes
/// with everything that is done to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkRuns {
    pub runs: Arc<[RunId]>,
    /// Children of others that are meant: their turn comes when those are through.
    pub below: Arc<[RunId]>,
}

impl BulkRuns {
    pub fn count(&self) -> usize {
        self.runs.len() + self.below.len()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkEnd {
    pub at: Timestamp,
    /// What came of it, counted.
    pub result: Json,
}
