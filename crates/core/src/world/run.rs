//! One active run in memory: its rows and the indexes over them.

use crate::error::TaskError;
use crate::evaluate::Asked;
use crate::ids::{TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::finalizer::Step;
use crate::kernel::group::Group;
use crate::kernel::row::{Counts, RunHead, RunProgress, RunStatus, Stopping, TaskRow};
use crate::kernel::rows::Rows;
use crate::kernel::wait::SignalRow;
use crate::output::Output;
use crate::plan::dag::outcome::outcome;
use crate::plan::dag::plan::{Course, Plan};
use crate::time::Timestamp;
use crate::view::word::Word;
use crate::view::words;
use crate::work::ExecutorKind;
use crate::world::blueprint::Blueprint;
use crate::world::input::{Named, Refusal};
use crate::world::instances::{Instances, Standing};
use crate::world::memory::Unread;
use crate::world::ready::Priority;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug)]
pub struct Run {
    pub head: Arc<RunHead>,
    pub workdir: Arc<str>,
    pub progress: RunProgress,
    pub blueprint: Arc<Blueprint>,
    pub rows: Rows,
    pub plan: Plan,
    /// The group that it is counted in: none if an ancestor of it holds its group.
    pub holds: Option<Arc<str>>,
    /// Tasks without an outcome, stored or derived.
    pub unsettled: u32,
    /// Of every group that is open, and of those a retry may open again.
    pub groups: BTreeMap<TaskNo, Instances>,
    /// What is being worked out, by the number of its question.
    pub asked: BTreeMap<About, u64>,
    /// Tasks whose conditions were true.
    pub passed: BTreeSet<TaskNo>,
    pub unread: Unread,
    /// The newest of each key.
    pub signals: BTreeMap<Arc<str>, SignalRow>,
    /// What waits for which signal.
    pub awaiting: BTreeSet<(Arc<str>, TaskRef)>,
    /// What it puts out as a whole, once that was worked out.
    pub output: Option<Result<Output, TaskError>>,
    /// It is among those that may leave memory next.
    pub is_drowsy: bool,
}

/// What a question is about: nothing is asked twice at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    Opening(TaskNo),
    Items(TaskNo),
    Noops(TaskNo),
    List(TaskNo),
    Work(TaskNo),
    RunOutput,
}

impl About {
    pub fn of(asked: &Asked) -> Self {
        match asked {
            Asked::Opening(no) | Asked::Parking(no) => Self::Opening(*no),
            Asked::Items(no) => Self::Items(*no),
            Asked::Noops { task, .. } => Self::Noops(*task),
            Asked::List { task, .. } => Self::List(*task),
            Asked::Work { task, .. } => Self::Work(*task),
            Asked::RunOutput => Self::RunOutput,
        }
    }

    /// None for the run as a whole.
    pub fn task(self) -> Option<TaskNo> {
        match self {
            Self::Opening(no)
            | Self::Items(no)
            | Self::Noops(no)
            | Self::List(no)
            | Self::Work(no) => Some(no),
            Self::RunOutput => None,
        }
    }
}

impl Run {
    pub fn new(
        head: Arc<RunHead>,
        progress: RunProgress,
        blueprint: Arc<Blueprint>,
        rows: Rows,
    ) -> Self {
        let plan = Plan::new(blueprint.shape(), &rows, Course::of(&progress));
        let workdir = head.workdir.as_str().into();
        let mut run = Self {
            head,
            workdir,
            progress,
            blueprint,
            rows,
            plan,
            holds: None,
            unsettled: 0,
            groups: BTreeMap::new(),
            asked: BTreeMap::new(),
            passed: BTreeSet::new(),
            unread: Unread::default(),
            signals: BTreeMap::new(),
            awaiting: BTreeSet::new(),
            output: None,
            is_drowsy: false,
        };
        run.unsettled = run.count_unsettled();
        run.count_readers();
        run
    }

