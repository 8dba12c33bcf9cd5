//! The end of a run in this process.

use crate::args::Format;
use crate::client::wire::{Run, Task};
use crate::print::{Tree, document};
use crate::progress::what_became;
use crate::summary::{FAILED_SHOWN_MAX, LOG_LINES, Logged, NEVER_RAN_SHOWN_MAX, failure, verdict};
use crate::{data, out};
use anyhow::Result;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::Definition;
use mainspring_core::view::shapes;
use mainspring_engine::logs::{LogPlaces, LogText, stream_word};
use mainspring_store::{Store, StoredRun};
use serde::Serialize;
use std::path::Path;

/// A run that is over, with what is needed to tell of it.
pub struct Finished<'a> {
    pub store: &'a dyn Store,
    /// As held, for logs.
    pub logs: &'a LogPlaces,
    /// As named on the command line, for commands to copy.
    pub named: &'a Path,
    pub definition: &'a Definition,
    pub stored: StoredRun,
}

/// The document of `-o json` and `-o yaml`.
#[derive(Serialize)]
struct Document {
    run: Tree,
    tasks: Vec<Tree>,
}

/// The summary on stdout; on stderr when a document is asked for on stdout.
pub async fn print(finished: Finished<'_>, format: Format) -> Result<()> {
    let document_of = views(&finished)?;
    let run: Run = document_of.run.read()?;
    let tasks: Vec<Task> = document_of.tasks.iter().map(Tree::read).collect::<Result<_, _>>()?;
    for line in what_became(&tasks, NEVER_RAN_SHOWN_MAX) {
        out::say(&(line + "\n"));
    }
    let say = if format == Format::Table { out::result } else { out::say };
    let failed = tasks.iter().filter(|task| task.status == "failed");
    for task in failed.clone().take(FAILED_SHOWN_MAX) {
        say(&failure(task, logged(&finished, task).await));
    }
    let more = failed.count().saturating_sub(FAILED_SHOWN_MAX);
    if more > 0 {
        let command = data::command(&["show", &run.id], finished.named);
        say(&format!("\n… and {more} more failed: {command}\n"));
    }
    say(&verdict(&run));
    if format != Format::Table {
        document(format, &document_of, || Ok(String::new()))?;
    }
    Ok(())
}

fn views(finished: &Finished<'_>) -> Result<Document> {
    let mut rows = Rows::new(finished.definition.tasks.len());
    finished.stored.tasks.iter().cloned().for_each(|row| rows.put(row));
    let run = (&finished.stored.head, &finished.stored.progress);
    let (run, tasks) = shapes::show(finished.definition, run, &rows, mainspring_exec::now());
    let tasks = tasks.iter().map(Tree::of).collect::<Result<_, _>>()?;
    Ok(Document { run: Tree::of(&run)?, tasks })
}

async fn logged(finished: &Finished<'_>, task: &Task) -> Logged {
    let no = finished.definition.task_no(&task.name);
    let row = finished.stored.tasks.iter().find(|row| Some(row.task.no) == no);
    let Some(attempt) = row.and_then(|row| row.attempt.as_ref()) else { return Logged::None };
    let place = (finished.stored.head.key, attempt.id);
    let last = match LogText::open(finished.store, finished.logs, place).await {
        Ok(None) => return Logged::Nothing,
        Ok(Some(log)) => log.last(LOG_LINES),
        Err(error) => return Logged::Unreadable(error.to_string()),
    };
    match last {
        Err(error) => Logged::Unreadable(error.to_string()),
        Ok((before, lines)) => {
            let line =
                |it: mainspring_engine::logs::Line| (stream_word(it.stream).to_owned(), it.text);
            let id = finished.stored.head.id.to_string();
            Logged::Lines {
                lines: lines.into_iter().map(line).collect(),
                before: Some(before),
                command: data::command(&["logs", &id, &task.name], finished.named),
            }
        }
    }
}
