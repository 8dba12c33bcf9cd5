//! An engine at work, and what it says of itself.

use super::ground::Ground;
use super::settings::Settings;
use crate::executors::executors;
use anyhow::{Context as _, Result};
use mainspring_core::limits::TOTAL_PERMITS_DEFAULT;
use mainspring_engine::events::{Event, Observer};
use mainspring_engine::{Engine, EngineConfig, Load};
use mainspring_exec::{ProcessConfig, ProcessExecutor};
use mainspring_store::{Sqlite, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A disk that was full for a moment is waited for; one that stays full is said to be.
const STORE_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Life {
    pub ground: Ground,
    pub engine: Engine,
    pub executor: Arc<ProcessExecutor>,
    pub news: UnboundedReceiver<News>,
}

/// What the engine says while it works.
#[derive(Debug)]
pub enum News {
    Committed(Vec<Event>),
    StoreFailed(String),
}

impl Life {
    pub async fn begin(ground: Ground, load: Load, settings: Settings) -> Result<Self> {
        let (sender, news) = unbounded_channel();
        let processes = ProcessConfig {
            data_id: ground.folder.id().to_string(),
            folder: ground.folder.path().to_owned(),
            pass_env: settings.pass_env,
        };
        let config = EngineConfig {
            store: Arc::clone(&ground.store) as Arc<dyn Store>,
            scheduler: ground.folder.id(),
            limits: vec![
                ("total".to_owned(), TOTAL_PERMITS_DEFAULT.max(settings.max_processes)),
                ("executor:process".to_owned(), settings.max_processes),
            ],
            load,
            observer: Arc::new(Teller(sender)),
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
        Ok(Self { ground, engine, executor, news })
    }

    pub fn store(&self) -> &Sqlite {
        &self.ground.store
    }

    /// Ends the engine and whatever still runs; the folder stays held.
    pub fn end(self) -> Ground {
        self.engine.shut_down();
        self.ground
    }
}

struct Teller(UnboundedSender<News>);

impl Observer for Teller {
    fn committed(&self, events: &[Event]) {
        // Nobody listens any more once the run is over.
        let _ = self.0.send(News::Committed(events.to_vec()));
    }

    fn store_failed(&self, error: &str) {
        let _ = self.0.send(News::StoreFailed(error.to_owned()));
    }
}
