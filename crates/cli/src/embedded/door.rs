//! While a run goes on here, other commands can ask after it and steer it, through the socket in
//! the data folder.

use super::life::Life;
use anyhow::{Result, anyhow};
use mainspring_core::ids::RunId;
use mainspring_core::time::Span;
use mainspring_server::{App, Config, Doors, Listen, Scope, Server, socket};
use mainspring_store::Store;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Whoever listens hears the end of the run; whoever does not take it is not waited for longer.
const DRAIN: Duration = Duration::from_secs(2);
/// A request has to arrive within this time.
const READ_TIME_MAX: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Door {
    path: PathBuf,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Door {
    /// Opens it; whoever comes through is served from here on.
    pub async fn open(life: &Life, run: RunId) -> Result<Self> {
        let folder = &life.ground.folder;
        let path = folder.path().join(socket::NAME);
        let config = Config {
            listen: vec![Listen::Unix(path.clone())],
            insecure: false,
            hosts: Vec::new(),
            tls: None,
            workdir: folder.path().to_owned(),
            read_time_max: READ_TIME_MAX,
            logs: life.ground.logs.clone(),
            scope: Scope::OneRun(run),
            // Nothing is ever forgotten here.
            retention: Span::from_secs(u64::MAX),
            drain: DRAIN,
            connections: life.connections,
        };
        let store = Arc::clone(&life.ground.store) as Arc<dyn Store>;
        let doors = Doors::bind(&config, &*store).await?;
        let identity = (folder.id(), Arc::clone(&life.hub));
        let app = App::new(Arc::clone(&life.engine), store, identity, config).await;
        let server = Server::new(app.map_err(|problem| anyhow!(problem.detail))?, doors);
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.run(async {
            // An error is a door that was left behind.
            let _ = stopped.await;
        }));
        Ok(Self { path, stop, serving })
    }

    /// Lets those inside end.
    pub async fn close(self) {
        let _ = self.stop.send(());
        let _ = self.serving.await;
    }

    /// At once.
    pub fn slam(self) {
        self.serving.abort();
        let _ = std::fs::remove_file(self.path);
    }
}
