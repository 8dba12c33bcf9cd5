//! What a run that begins anew from one of its tasks keeps of the former run.
//!
//! Kept is what had succeeded, or was skipped, and stands on nothing but what is kept: everything
//! that is neither the named task nor below something that runs again.

use crate::ids::{TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::group::Group;
use crate::kernel::row::{Attempt, AttemptEnd, TaskRow};
use crate::kernel::rows::Rows;
use crate::kernel::transition::{Event, transition};
use crate::plan::dag::edge::{Doom, EdgeState, Standing, edge_state};
use crate::plan::dag::plan::{Course, Plan, Shape};
use crate::spec::definition::Task;
use std::collections::{BTreeMap, BTreeSet};

/// The run that is over.
#[derive(Clone, Copy, Debug)]
pub struct Former<'a> {
    pub shape: Shape<'a>,
    pub rows: &'a Rows,
}

/// The version that runs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinned {
    /// The former run's.
    Same,
    /// Another: tasks are found by their names, and conditions are looked at again.
    Other,
}

/// Where the new run begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    pub from: TaskNo,
    pub pinned: Pinned,
    /// Tasks of the former run of which something is lost: they run again.
    pub lost: &'a BTreeSet<TaskNo>,
}

/// A task that is kept: which it was, and its row in the new run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub was: TaskNo,
    pub row: TaskRow,
}

/// Rows that the new run begins with, in the order of its tasks.
pub fn kept(former: Former<'_>, new: Shape<'_>, begin: Beginning<'_>) -> Vec<Kept> {
    let plan = Plan::new(former.shape, former.rows, Course::All);
    let names = former.shape.graph.tasks().map(|no| (&*former.shape.definition.task(no).name, no));
    let count = new.definition.tasks.len();
    let mut keeping = Keeping {
        former,
        plan: &plan,
        names: names.collect(),
        new,
        rows: Rows::new(count),
        stays: vec![None; count],
    };
    let mut found: Vec<Kept> = Vec::new();
    for no in new.graph.order() {
        found.extend(keeping.look(*no, begin));
    }
    found.sort_by_key(|kept| kept.row.task);
    found
}

/// How a task of the new run stays as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stays {
    ByRow,
    /// Skipped with something above it: nothing is stored for that.
    Derived,
}

struct Keeping<'a> {
    former: Former<'a>,
    plan: &'a Plan,
    /// Of the former run.
    names: BTreeMap<&'a str, TaskNo>,
    new: Shape<'a>,
    rows: Rows,
    /// For each task of the new run; none: it runs again.
    stays: Vec<Option<Stays>>,
}

impl Keeping<'_> {
    fn look(&mut self, no: TaskNo, begin: Beginning<'_>) -> Option<Kept> {
        let task = self.new.definition.task(no);
        let was = *self.names.get(&*task.name)?;
        let mut above = task.depends_on.iter().map(|edge| self.stays[edge.upstream.position()]);
        let stands = above.all(|stays| stays.is_some());
        if no == begin.from || begin.lost.contains(&was) || !stands {
            return None;
        }
        let (fact, same) = (self.former.rows.fact(was), begin.pinned == Pinned::Same);
        let is_alike = is_alike(self.former.shape.definition.task(was), task);
        match fact {
            Fact::None if same && self.plan.doom(was) == Some(Doom::Skipped) => {
                self.stays[no.position()] = Some(Stays::Derived);
                None
            }
            Fact::Success if is_alike && self.is_satisfied(task) => self.keep(no, was),
            Fact::Skipped if same => self.keep(no, was),
            _ => None,
        }
    }

    /// Another version may wait for something else.
    fn is_satisfied(&self, task: &Task) -> bool {
        task.depends_on.iter().all(|edge| {
            let (fact, started) =
                (self.rows.fact(edge.upstream), self.rows.ever_started(edge.upstream));
            let doom = self.stays[edge.upstream.position()]
                .and_then(|stays| (stays == Stays::Derived).then_some(Doom::Skipped));
            edge_state(edge.when, Standing::of(fact, started, doom)) == EdgeState::Satisfied
        })
    }

    fn keep(&mut self, no: TaskNo, was: TaskNo) -> Option<Kept> {
        let row = copy(self.former.rows.get(was)?, no);
        self.rows.put(row.clone());
        self.stays[no.position()] = Some(Stays::ByRow);
        Some(Kept { was, row })
    }
}

/// Its row means the same for the task of the other version.
fn is_alike(was: &Task, task: &Task) -> bool {
    let has_attempts = |task: &Task| task.action.executor().is_some() || task.control().is_some();
    was.fan_out.is_some() == task.fan_out.is_some() && has_attempts(was) == has_attempts(task)
}

/// The row of the new run. Its attempt is the one that made it, in the former run; instances of a
/// group have no rows here.
fn copy(row: &TaskRow, no: TaskNo) -> TaskRow {
    let event = if row.fact == Fact::Skipped { Event::ConditionFalse } else { Event::Copied };
    let attempt = row.attempt.as_ref().filter(|_| row.fact == Fact::Success);
    let attempt = attempt.map(|attempt| Attempt {
        number: 1,
        end: Some(AttemptEnd::Copied),
        ..attempt.clone()
    });
    let group = row.group.as_deref().filter(|group| group.count > 0);
    TaskRow {
        fact: transition(Fact::None, event).expect("a task without a row takes both"),
        attempts: u32::from(attempt.is_some()),
        attempt,
        ever_started: row.ever_started,
        settled_at: row.settled_at,
        output: row.output.clone(),
        group: group.map(|group| {
            let Group { count, next, opened_at, success, failed, cancelled, .. } = *group;
            let counts = Group { count, next, success, failed, cancelled, ..Group::default() };
            Box::new(Group { opened_at, copied: true, ..counts })
        }),
        ..TaskRow::new(TaskRef::plain(no))
    }
}
