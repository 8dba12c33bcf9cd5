//! The handle on a running engine.

use crate::act::{Executors, Hands, Launches};
use crate::again::Again;
use crate::clock::Clock;
use crate::desk::Desk;
use crate::driver::Driver;
use crate::events::Observer;
use crate::inbox::{Control, Drain, Inbox, Request};
use crate::keeping::Keeping;
use crate::loading::{self, Making};
use crate::logs::LogPlaces;
use crate::shelf::Shelf;
use crate::starts::Starts;
use mainspring_core::ids::{RunId, SchedulerId};
use mainspring_core::kernel::limit::LimitSetting;
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_core::world::input::{Input, Refusal, Reply};
use mainspring_exec::Reports;
use mainspring_store::{ReadError, Store};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// What is being stopped may take its grace, and a little.
const STOP_PATIENCE: Duration = Duration::from_secs(15);

/// What an engine is made of.
#[derive(Clone)]
pub struct EngineConfig {
    pub store: Arc<dyn Store>,
    /// Where executors leave logs, and where large ones go.
    pub logs: LogPlaces,
    pub scheduler: SchedulerId,
    /// `total`, `executor:<kind>`, the server's tiers.
    pub limits: Vec<LimitSetting>,
    pub load: Load,
    pub observer: Arc<dyn Observer>,
    /// How long to go on while the store fails; for ever if none.
    pub store_patience: Option<Duration>,
}

impl EngineConfig {
    pub(crate) fn making(&self, now: Timestamp) -> Making {
        let (limits, load) = (self.limits.clone(), self.load.clone());
        Making { scheduler: self.scheduler, load, limits, now }
    }
}

impl fmt::Debug for EngineConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineConfig").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

/// Which unfinished runs to carry on.
#[derive(Clone, Debug)]
pub enum Load {
    All,
    Only(Vec<RunId>),
}

impl Load {
    /// Runs that this life accepts are carried on after a reload too. They are noted before
    /// they are durable: one that ends in the very commit that fails has left memory by then.
    pub(crate) fn also(&mut self, changes: &[Change]) {
        let Self::Only(ids) = self else { return };
        ids.extend(changes.iter().filter_map(|change| match change {
            Change::NewRun(head, _) => Some(head.id),
            _ => None,
        }));
    }
}

/// Why an input has no positive answer.
#[derive(Debug, thiserror::Error)]
pub enum NotDone {
    #[error(transparent)]
    Refused(Refusal),
    #[error("too many requests are waiting: try again in a moment")]
    Busy,
    #[error("the store failed meanwhile: whether it was done is not known")]
    UnknownOutcome,
    #[error("the store cannot be reached and nothing was done: try again in a moment")]
    StoreAway,
    #[error("what it needs could not be read: {0}")]
    Unreadable(String),
    #[error("the engine has stopped")]
    Stopped,
}

