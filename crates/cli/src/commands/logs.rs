//! `mainspring logs`: what an attempt wrote, from its first line, also while it runs.

use crate::args::LogsArgs;
use crate::exit::Exit;
use crate::log_text::{Line, LogText, stream_word};
use crate::{data, find, out};
use anyhow::{Result, bail};
use mainspring_core::ids::{RunKey, TaskNo};
use mainspring_core::kernel::row::{Attempt, TaskRow};
use mainspring_exec::log::Stream;
use mainspring_store::{Sqlite, Store as _};

/// Gathered before it is written.
const CHUNK_BYTES: usize = 64 * 1024;

pub fn logs(args: &LogsArgs) -> Result<Exit> {
    let store = data::open(&args.data)?;
    let log = data::block_on(async {
        let (stored, definition) = find::run(&store, &args.run).await?;
        let no = find::task(&definition, &args.task)?;
        let row = stored.tasks.iter().find(|row| row.task.no == no);
        let Some(row) = row.filter(|row| row.attempt.is_some()) else {
            bail!("task `{}` has not run in this run: there is no log", args.task);
        };
        let all = attempts(&store, (stored.head.key, no), row).await?;
        let attempt = choose(args, &all)?;
        LogText::open(&store, &args.data.folder, (stored.head.key, attempt)).await
    })?;
    match log {
        Some(log) => write(log, args.timestamps.then_some(prefix))?,
        None => out::say("it wrote nothing\n"),
    }
    Ok(Exit::Success)
}

/// Every attempt of a task, the current one last.
async fn attempts(
    store: &Sqlite,
    (run, no): (RunKey, TaskNo),
    row: &TaskRow,
) -> Result<Vec<Attempt>> {
    let history = store.attempts(run).await?;
    let own = history.into_iter().filter(|past| past.task.no == no).map(|past| past.attempt);
    Ok(own.chain(row.attempt.clone()).collect())
}

fn choose<'a>(args: &LogsArgs, all: &'a [Attempt]) -> Result<&'a Attempt> {
    let Some(wanted) = args.attempt else {
        let last = all.last().expect("the current attempt is there");
        if all.len() > 1 {
            out::say(&format!(
                "attempt {} of {}; others with --attempt N\n",
                last.number,
                all.len()
            ));
        }
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

fn write(log: LogText, prefix: Option<fn(&Line) -> String>) -> Result<()> {
    let mut text = String::new();
    // The stream whose last line has not ended yet.
    let mut open: Option<Stream> = None;
    for line in log {
        let line = line?;
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
