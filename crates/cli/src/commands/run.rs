//! `mainspring run`: nothing is written before everything that was given has been checked.

use super::resume;
use crate::args::RunArgs;
use crate::embedded::{
    Checked, Door, Ending, Finished, Follow, Fresh, Ground, Life, NotAccepted, Settings, accept,
    print,
};
use crate::exit::Exit;
use crate::limits::{self, Tiers};
use crate::progress::Board;
use crate::signals::{Asked, Signals};
use crate::source::Source;
use crate::{data, draw, inputs, out};
use anyhow::{Context as _, Result};
use mainspring_core::evaluate::group_key;
use mainspring_core::ids::{RunId, RunKey};
use mainspring_core::kernel::row::RunStatus;
use mainspring_core::spec::Diagnostic;
use mainspring_core::spec::definition::Definition;
use mainspring_engine::Load;
use mainspring_engine::folder::DataFolder;
use mainspring_store::Store as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Threads of the runtime: it follows processes and pipes, which is little work.
const WORKERS: usize = 2;

pub fn run(args: &RunArgs) -> Result<Exit> {
    if let Some(wanted) = &args.resume {
        return in_runtime(resume::resume(args, wanted));
    }
    let Some(file) = &args.file else { unreachable!("the parser asks for one of the two") };
    let tiers = limits::here(&args.limits, args.max_processes)?;
    match checked(args, file, &tiers)? {
        Some(fresh) => in_runtime(start(args, fresh, tiers)),
        None => Ok(Exit::Usage),
    }
}

fn in_runtime(work: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    threads_to_be_had().context(
        "threads cannot be started: end other programs of this user, or raise the limit on \
         processes (`ulimit -u`)",
    )?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("the asynchronous runtime cannot be started")?;
    runtime.block_on(work)
}

fn given(args: &RunArgs) -> inputs::Given<'_> {
    inputs::Given { inputs: &args.inputs, file: args.input_file.as_deref() }
}

/// The runtime panics when it gets no thread for a worker; so they are tried first.
fn threads_to_be_had() -> std::io::Result<()> {
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    std::thread::scope(|scope| {
        // Dropped at the end of this closure, on which the threads wait.
        let _hold = hold;
        for _ in 0..WORKERS {
            let wait = || drop(held.lock().map(|held| held.recv()));
            std::thread::Builder::new().spawn_scoped(scope, wait)?;
        }
        Ok(())
    })
}

/// The run to be; None when something was wrong with it, all of which has been said.
fn checked(args: &RunArgs, file: &Path, tiers: &Tiers) -> Result<Option<Fresh>> {
    let source = Source::read(file)?;
    let parsed = match source.parse(&limits::names(tiers)) {
        Ok(parsed) => parsed,
        Err(found) => {
            out::say(&draw::diagnostics(&source.name, &source.text(), &found));
            say_all(&inputs::precheck(&given(args)));
            return Ok(None);
        }
    };
    if !parsed.warnings.is_empty() {
        out::say(&draw::diagnostics(&source.name, &source.text(), &parsed.warnings));
    }
    let input = match inputs::gather(&given(args), parsed.definition.input_schema.as_ref()) {
        Ok(input) => input,
        Err(problems) => {
            say_all(&problems);
            return Ok(None);
        }
    };
    let group = match group_key(&parsed.definition, &input) {
        Ok(group) => group,
        Err(bad) => {
            say_all(&[bad.to_string()]);
            return Ok(None);
        }
    };
    let workdir = std::env::current_dir().context("the current directory cannot be found")?;
    let workdir = workdir.to_str().context("the current directory's name is not UTF-8")?.to_owned();
    let Some(others) = others(args, tiers)? else { return Ok(None) };
    let main = Checked {
        definition: Arc::new(parsed.definition),
        text: source.text().into_owned().into(),
        hash: parsed.hash,
    };
    Ok(Some(Fresh { main, others, input, workdir, group }))
}

