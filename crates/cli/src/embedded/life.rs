//! An engine at work, and what it says of itself.

use super::ground::Ground;
use super::settings::Settings;
use crate::executors::executors;
use crate::git_merge;
use anyhow::{Context as _, Result};
use mainspring_core::ids::AttemptId;
use mainspring_core::world::batch::Unconfirmed;
use mainspring_engine::events::{Event, Observer};
use mainspring_engine::{Engine, EngineConfig, Load};
use mainspring_exec::{Executor as _, ProcessConfig, ProcessExecutor};
use mainspring_server::Hub;
use mainspring_store::{Sqlite, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A disk that was full for a moment is waited for; one that stays full is said to be.
const STORE_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Life {
    pub ground: Ground,
    pub engine: Arc<Engine>,
    /// What those who listen at the door are told.
    pub hub: Arc<Hub>,
    /// Open connections at once at the door.
    pub connections: u32,
    pub executor: Arc<ProcessExecutor>,
    pub news: UnboundedReceiver<News>,
}

/// What the engine says while it works.
#[derive(Debug)]
pub enum News {
    Committed(Vec<Event>),
    StoreFailed(String),
    KillUnconfirmed(Unconfirmed),
}

impl Life {
    pub async fn begin(ground: Ground, load: Load, settings: Settings) -> Result<Self> {
        let (sender, news) = unbounded_channel();
        let hub = Arc::new(Hub::default());
        let processes = ProcessConfig {
            data_id: ground.folder.id().to_string(),
            folder: ground.folder.path().to_owned(),
            pass_env: settings.pass_env,
            secrets_dir: Some(settings.secrets_dir),
            git_merge: git_merge::command(),
        };
        let config = EngineConfig {
            store: Arc::clone(&ground.store) as Arc<dyn Store>,
            logs: ground.logs.clone(),
            scheduler: ground.folder.id(),
            limits: settings.limits,
            load,
            observer: Arc::new(Teller { news: sender, hub: Arc::clone(&hub) }),
            store_patience: Some(STORE_PATIENCE),
        };
        let mut made = None;
        let engine = Engine::start(config, |reports| {
            let (all, process) = executors(processes, reports)?;
            made = Some(process);
            Ok(all)
        });
        let engine = engine.await.context("the engine cannot start")?;
        let executor = made.expect("an engine that starts has made its executors");
        let connections = settings.connections;
        Ok(Self { ground, engine: Arc::new(engine), hub, connections, executor, news })
    }

    pub fn store(&self) -> &Sqlite {
        &self.ground.store
    }

    /// Ends the engine and whatever still runs; the folder stays held.
    pub fn end(self) -> Ground {
        match Arc::try_unwrap(self.engine) {
            Ok(engine) => engine.shut_down(),
            // Somebody at the door still asks for something: what runs ends all the same.
            Err(shared) => {
                shared.stop();
                self.executor.shut_down();
            }
        }
        self.ground
    }
}

/// The door first: who hears of the end here may close it.
struct Teller {
    news: UnboundedSender<News>,
    hub: Arc<Hub>,
}

impl Observer for Teller {
    fn committed(&self, events: &[Event]) {
        self.hub.committed(events);
        // Nobody listens any more once the run is over.
        let _ = self.news.send(News::Committed(events.to_vec()));
    }

    fn loaded(&self, last_stamp: u64) {
        self.hub.loaded(last_stamp);
    }

    /// What is in a file of the data folder is as good here.
    fn log_stays(&self, _: AttemptId, _: &str) {}

    fn content_waits(&self, error: &str) {
        let _ = self.news.send(News::StoreFailed(error.to_owned()));
    }

    fn kill_unconfirmed(&self, what: &Unconfirmed) {
        let _ = self.news.send(News::KillUnconfirmed(what.clone()));
    }

    fn store_failed(&self, error: &str) {
        self.hub.store_failed(error);
        let _ = self.news.send(News::StoreFailed(error.to_owned()));
    }
}
