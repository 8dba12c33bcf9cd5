//! What is said when a run is over, wherever it ran: failed tasks with the end of their logs,
//! then the verdict.

use crate::client::wire::{Run, Task};
use crate::{out, time_text};

/// Lines of a failed task's log that are shown.
pub const LOG_LINES: usize = 10;
/// Failed tasks that are shown with their logs.
pub const FAILED_SHOWN_MAX: usize = 20;
/// Tasks that did not run and are named.
pub const NEVER_RAN_SHOWN_MAX: usize = 50;
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

pub fn verdict(run: &Run) -> String {
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

/// A failed task: why, the end of its log, and where the rest is.
pub fn failure(task: &Task, log: Logged) -> String {
    let mut text = format!("\n{} {}", out::red("failed"), out::tame(&task.name));
    if let Some(error) = &task.error {
        text.push_str(&format!(" ({}): {}", error.class, out::tame(&error.message)));
    }
    if task.attempt > 1 {
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