/// The workflows that the run may begin; None when something was wrong with one of them.
fn others(args: &RunArgs, tiers: &Tiers) -> Result<Option<Vec<Checked>>> {
    let mut others = Vec::new();
    let mut good = true;
    for file in &args.with {
        let source = Source::read(file)?;
        let drawn = |found: &[Diagnostic]| draw::diagnostics(&source.name, &source.text(), found);
        match source.parse(&limits::names(tiers)) {
            Err(found) => {
                out::say(&drawn(&found));
                good = false;
            }
            Ok(parsed) => {
                if !parsed.warnings.is_empty() {
                    out::say(&drawn(&parsed.warnings));
                }
                others.push(Checked {
                    definition: Arc::new(parsed.definition),
                    text: source.text().into_owned().into(),
                    hash: parsed.hash,
                });
            }
        }
    }
    Ok(good.then_some(others))
}

fn say_all(problems: &[String]) {
    for problem in problems {
        out::say(&format!("{}: {problem}\n", out::red("error")));
    }
}

async fn start(args: &RunArgs, fresh: Fresh, tiers: Tiers) -> Result<Exit> {
    let mut signals = Signals::listen()?;
    let settings = Settings::new(args, &tiers)?;
    let ground = Ground::take(&args.data.folder)?;
    say_unfinished(&ground.unfinished().await?, args);
    let life = Life::begin(ground, Load::Only(Vec::new()), settings).await?;
    let (accepted, asked) = accept_or_leave(&life, &fresh, &mut signals).await;
    if asked == Some(Asked::Leave) {
        leave(life).await;
        std::process::exit(Exit::Cancelled.code().into());
    }
    let run = match accepted {
        Ok(run) => run,
        Err(error) => return not_accepted(error, life, args).await,
    };
    let main = fresh.main.definition;
    let count = main.tasks.len();
    let tasks = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
    out::say(&format!("run {run} of {}, {tasks}\n", main.name));
    let key = key_of(&life, run).await?;
    let follow = Follow::new((run, key), Board::new(main), asked);
    carry_on(args, life, follow, &mut signals).await
}

async fn key_of(life: &Life, run: RunId) -> Result<RunKey> {
    let stored = life.store().outline(run).await?;
    Ok(stored.context("the run is gone from the database")?.head.key)
}

/// The first Ctrl-C waits until it is known what there is to cancel; the second does not.
async fn accept_or_leave(
    life: &Life,
    fresh: &Fresh,
    signals: &mut Signals,
) -> (Result<RunId, NotAccepted>, Option<Asked>) {
    let mut accept = std::pin::pin!(accept(life, fresh));
    let mut asked = None;
    loop {
        tokio::select! {
            accepted = &mut accept => return (accepted, asked),
            next = signals.next() => {
                if next == Asked::Leave || asked.is_some() {
                    return (Err(NotAccepted::Stopped), Some(Asked::Leave));
                }
                asked = Some(next);
            }
        }
    }
}

/// Other runs are not touched, but not kept secret either.
pub fn say_unfinished(runs: &[RunId], args: &RunArgs) {
    const NAMED_MAX: usize = 5;
    if runs.is_empty() {
        return;
    }
    let head = out::yellow("note");
    out::say(&format!("{head}: {} unfinished here; to go on with it:\n", counted(runs.len())));
    for run in runs.iter().rev().take(NAMED_MAX) {
        let command = data::command(&["run", "--resume", &run.to_string()], &args.data.folder);
        out::say(&format!("  {command}\n"));
    }
    if runs.len() > NAMED_MAX {
        let words = ["pending", "running", "paused", "cancelling"];
        let statuses = words.iter().flat_map(|word| ["--status", word]);
        let words: Vec<&str> = std::iter::once("runs").chain(statuses).collect();
        let command = data::command(&words, &args.data.folder);
        out::say(&format!("  … and {} more: {command}\n", runs.len() - NAMED_MAX));
    }
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 other run is".to_owned() } else { format!("{runs} other runs are") }
}

