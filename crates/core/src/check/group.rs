//! A group's row says what its instances' rows say.

use super::violation::{Promise, Violation};
use crate::ids::TaskNo;
use crate::kernel::fact::Fact;
use crate::kernel::group::Group;
use crate::kernel::row::TaskRow;
use crate::spec::definition::{Definition, FailureStrategy};
use crate::world::instances::{Standing, tally};
use std::collections::BTreeMap;

/// What the rows of instances come to.
#[derive(Default)]
struct Seen {
    counted: Group,
    rows: u32,
    highest: u32,
}

pub(super) fn check(definition: &Definition, rows: &[TaskRow]) -> Vec<Violation> {
    let mut seen: BTreeMap<TaskNo, Seen> = BTreeMap::new();
    for row in rows {
        let Some(index) = row.task.index else { continue };
        let seen = seen.entry(row.task.no).or_default();
        seen.rows += 1;
        seen.highest = seen.highest.max(index);
        tally(&mut seen.counted, Standing::of(row)).into_iter().for_each(|n| *n += 1);
    }
    let own = rows.iter().filter(|row| row.task.index.is_none());
    let mut found = Vec::new();
    for row in own {
        let seen = seen.remove(&row.task.no).unwrap_or_default();
        let task = definition.tasks.get(row.task.no.position());
        let name = task.map_or("?", |task| &*task.name);
        let wrong = contradictions(row, &seen).into_iter().filter(|(is_wrong, _)| *is_wrong);
        found.extend(wrong.map(|(_, what)| {
            Violation::new(Promise::Tasks, format!("group '{name}' is {}, {what}", row.fact.word()))
        }));
    }
    let lost = seen.keys().map(|no| {
        let what = format!("there are instances of task number {}, which has no row", no.0);
        Violation::new(Promise::Tasks, what)
    });
    found.extend(lost);
    found
}

/// Each with what would have to be said of it.
fn contradictions(row: &TaskRow, seen: &Seen) -> [(bool, &'static str); 7] {
    let Some(group) = row.group.as_deref() else {
        let none = (false, "");
        let lacks = (row.fact == Fact::Open || seen.rows > 0, "and does not say how far it is");
        return [lacks, none, none, none, none, none, none];
    };
    if group.copied {
        let none = (false, "");
        let wrong = row.fact != Fact::Success || !group.is_through();
        let strange = (wrong, "and is said to be copied, which only a success is");
        let stray = (seen.rows > 0, "and is copied, and has rows of instances all the same");
        return [strange, stray, none, none, none, none, none];
    }
    let counts = |it: &Group| {
        let settled = [it.success, it.failed, it.cancelled];
        (settled, [it.delayed, it.held, it.waiting, it.worker_done])
    };
    [
        (group.next > group.count, "and has opened more instances than it has"),
        (seen.rows != group.next, "and has not as many rows of instances as it has opened"),
        (seen.rows > 0 && seen.highest >= group.next, "and has a row of one it never opened"),
        (
            counts(&seen.counted) != counts(group),
            "and counts outcomes or waits that its instances have not",
        ),
        (
            row.fact.is_settled() && row.fact != Fact::Skipped && !group.is_through(),
            "and some of its instances have no outcome",
        ),
        (group.numbered_from > group.attempts, "and its numbers went back"),
        (
            group.worked
                && (row.fact != Fact::Open || !group.is_work_done(FailureStrategy::IgnoreErrors)),
            "and is said to be done, which not all of its instances are",
        ),
    ]
}
