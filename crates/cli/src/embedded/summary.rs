//! The end of a run in this process.

use crate::args::Format;
use crate::client::wire::{Run, Task};
use crate::print::{Tree, document};
use crate::summary::{LOG_LINES, Logged, Past, logs_command, tell};
use crate::{data, find, out};
use anyhow::Result;
use mainspring_core::ids::AttemptId;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::Definition;
use mainspring_core::view::shapes;
use mainspring_core::world::input::Named;
use mainspring_engine::logs::{LogPlaces, LogText, stream_word};
use mainspring_store::{InstancesQuery, Store, StoredRun};
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
    let say = if format == Format::Table { out::result } else { out::say };
    tell(&finished, &run, &tasks, say).await?;
    if format != Format::Table {
        document(format, &document_of, || Ok(String::new()))?;
    }
    Ok(())
}

fn views(finished: &Finished<'_>) -> Result<Document> {
    let mut rows = Rows::new(finished.definition.tasks.len());
    let own = finished.stored.tasks.iter().filter(|row| row.task.index.is_none());
    own.cloned().for_each(|row| rows.put(row));
    let run = (&finished.stored.head, &finished.stored.progress);
    let (run, tasks) = shapes::show(finished.definition, run, &rows, mainspring_exec::now());
    let tasks = tasks.iter().map(Tree::of).collect::<Result<_, _>>()?;
    Ok(Document { run: Tree::of(&run)?, tasks })
}

impl Finished<'_> {
    /// The attempt whose log is of interest.
    async fn attempt(&self, task: &Task) -> Result<Option<AttemptId>> {
        let named = Named { task: task.name.as_str().into(), index: task.index };
        let row = find::row(self.store, (&self.stored, self.definition), &named).await?;
        Ok(row.and_then(|row| row.attempt).map(|attempt| attempt.id))
    }

    async fn last_lines(&self, task: &Task) -> Result<Logged> {
        let Some(attempt) = self.attempt(task).await? else { return Ok(Logged::None) };
        let place = (self.stored.head.key, attempt);
        let Some(log) = LogText::open(self.store, self.logs, place).await? else {
            return Ok(Logged::Nothing);
        };
        let (before, lines) = log.last(LOG_LINES)?;
        let line = |it: mainspring_engine::logs::Line| (stream_word(it.stream).to_owned(), it.text);
        Ok(Logged::Lines {
            lines: lines.into_iter().map(line).collect(),
            before: Some(before),
            command: logs_command(self, &self.stored.head.id.to_string(), task),
        })
    }
}

impl Past for Finished<'_> {
    async fn logged(&self, task: &Task) -> Logged {
        self.last_lines(task).await.unwrap_or_else(|error| Logged::Unreadable(error.to_string()))
    }

    async fn failed_instances(&self, task: &Task, limit: usize) -> Result<Vec<Task>> {
        let no = find::task(self.definition, &task.name)?;
        let query = InstancesQuery { from: 0, limit, facts: vec![Fact::Failed] };
        let rows = self.store.instances(self.stored.head.key, no, query).await?;
        let views = find::instances((&self.stored, self.definition), no, &rows);
        Ok(views.iter().map(|view| Tree::of(view)?.read()).collect::<Result<_, _>>()?)
    }

    fn command(&self, words: &[&str]) -> String {
        data::command(words, self.named)
    }
}
