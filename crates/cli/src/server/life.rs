//! A server's life: takes its folder, loads what is unfinished, serves, drains.

use super::database;
use super::narrate::{self, Narrator};
use super::settings::Settings;
use super::{memory, notify, shown};
use crate::args::ServerArgs;
use crate::embedded::{hold, processes_default, within_open_files};
use crate::executors::executors;
use crate::exit::Exit;
use crate::out;
use crate::signals::Signals;
use anyhow::{Context as _, Result, anyhow};
use clap::ArgMatches;
use mainspring_core::limits::TOTAL_PERMITS_DEFAULT;
use mainspring_engine::folder::DataFolder;
use mainspring_engine::logs::LogPlaces;
use mainspring_engine::retention::Retention;
use mainspring_engine::{Engine, EngineConfig, Load, Stopped};
use mainspring_exec::ProcessConfig;
use mainspring_server::config::TlsFiles;
use mainspring_server::{App, Config, Hub, Listen, Scope, Server, socket};
use mainspring_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tracing::{error, info, warn};

/// Requests under way may end within this time.
const DRAIN_REQUESTS: Duration = Duration::from_secs(10);

pub fn serve(args: &ServerArgs, matches: &ArgMatches) -> Result<Exit> {
    let settings = Settings::gather(args, matches, processes_default())?;
    if args.print_config {
        out::result(&shown::shown(&settings));
        return Ok(Exit::Success);
    }
    narrate::begin();
    memory::share_arenas();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("the asynchronous runtime cannot be started")?;
    let exit = runtime.block_on(live(settings));
    runtime.shutdown_background();
    exit
}

async fn live(settings: Settings) -> Result<Exit> {
    let mut signals = Signals::listen()?;
    let folder = hold(&settings.data.value)?;
    let (store, blobs) = database::open(settings.database.value.as_deref(), &folder)?;
    let logs = LogPlaces { folder: folder.path().to_owned(), blobs };
    let hub = Arc::new(Hub::default());
    let engine = Arc::new(start(&settings, (&folder, &store, &logs), &hub).await?);
    let config = config(&settings, &folder, logs.clone())?;
    let giving_back = tokio::spawn(memory::give_back(Arc::clone(&hub)));
    let identity = (folder.id(), hub);
    let app = App::new(Arc::clone(&engine), Arc::clone(&store), identity, config);
    let app = app.await.map_err(|problem| anyhow!(problem.detail))?;
    let server = Server::bind(app).await?;
    for address in server.addresses() {
        info!(%address, "listening");
    }
    let retention = Retention { runs: settings.retention.value, logs };
    let retention = tokio::spawn(retention.keep(Arc::clone(&engine), store));
    notify::tell("READY=1");
    let mut why = None;
    let asked = async {
        tokio::select! {
            _ = signals.next() => info!("asked to end: no more requests, running work may end"),
            stopped = engine.stopped() => why = Some(stopped),
        }
    };
    server.run(asked).await;
    giving_back.abort();
    retention.abort();
    let _ = retention.await;
    notify::tell("STOPPING=1");
    if let Some(why) = why {
        return Ok(stopped_early(&why));
    }
    tokio::select! {
        () = engine.drain(settings.drain.value.to_std()) => {}
        _ = signals.next() => warn!("asked again: leaving at once"),
    }
    end(engine);
    info!("ended");
    Ok(Exit::Success)
}

fn stopped_early(why: &Stopped) -> Exit {
    match why {
        Stopped::Fenced => error!("another process has taken over: this one ends"),
        Stopped::Store(what) => error!(what, "the store failed for good: this server ends"),
        Stopped::Asked => {}
    }
    Exit::Store
}

/// Whoever still holds it has been told to stop; the last one ends it.
fn end(engine: Arc<Engine>) {
    match Arc::try_unwrap(engine) {
        Ok(engine) => engine.shut_down(),
        Err(shared) => shared.stop(),
    }
}

async fn start(
    settings: &Settings,
    (folder, store, logs): (&DataFolder, &Arc<dyn Store>, &LogPlaces),
    hub: &Arc<Hub>,
) -> Result<Engine> {
    let max_processes = within_open_files(settings.max_processes.value)?;
    let config = EngineConfig {
        store: Arc::clone(store),
        logs: logs.clone(),
        scheduler: folder.id(),
        limits: vec![
            ("total".to_owned(), TOTAL_PERMITS_DEFAULT.max(max_processes)),
            ("executor:process".to_owned(), max_processes),
        ],
        load: Load::All,
        observer: Arc::new(Narrator(Arc::clone(hub))),
        store_patience: None,
    };
    let processes = ProcessConfig {
        data_id: folder.id().to_string(),
        folder: folder.path().to_owned(),
        pass_env: settings.pass_env.value.clone(),
    };
    let engine = Engine::start(config, |reports| Ok(executors(processes, reports)?.0));
    engine.await.context("the engine cannot start")
}

fn config(settings: &Settings, folder: &DataFolder, logs: LogPlaces) -> Result<Config> {
    let socket = folder.path().join(socket::NAME);
    let mut listen: Vec<Listen> = settings.listen.value.iter().copied().map(Listen::Tcp).collect();
    listen.push(Listen::Unix(socket));
    let workdir = &settings.workdir.value;
    let workdir = std::fs::canonicalize(workdir)
        .with_context(|| format!("the working directory {} is not there", workdir.display()))?;
    let tls = settings.tls_certificate.value.clone().zip(settings.tls_key.value.clone());
    Ok(Config {
        listen,
        insecure: settings.insecure.value,
        hosts: settings.hosts.value.clone(),
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        workdir,
        read_time_max: settings.read_timeout.value.to_std(),
        logs,
        scope: Scope::Everything,
        retention: settings.retention.value,
        drain: DRAIN_REQUESTS,
    })
}
