//! From a request to an order at work, in this life of the server or a later one.

use super::filter::{BulkBody, Meant};
use super::job::{Bulk, Past};
use super::view::BulkView;
use crate::app::{App, now};
use crate::auth::who::Who;
use crate::change::Held;
use crate::idempotency::Claim;
use crate::problem::{Code, Problem};
use mainspring_core::ids::BulkId;
use mainspring_core::json::Json;
use mainspring_core::kernel::bulk::{BulkRow, BulkRuns, BulkState};
use mainspring_core::kernel::record::Admin;
use mainspring_core::world::input::Input;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Requests at work.
const AT_WORK_MAX: usize = 8;

/// Orders at work, by id. The others are in the store.
#[derive(Debug, Default)]
pub struct Bulks {
    at_work: Mutex<BTreeMap<BulkId, Arc<Bulk>>>,
    /// Held by whoever adds one.
    pub adding: Arc<tokio::sync::Mutex<()>>,
}

impl Bulks {
    fn at_work(&self) -> MutexGuard<'_, BTreeMap<BulkId, Arc<Bulk>>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its end is stored.
    pub fn remove(&self, id: BulkId) {
        self.at_work().remove(&id);
    }

    fn check_room(&self) -> Result<(), Problem> {
        if self.at_work().len() < AT_WORK_MAX {
            return Ok(());
        }
        let detail = format!("{AT_WORK_MAX} such requests are at work: wait for one to end");
        Err(Problem::new(Code::Busy, detail))
    }
}

impl App {
    /// Has the order stored, with the runs that it means, and is at work on it by then.
    pub async fn begin_bulk(
        &self,
        who: &Who,
        body: &BulkBody,
        claim: Option<Claim>,
    ) -> Result<BulkId, Problem> {
        let Meant { until, ids, below, .. } = self.meant(body).await?;
        let turn = self.turn_to_begin_bulk().await?;
        self.bulks.check_room()?;
        let created_at = now();
        let id = crate::auth::secret::bulk_id(created_at);
        let asked = serde_json::to_value(body).expect("plain data serializes");
        let meant = BulkRuns { runs: ids.into(), below: below.into() };
        let row = BulkRow {
            id,
            by: who.kept(),
            asked: Json::from_value(&asked),
            until,
            matched: meant.count() as u64,
            created_at,
            state: BulkState::AtWork(meant),
        };
        let target = format!("bulk {id}: {} of {} runs", body.action.word(), row.matched);
        let record = who.record_with("run.bulk", target, claim.as_ref());
        let held = Held { claim, turn: Some(turn) };
        self.submit(record, Input::Admin(Admin::NewBulk(Box::new(row))), held).await?;
        Ok(id)
    }

    /// Sets to work on what is stored, unless it is over.
    pub fn take_up_bulk(&self, row: &BulkRow, past: Past) -> Result<(), Problem> {
        let BulkState::AtWork(meant) = &row.state else { return Ok(()) };
        let bulk = Arc::new(Bulk::of(row, past)?);
        self.bulks.at_work().insert(row.id, Arc::clone(&bulk));
        tokio::spawn(bulk.work(self.clone(), meant.clone()));
        Ok(())
    }

    /// Goes on where a former life of the server has left off.
    pub async fn take_up_bulks(&self) -> Result<(), Problem> {
        let rows = self.store.unfinished_bulks().await?;
        rows.iter().try_for_each(|row| self.take_up_bulk(row, Past::Former))
    }

    /// How far it is, for as long as it goes on.
    pub async fn bulk(&self, id: BulkId) -> Result<watch::Receiver<BulkView>, Problem> {
        if let Some(bulk) = self.bulks.at_work().get(&id) {
            return Ok(bulk.watch());
        }
        let row = self.store.bulk(id).await?.ok_or_else(missing)?;
        Ok(watch::channel(BulkView::of(&row)?).1)
    }
}

pub fn missing() -> Problem {
    Problem::new(Code::BulkNotFound, "one that is over is remembered for seven days")
}
