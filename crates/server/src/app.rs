//! What every request may use.

use crate::auth::tokens::Tokens;
use crate::bulk::Bulks;
use crate::config::{Config, Scope};
use crate::definitions::Definitions;
use crate::events::hub::Hub;
use crate::idempotency::Claims;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::room::Room;
use crate::routes::health::Pulse;
use mainspring_core::ids::SchedulerId;
use mainspring_core::time::Timestamp;
use mainspring_engine::Engine;
use mainspring_store::Store;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

#[derive(Clone)]
pub struct App(Arc<Parts>);

pub struct Parts {
    pub engine: Arc<Engine>,
    pub store: Arc<dyn Store>,
    pub scheduler: SchedulerId,
    pub config: Config,
    pub hub: Arc<Hub>,
    pub tokens: Tokens,
    pub claims: Claims,
    /// Held by whoever adds tasks to a run.
    pub adding: Arc<tokio::sync::Mutex<()>>,
    pub bulks: Bulks,
    pub definitions: Definitions,
    pub metrics: Metrics,
    pub room: Room,
    pub pulse: Pulse,
    /// No more requests; streams end.
    pub draining: watch::Sender<bool>,
    /// Loaded, and not shutting down.
    pub is_ready: AtomicBool,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

impl App {
    /// Reads who may ask, and goes on with orders on many runs that a former life has left.
    /// Everything else is read when it is asked for.
    pub async fn new(
        engine: Arc<Engine>,
        store: Arc<dyn Store>,
        (scheduler, hub): (SchedulerId, Arc<Hub>),
        config: Config,
    ) -> Result<Self, Problem> {
        let room = Room::new(config.connections);
        let app = Self(Arc::new(Parts {
            engine,
            store,
            scheduler,
            config,
            hub,
            tokens: Tokens::default(),
            claims: Claims::default(),
            adding: Arc::default(),
            bulks: Bulks::default(),
            definitions: Definitions::default(),
            metrics: Metrics::default(),
            room,
            pulse: Pulse::default(),
            draining: watch::Sender::new(false),
            is_ready: AtomicBool::new(true),
        }));
        app.read_tokens().await?;
        if matches!(app.config.scope, Scope::Everything) {
            app.take_up_bulks().await?;
        }
        Ok(app)
    }

    /// A token is asked for as soon as there is one, and wherever other machines can reach: a
    /// server that has lost its last token is closed, not open.
    pub fn asks_for_tokens(&self) -> bool {
        self.tokens.are_there() || self.config.is_exposed()
    }

    /// Learns anew who may ask.
    pub async fn read_tokens(&self) -> Result<(), Problem> {
        self.tokens.replace(self.store.tokens().await?);
        Ok(())
    }
}

/// The wall clock, for what is shown.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
