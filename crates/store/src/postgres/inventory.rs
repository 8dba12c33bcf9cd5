//! The database, gone through from end to end.

use super::store::Postgres;
use super::tables::{bulks, inventory};
use crate::contract::Reading;
use crate::inventory::{CachedSuccess, HeldKey, Inventory, KeyRange, Numbered, Stray, WholeRun};
use mainspring_core::ids::{RunId, RunKey, SchedulerId};
use mainspring_core::kernel::bulk::BulkRow;
use mainspring_core::kernel::cache::CacheKey;

impl Inventory for Postgres {
    fn integrity(&self) -> Reading<'_, Vec<String>> {
        self.readers.ask(async move |session| inventory::integrity(session).await)
    }

    fn schedulers(&self) -> Reading<'_, Vec<SchedulerId>> {
        self.readers.ask(async move |session| inventory::schedulers(session).await)
    }

    fn run_keys(&self, above: RunKey, limit: usize) -> Reading<'_, Vec<(RunKey, Option<RunId>)>> {
        self.readers.ask(async move |session| inventory::run_keys(session, above, limit).await)
    }

    fn whole_run(&self, run: RunKey) -> Reading<'_, Option<WholeRun>> {
        self.readers.ask(async move |session| inventory::whole_run(session, run).await)
    }

    fn strays(&self, range: KeyRange) -> Reading<'_, Vec<Stray>> {
        self.readers.ask(async move |session| inventory::strays(session, range).await)
    }

    fn names(&self, after: &str, limit: usize) -> Reading<'_, Vec<String>> {
        let after = after.to_owned();
        self.readers.ask(async move |session| inventory::names(session, &after, limit).await)
    }

    fn numbered(&self, workflow: &str) -> Reading<'_, Numbered> {
        let workflow = workflow.to_owned();
        self.readers.ask(async move |session| inventory::numbered(session, &workflow).await)
    }

    fn held_keys(&self, after: Option<&HeldKey>, limit: usize) -> Reading<'_, Vec<HeldKey>> {
        let after = after.map(|held| held.row.key.clone());
        self.readers
            .ask(async move |session| inventory::held_keys(session, after.as_ref(), limit).await)
    }

    fn bulks(&self) -> Reading<'_, Vec<BulkRow>> {
        self.readers.ask(async move |session| bulks::all(session).await)
    }

    fn cached_successes(
        &self,
        after: Option<&CacheKey>,
        limit: usize,
    ) -> Reading<'_, Vec<CachedSuccess>> {
        let after = after.cloned();
        self.readers
            .ask(async move |session| inventory::cached(session, after.as_ref(), limit).await)
    }
}
