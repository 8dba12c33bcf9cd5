//! A server's life: takes its folder, loads what is unfinished, serves, drains.

use super::database;
use super::narrate::{self, Narrator};
use super::settings::Settings;
use super::{memory, notify, shown};
use crate::args::ServerArgs;
use crate::embedded::{OpenFiles, hold, processes_default, share_open_files};
use crate::executors::executors;
use crate::exit::Exit;
use crate::git_merge;
use crate::out;
use crate::signals::{Asked, Signals};
use anyhow::{Context as _, Result, anyhow};
use clap::ArgMatches;
use mainspring_engine::folder::DataFolder;
use mainspring_engine::logs::LogPlaces;
use mainspring_engine::retention::Retention;
use mainspring_engine::{Engine, EngineConfig, Load, Stopped};
use mainspring_exec::ProcessConfig;
use mainspring_server::config::TlsFiles;
use mainspring_server::{App, Config, Doors, Hub, Listen, Scope, Server, socket};
use mainspring_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::{error, info, warn};

/// How long the commit under way may take when all else has ended.
const LAST_COMMIT: Duration = Duration::from_secs(10);
/// Requests under way may end within this time.
const DRAIN_REQUESTS: Duration = Duration::from_secs(10);

/// Reads the configuration anew.
type Again<'a> = dyn Fn() -> Result<Settings> + 'a;

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
    let again = || Settings::gather(args, matches, processes_default());
    let exit = runtime.block_on(live(settings, &again));
    runtime.shutdown_background();
    exit
}

async fn live(settings: Settings, again: &Again<'_>) -> Result<Exit> {
    let mut signals = Signals::listen()?;
    let Begun { folder: _folder, store, engine, hub, logs, server } = tokio::select! {
        begun = begin(&settings) => begun?,
        // Nothing was touched that the next life would not find as it was.
        () = asked_to_end(&mut signals) => {
            info!("asked to end before it had begun");
            return Ok(Exit::Success);
        }
    };
    for address in server.addresses() {
        info!(%address, "listening");
    }
    let giving_back = tokio::spawn(memory::give_back(hub));
    let retention = Retention { runs: settings.retention.value, logs };
    let kept = (Arc::clone(&engine), Arc::clone(&store));
    let retention = tokio::spawn(retention.keep(kept.0, kept.1, narrate::retention_failed));
    let (stop, stopping) = oneshot::channel();
    let serving = tokio::spawn(server.run(async {
        // An error is a server that was left behind.
        let _ = stopping.await;
    }));
    notify::tell("READY=1");
    let why = until_asked(&mut signals, &engine, again).await;
    if why.is_none() {
        engine.start_nothing_more();
        info!("asked to end: no more requests, nothing new starts, running work may end");
    }
    notify::tell("STOPPING=1");
    let _ = stop.send(());
    giving_back.abort();
    retention.abort();
    let _ = retention.await;
    let patience = why.is_none().then(|| settings.drain.value.to_std());
    close(&mut signals, &engine, serving, patience).await;
    let exit = match why {
        Some(why) => stopped_early(&why),
        None => end(engine).await,
    };
    if exit != Exit::Success {
        // Its threads may wait for a database that does not answer: nobody waits for them.
        std::mem::forget(store);
    }
    Ok(exit)
}

/// A server that is about to serve.
struct Begun {
    /// Held for as long as it lives.
    folder: DataFolder,
    store: Arc<dyn Store>,
    engine: Arc<Engine>,
    hub: Arc<Hub>,
    logs: LogPlaces,
    server: Server,
}

/// The doors come before the engine: an address that is taken must not cost an attempt.
async fn begin(settings: &Settings) -> Result<Begun> {
    let files = share(settings)?;
    let (data, url) = (settings.data.value.clone(), settings.database.value.clone());
    let open = move || {
        let folder = hold(&data)?;
        let opened = database::open(url.as_deref(), &folder)?;
        anyhow::Ok((folder, opened))
    };
    // On a thread that may wait: meanwhile signals are heard.
    let opened = tokio::task::spawn_blocking(open).await;
    let (folder, (store, blobs)) = opened.context("the store could not be opened")??;
    let logs = LogPlaces { folder: folder.path().to_owned(), blobs };
    let config = config(settings, &folder, (logs.clone(), files.connections))?;
    let doors = Doors::bind(&config, &*store).await?;
    let hub = Arc::new(Hub::default());
    let engine = start((settings, files.processes), (&folder, &store, &logs), &hub).await?;
    let (engine, identity) = (Arc::new(engine), (folder.id(), Arc::clone(&hub)));
    let app = App::new(Arc::clone(&engine), Arc::clone(&store), identity, config);
    let app = app.await.map_err(|problem| anyhow!(problem.detail))?;
    Ok(Begun { folder, store, engine, hub, logs, server: Server::new(app, doors) })
}