    /// Everything that can be computed from the rows, computed again.
    pub fn replan(&mut self) {
        self.count_anew();
        // A condition is looked at once: again only if what it stood on is gone. What was asked may
        // look different now.
        let (plan, rows) = (&self.plan, &self.rows);
        self.passed.retain(|no| rows.fact(*no) == Fact::None && plan.is_open(*no));
        self.asked.clear();
        self.groups.values_mut().for_each(|instances| instances.around = None);
    }

    /// The plan and every count over the rows.
    pub fn count_anew(&mut self) {
        self.plan_anew();
        self.output = None;
        self.unread.settled.clear();
        self.count_readers();
        // What has settled since the last batch is not on its way into the store yet.
        self.unread.recounted = true;
    }

    /// What each task waits for, and how many have no outcome.
    pub fn plan_anew(&mut self) {
        let course = Course::of(&self.progress);
        self.plan = Plan::new(self.blueprint.shape(), &self.rows, course);
        self.unsettled = self.count_unsettled();
    }

    pub fn count_unsettled(&self) -> u32 {
        let tasks = self.blueprint.graph.tasks();
        let open = tasks.filter(|no| !self.plan.is_settled(&self.rows, *no)).count();
        u32::try_from(open).expect("task counts fit u32")
    }

    /// The row of a task or an instance.
    pub fn row(&self, task: TaskRef) -> Option<&TaskRow> {
        match task.index {
            None => self.rows.get(task.no),
            Some(index) => self.groups.get(&task.no)?.get(index),
        }
    }

    /// Who carries out the step that a task is at.
    pub fn executor(&self, task: TaskRef) -> ExecutorKind {
        let lands = self.row(task).is_some_and(|row| row.fact == Fact::WorkerDone);
        self.blueprint.executor(task.no, if lands { Step::Finalize } else { Step::Work })
    }

    /// Every row, those of instances included.
    pub fn all_rows(&self) -> impl Iterator<Item = &TaskRow> {
        self.rows.iter().chain(self.groups.values().flat_map(Instances::iter))
    }

    /// Keeps the counts over a row true when its fact changes.
    pub fn count_change(&mut self, task: TaskRef, (before, after): (Standing, Standing)) {
        let Some(index) = task.index else {
            let counts = &mut self.progress.counts;
            count(counts, before.fact).into_iter().for_each(|n| *n -= 1);
            count(counts, after.fact).into_iter().for_each(|n| *n += 1);
            return;
        };
        let group = self.rows.entry(task.no).group.as_mut();
        let group = group.expect("instances belong to an open group");
        let instances = self.groups.get_mut(&task.no).expect("instances belong to an open group");
        if let Some(row) = instances.get(index) {
            group.attempts = group.attempts.max(row.attempts);
            group.taken = group.taken.max(row.wait.as_ref().map_or(0, |wait| wait.taken));
        }
        instances.note(group, index, (before, after));
        self.note_work(task.no, after.fact);
    }

    pub fn forget_questions(&mut self, no: TaskNo) {
        self.asked.retain(|about, _| about.task() != Some(no));
    }

    /// The state of one task, as shown.
    pub fn word(&self, no: TaskNo, now: Timestamp) -> Word {
        words::word(self.blueprint.shape(), (&self.progress, &self.rows), &self.plan, (no, now))
    }

    /// It has its outcome. An instance that is not in memory has succeeded.
    pub fn is_settled(&self, task: TaskRef) -> bool {
        match task.index {
            None => self.plan.is_settled(&self.rows, task.no),
            Some(_) => self.row(task).is_none_or(|row| row.fact.is_settled()),
        }
    }

    /// Its work is being ended for good.
    pub fn is_being_cancelled(&self, task: TaskRef) -> bool {
        self.group(task.no).is_some_and(Group::is_stopping)
            || self.row(task).is_some_and(|row| row.stopping == Some(Stopping::Cancel))
    }

