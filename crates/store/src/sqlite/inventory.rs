//! The database, gone through from end to end.

use super::store::Sqlite;
use super::tables::{bulks, inventory};
use crate::contract::Reading;
use crate::inventory::{CachedSuccess, HeldKey, Inventory, KeyRange, Numbered, Stray, WholeRun};
use mainspring_core::ids::{RunId, RunKey, SchedulerId};
use mainspring_core::kernel::bulk::BulkRow;
use mainspring_core::kernel::cache::CacheKey;

impl Inventory for Sqlite {
    fn integrity(&self) -> Reading<'_, Vec<String>> {
        self.readers.ask(inventory::integrity)
    }

    fn schedulers(&self) -> Reading<'_, Vec<SchedulerId>> {
        self.readers.ask(inventory::schedulers)
    }

    fn run_keys(&self, above: RunKey, limit: usize) -> Reading<'_, Vec<(RunKey, Option<RunId>)>> {
        self.readers.ask(move |conn| inventory::run_keys(conn, above, limit))
    }

    fn whole_run(&self, run: RunKey) -> Reading<'_, Option<WholeRun>> {
        self.readers.ask(move |conn| inventory::whole_run(conn, run))
    }

    fn strays(&self, range: KeyRange) -> Reading<'_, Vec<Stray>> {
        self.readers.ask(move |conn| inventory::strays(conn, range))
    }

    fn names(&self, after: &str, limit: usize) -> Reading<'_, Vec<String>> {
        let after = after.to_owned();
        self.readers.ask(move |conn| inventory::names(conn, &after, limit))
    }

    fn numbered(&self, workflow: &str) -> Reading<'_, Numbered> {
        let workflow = workflow.to_owned();
        self.readers.ask(move |conn| inventory::numbered(conn, &workflow))
    }

    fn held_keys(&self, after: Option<&HeldKey>, limit: usize) -> Reading<'_, Vec<HeldKey>> {
        let after = after.map(|held| held.row.key.clone());
        self.readers.ask(move |conn| inventory::held_keys(conn, after.as_ref(), limit))
    }

    fn bulks(&self) -> Reading<'_, Vec<BulkRow>> {
        self.readers.ask(bulks::all)
    }

    fn cached_successes(
        &self,
        after: Option<&CacheKey>,
        limit: usize,
    ) -> Reading<'_, Vec<CachedSuccess>> {
        let after = after.cloned();
        self.readers.ask(move |conn| inventory::cached(conn, after.as_ref(), limit))
    }
}
