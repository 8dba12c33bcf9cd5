//! What was tried before, and what it wrote.

use super::run::Rows;
use super::violation::{Promise, Violation};
use crate::ids::{AttemptId, TaskNo, TaskRef};
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
    let froms = froms(stored.tasks);
    let from = |task: TaskRef| task.index.and_then(|_| froms.get(&task.no)).copied().unwrap_or(0);
    for row in stored.tasks {
        let past = past.remove(&row.task).unwrap_or_default();
        let wrong = numbered(row, &past, from(row.task)).into_iter().chain(ended(&past));
        let name = name(definition, row.task);
        found.extend(
            wrong.map(|what| Violation::new(Promise::Attempts, format!("task {name}: {what}"))),
        );
    }
    // An instance of a group that went back has its history, and a row again when that opens.
    let went_back = |task: &TaskRef, past: &[&Attempt]| {
        task.index.is_some() && past.iter().all(|attempt| attempt.number <= from(*task))
    };
    for (task, _) in past.into_iter().filter(|(task, past)| !went_back(task, past)) {
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

/// Numbers up to this one were used by instances of a group before that went back.
fn froms(rows: &[TaskRow]) -> BTreeMap<TaskNo, u32> {
    let groups = rows.iter().filter_map(|row| Some((row.task.no, row.group.as_deref()?)));
    groups.map(|(no, group)| (no, group.numbered_from)).collect()
}

/// Numbers are 1, 2, 3 …, the current one last. A refused start gives its number back. Those of an
/// instance go on behind what all others of its group had used when that went back.
fn numbered(row: &TaskRow, past: &[&Attempt], from: u32) -> Option<String> {
    let refused = |attempt: &&Attempt| matches!(attempt.end, Some(AttemptEnd::Refused(_)));
    let current = row.attempt.as_ref();
    let used = past.iter().copied().chain(current.filter(|attempt| !refused(attempt)));
    let landing = row.finalizing().and_then(|finalizer| finalizer.attempt);
    let numbers = used.map(|attempt| attempt.number).chain(landing.map(|it| it.number));
    let mut numbers: Vec<u32> = numbers.collect();
    // The work of a task that was finalized comes before what is in the history already.
    numbers.sort_unstable();
    let (former, own): (Vec<u32>, Vec<u32>) = numbers.iter().partition(|number| **number <= from);
    let is_right = own.iter().copied().eq(from + 1..=row.attempts)
        && former.windows(2).all(|pair| pair[0] < pair[1])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::group::Group;
    use crate::time::Timestamp;

    fn attempt(number: u32) -> Attempt {
        let (id, at) = (AttemptId::from_parts(u64::from(number), [0; 10]), Timestamp(1));
        let (finished_at, end) = (Some(at), Some(AttemptEnd::Success));
        Attempt { number, id, dispatched_at: at, started_at: Some(at), finished_at, end }
    }

    fn instance(index: u32, attempts: u32) -> TaskRow {
        let task = TaskRef { no: TaskNo(0), index: Some(index) };
        TaskRow { attempts, attempt: Some(attempt(attempts)), ..TaskRow::new(task) }
    }

    #[test]
    fn instances_number_on_behind_what_their_group_had_used() {
        let (first, second) = (attempt(1), attempt(3));
        assert_eq!(numbered(&instance(0, 4), &[&first], 3), None, "it had used one");
        assert_eq!(numbered(&instance(7, 4), &[], 3), None, "it is new");
        assert_eq!(numbered(&instance(0, 4), &[&first, &second], 3), None);
        assert!(numbered(&instance(0, 5), &[&first], 3).is_some(), "4 is missing");
        assert!(numbered(&instance(0, 2), &[], 0).is_some(), "1 is missing");
        assert!(numbered(&instance(0, 4), &[&first, &first], 3).is_some(), "twice");
    }

    #[test]
    fn a_group_that_went_back_says_how_far_its_numbers_were_used() {
        let mut group = TaskRow::new(TaskRef::plain(TaskNo(0)));
        group.group = Some(Box::new(Group { numbered_from: 3, ..Group::default() }));
        assert_eq!(froms(&[group, instance(0, 4)]), BTreeMap::from([(TaskNo(0), 3)]));
    }
}
