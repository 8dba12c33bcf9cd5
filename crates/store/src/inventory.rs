//! Everything that is stored, piece by piece, for whoever checks it or copies it. Each piece is
//! read in one state of the database, so that what is written meanwhile contradicts nothing.

use crate::contract::{Reading, Store, StoredRun};
use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId};
use mainspring_core::kernel::bulk::BulkRow;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::record::KeyRow;
use mainspring_core::kernel::row::{AttemptRow, LogSize, WorkflowRow};
use mainspring_core::kernel::wait::ApprovalPlace;

/// A run with all rows that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeRun {
    /// With every instance of its groups. What instances put out is null here, unless it is in the
    /// blob store: together that may be more than fits into memory, and nobody asks for it.
    pub run: StoredRun,
    /// By task and number.
    pub attempts: Vec<AttemptRow>,
    pub logs: Vec<(AttemptId, LogSize)>,
    /// Its approvals in the list of those that wait, by task.
    pub approvals: Vec<ApprovalPlace>,
}

/// A workflow's name with what there is under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    pub row: Option<WorkflowRow>,
    /// The numbers of its versions, in order.
    pub versions: Vec<u32>,
}

/// Runs by their keys: above the first, up to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange {
    pub above: RunKey,
    pub up_to: RunKey,
}

/// Rows of a table that belong to no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    pub table: &'static str,
    pub run: RunKey,
}

/// A key that was used, and whether the run that it names as its holder is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldKey {
    pub row: KeyRow,
    /// Names a run that is not there.
    pub dangles: bool,
}

/// A success that may be taken instead of running, and whether it names a blob of a run that is
/// not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedSuccess {
    pub row: CacheRow,
    pub dangles: bool,
}

/// Tables whose rows belong to runs, by a column `run` with their keys. What is cached outlives its
/// run.
pub(crate) const TABLES_OF_RUNS: [&str; 7] =
    ["tasks", "attempts", "logs", "inputs", "signals", "approvals", "additions"];
/// Of each table and range of keys: one would be enough to act on.
pub(crate) const STRAYS_MAX: usize = 20;

/// A store that can be gone through from end to end.
pub trait Inventory: Store {
    /// What the database finds wrong with itself: pages, indexes, references.
    fn integrity(&self) -> Reading<'_, Vec<String>>;

    fn schedulers(&self) -> Reading<'_, Vec<SchedulerId>>;

    /// Runs in the order of their keys. No id where it cannot be read.
    fn run_keys(&self, above: RunKey, limit: usize) -> Reading<'_, Vec<(RunKey, Option<RunId>)>>;

    fn whole_run(&self, run: RunKey) -> Reading<'_, Option<WholeRun>>;

    fn strays(&self, range: KeyRange) -> Reading<'_, Vec<Stray>>;

    /// Names of workflows, hidden ones and those of versions without a workflow included, in
    /// order.
    fn names(&self, after: &str, limit: usize) -> Reading<'_, Vec<String>>;

    fn numbered(&self, workflow: &str) -> Reading<'_, Numbered>;

    /// Keys in the order of principal, route and key.
    fn held_keys(&self, after: Option<&HeldKey>, limit: usize) -> Reading<'_, Vec<HeldKey>>;

    /// Orders on many runs, by id. There are few: they go by age, and only so many are at work.
    fn bulks(&self) -> Reading<'_, Vec<BulkRow>>;

    /// Cached successes in the order of workflow, task and hash.
    fn cached_successes(
        &self,
        after: Option<&CacheKey>,
        limit: usize,
    ) -> Reading<'_, Vec<CachedSuccess>>;
}
