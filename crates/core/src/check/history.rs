//! What was tried before, and what it wrote.

use super::run::Rows;
use super::violation::{Promise, Violation};
use crate::ids::{AttemptId, TaskRef};
use crate::kernel::row::{Attempt, AttemptEnd, AttemptRow, LogSize, TaskRow};
use crate::limits::LOG_INLINE_BYTES_MAX;
use crate::spec::definition::Definition;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(definition: &Definition, stored: Rows<'_>) -> Vec<Violation> {
    let mut past: BTreeMap<TaskRef, Vec<&Attempt>> = BTreeMap::new();
    for AttemptRow { task, attempt, .. } in stored.attempts {
        past.entry(*task).or_default().push(attempt);
    }
    let mut found: Vec<Violation> = Vec::new();
    for row in stored.tasks {
        let past = past.remove(&row.task).unwrap_or_default();
        let wrong = numbered(row, &past).into_iter().chain(ended(&past));
        let name = name(definition, row.task);
        found.extend(
            wrong.map(|what| Violation::new(Promise::Attempts, format!("task {name}: {what}"))),
        );
    }
    for (task, _) in past {
        let name = name(definition, task);
        let what = format!("task {name} has attempts, and no row of its own");
        found.push(Violation::new(Promise::Attempts, what));
    }
    found.extend(logs(stored));
    found
}

fn name(definition: &Definition, task: TaskRef) -> String {
    match definition.tasks.get(task.no.position()) {
        Some(known) => format!("'{}'", known.name),
        None => format!("number {}", task.no.0),
    }
}

/// Numbers are 1, 2, 3 …, the current one last. A refused start gives its number back.
fn numbered(row: &TaskRow, past: &[&Attempt]) -> Option<String> {
    let refused = |attempt: &&Attempt| matches!(attempt.end, Some(AttemptEnd::Refused(_)));
    let current = row.attempt.as_ref();
    let used = past.iter().copied().chain(current.filter(|attempt| !refused(attempt)));
    let landing = row.finalizing().and_then(|finalizer| finalizer.attempt);
    let numbers = used.map(|attempt| attempt.number).chain(landing.map(|it| it.number));
    let mut numbers: Vec<u32> = numbers.collect();
    // The work of a task that was finalized comes before what is in the history already.
    numbers.sort_unstable();
    let is_right = numbers.iter().copied().eq(1..=row.attempts)
        && current.filter(refused).is_none_or(|attempt| attempt.number == row.attempts + 1);
    (!is_right).then(|| {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        format!("it used {} attempt numbers, and has {}", row.attempts, list(&numbers))
    })
}

fn list(numbers: &[String]) -> String {
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") }
}

fn ended(past: &[&Attempt]) -> Option<String> {
    let open =
        past.iter().find(|attempt| attempt.end.is_none() || attempt.finished_at.is_none())?;
    Some(format!("attempt {} gave way to another, and has not ended", open.number))
}

fn logs(stored: Rows<'_>) -> Vec<Violation> {
    let current = stored.tasks.iter().filter_map(|row| row.attempt.as_ref());
    let landing = stored.tasks.iter().filter_map(|row| row.finalizing()?.attempt);
    let past = stored.attempts.iter().map(|row| &row.attempt);
    let attempts = current.chain(past).map(|attempt| attempt.id);
    let attempts: BTreeSet<AttemptId> = attempts.chain(landing.map(|it| it.id)).collect();
    let wrong = stored.logs.iter().filter_map(|(attempt, size)| match size {
        _ if !attempts.contains(attempt) => {
            Some(format!("there is a log of attempt {attempt}, and no such attempt"))
        }
        LogSize::Inline { bytes } if *bytes > LOG_INLINE_BYTES_MAX as u64 => Some(format!(
            "the log of attempt {attempt} has {bytes} bytes in the database; at most \
             {LOG_INLINE_BYTES_MAX} are kept there"
        )),
        LogSize::Inline { .. } | LogSize::File { .. } | LogSize::Blob { .. } => None,
    });
    wrong.map(|what| Violation::new(Promise::Logs, what)).collect()
}