async fn not_accepted(error: NotAccepted, life: Life, args: &RunArgs) -> Result<Exit> {
    let why = match &error {
        NotAccepted::Stopped | NotAccepted::Unknown => Some(life.engine.stopped().await),
        NotAccepted::Refused(_) | NotAccepted::Unreadable(_) => None,
    };
    let unknown = matches!(error, NotAccepted::Unknown);
    life.end();
    let mut error = anyhow::Error::new(error);
    if let Some(mainspring_engine::Stopped::Store(text)) = why {
        error = anyhow::anyhow!(text).context(error);
    }
    if !unknown {
        return Err(error);
    }
    out::error(&error);
    out::say(&format!("to see: {}\n", data::command(&["runs"], &args.data.folder)));
    Ok(Exit::Store)
}

/// Follows a run that is loaded, and tells how it ended.
pub async fn carry_on(
    args: &RunArgs,
    mut life: Life,
    mut follow: Follow,
    signals: &mut Signals,
) -> Result<Exit> {
    let (run, definition) = (follow.run, Arc::clone(follow.board.definition()));
    let door = open_door(&life, run).await;
    let ending = follow.until_over(&mut life, signals).await;
    let resume = data::command(&["run", "--resume", &run.to_string()], &args.data.folder);
    match ending {
        Ending::Left => {
            door.into_iter().for_each(Door::slam);
            leave(life).await;
            out::say(&format!("left: nothing runs any more. To go on with the run: {resume}\n"));
            // At once: the database is as whole after this as after a crash.
            std::process::exit(Exit::Cancelled.code().into());
        }
        Ending::StoreFailed(error) => {
            close(door).await;
            life.end();
            out::say(&format!("{}: the store failed: {error}\n", out::red("error")));
            let kept = match DataFolder::database(&args.data.folder).exists() {
                true => format!("what was done is kept. To go on with the run: {resume}\n"),
                false => "the record of the run is gone with its database\n".to_owned(),
            };
            out::say(&kept);
            Ok(Exit::Store)
        }
        Ending::Final(status) => {
            close(door).await;
            let ground = life.end();
            tell(args, &ground, (run, &definition)).await?;
            Ok(match status {
                RunStatus::Success => Exit::Success,
                RunStatus::Cancelled => Exit::Cancelled,
                _ => Exit::Failed,
            })
        }
    }
}

/// Without one the run goes on all the same.
async fn open_door(life: &Life, run: RunId) -> Option<Door> {
    match Door::open(life, run).await {
        Ok(door) => Some(door),
        Err(error) => {
            let head = out::yellow("note");
            out::say(&format!("{head}: other commands cannot steer this run: {error:#}\n"));
            None
        }
    }
}

async fn close(door: Option<Door>) {
    if let Some(door) = door {
        door.close().await;
    }
}

/// The engine first, so that what is killed now is not taken for an outcome; but no disk that
/// hangs may keep the processes alive.
async fn leave(life: Life) {
    const PATIENCE: Duration = Duration::from_secs(1);
    let executor = Arc::clone(&life.executor);
    let end = tokio::task::spawn_blocking(move || drop(life.end()));
    if tokio::time::timeout(PATIENCE, end).await.is_err() {
        // What a SIGKILL cannot end is found by the next life.
        let _ = executor.kill_all();
    }
}

async fn tell(
    args: &RunArgs,
    ground: &Ground,
    (run, definition): (RunId, &Definition),
) -> Result<()> {
    let stored = ground.store.outline(run).await?.context("the run is gone from the database")?;
    let finished = Finished {
        store: &*ground.store,
        logs: &ground.logs,
        named: &args.data.folder,
        definition,
        stored,
    };
    print(finished, args.output).await
}
