//! The end of a run on a server.

use crate::args::{Format, PlaceArgs};
use crate::client::wire::{Run, Task};
use crate::client::{Ask, Client, items};
use crate::exit::Exit;
use crate::out;
use crate::print::{Tree, document};
use crate::summary::{LOG_LINES, Logged, Past, logs_command, tell};
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
    let say = if format == Format::Table { out::result } else { out::say };
    tell(&Ended { client, args, id }, &run, &tasks, say).await?;
    if format != Format::Table {
        document(format, &whole, || Ok(String::new()))?;
    }
    Ok(Exit::of_run(&run.status))
}

struct Ended<'a> {
    client: &'a Client,
    args: &'a PlaceArgs,
    id: &'a str,
}

impl Past for Ended<'_> {
    async fn logged(&self, task: &Task) -> Logged {
        if task.attempt == 0 {
            return Logged::None;
        }
        let ask = Ask::get(&["runs", self.id, "tasks", &task.name, "logs"])
            .text()
            .with_some("index", task.index.as_ref())
            .with("tail", &LOG_LINES.to_string())
            .with("timestamps", "true");
        let bytes = match self.client.bytes(&ask).await {
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
            command: logs_command(self, self.id, task),
        }
    }

    async fn failed_instances(&self, task: &Task, limit: usize) -> Result<Vec<Task>> {
        let ask = Ask::get(&["runs", self.id, "tasks", &task.name, "instances"]);
        let failed = items(self.client, &ask.with("status", "failed"), limit).await?;
        Ok(failed.iter().map(Tree::read).collect::<Result<_, _>>()?)
    }

    fn command(&self, words: &[&str]) -> String {
        self.args.command(words)
    }
}
