//! Groups whose work is done before all of it has landed: what waits for no more than the work
//! (`when: completed`) goes on with the list of what the instances did.
//!
//! ```text
//!  last instance done ─► list asked for ─► worked ─► `completed` edges are satisfied
//!                                            │
//!  one fails, is cancelled or goes back ─► not any more ─► asked for again, if still done
//! ```
//!
//! Whoever goes on so is made of the work itself: an instance that fails to land later is null in
//! the list that the group puts out, and keeps its place in that of the work.

use crate::evaluate::{Answer, Asked, WorkDone};
use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::group::Group;
use crate::kernel::row::TaskRow;
use crate::output::Output;
use crate::plan::dag::unlanded::may_precede_landing;
use crate::spec::definition::When;
use crate::time::Timestamp;
use crate::world::run::{About, Run};
use crate::world::state::World;

impl World {
    /// An instance stands otherwise than before: edges that the work of its group satisfied may be
    /// open again, also when the group is through and its outcome is being worked out.
    pub(super) fn follow_work(&mut self, key: RunKey, no: TaskNo) {
        if self.run_mut(key).unworked(no).is_some() {
            self.follow(key, no);
        }
    }

    /// Its group is not through.
    pub(super) fn look_at_work(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let run = self.run_mut(key);
        let Some(Group { count, .. }) = run.unworked(no) else { return };
        if run.is_work_done(no) && run.is_work_waited_for(no) && !run.groups[&no].is_unlisted {
            self.ask(now, key, Asked::Work { task: no, count });
        }
    }

    pub(super) fn work_known(&mut self, key: RunKey, no: TaskNo, answer: Answer) {
        // A list that cannot be made cannot be made when all has landed either: that is said then.
        let Answer::Value(output) = answer else {
            let instances = self.run_mut(key).groups.get_mut(&no);
            return instances.into_iter().for_each(|it| it.is_unlisted = true);
        };
        self.draft.weigh(Output::weight(&output));
        self.change(key, TaskRef::plain(no), |row| {
            row.output = Some(output);
            row.group.iter_mut().for_each(|group| group.worked = true);
        });
        self.draft.task(key, TaskRef::plain(no));
        self.follow(key, no);
    }
}

impl Run {
    /// A group that lands its work and has not said that all of it is done.
    fn unworked(&self, no: TaskNo) -> Option<Group> {
        let lands = self.blueprint.definition.task(no).finalize.is_some();
        self.group(no).copied().filter(|group| lands && !group.worked)
    }

    /// Every instance has done its work, and none stands in the way of the group's success.
    fn is_work_done(&self, no: TaskNo) -> bool {
        self.group(no).is_some_and(|group| group.is_work_done(self.strategy(no)))
    }

    fn is_work_waited_for(&self, no: TaskNo) -> bool {
        let graph = &self.blueprint.graph;
        let mut edges = graph.dependents(no).iter().map(|(edge, _)| graph.edge(*edge).when);
        edges.any(|when| when == When::Completed)
    }

    /// An instance has come to this: what it makes of a list that others may have.
    pub fn note_work(&mut self, no: TaskNo, fact: Fact) {
        if matches!(fact, Fact::WorkerDone | Fact::Success) {
            return;
        }
        self.rows.entry(no).forget_work();
        self.asked.remove(&About::Work(no));
    }

    /// What a fan-out reads of a task above it, where it need not have landed.
    pub fn work_read(&self, reader: TaskNo, no: TaskNo) -> Option<WorkDone> {
        let definition = &self.blueprint.definition;
        let fan_out = definition.task(reader).fan_out.as_ref()?;
        if !fan_out.reads().any(|read| read == no) || !may_precede_landing(definition, reader, no) {
            return None;
        }
        let row = self.rows.get(no);
        let group = row.and_then(|row| row.group.as_ref()).filter(|group| !group.copied);
        let output = row.and_then(|row| row.output.clone());
        // None of it has failed to land: the list is that of the work.
        let is_whole = |group: &Group| group.failed + group.cancelled == 0 && output.is_some();
        Some(match group {
            Some(group) if is_whole(group) => WorkDone::Output(output),
            Some(group) if group.settled() + group.worker_done == group.count => {
                WorkDone::List { count: group.count }
            }
            Some(_) => WorkDone::Output(None),
            None => WorkDone::Output(output),
        })
    }

    /// A fan-out that is open and made of what this group put out before it had landed.
    pub fn made_of(&self, no: TaskNo) -> Option<TaskNo> {
        let reads = |dependent: &TaskNo| {
            let fan_out = self.blueprint.definition.task(*dependent).fan_out.as_ref();
            fan_out.is_some_and(|fan_out| fan_out.reads().any(|read| read == no))
        };
        let open = |dependent: &TaskNo| self.rows.fact(*dependent) == Fact::Open;
        self.blueprint.graph.tasks().find(|it| open(it) && reads(it))
    }
}

impl TaskRow {
    /// What the instances of a group have done is not there for others any more.
    pub fn forget_work(&mut self) {
        if let Some(group) = self.group.as_mut().filter(|group| group.worked) {
            group.worked = false;
            self.output = None;
        }
    }
}
