//! What is said when a run is over, wherever it ran: failed tasks and instances with the end of
//! their logs, then the verdict.

use crate::client::wire::{Run, Task};
use crate::fan::NAMED_MAX;
use crate::progress::what_became;
use crate::{out, time_text};
use anyhow::Result;

/// Lines of a failed task's log that are shown.
pub const LOG_LINES: usize = 10;
/// Failed tasks that are shown with their logs.
const FAILED_SHOWN_MAX: usize = 20;
/// Tasks that did not run and are named.
const NEVER_RAN_SHOWN_MAX: usize = 50;
/// Characters of a log line that are shown.
const LOG_LINE_CHARS_MAX: usize = 500;

/// The end of a failed task's log.
#[derive(Debug)]
pub enum Logged {
    /// There was no attempt.
    None,
    Nothing,
    Unreadable(String),
    Lines {
        /// Each with the word of its stream.
        lines: Vec<(String, String)>,
        /// Lines before these; None if nobody counted.
        before: Option<usize>,
        /// To see the rest.
        command: String,
    },
}

fn verdict(run: &Run) -> String {
    let painted = match run.status.as_str() {
        "success" => out::green("success"),
        "failed" => out::red("failed"),
        status => out::yellow(status),
    };
    let took = time_text::took(run.started_at.or(Some(run.created_at)), run.finished_at);
    let counts = run.tasks.iter().filter(|(word, _)| *word != "total");
    let counts: Vec<String> = counts.map(|(word, n)| format!("{n} {word}")).collect();
    let why = match &run.error {
        Some(error) => format!(" ({}: {})", error.class, out::tame(&error.message)),
        None => String::new(),
    };
    format!("\n{painted} {} in {took}: {}{why}\nrun {}\n", run.workflow, counts.join(", "), run.id)
}

/// Where a run that is over is to be read.
pub trait Past {
    /// The end of a failed task's log.
    async fn logged(&self, task: &Task) -> Logged;
    /// Some failed instances of a fan-out, the first ones.
    async fn failed_instances(&self, task: &Task, limit: usize) -> Result<Vec<Task>>;
    /// A command that a person can copy.
    fn command(&self, words: &[&str]) -> String;
}

/// The command that shows the log of a task or an instance.
pub fn logs_command(past: &impl Past, run: &str, task: &Task) -> String {
    let index = task.index.map(|index| index.to_string());
    let which = index.iter().flat_map(|index| ["--index", index]);
    let words: Vec<&str> = ["logs", run, &task.name].into_iter().chain(which).collect();
    past.command(&words)
}

/// Tells of tasks that never ran, of failures, and how it all ended.
pub async fn tell(past: &impl Past, run: &Run, tasks: &[Task], say: impl Fn(&str)) -> Result<()> {
    for line in what_became(tasks, NEVER_RAN_SHOWN_MAX) {
        out::say(&(line + "\n"));
    }
    let failed = tasks.iter().filter(|task| task.status == "failed");
    for task in failed.clone().take(FAILED_SHOWN_MAX) {
        tell_failure(past, run, task, &say).await?;
    }
    let more = failed.count().saturating_sub(FAILED_SHOWN_MAX);
    if more > 0 {
        say(&format!("\n… and {more} more failed: {}\n", past.command(&["show", &run.id])));
    }
    say(&verdict(run));
    Ok(())
}

async fn tell_failure(past: &impl Past, run: &Run, task: &Task, say: &impl Fn(&str)) -> Result<()> {
    let Some(fan) = task.fan() else {
        say(&failure(task, past.logged(task).await));
        return Ok(());
    };
    say(&failure(task, Logged::None));
    let shown = past.failed_instances(task, NAMED_MAX).await?;
    for instance in &shown {
        say(&failure(instance, past.logged(instance).await));
    }
    let more = (fan.failed as usize).saturating_sub(shown.len());
    if more > 0 {
        let words = ["instances", &run.id, &task.name, "--status", "failed"];
        let (name, command) = (task.title(), past.command(&words));
        say(&format!("\n… and {more} more instances of {name} failed: {command}\n"));
    }
    Ok(())
}

/// A failed task: why, the end of its log, and where the rest is.
fn failure(task: &Task, log: Logged) -> String {
    let mut text = format!("\n{} {}", out::red("failed"), task.title());
    if let Some(error) = &task.error {
        text.push_str(&format!(" ({}): {}", error.class, out::tame(&error.message)));
    }
    if task.attempt > 1 && task.instances.is_none() {
        text.push_str(&format!(", after {} attempts", task.attempt));
    }
    text.push('\n');
    match log {
        Logged::None => {}
        Logged::Nothing => text.push_str("  (it wrote nothing)\n"),
        Logged::Unreadable(why) => {
            text.push_str(&format!("  (its log cannot be read: {why})\n"));
        }
        Logged::Lines { lines, before, command } => {
            for (stream, line) in lines {
                let shown: String = out::tame(&line).chars().take(LOG_LINE_CHARS_MAX).collect();
                text.push_str(&format!("  {} {shown}\n", out::dim(&format!("{stream} |"))));
            }
            let what = match before {
                Some(before) if before > 0 => format!("{before} lines before these"),
                _ => "the log".to_owned(),
            };
            text.push_str(&out::dim(&format!("  {what}: {command}\n")));
        }
    }
    text
}
