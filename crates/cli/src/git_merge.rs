//! `git-merge`: lands a branch, in a process that an engine has started for it. A process of its
//! own is stopped, timed, logged and found again like that of any other attempt.

use crate::exit::Exit;
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::signal::unix::{SignalKind, signal};

/// Program and arguments. This program by what the kernel knows of it: the file that it was
/// started from may have been replaced since.
pub fn command() -> Vec<String> {
    ["/proc/self/exe", "git-merge"].map(str::to_owned).into()
}

pub fn run() -> Result<Exit> {
    let output = std::env::var_os("MAINSPRING_OUTPUT");
    let output = output.map(PathBuf::from).context(
        "`git-merge` is for attempts: it is started by an engine, and told on stdin what to land",
    )?;
    let order = std::io::read_to_string(std::io::stdin()).context("stdin cannot be read")?;
    let stopped = Arc::new(AtomicBool::new(false));
    let _listening = listen(&stopped)?;
    let wanted = move || !stopped.load(Ordering::Relaxed);
    let code = mainspring_exec::land_branch(&order, &output, wanted);
    std::process::exit(code.into());
}

/// SIGTERM ends it between two steps, and lets a verification end by itself.
fn listen(stopped: &Arc<AtomicBool>) -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("signals cannot be heard")?;
    let within = runtime.enter();
    let mut terminate = signal(SignalKind::terminate()).context("signals cannot be heard")?;
    drop(within);
    let stopped = Arc::clone(stopped);
    drop(runtime.spawn(async move {
        terminate.recv().await;
        stopped.store(true, Ordering::Relaxed);
    }));
    Ok(runtime)
}
