//! The end of a run on a server.

use crate::args::{Format, PlaceArgs};
use crate::client::wire::{Run, Task};
use crate::client::{Ask, Client, items};
use crate::exit::Exit;
use crate::out;
use crate::print::{Tree, document};
use crate::progress::what_became;
use crate::summary::{FAILED_SHOWN_MAX, LOG_LINES, Logged, NEVER_RAN_SHOWN_MAX, failure, verdict};
use anyhow::Result;
use serde::Serialize;

/// The document of `-o json` and `-o yaml`.
#[derive(Serialize)]
struct Document {
    run: Tree,
    tasks: Vec<Tree>,
}

/// The summary on stdout, or on stderr when a document is asked for; the exit code of the run.
pub async fn print(client: &Client, id: &str, args: &PlaceArgs, format: Format) -> Result<Exit> {
    let run: Tree = client.answer(&Ask::get(&["runs", id])).await?;
    let tasks = items(client, &Ask::get(&["runs", id, "tasks"]), usize::MAX).await?;
    let whole = Document { run, tasks };
    let run: Run = whole.run.read()?;
    let tasks: Vec<Task> = whole.tasks.iter().map(Tree::read).collect::<Result<_, _>>()?;
    for line in what_became(&tasks, NEVER_RAN_SHOWN_MAX) {
        out::say(&(line + "\n"));
    }
    let say = if format == Format::Table { out::result } else { out::say };
    let failed = tasks.iter().filter(|task| task.status == "failed");
    for task in failed.clone().take(FAILED_SHOWN_MAX) {
        say(&failure(task, logged(client, args, (id, task)).await));
    }
    let more = failed.count().saturating_sub(FAILED_SHOWN_MAX);
    if more > 0 {
        say(&format!("\n… and {more} more failed: {}\n", args.command(&["show", id])));
    }
    say(&verdict(&run));
    if format != Format::Table {
        document(format, &whole, || Ok(String::new()))?;
    }
    Ok(Exit::of_run(&run.status))
}

async fn logged(client: &Client, args: &PlaceArgs, (id, task): (&str, &Task)) -> Logged {
    if task.attempt == 0 {
        return Logged::None;
    }
    let ask = Ask::get(&["runs", id, "tasks", &task.name, "logs"])
        .text()
        .with("tail", &LOG_LINES.to_string())
        .with("timestamps", "true");
    let bytes = match client.bytes(&ask).await {
        Ok(bytes) if bytes.is_empty() => return Logged::Nothing,
        Ok(bytes) => bytes,
        Err(error) => return Logged::Unreadable(error.to_string()),
    };
    let text = String::from_utf8_lossy(&bytes);
    // Each line is a moment, a stream and the text.
    let line = |line: &str| {
        let mut parts = line.splitn(3, ' ').skip(1);
        let stream = parts.next().unwrap_or_default().to_owned();
        (stream, parts.next().unwrap_or_default().to_owned())
    };
    Logged::Lines {
        lines: text.lines().map(line).collect(),
        before: None,
        command: args.command(&["logs", id, &task.name]),
    }
}
