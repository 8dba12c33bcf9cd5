//! Runs that run another one anew: what they begin with is what the former run had come to, worked
//! out once more and without the code under test; and it never runs again.

use crate::sim::oracle::{Met, Reading, Standing};
use crate::sim::outputs::Blobs;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::record::Turn;
use mainspring_core::ids::{RunId, TaskNo};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::row::{AttemptEnd, TaskRow};
use mainspring_core::plan::dag::kept::Pinned;
use mainspring_core::spec::definition::{Definition, Task};
use mainspring_store::StoredRun;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was asked for, and the former run as it was read then.
#[derive(Clone, Debug)]
pub struct Anew {
    pub former: StoredRun,
    pub was: Arc<Definition>,
    pub from: Option<TaskNo>,
    pub pinned: Pinned,
}

/// Taken over from another run.
pub fn is_copied(row: &TaskRow) -> bool {
    let end = row.attempt.as_ref().and_then(|attempt| attempt.end.as_ref());
    end == Some(&AttemptEnd::Copied) || row.group.as_ref().is_some_and(|group| group.copied)
}

impl Anew {
    /// Looks at the first that is durable of the new run; says which rows it was to begin with.
    pub fn check(
        &self,
        run: &StoredRun,
        definition: &Definition,
        blobs: &Blobs,
    ) -> Result<Vec<TaskRow>, crate::sim::promise::Broken> {
        let kept = self.kept(definition);
        let mut found = Vec::new();
        for row in run.tasks.iter().filter(|row| row.task.index.is_none()) {
            let former = kept.get(&row.task.no).copied();
            Promise::Copied.ensure(former.is_some() || !is_copied(row), || {
                format!("{:?} of run {} was not to be copied", row.task, run.head.key.0)
            })?;
            if let Some(former) = former {
                self.check_copy(row, former, (run.head.id, blobs))?;
                found.push(row.clone());
            }
        }
        let lost = kept.keys().find(|no| !found.iter().any(|row| row.task.no == **no));
        Promise::Copied.ensure(lost.is_none(), || {
            format!("{lost:?} of run {} was to be copied", run.head.key.0)
        })?;
        Ok(found)
    }

    fn check_copy(&self, row: &TaskRow, former: &TaskRow, place: (RunId, &Blobs)) -> Check {
        let (new, blobs) = place;
        let id = |row: &TaskRow| row.attempt.as_ref().map(|attempt| attempt.id);
        let value = |run, row: &TaskRow| row.output.as_ref().map(|it| blobs.value(run, it));
        let count = |row: &TaskRow| row.group.as_ref().map(|group| group.count);
        let same = row.fact == former.fact
            && (id(row) == id(former) || former.fact == Fact::Skipped)
            && row.output == former.output
            && value(new, row) == value(self.former.head.id, former)
            && row.settled_at == former.settled_at
            && count(row) == count(former).filter(|count| *count > 0);
        Promise::Copied.ensure(same, || format!("{row:?}, was {former:?}"))
    }

    /// The tasks of the new run that are kept, each with its former row: all that had ended well,
    /// less the one it begins from, less what stands on something that is not kept.
    fn kept(&self, definition: &Definition) -> BTreeMap<TaskNo, &TaskRow> {
        let Some(from) = self.from else { return BTreeMap::new() };
        let former = Reading::new(&self.was, self.former.tasks.iter());
        let mut stays: BTreeMap<TaskNo, Option<&TaskRow>> = BTreeMap::new();
        // Sketches name only what stands above.
        for (position, task) in definition.tasks.iter().enumerate() {
            let no = TaskNo::from_position(position);
            let stands = task.depends_on.iter().all(|edge| stays.contains_key(&edge.upstream));
            let was = self.was.task_no(&task.name).filter(|_| stands && no != from);
            let Some(was) = was.filter(|was| self.ended_well(&former, *was, task)) else {
                continue;
            };
            stays.insert(no, former.row(was).filter(|row| row.fact != Fact::None));
            if stays[&no].is_some_and(|row| row.fact == Fact::Success)
                && !is_met(definition, &stays, no)
            {
                stays.remove(&no);
            }
        }
        stays.into_iter().filter_map(|(no, row)| Some((no, row?))).collect()
    }

    fn ended_well(&self, former: &Reading<'_>, was: TaskNo, task: &Task) -> bool {
        let is_alike = |was: &Task| {
            was.fan_out.is_some() == task.fan_out.is_some()
                && (was.action.executor().is_some() || was.control().is_some())
                    == (task.action.executor().is_some() || task.control().is_some())
        };
        match former.standing(was) {
            Standing::Success => is_alike(self.was.task(was)),
            Standing::Skipped => self.pinned == Pinned::Same,
            _ => false,
        }
    }
}

/// Everything that it waits for is there, by what is kept alone.
fn is_met(definition: &Definition, stays: &BTreeMap<TaskNo, Option<&TaskRow>>, no: TaskNo) -> bool {
    let rows: Vec<TaskRow> = stays
        .iter()
        .filter_map(|(no, row)| {
            let row = (*row)?;
            Some(TaskRow { task: mainspring_core::ids::TaskRef::plain(*no), ..row.clone() })
        })
        .collect();
    let reading = Reading::new(definition, rows.iter());
    reading.dependencies(no).all(|(_, met)| met == Met::Yes)
}

/// Nothing happens to what was copied, whatever else is asked for.
pub fn check(turn: &Turn<'_>) -> Check {
    let before = turn.before.into_iter().flat_map(|past| past.rows.values());
    for row in before.filter(|row| is_copied(row)) {
        let now = turn.after.tasks.iter().find(|now| now.task == row.task);
        Promise::Copied.ensure(now == Some(row), || {
            format!("{} was copied, and is {now:?}", turn.name(row.task))
        })?;
    }
    Ok(())
}