/// Whatever kept the caller from making executors.
pub type ExecutorsError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("work cannot be started from here")]
    Executors(#[source] ExecutorsError),
    #[error("what is stored could not be loaded")]
    Load(#[from] ReadError),
    #[error("a thread could not be started")]
    Thread(#[from] std::io::Error),
}

/// Why the engine no longer runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    Asked,
    /// Another process took over this scheduler's work.
    Fenced,
    /// The store failed for good; the text says what a person can do.
    Store(String),
}

const HANDS_LOST: &str = "what was decided can no longer be carried out: a bug in Mainspring, \
                          whose log says more; start it again";

pub struct Engine {
    inbox: Arc<Inbox>,
    executors: Executors,
    shelf: Shelf,
    desk: Desk,
    keeping: Arc<Keeping>,
    threads: Vec<JoinHandle<()>>,
    stopped: watch::Receiver<Option<Stopped>>,
    quiet: watch::Receiver<bool>,
    loaded: watch::Receiver<bool>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// Loads what is unfinished and begins. Executors are made by the caller, who is given
    /// the place for their reports; whatever a former life left running is gone already.
    pub async fn start(
        config: EngineConfig,
        executors: impl FnOnce(Arc<dyn Reports>) -> Result<Executors, ExecutorsError>,
    ) -> Result<Self, StartError> {
        let inbox = Arc::new(Inbox::default());
        let keeping = Arc::new(Keeping::new(&config.store, &config.logs));
        keeping.clear();
        let again = Again::new(&config, &inbox);
        let shelf = Shelf::new(&config, Arc::clone(&keeping), Arc::clone(&inbox), again.clone());
        let reports = Arc::new(shelf.clone()) as Arc<dyn Reports>;
        let executors = executors(reports).map_err(StartError::Executors)?;
        let mut clock = Clock::new();
        let loaded = loading::load(&*config.store, config.making(clock.now())).await?;
        let (sender, orders) = mpsc::channel();
        let observer = Arc::clone(&config.observer);
        let driver = Driver::new(config, Arc::clone(&inbox), sender, (clock, loaded));
        let starts = Arc::new(Starts {
            executors: executors.clone(),
            inbox: Arc::clone(&inbox),
            shelf: shelf.clone(),
            keeping: Arc::clone(&keeping),
        });
        let desk = Desk::new(Arc::clone(&starts), again);
        let hands = Hands {
            executors: executors.clone(),
            launches: Launches::new(),
            shelf: shelf.clone(),
            starts,
            desk: desk.clone(),
            observer,
            former: driver.live(),
        };
        let (say_stopped, stopped) = watch::channel(None);
        let say_broken = say_stopped.clone();
        let (quiet, loaded) = (driver.quiet(), driver.loaded());
        let threads = vec![
            spawn("mainspring-act", move || {
                let worked = catch_unwind(AssertUnwindSafe(|| hands.work(&orders)));
                if worked.is_err() {
                    // Nothing would start or stop any more: better to begin anew.
                    say_broken.send_replace(Some(Stopped::Store(HANDS_LOST.to_owned())));
                }
            })?,
            spawn("mainspring-world", move || {
                let why = driver.run();
                say_stopped.send_replace(Some(why));
            })?,
        ];
        Ok(Self { inbox, executors, shelf, desk, keeping, threads, stopped, quiet, loaded })
    }

    pub(crate) fn keeping(&self) -> &Arc<Keeping> {
        &self.keeping
    }

    /// Offers an input and waits until its answer is durable.
    pub async fn submit(&self, input: Input) -> Result<Reply, NotDone> {
        let (ask, answer) = oneshot::channel();
        self.inbox.request(Request { input, ask: Some(ask) })?;
        let mut stopped = self.stopped.clone();
        tokio::select! {
            answer = answer => answer.unwrap_or(Err(NotDone::Stopped)),
            _ = stopped.wait_for(Option::is_some) => Err(NotDone::Stopped),
        }
    }

    /// The configuration was read anew: these are its limits from now on. What was set through
    /// `Input::SetTier` stays.
    pub fn configure(&self, limits: Vec<LimitSetting>) {
        self.inbox.control(Control::Limits(limits));
    }

    /// Whether everything stored is known. Not while the store fails.
    pub fn is_loaded(&self) -> bool {
        *self.loaded.borrow()
    }

    /// Waits until everything stored is known again. Whoever was answered `UnknownOutcome`
    /// learns from the store what became of it from then on: nothing earlier can still land.
    pub async fn loaded(&self) {
        let (mut loaded, mut stopped) = (self.loaded.clone(), self.stopped.clone());
        tokio::select! {
            _ = loaded.wait_for(|loaded| *loaded) => {}
            _ = stopped.wait_for(Option::is_some) => {}
        }
    }

    /// Waits until the engine has stopped, and says why.
    pub async fn stopped(&self) -> Stopped {
        let mut stopped = self.stopped.clone();
        match stopped.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or(Stopped::Asked),
            Err(_) => Stopped::Store("the engine's thread ended unexpectedly".to_owned()),
        }
    }

    /// A planned end begins: whatever is reported from here on starts nothing. `drain` follows.
    pub fn start_nothing_more(&self) {
        self.inbox.control(Control::Drain(Drain::StartNothing));
    }

    /// A planned end: starts nothing more, gives what is live some time to end, and stops the
    /// rest, uncounted. Whatever ends meanwhile is durable when this returns, unless the store
    /// fails. `shut_down` follows.
    pub async fn drain(&self, patience: Duration) {
        self.start_nothing_more();
        if tokio::time::timeout(patience, self.until_quiet()).await.is_ok() {
            return;
        }
        // Without a world nobody decides on a stop, and no end could be recorded: what still
        // runs ends with the program.
        if self.is_loaded() {
            self.inbox.control(Control::Drain(Drain::StopAll));
            let _ = tokio::time::timeout(STOP_PATIENCE, self.until_quiet()).await;
        }
    }

    /// Nothing is live any more, or there is nothing to wait for.
    async fn until_quiet(&self) {
        let (mut quiet, mut stopped) = (self.quiet.clone(), self.stopped.clone());
        tokio::select! {
            _ = quiet.wait_for(|quiet| *quiet) => {}
            _ = stopped.wait_for(Option::is_some) => {}
            () = self.until_idle_without_a_store() => {}
        }
    }

    /// The store is away, and nothing is at work whose end might still be recorded.
    async fn until_idle_without_a_store(&self) {
        let mut loaded = self.loaded.clone();
        // An error is a driver that has stopped, which is waited for too.
        while loaded.wait_for(|loaded| !*loaded).await.is_ok() {
            if self.executors.values().all(|executor| executor.held().is_empty()) {
                return;
            }
            if loaded.wait_for(|loaded| *loaded).await.is_err() {
                break;
            }
        }
        std::future::pending::<()>().await;
    }

    /// Asks for the end without waiting for it; what runs is killed when the process ends.
    pub fn stop(&self) {
        self.inbox.control(Control::Stop);
    }

    /// Ends the commit under way, kills whatever still runs, and waits for both. Whoever cannot
    /// wait for the store says `stop` first, and waits for `stopped` no longer than they like.
    pub fn shut_down(self) {
        self.inbox.control(Control::Stop);
        for thread in self.threads {
            // A panic there has been printed; there is nothing left to wait for.
            let _ = thread.join();
        }
        self.desk.close();
        self.shelf.close();
        for executor in self.executors.values() {
            executor.shut_down();
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(work)
}
