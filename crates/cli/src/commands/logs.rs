//! `mainspring logs`: what an attempt wrote, from its first line, also while it runs.

use crate::args::LogsArgs;
use crate::client::wire::Task;
use crate::client::{Ask, Client, ClientError, look, run_id};
use crate::data::Rows;
use crate::exit::Exit;
use crate::remote::{Stamps, follow_log};
use crate::{data, find, out};
use anyhow::{Error, Result, bail};
use mainspring_core::ids::RunKey;
use mainspring_core::kernel::row::{Attempt, TaskRow};
use mainspring_core::world::input::Named;
use mainspring_engine::logs::{LOST_LOG, Line, LogError, LogText, Stream, stream_word};
use mainspring_store::Store;
use std::io;
use std::sync::Arc;

/// Gathered before it is written.
const CHUNK_BYTES: usize = 64 * 1024;

pub fn logs(args: &LogsArgs) -> Result<Exit> {
    data::block_on(async {
        look(&args.place, async |client| asked(client, args).await, async || stored(args).await)
            .await
    })?;
    Ok(Exit::Success)
}

async fn asked(client: &Arc<Client>, args: &LogsArgs) -> Result<()> {
    let id = run_id(client, &args.run).await?;
    let path = ["runs", &id, "tasks", &args.task, "logs"];
    let which = |ask: Ask| ask.with_some("index", args.index.as_ref());
    let part = |ask: Ask| {
        ask.with_some("attempt", args.attempt.as_ref()).with_some("tail", args.tail.as_ref())
    };
    if args.follow {
        let stamps = if args.timestamps { Stamps::TimeAndStream } else { Stamps::None };
        let ask = part(which(Ask::get(&path)).with("follow", "true"));
        return follow_log(client, ask, stamps).await;
    }
    let task: Task = client.answer(&which(Ask::get(&path[..4]))).await?;
    if task.instances.is_some() {
        bail!("{}", which_instance(&args.task));
    }
    if task.attempt == 0 {
        bail!("task `{}` has not run in this run: there is no log", args.task);
    }
    if args.attempt.is_none() {
        say_which(task.attempt, task.attempt);
    }
    let mut ask = part(which(Ask::get(&path)).text());
    if args.timestamps {
        ask = ask.with("timestamps", "true");
    }
    let mut body = client.open(&ask).await?.into_body();
    let mut is_empty = true;
    let cut = |error| Error::from(error).context("this is not all of the log");
    while let Some(piece) = client.piece(&mut body).await.map_err(cut)? {
        is_empty &= piece.is_empty();
        out::raw(&piece);
        if out::is_unread() {
            return Ok(());
        }
    }
    if is_empty {
        out::say("it wrote nothing\n");
    }
    Ok(())
}

fn say_which(number: u32, count: u32) {
    if count > 1 {
        out::say(&format!("attempt {number} of {count}; others with --attempt N\n"));
    }
}

async fn stored(args: &LogsArgs) -> Result<()> {
    let Rows { store, logs } = data::open(&args.place.data, &args.database)?;
    let (stored, definition) = find::run(&*store, &args.run).await?;
    let named = Named { task: args.task.as_str().into(), index: args.index };
    let row = find::row(&*store, (&stored, &definition), &named).await?;
    let is_group = definition.task(find::task(&definition, &args.task)?).fan_out.is_some();
    if is_group && args.index.is_none() {
        bail!("{}", which_instance(&args.task));
    }
    let Some(row) = row.filter(|row| row.attempt.is_some()) else {
        bail!("task `{}` has not run in this run: there is no log", args.task);
    };
    let all = attempts(&*store, stored.head.key, &row).await?;
    let chosen = choose(args, &all)?;
    let place = (stored.head.key, chosen.id);
    let prefix = args.timestamps.then_some(prefix as fn(&Line) -> String);
    let opened = LogText::open(&*store, &logs, place).await.map_err(lost)?;
    match (opened, args.tail) {
        (None, _) => out::say("it wrote nothing\n"),
        (Some(log), None) => write(log, prefix)?,
        (Some(log), Some(count)) => {
            let (_, last) = log.last(count).map_err(|error| lost(error.into()))?;
            write(last.into_iter().map(Ok), prefix)?;
        }
    }
    let is_over = args.attempt.is_some() && chosen.end.is_some();
    if args.follow && !row.fact.is_settled() && !is_over {
        let folder = args.place.data.folder.display();
        let text = format!(
            "no server is at work in the data folder {folder}: this is all there is by now"
        );
        return Err(ClientError::Nobody(text).into());
    }
    Ok(())
}

/// Says what can be done about a log that is not there as it was written.
fn lost(error: LogError) -> Error {
    match error.is_loss() {
        true => Error::new(error).context(format!("the log is lost: {LOST_LOG}")),
        false => error.into(),
    }
}

fn which_instance(task: &str) -> String {
    format!("task `{task}` is a fan-out: say which instance's log with --index N, from 0")
}

/// Every attempt of a task or an instance, in the order of their numbers.
async fn attempts(store: &dyn Store, run: RunKey, row: &TaskRow) -> Result<Vec<Attempt>> {
    let history = store.attempts_of(run, row.task).await?;
    let past = history.into_iter().map(|past| past.attempt);
    let landing = row.finalizing().and_then(|finalizer| finalizer.attempt);
    let landing = landing.map(|live| live.shown());
    let mut all: Vec<Attempt> = past.chain(row.attempt.clone()).chain(landing).collect();
    all.sort_by_key(|attempt| attempt.number);
    Ok(all)
}

fn choose<'a>(args: &LogsArgs, all: &'a [Attempt]) -> Result<&'a Attempt> {
    let Some(wanted) = args.attempt else {
        let last = all.last().expect("the current attempt is there");
        say_which(last.number, u32::try_from(all.len()).unwrap_or(u32::MAX));
        return Ok(last);
    };
    // A refused start leaves its number to the next attempt.
    match all.iter().rev().find(|attempt| attempt.number == wanted) {
        Some(attempt) => Ok(attempt),
        None => {
            let numbers: Vec<String> = all.iter().map(|it| it.number.to_string()).collect();
            bail!("task `{}` has no attempt {wanted}: it has {}", args.task, numbers.join(", "))
        }
    }
}

fn prefix(line: &Line) -> String {
    format!("{} {} ", line.at, stream_word(line.stream))
}

fn write(
    log: impl Iterator<Item = io::Result<Line>>,
    prefix: Option<fn(&Line) -> String>,
) -> Result<()> {
    let mut text = String::new();
    // The stream whose last line has not ended yet.
    let mut open: Option<Stream> = None;
    for line in log {
        let line = line.map_err(|error| lost(error.into()))?;
        if open.is_some_and(|stream| stream != line.stream) {
            text.push('\n');
            open = None;
        }
        if open.is_none()
            && let Some(prefix) = prefix
        {
            text.push_str(&prefix(&line));
        }
        text.push_str(&line.text);
        open = (!line.complete).then_some(line.stream);
        if line.complete {
            text.push('\n');
        }
        if text.len() > CHUNK_BYTES {
            out::raw(text.as_bytes());
            text.clear();
        }
        if out::is_unread() {
            return Ok(());
        }
    }
    if open.is_some() {
        text.push('\n');
    }
    out::raw(text.as_bytes());
    Ok(())
}
