//! What is said when a run is over: failed tasks with the end of their logs, then the verdict.

use crate::log_text::{LogText, stream_word};
use crate::progress::what_became;
use crate::{data, out, time_text};
use anyhow::Result;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::TaskRow;
use mainspring_core::kernel::rows::Rows;
use mainspring_core::spec::definition::Definition;
use mainspring_core::view::shapes::{self, RunView, TaskView};
use mainspring_store::{Store, StoredRun};
use serde::Serialize;
use std::path::Path;

const LOG_LINES: usize = 10;
/// Characters of a log line that are shown.
const LOG_LINE_CHARS_MAX: usize = 500;
/// Failed tasks that are shown with their logs.
const FAILED_SHOWN_MAX: usize = 20;
/// Tasks that did not run and are named.
const NEVER_RAN_SHOWN_MAX: usize = 50;

/// A run that is over, with what is needed to tell of it.
pub struct Finished<'a> {
    pub store: &'a dyn Store,
    /// As held, for logs.
    pub folder: &'a Path,
    /// As named on the command line, for commands to copy.
    pub named: &'a Path,
    pub definition: &'a Definition,
    pub stored: StoredRun,
}

/// The document of `-o json`.
#[derive(Serialize)]
struct Document {
    run: RunView,
    tasks: Vec<TaskView>,
}

/// The summary through `say`; with a document on stdout when it is asked for.
pub async fn print(finished: Finished<'_>, say: fn(&str), json: Option<fn(&str)>) -> Result<()> {
    let (run, tasks) = views(&finished);
    for line in what_became(&tasks, NEVER_RAN_SHOWN_MAX) {
        out::say(&(line + "\n"));
    }
    let failed = finished.stored.tasks.iter().filter(|row| row.fact == Fact::Failed);
    for row in failed.clone().take(FAILED_SHOWN_MAX) {
        say(&failure(&finished, row).await);
    }
    let more = failed.count().saturating_sub(FAILED_SHOWN_MAX);
    if more > 0 {
        let command = data::command(&["show", &run.id.to_string()], finished.named);
        say(&format!("\n… and {more} more failed: {command}\n"));
    }
    say(&verdict(&run));
    if let Some(print) = json {
        print(&(serde_json::to_string_pretty(&Document { run, tasks })? + "\n"));
    }
    Ok(())
}

fn views(finished: &Finished<'_>) -> (RunView, Vec<TaskView>) {
    let mut rows = Rows::new(finished.definition.tasks.len());
    finished.stored.tasks.iter().cloned().for_each(|row| rows.put(row));
    let run = (&finished.stored.head, &finished.stored.progress);
    shapes::show(finished.definition, run, &rows, mainspring_exec::now())
}

fn verdict(run: &RunView) -> String {
    let status = run.status.word();
    let painted = match status {
        "success" => out::green(status),
        "failed" => out::red(status),
        status => out::yellow(status),
    };
    let took = time_text::took(run.started_at.or(Some(run.created_at)), run.finished_at);
    let counts = run.tasks.iter().filter(|(word, _)| **word != "total");
    let counts: Vec<String> = counts.map(|(word, n)| format!("{n} {word}")).collect();
    let why = match &run.error {
        Some(error) => format!(" ({}: {})", error.class, out::tame(&error.message)),
        None => String::new(),
    };
    format!("\n{painted} {} in {took}: {}{why}\nrun {}\n", run.workflow, counts.join(", "), run.id)
}

/// A failed task: why, the end of its log, and where the rest is.
async fn failure(finished: &Finished<'_>, row: &TaskRow) -> String {
    let name = &finished.definition.task(row.task.no).name;
    let views = shapes::attempts(&[], row);
    let error = views.last().and_then(|attempt| attempt.error.as_ref());
    let mut text = format!("\n{} {name}", out::red("failed"));
    if let Some(error) = error {
        text.push_str(&format!(" ({}): {}", error.class, out::tame(&error.message)));
    }
    if row.attempts > 1 {
        text.push_str(&format!(", after {} attempts", row.attempts));
    }
    text.push('\n');
    let Some(attempt) = &row.attempt else { return text };
    let place = (finished.stored.head.key, attempt);
    let log = match LogText::open(finished.store, finished.folder, place).await {
        Ok(Some(log)) => log.last(LOG_LINES),
        Ok(None) => return text + "  (it wrote nothing)\n",
        Err(error) => Err(error),
    };
    match log {
        Err(error) => text.push_str(&format!("  (its log cannot be read: {error:#})\n")),
        Ok((before, lines)) => {
            for line in lines {
                let shown: String =
                    out::tame(&line.text).chars().take(LOG_LINE_CHARS_MAX).collect();
                text.push_str(&format!(
                    "  {} {shown}\n",
                    out::dim(&format!("{} |", stream_word(line.stream)))
                ));
            }
            let id = finished.stored.head.id.to_string();
            let command = data::command(&["logs", &id, name], finished.named);
            let what = if before > 0 {
                format!("{before} lines before these")
            } else {
                "the log".to_owned()
            };
            text.push_str(&out::dim(&format!("  {what}: {command}\n")));
        }
    }
    text
}
