//! An engine as a server would have it: SQLite, executors, a runtime with two threads.

use super::definitions::Workflow;
use mainspring_core::ids::{AttemptId, RunId};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::limit::LimitSetting;
use mainspring_core::limits::TOTAL_PERMITS_DEFAULT;
use mainspring_core::work::ExecutorKind;
use mainspring_core::world::input::{Input, Trigger};
use mainspring_engine::events::{Event, Observer};
use mainspring_engine::folder::DataFolder;
use mainspring_engine::logs::LogPlaces;
use mainspring_engine::{Engine, EngineConfig, Executors, Load};
use mainspring_exec::{Executor, ProcessConfig, ProcessExecutor, Reports};
use mainspring_store::{FolderBlobs, RunsQuery, Sqlite, Store};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::watch;

pub struct Rig {
    pub engine: Engine,
    store: Arc<dyn Store>,
    folder: DataFolder,
    seen: watch::Receiver<Seen>,
}

/// What has become durable so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub runs_ended: usize,
    pub tasks_running: usize,
    pub tasks_waiting: usize,
}

impl Rig {
    /// Starts an engine in `folder` that runs so many processes at once.
    pub async fn start(folder: &Path, processes: u32) -> Self {
        let folder = DataFolder::hold(folder).expect("nobody else works there");
        let store = Sqlite::open(&folder.path().join("mainspring.db")).expect("it can be opened");
        let store: Arc<dyn Store> = Arc::new(store);
        let (sender, seen) = watch::channel(Seen::default());
        let blobs = FolderBlobs::open(&DataFolder::blobs(folder.path())).expect("it is writable");
        let config = EngineConfig {
            store: Arc::clone(&store),
            logs: LogPlaces { folder: folder.path().to_owned(), blobs: Arc::new(blobs) },
            scheduler: folder.id(),
            limits: vec![
                LimitSetting::default_of("total", TOTAL_PERMITS_DEFAULT),
                LimitSetting::default_of("executor:process", processes),
            ],
            load: Load::All,
            observer: Arc::new(Watcher(sender)),
            store_patience: None,
        };
        let engine = Engine::start(config, |reports| Ok(executors(&folder, &reports)));
        let engine = engine.await.expect("the engine starts");
        Self { engine, store, folder, seen }
    }

    pub async fn deploy(&self, workflow: &Workflow) {
        self.engine.submit(Input::Deploy(workflow.deploy())).await.expect("it is accepted");
    }

    /// Starts a run and waits until that is durable.
    pub async fn trigger(&self, workflow: &Workflow) {
        let trigger = Trigger {
            workflow: Arc::clone(&workflow.definition.name),
            version: None,
            input: Json::empty_object(),
            labels: BTreeMap::new(),
            priority: 0,
            triggered_by: "bench".to_owned(),
            workdir: "/".to_owned(),
            group: None,
            again: None,
        };
        self.engine.submit(Input::Trigger(trigger)).await.expect("it is accepted");
    }

    /// Runs a deployed workflow to its end.
    pub async fn run(&mut self, workflow: &Workflow) {
        let before = self.seen.borrow().runs_ended;
        self.trigger(workflow).await;
        self.wait(|seen| seen.runs_ended > before).await;
    }

    /// Waits for something to become durable.
    pub async fn wait(&mut self, until: impl FnMut(&Seen) -> bool) {
        self.seen.wait_for(until).await.expect("the engine lives as long as the rig");
    }

    pub fn seen(&self) -> Seen {
        *self.seen.borrow()
    }

    /// Some of the runs that wait for a person.
    pub async fn asked(&self, count: usize) -> Vec<RunId> {
        let waiting = self.store.approvals(None, count).await.expect("it can be read");
        waiting.into_iter().map(|approval| approval.run).collect()
    }

    /// The number of the last commit that touched the newest run.
    pub async fn last_stamp(&self) -> Option<u64> {
        let query = RunsQuery { limit: 1, ..RunsQuery::default() };
        let newest = self.store.runs(query).await.expect("it can be read");
        newest.first().map(|(_, progress)| progress.stamp)
    }

    /// Ends everything; the store's file is whole afterwards and the folder free.
    pub fn end(self) {
        self.engine.shut_down();
        drop(self.store);
        drop(self.folder);
    }
}

fn executors(folder: &DataFolder, reports: &Arc<dyn Reports>) -> Executors {
    let config = ProcessConfig {
        data_id: folder.id().to_string(),
        folder: folder.path().to_owned(),
        pass_env: Vec::new(),
        secrets_dir: None,
        git_merge: Vec::new(),
    };
    let process = ProcessExecutor::new(config, Handle::current(), Arc::clone(reports));
    let process = Arc::new(process.expect("processes can be started")) as Arc<dyn Executor>;
    #[cfg_attr(not(feature = "bench"), allow(unused_mut, reason = "a second one with `bench`"))]
    let mut executors = Executors::from([(ExecutorKind::Process, process)]);
    #[cfg(feature = "bench")]
    {
        let echo = mainspring_exec::EchoExecutor::new(Arc::clone(reports))
            .expect("a thread can be started");
        executors.insert(ExecutorKind::Echo, Arc::new(echo));
    }
    executors
}

struct Watcher(watch::Sender<Seen>);

impl Observer for Watcher {
    fn committed(&self, events: &[Event]) {
        let (mut ended, mut running, mut waiting) = (0, 0, 0);
        for event in events {
            match event {
                Event::Run(_, progress) => ended += usize::from(progress.status.is_final()),
                Event::Task(_, row) => {
                    running += usize::from(row.fact == Fact::Running);
                    waiting += usize::from(row.fact == Fact::Waiting);
                }
            }
        }
        if ended + running + waiting > 0 {
            self.0.send_modify(|seen| {
                seen.runs_ended += ended;
                seen.tasks_running += running;
                seen.tasks_waiting += waiting;
            });
        }
    }

    fn log_stays(&self, attempt: AttemptId, error: &str) {
        panic!("the log of {attempt} was not moved: {error}");
    }

    fn content_waits(&self, error: &str) {
        panic!("figures would mean nothing: {error}");
    }

    fn loaded(&self, _: u64) {}

    fn store_failed(&self, error: &str) {
        panic!("figures would mean nothing: {error}");
    }
}