/// Waits for the end: asked for, or the engine's own, with its reason.
async fn until_asked(signals: &mut Signals, engine: &Engine, again: &Again<'_>) -> Option<Stopped> {
    loop {
        tokio::select! {
            asked = signals.next() => match asked {
                Asked::End => return None,
                Asked::Leave => reload(engine, again),
            },
            stopped = engine.stopped() => return Some(stopped),
        }
    }
}

/// SIGHUP: limits are read anew, and nothing else is.
fn reload(engine: &Engine, again: &Again<'_>) {
    let read = again().and_then(|settings| {
        let files = share(&settings)?;
        Ok(settings.limits(files.processes))
    });
    match read {
        Ok(limits) => {
            let shown: Vec<String> =
                limits.iter().map(|it| format!("{}={}", it.name, it.bound)).collect();
            engine.configure(limits);
            info!(limits = shown.join(" "), "SIGHUP: limits were read anew");
        }
        Err(error) => {
            let error = format!("{error:#}");
            warn!(error, "SIGHUP: the configuration is wrong: limits stay as they are");
        }
    }
}

/// What the limit on open files leaves room for.
fn share(settings: &Settings) -> Result<OpenFiles> {
    let beside = settings.database.value.as_ref().map_or(0, |_| database::POSTGRES_FILES);
    let doors = settings.listen.value.len() + 1;
    share_open_files(settings.max_processes.value.max(1), doors, beside)
}

/// Requests and work under way may end, side by side: nothing new starts while a slow reader is
/// waited for. Without patience for work there is none any more. A second signal ends both.
async fn close(
    signals: &mut Signals,
    engine: &Engine,
    mut serving: JoinHandle<()>,
    patience: Option<Duration>,
) {
    let drained = async {
        if let Some(patience) = patience {
            engine.drain(patience).await;
        }
    };
    let ended = async { tokio::join!(&mut serving, drained) };
    tokio::select! {
        // A panic there has been printed.
        _ = ended => {}
        () = asked_to_end(signals) => warn!("asked again: leaving at once"),
    }
    serving.abort();
}

async fn asked_to_end(signals: &mut Signals) {
    while signals.next().await == Asked::Leave {}
}

fn stopped_early(why: &Stopped) -> Exit {
    match why {
        Stopped::Fenced => error!("another process has taken over: this one ends"),
        Stopped::Store(what) => error!(what, "the store failed for good: this server ends"),
        Stopped::Asked => {}
    }
    Exit::Store
}

/// Ends the engine, and says what could not be recorded. A store that does not answer is not
/// waited for: what still runs is killed when the program ends.
async fn end(engine: Arc<Engine>) -> Exit {
    engine.stop();
    let Ok(why) = tokio::time::timeout(LAST_COMMIT, engine.stopped()).await else {
        error!("the store did not confirm the last commit: what became of it shows the next start");
        return Exit::Store;
    };
    // Whoever still holds it has been told to stop; the last one ends it.
    if let Ok(engine) = Arc::try_unwrap(engine) {
        engine.shut_down();
    }
    match why {
        Stopped::Asked => {
            info!("ended");
            Exit::Success
        }
        why => stopped_early(&why),
    }
}

async fn start(
    (settings, processes): (&Settings, u32),
    (folder, store, logs): (&DataFolder, &Arc<dyn Store>, &LogPlaces),
    hub: &Arc<Hub>,
) -> Result<Engine> {
    let config = EngineConfig {
        store: Arc::clone(store),
        logs: logs.clone(),
        scheduler: folder.id(),
        limits: settings.limits(processes),
        load: Load::All,
        observer: Arc::new(Narrator(Arc::clone(hub))),
        store_patience: None,
    };
    let processes = ProcessConfig {
        data_id: folder.id().to_string(),
        folder: folder.path().to_owned(),
        pass_env: settings.pass_env.value.clone(),
        secrets_dir: Some(settings.secrets_dir.value.clone()),
        git_merge: git_merge::command(),
    };
    let engine = Engine::start(config, |reports| Ok(executors(processes, reports)?.0));
    engine.await.context("the engine cannot start")
}

fn config(
    settings: &Settings,
    folder: &DataFolder,
    (logs, connections): (LogPlaces, u32),
) -> Result<Config> {
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
        connections,
    })
}