    /// Attempts of a task, or of a group's instances, that nobody has told to stop.
    pub fn at_work(&self, task: TaskRef) -> Vec<TaskRef> {
        let group = self.groups.get(&task.no).filter(|_| task.index.is_none());
        let rows = self.row(task).into_iter().chain(group.into_iter().flat_map(Instances::iter));
        let at_work = rows.filter(|row| row.is_live() && row.stopping.is_none());
        at_work.map(|row| row.task).collect()
    }

    /// A task that somebody holds; of a group, the instances as well that are held one by one.
    pub fn held(&self, task: TaskRef) -> Vec<TaskRef> {
        let group = self.groups.get(&task.no).filter(|_| task.index.is_none());
        let rows = self.row(task).into_iter().chain(group.into_iter().flat_map(Instances::iter));
        rows.filter(|row| row.hold.is_some()).map(|row| row.task).collect()
    }

    /// What an order names.
    pub fn named(&self, named: &Named) -> Result<TaskRef, Refusal> {
        named.find(&self.blueprint.definition, |no| self.rows.get(no))
    }

    pub fn task_no(&self, name: &Arc<str>) -> Result<TaskNo, Refusal> {
        let no = self.blueprint.definition.task_no(name);
        no.ok_or_else(|| Refusal::TaskNotFound(Arc::clone(name)))
    }

    pub fn priority(&self, no: TaskNo) -> Priority {
        (self.head.priority, self.blueprint.definition.task(no).priority)
    }

    /// The run lets attempts of this task start: once it is being cancelled, only of those that
    /// run always.
    pub fn lets_start(&self, no: TaskNo) -> bool {
        let is_always = self.blueprint.definition.task(no).is_always();
        self.progress.status == RunStatus::Running
            || self.progress.status == RunStatus::Cancelling && is_always
    }

    /// Tasks that run always and have no outcome.
    pub fn always_left(&self) -> impl Iterator<Item = TaskNo> {
        let always = self.blueprint.graph.always().iter().copied();
        always.filter(|no| !self.plan.is_settled(&self.rows, *no))
    }

    /// Nothing but a permit is missing.
    pub fn is_startable(&self, no: TaskNo, now: Timestamp) -> bool {
        self.lets_start(no)
            && !self.rows.is_held(no)
            && match self.rows.get(no) {
                Some(row) if row.fact == Fact::Delayed => {
                    row.until.is_some_and(|until| until <= now)
                }
                _ => {
                    self.rows.fact(no) == Fact::None
                        && self.plan.is_open(no)
                        && self.plan.doom(no).is_none()
                }
            }
    }

    /// It would be a success, and what it puts out has not been worked out.
    pub fn lacks_output(&self) -> bool {
        let shape = self.blueprint.shape();
        self.output.is_none()
            && shape.definition.has_outputs()
            && outcome(self.progress.cancel.as_ref(), shape, &self.rows) == RunStatus::Success
    }

    /// Nothing more can happen to it.
    pub fn is_over(&self) -> bool {
        match self.progress.status {
            RunStatus::Running | RunStatus::Cancelling => self.unsettled == 0,
            RunStatus::Pending
            | RunStatus::Paused
            | RunStatus::Success
            | RunStatus::Failed
            | RunStatus::Cancelled => false,
        }
    }
}

/// The place on its run where a task with this fact is counted.
pub fn count(counts: &mut Counts, fact: Fact) -> Option<&mut u32> {
    match fact {
        Fact::Dispatched | Fact::Running | Fact::Open => Some(&mut counts.live),
        Fact::Waiting => Some(&mut counts.waiting),
        Fact::WorkerDone => Some(&mut counts.worker_done),
        Fact::Success => Some(&mut counts.success),
        Fact::Failed => Some(&mut counts.failed),
        Fact::Cancelled => Some(&mut counts.cancelled),
        Fact::Skipped => Some(&mut counts.skipped),
        Fact::None | Fact::Delayed => None,
    }
}
