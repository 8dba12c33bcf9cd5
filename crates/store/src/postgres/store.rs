//! The database behind the contract of every store.

use super::fault::Fault;
use super::filer::Filer;
use super::open::ConnectError;
use super::place::Place;
use super::reader::{Readers, ended};
use super::schema;
use super::session::{Role, Session};
use super::tables::tasks::Extent;
use super::tables::{
    additions, approvals, attempts, audit, bulks, cache, idempotency_keys, instances, limits, logs,
    run_drop, run_list, runs, signals, tasks, tokens, versions, workflows,
};
use super::writer::Writer;
use crate::contract::{
    Audited, CommitError, Done, Expired, Fence, InstancesQuery, ReadError, Reading, Registration,
    RunsQuery, Store, StoredApproval, StoredLimits, StoredRun, VersionsQuery,
};
use crate::job::{Batch, Job};
use crate::promise::Promise;
use mainspring_core::evaluate::InstanceOutput;
use mainspring_core::ids::{AttemptId, BulkId, RunId, RunKey, SchedulerId, TaskNo, TaskRef};
use mainspring_core::kernel::bulk::BulkRow;
use mainspring_core::kernel::cache::{CacheKey, CacheRow};
use mainspring_core::kernel::record::{IdempotencyKey, KeyRow, TokenRow};
use mainspring_core::kernel::row::{
    AdditionRow, AttemptRow, Log, RunHead, RunProgress, TaskRow, VersionRow, WorkflowRow,
};
use mainspring_core::kernel::wait::{ApprovalPlace, SignalRow};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// A PostgreSQL database. Dropping it finishes what was handed over and waits for its threads.
#[derive(Debug)]
pub struct Postgres {
    pub(super) readers: Arc<Readers>,
    /// Both are none when it was opened for reading only.
    filer: Option<Filer>,
    writer: Option<Writer>,
}

impl Postgres {
    /// Opens the database for deciding: keeps every other server out, and brings its schema up
    /// to date. The database itself must exist.
    pub fn open(url: &str) -> Result<Self, ConnectError> {
        let place = Arc::new(Place::parse(url)?);
        let writer = Writer::start(&place)?;
        let filer = Filer::start(&place).map_err(|error| ConnectError::thread(error, &place))?;
        let readers = Self::start_readers(&place)?;
        Ok(Self { readers, filer: Some(filer), writer: Some(writer) })
    }

    /// Opens the database for looking, also while a server writes to it. Creates nothing,
    /// migrates nothing, takes no lock.
    pub fn open_read_only(url: &str) -> Result<Self, ConnectError> {
        let place = Arc::new(Place::parse(url)?);
        // On a thread of its own, because the caller's may be one that drives a runtime.
        let looked = thread::scope(|scope| scope.spawn(|| look(&place)).join());
        looked.unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(Self { readers: Self::start_readers(&place)?, filer: None, writer: None })
    }

    fn start_readers(place: &Arc<Place>) -> Result<Arc<Readers>, ConnectError> {
        let readers = Readers::start(place).map_err(|error| ConnectError::thread(error, place))?;
        Ok(Arc::new(readers))
    }

    pub(super) fn readers(&self) -> &Arc<Readers> {
        &self.readers
    }

    pub(super) fn filer(&self) -> Option<&Filer> {
        self.filer.as_ref()
    }

    /// Has the writer do something and waits for what it says.
    fn have_done<T: Send + 'static>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, ReadError>>) -> Job,
    ) -> Reading<'static, T> {
        let (reply, answer) = oneshot::channel();
        match &self.writer {
            Some(writer) => writer.send(job(reply)),
            None => {
                let what = READ_ONLY.to_owned();
                let _ = reply.send(Err(ReadError::Failed { what, source: None }));
            }
        }
        Box::pin(async move { answer.await.unwrap_or_else(|_| Err(ended())) })
    }
}

pub(super) const READ_ONLY: &str = "the database was opened for reading only";

/// Whether the database can be read as it is.
fn look(place: &Place) -> Result<(), ConnectError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ConnectError::thread(error, place))?;
    let looked = runtime.block_on(async {
        let session = Session::connect(place, Role::Reader).await?;
        schema::check(&session).await
    });
    looked.map_err(|unfit| ConnectError::of(unfit, place))
}

async fn load(session: &Session, id: RunId, extent: Extent) -> Result<Option<StoredRun>, Fault> {
    let answers = session.snapshot(&[runs::load(id), tasks::first(id)]).await?;
    let [run, rows] = &answers[..] else { return Ok(None) };
    let Some(run) = run.first() else { return Ok(None) };
    if let Some(tasks) = tasks::few(rows, extent)? {
        let (head, progress) = runs::read(run)?;
        return Ok(Some(StoredRun { head, progress, tasks }));
    }
    // Both of one state again, which may be another by now.
    let answers = session.snapshot(&[runs::load(id), tasks::many(id, extent)]).await?;
    let [run, rows] = &answers[..] else { return Ok(None) };
    let Some(run) = run.first() else { return Ok(None) };
    let (head, progress) = runs::read(run)?;
    Ok(Some(StoredRun { head, progress, tasks: tasks::in_order(rows)? }))
}

