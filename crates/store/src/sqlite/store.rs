//! The database behind the contract of every store.

use super::checkpoint::{Checkpointer, CheckpointerError, Wal};
use super::open::{self, OpenError};
use super::reader::{READERS, Readers, ended};
use super::tables::{
    additions, approvals, attempts, audit, bulks, cache, idempotency_keys, instances, limits, logs,
    run_drop, run_list, runs, signals, tasks, tokens, versions, workflows,
};
use super::writer::{self, Writer};
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
use std::path::Path;
use std::sync::Arc;
use tokio::sync::oneshot;

/// A database file. Dropping it finishes what was handed over and waits for its threads.
#[derive(Debug)]
pub struct Sqlite {
    // The order in which they end: the writer's connection is the last to close, because only
    // a connection that may write leaves one whole file behind.
    pub(super) readers: Readers,
    _checkpointer: Option<Checkpointer>,
    /// None when it was opened for reading only.
    writer: Option<Writer>,
}

impl Sqlite {
    /// Opens the database for deciding: creates the file if there is none (its folder must
    /// exist), brings its schema up to date. Whoever calls holds the data folder's lock.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let conn = open::writer(path)?;
        let wal = Arc::new(Wal::new());
        let readers = Self::readers(path)?;
        let checkpointer =
            Checkpointer::start(path, Arc::clone(&wal)).map_err(|error| match error {
                CheckpointerError::Sql(error) => OpenError::failed(error, path),
                CheckpointerError::Thread(error) => OpenError::io(error, path),
            })?;
        let conn = writer::watched(conn, &wal).map_err(|error| OpenError::failed(error, path))?;
        let writer = Writer::start(path, conn, wal).map_err(|error| OpenError::io(error, path))?;
        Ok(Self { readers, _checkpointer: Some(checkpointer), writer: Some(writer) })
    }

    /// Opens the database for looking, also while a server writes to it. Creates nothing,
    /// migrates nothing, takes no lock.
    pub fn open_read_only(path: &Path) -> Result<Self, OpenError> {
        Ok(Self { readers: Self::readers(path)?, _checkpointer: None, writer: None })
    }

    fn readers(path: &Path) -> Result<Readers, OpenError> {
        let (connections, frozen) = open::readers(path, READERS)?;
        Readers::start(path, connections, frozen).map_err(|error| OpenError::io(error, path))
    }

    /// Asks whoever writes; the answer comes whenever the future is waited for.
    fn ask_writer<T: Send + 'static>(
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

const READ_ONLY: &str = "the database was opened for reading only";

