//! An engine over a shaky store and an executor played by hand.

use crate::by_hand::ByHand;
use mainspring_core::ids::{AttemptId, RunId, SchedulerId};
use mainspring_core::json::Json;
use mainspring_core::kernel::limit::LimitSetting;
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::spec::{Context, parse};
use mainspring_core::work::ExecutorKind;
use mainspring_core::world::input::{Command, Deploy, Input, Order, Reply, Trigger, Verb};
use mainspring_engine::events::{Event, Observer};
use mainspring_engine::{Engine, EngineConfig, Executors, Load, NotDone};
use mainspring_store::Store as _;
use mainspring_testkit::shaky::Shaky;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

/// Wakes whoever waits for a change of state.
#[derive(Default)]
pub struct Bell {
    rung: Notify,
    logs: Mutex<Vec<String>>,
    last_stamp: AtomicU64,
    contents: Mutex<Vec<String>>,
    store: Mutex<Vec<String>>,
}

impl Observer for Bell {
    fn committed(&self, _: &[Event]) {
        self.rung.notify_one();
    }

    fn loaded(&self, last_stamp: u64) {
        self.last_stamp.store(last_stamp, Ordering::Relaxed);
    }

    fn store_failed(&self, error: &str) {
        self.store.lock().expect("unpoisoned").push(error.to_owned());
    }

    fn content_waits(&self, error: &str) {
        self.contents.lock().expect("unpoisoned").push(error.to_owned());
    }

    fn log_stays(&self, _: AttemptId, error: &str) {
        self.logs.lock().expect("unpoisoned").push(error.to_owned());
    }
}

pub struct Rig {
    pub engine: Engine,
    pub store: Arc<Shaky>,
    pub hand: Arc<ByHand>,
    bell: Arc<Bell>,
}

impl Rig {
    pub async fn new() -> Self {
        Self::over(Arc::new(Shaky::default()), None).await
    }

    /// One that carries on nothing but what it accepts itself.
    pub async fn alone() -> Self {
        Self::with(Arc::new(Shaky::default()), None, Load::Only(Vec::new())).await
    }

    /// A new life over what a store holds.
    pub async fn over(store: Arc<Shaky>, patience: Option<Duration>) -> Self {
        Self::with(store, patience, Load::All).await
    }

    async fn with(store: Arc<Shaky>, patience: Option<Duration>, load: Load) -> Self {
        let bell = Arc::new(Bell::default());
        let config = EngineConfig {
            store: Arc::clone(&store) as _,
            logs: store.logs(),
            scheduler: SchedulerId::from_bytes([3; 16]),
            limits: vec![
                LimitSetting::default_of("total", 100),
                LimitSetting::default_of("executor:process", 100),
            ],
            load,
            observer: Arc::clone(&bell) as _,
            store_patience: patience,
        };
        let mut hand = None;
        let engine = Engine::start(config, |reports| {
            let made = Arc::new(ByHand::new(reports));
            hand = Some(Arc::clone(&made));
            Ok(Executors::from([(ExecutorKind::Process, made as _)]))
        });
        let engine = engine.await.expect("the engine starts");
        Self { engine, store, hand: hand.expect("made above"), bell }
    }

    /// What was said of logs that could not be moved.
    pub fn logs_that_stay(&self) -> Vec<String> {
        self.bell.logs.lock().expect("unpoisoned").clone()
    }

    /// What was said of the blob store.
    pub fn blob_troubles(&self) -> Vec<String> {
        self.bell.contents.lock().expect("unpoisoned").clone()
    }

    /// What was said of the store.
    pub fn store_troubles(&self) -> Vec<String> {
        self.bell.store.lock().expect("unpoisoned").clone()
    }

    /// The last stamp there was when the world was loaded.
    pub fn loaded_stamp(&self) -> u64 {
        self.bell.last_stamp.load(Ordering::Relaxed)
    }

    /// Deploys and triggers; tries again as a client would when the outcome is unknown.
    pub async fn start(&self, tasks: &str) -> RunId {
        let text: Arc<str> = format!("name: w\ntasks: {tasks}\n").into();
        let parsed = parse(&text, &Context::STORED).expect("a good definition");
        let definition = Arc::new(parsed.definition);
        let deploy = Deploy { definition, text, hash: parsed.hash };
        self.engine.submit(Input::Deploy(deploy)).await.expect("deployed");
        match self.engine.submit(trigger()).await.expect("triggered") {
            Reply::Accepted { run } => run,
            other => panic!("not a run: {other:?}"),
        }
    }

    pub async fn command(&self, run: RunId, verb: Verb) -> Result<Reply, NotDone> {
        let command = Command { run, order: Order::Run(verb), by: "test".to_owned() };
        self.engine.submit(Input::Command(command)).await
    }

    /// Waits until the run has this status, durably.
    pub async fn until(&self, run: RunId, status: RunStatus) {
        loop {
            let stored = self.store.run(run).await.expect("readable").expect("stored");
            if stored.progress.status == status {
                return;
            }
            let rung = tokio::time::timeout(Duration::from_secs(30), self.bell.rung.notified());
            let now = stored.progress.status;
            rung.await.unwrap_or_else(|_| panic!("the run stays {now:?}, not {status:?}"));
        }
    }
}

pub fn trigger() -> Input {
    Input::Trigger(Trigger {
        workflow: "w".into(),
        version: None,
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority: 0,
        triggered_by: "test".to_owned(),
        workdir: "/".to_owned(),
        group: None,
        again: None,
    })
}