impl Store for Postgres {
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration> {
        self.have_done(|reply| Job::Register { scheduler, reply })
    }

    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done) {
        match &self.writer {
            Some(writer) => {
                let batch = Batch { changes, promise: Promise::new(done) };
                writer.send(Job::Commit { fence, batch });
            }
            None => self.readers.run(move || {
                let what = READ_ONLY.to_owned();
                done(Err(CommitError::Failed { what, source: None }));
            }),
        }
    }

    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>> {
        self.readers.ask(async move |session| runs::unfinished(session, scheduler).await)
    }

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.readers.ask(async move |session| load(session, id, Extent::Loaded).await)
    }

    fn outline(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.readers.ask(async move |session| load(session, id, Extent::Outline).await)
    }

    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.readers.ask(async move |session| run_list::list(session, &query).await)
    }

    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>> {
        let workflow = workflow.to_owned();
        self.readers.ask(async move |session| versions::load(session, &workflow, number).await)
    }

    fn known_runs(&self, among: &[RunId]) -> Reading<'_, Vec<RunId>> {
        let among = among.to_vec();
        self.readers.ask(async move |session| runs::stored(session, &among).await)
    }

    fn instances(
        &self,
        run: RunKey,
        no: TaskNo,
        query: InstancesQuery,
    ) -> Reading<'_, Vec<TaskRow>> {
        self.readers.ask(async move |session| instances::list(session, (run, no), &query).await)
    }

    fn instance(&self, run: RunKey, no: TaskNo, index: u32) -> Reading<'_, Option<TaskRow>> {
        self.readers.ask(async move |session| instances::one(session, (run, no), index).await)
    }

    fn outputs(
        &self,
        run: RunKey,
        no: TaskNo,
        from: u32,
        limit: usize,
    ) -> Reading<'_, Vec<InstanceOutput>> {
        let page = (from, limit);
        self.readers.ask(async move |session| instances::outputs(session, (run, no), page).await)
    }

    fn cached(&self, key: &CacheKey) -> Reading<'_, Option<CacheRow>> {
        let key = key.clone();
        self.readers.ask(async move |session| cache::load(session, &key).await)
    }

    fn additions(&self, run: RunKey) -> Reading<'_, Vec<AdditionRow>> {
        self.readers.ask(async move |session| additions::of_run(session, run).await)
    }

    fn signals(&self, run: RunKey) -> Reading<'_, Vec<SignalRow>> {
        self.readers.ask(async move |session| signals::newest(session, run).await)
    }

    fn approvals(
        &self,
        after: Option<ApprovalPlace>,
        limit: usize,
    ) -> Reading<'_, Vec<StoredApproval>> {
        self.readers.ask(async move |session| approvals::list(session, after, limit).await)
    }

    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>> {
        self.readers.ask(async move |session| attempts::of_run(session, run).await)
    }

    fn attempts_of(&self, run: RunKey, task: TaskRef) -> Reading<'_, Vec<AttemptRow>> {
        self.readers.ask(async move |session| attempts::of_task(session, run, task).await)
    }

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>> {
        self.readers.ask(async move |session| logs::load(session, run, attempt).await)
    }

    fn logs_outside(&self, among: &[AttemptId]) -> Reading<'_, Vec<AttemptId>> {
        let among = among.to_vec();
        self.readers.ask(async move |session| logs::outside(session, &among).await)
    }

    fn workflow(&self, name: &str) -> Reading<'_, Option<WorkflowRow>> {
        let name = name.to_owned();
        self.readers.ask(async move |session| workflows::load(session, &name).await)
    }

    fn workflows(&self, after: Option<&str>, limit: usize) -> Reading<'_, Vec<WorkflowRow>> {
        let after = after.map(str::to_owned);
        self.readers
            .ask(async move |session| workflows::list(session, after.as_deref(), limit).await)
    }

    fn versions(&self, query: VersionsQuery<'_>) -> Reading<'_, Vec<VersionRow>> {
        let VersionsQuery { workflow, below, limit } = query;
        let workflow = workflow.to_owned();
        self.readers.ask(async move |session| {
            versions::list(session, VersionsQuery { workflow: &workflow, below, limit }).await
        })
    }

    fn changed(
        &self,
        scheduler: SchedulerId,
        after: u64,
        limit: usize,
    ) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.readers.ask(async move |session| runs::changed(session, scheduler, after, limit).await)
    }

    fn key(&self, key: &IdempotencyKey) -> Reading<'_, Option<KeyRow>> {
        let key = key.clone();
        self.readers.ask(async move |session| idempotency_keys::load(session, &key).await)
    }

    fn has_old_keys(&self, before: Timestamp) -> Reading<'_, bool> {
        self.readers.ask(async move |session| idempotency_keys::has_old(session, before).await)
    }

    fn audit(&self, below: Option<u64>, limit: usize) -> Reading<'_, Vec<Audited>> {
        self.readers.ask(async move |session| audit::list(session, below, limit).await)
    }

    fn bulk(&self, id: BulkId) -> Reading<'_, Option<BulkRow>> {
        self.readers.ask(async move |session| bulks::load(session, id).await)
    }

    fn unfinished_bulks(&self) -> Reading<'_, Vec<BulkRow>> {
        self.readers.ask(async move |session| bulks::unfinished(session).await)
    }

    fn has_old_bulks(&self, before: Timestamp) -> Reading<'_, bool> {
        self.readers.ask(async move |session| bulks::has_old(session, before).await)
    }

    fn limits(&self) -> Reading<'_, StoredLimits> {
        self.readers.ask(async move |session| limits::all(session).await)
    }

    fn tokens(&self) -> Reading<'_, Vec<TokenRow>> {
        self.readers.ask(async move |session| tokens::all(session).await)
    }

    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>> {
        self.readers.ask(async move |session| run_drop::expired(session, before, limit).await)
    }

    fn ping(&self) -> Reading<'_, ()> {
        self.have_done(|reply| Job::Ping { reply })
    }
}