impl Store for Sqlite {
    fn register(&self, scheduler: SchedulerId) -> Reading<'_, Registration> {
        self.ask_writer(|reply| Job::Register { scheduler, reply })
    }

    fn commit(&self, fence: Fence, changes: Vec<Change>, done: Done) {
        match &self.writer {
            Some(writer) => {
                let batch = Batch { changes, promise: Promise::new(done) };
                writer.send(Job::Commit { fence, batch });
            }
            None => self.readers.send(Box::new(move |_| {
                let what = READ_ONLY.to_owned();
                done(Err(CommitError::Failed { what, source: None }));
            })),
        }
    }

    fn unfinished(&self, scheduler: SchedulerId) -> Reading<'_, Vec<(RunKey, RunId)>> {
        self.readers.ask(move |conn| runs::unfinished(conn, scheduler))
    }

    fn run(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.readers.ask(move |conn| {
            let Some((head, progress)) = runs::load(conn, id)? else { return Ok(None) };
            let tasks = tasks::of_run(conn, head.key)?;
            Ok(Some(StoredRun { head, progress, tasks }))
        })
    }

    fn outline(&self, id: RunId) -> Reading<'_, Option<StoredRun>> {
        self.readers.ask(move |conn| {
            let Some((head, progress)) = runs::load(conn, id)? else { return Ok(None) };
            let tasks = tasks::plain(conn, head.key)?;
            Ok(Some(StoredRun { head, progress, tasks }))
        })
    }

    fn runs(&self, query: RunsQuery) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.readers.ask(move |conn| run_list::list(conn, &query))
    }

    fn version(&self, workflow: &str, number: Option<u32>) -> Reading<'_, Option<VersionRow>> {
        let workflow = workflow.to_owned();
        self.readers.ask(move |conn| versions::load(conn, &workflow, number))
    }

    fn known_runs(&self, among: &[RunId]) -> Reading<'_, Vec<RunId>> {
        let among = among.to_vec();
        self.readers.ask(move |conn| runs::known(conn, &among))
    }

    fn instances(
        &self,
        run: RunKey,
        no: TaskNo,
        query: InstancesQuery,
    ) -> Reading<'_, Vec<TaskRow>> {
        self.readers.ask(move |conn| instances::list(conn, (run, no), &query))
    }

    fn instance(&self, run: RunKey, no: TaskNo, index: u32) -> Reading<'_, Option<TaskRow>> {
        self.readers.ask(move |conn| instances::one(conn, (run, no), index))
    }

    fn outputs(
        &self,
        run: RunKey,
        no: TaskNo,
        from: u32,
        limit: usize,
    ) -> Reading<'_, Vec<InstanceOutput>> {
        self.readers.ask(move |conn| instances::outputs(conn, (run, no), (from, limit)))
    }

    fn cached(&self, key: &CacheKey) -> Reading<'_, Option<CacheRow>> {
        let key = key.clone();
        self.readers.ask(move |conn| cache::load(conn, &key))
    }

    fn additions(&self, run: RunKey) -> Reading<'_, Vec<AdditionRow>> {
        self.readers.ask(move |conn| additions::of_run(conn, run))
    }

    fn signals(&self, run: RunKey) -> Reading<'_, Vec<SignalRow>> {
        self.readers.ask(move |conn| signals::newest(conn, run))
    }

    fn approvals(
        &self,
        after: Option<ApprovalPlace>,
        limit: usize,
    ) -> Reading<'_, Vec<StoredApproval>> {
        self.readers.ask(move |conn| approvals::list(conn, after, limit))
    }

    fn attempts(&self, run: RunKey) -> Reading<'_, Vec<AttemptRow>> {
        self.readers.ask(move |conn| attempts::of_run(conn, run))
    }

    fn attempts_of(&self, run: RunKey, task: TaskRef) -> Reading<'_, Vec<AttemptRow>> {
        self.readers.ask(move |conn| attempts::of_task(conn, run, task))
    }

    fn log(&self, run: RunKey, attempt: AttemptId) -> Reading<'_, Option<Log>> {
        self.readers.ask(move |conn| logs::load(conn, run, attempt))
    }

    fn logs_outside(&self, among: &[AttemptId]) -> Reading<'_, Vec<AttemptId>> {
        let among = among.to_vec();
        self.readers.ask(move |conn| logs::outside(conn, &among))
    }

    fn workflow(&self, name: &str) -> Reading<'_, Option<WorkflowRow>> {
        let name = name.to_owned();
        self.readers.ask(move |conn| workflows::load(conn, &name))
    }

    fn workflows(&self, after: Option<&str>, limit: usize) -> Reading<'_, Vec<WorkflowRow>> {
        let after = after.map(str::to_owned);
        self.readers.ask(move |conn| workflows::list(conn, after.as_deref(), limit))
    }

    fn versions(&self, query: VersionsQuery<'_>) -> Reading<'_, Vec<VersionRow>> {
        let VersionsQuery { workflow, below, limit } = query;
        let workflow = workflow.to_owned();
        self.readers.ask(move |conn| {
            versions::list(conn, VersionsQuery { workflow: &workflow, below, limit })
        })
    }

    fn changed(
        &self,
        scheduler: SchedulerId,
        after: u64,
        limit: usize,
    ) -> Reading<'_, Vec<(RunHead, RunProgress)>> {
        self.readers.ask(move |conn| runs::changed(conn, scheduler, after, limit))
    }

    fn key(&self, key: &IdempotencyKey) -> Reading<'_, Option<KeyRow>> {
        let key = key.clone();
        self.readers.ask(move |conn| idempotency_keys::load(conn, &key))
    }

    fn has_old_keys(&self, before: Timestamp) -> Reading<'_, bool> {
        self.readers.ask(move |conn| idempotency_keys::has_old(conn, before))
    }

    fn audit(&self, below: Option<u64>, limit: usize) -> Reading<'_, Vec<Audited>> {
        self.readers.ask(move |conn| audit::list(conn, below, limit))
    }

    fn bulk(&self, id: BulkId) -> Reading<'_, Option<BulkRow>> {
        self.readers.ask(move |conn| bulks::load(conn, id))
    }

    fn unfinished_bulks(&self) -> Reading<'_, Vec<BulkRow>> {
        self.readers.ask(bulks::unfinished)
    }

    fn has_old_bulks(&self, before: Timestamp) -> Reading<'_, bool> {
        self.readers.ask(move |conn| bulks::has_old(conn, before))
    }

    fn limits(&self) -> Reading<'_, StoredLimits> {
        self.readers.ask(limits::all)
    }

    fn tokens(&self) -> Reading<'_, Vec<TokenRow>> {
        self.readers.ask(tokens::all)
    }

    fn expired(&self, before: Timestamp, limit: usize) -> Reading<'_, Vec<Expired>> {
        self.readers.ask(move |conn| run_drop::expired(conn, before, limit))
    }

    fn ping(&self) -> Reading<'_, ()> {
        self.ask_writer(|reply| Job::Ping { reply })
    }
}
