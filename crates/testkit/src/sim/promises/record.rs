//! What has been seen durable so far, and the comparison of each commit with it.

use crate::sim::executors::Executors;
use crate::sim::library::Library;
use crate::sim::oracle::Reading;
use crate::sim::outputs::Blobs;
use crate::sim::promise::{Check, Promise};
use crate::sim::promises::anew::{Anew, is_copied};
use crate::sim::promises::gatekeeper::BY_GROUP;
use crate::sim::promises::{always, anew, cancels, checkpoints, finals, groups, hindered, kin};
use crate::sim::promises::{lists, overdue, retries, rows, runs, starts, waits};
use crate::sim::store::whole;
use crate::sim::tally::Tally;
use mainspring_core::ids::{AttemptId, RunId, TaskNo, TaskRef};
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::group::{Closed, Group};
use mainspring_core::kernel::row::{
    Attempt, AttemptEnd, AttemptRow, CancelCause, Parent, RunProgress, RunStatus, TaskRow,
};
use mainspring_core::kernel::wait::{ApprovalPlace, SignalRow, Verdict};
use mainspring_core::spec::definition::Definition;
use mainspring_core::time::Timestamp;
use mainspring_core::world::input::Verb;
use mainspring_store::{Model, RunsQuery, StoredRun};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A run as it was durable before.
#[derive(Debug)]
pub struct Past {
    pub progress: RunProgress,
    pub rows: BTreeMap<TaskRef, TaskRow>,
    /// When the batch that made it so was taken.
    taken: u64,
}

impl Past {
    pub fn fact(&self, no: TaskNo) -> Fact {
        self.rows.get(&TaskRef::plain(no)).map_or(Fact::None, |row| row.fact)
    }
}

/// A command that was applied, accepted or not.
#[derive(Clone, Copy, Debug)]
pub struct Ordered {
    moment: u64,
    pub verb: Verb,
    pub task: Option<TaskRef>,
}

#[derive(Debug, Default)]
pub struct Record {
    /// Runs whose acceptance was answered.
    pub accepted: BTreeSet<RunId>,
    /// How often each run was seen to become final.
    pub finals: BTreeMap<RunId, u32>,
    runs: BTreeMap<RunId, Past>,
    parents: BTreeMap<RunId, Option<Box<Parent>>>,
    ends: BTreeMap<AttemptId, AttemptEnd>,
    attempts: BTreeMap<AttemptId, RunId>,
    orders: BTreeMap<RunId, Vec<Ordered>>,
    /// What people said to approvals, accepted or not.
    rulings: BTreeMap<RunId, Vec<(TaskRef, Verdict)>>,
    /// What was asked for of runs that run another one anew.
    pub anew: BTreeMap<RunId, Anew>,
    stamp: u64,
    /// Counts commands and batches, so that it is known which came first.
    moment: u64,
    /// When each pending batch was taken, oldest first.
    pending: VecDeque<u64>,
    /// When the batch that became durable last was taken.
    taken: u64,
}

/// What is known beside what is stored.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    pub library: &'a Library,
    pub executors: &'a Executors,
    pub blobs: &'a Blobs,
    pub now: Timestamp,
}

/// A run as it is durable now.
struct Stored {
    run: StoredRun,
    history: Vec<AttemptRow>,
    definition: Arc<Definition>,
    signals: Vec<SignalRow>,
    listed: Vec<ApprovalPlace>,
    /// Live attempts at landing.
    landing: Vec<(TaskRef, Attempt)>,
}

/// One run before and after a commit.
pub struct Turn<'a> {
    pub before: Option<&'a Past>,
    pub after: &'a StoredRun,
    pub history: &'a [AttemptRow],
    pub definition: &'a Definition,
    pub reading: Reading<'a>,
    /// Commands that this commit may reflect.
    pub orders: Vec<Ordered>,
    /// Attempts that were not durable before.
    pub new: BTreeSet<AttemptId>,
    /// Those of its attempts that are, or were, at landing.
    pub landings: BTreeSet<AttemptId>,
    /// Attempts that have ended and had not before.
    pub ended: Vec<(TaskRef, &'a Attempt)>,
    /// Every signal that the run has got.
    pub signals: &'a [SignalRow],
    /// What people said to its approvals so far.
    pub rulings: &'a [(TaskRef, Verdict)],
    /// Its approvals in the list.
    pub listed: &'a [ApprovalPlace],
    pub outside: Outside<'a>,
    pub now: Timestamp,
}

impl Turn<'_> {
    /// Someone asked this of the run or of any task of it.
    pub fn was_asked(&self, verb: Verb) -> bool {
        self.orders.iter().any(|order| order.verb == verb)
    }

    /// Someone asked for the end of the run or of any task of it.
    pub fn cancel_was_asked(&self) -> bool {
        self.was_asked(Verb::Cancel)
            || self.was_asked(Verb::ForceCancel)
            || self.is_cancelled_by_group()
            || self.is_cancelled_by_parent()
    }

    /// Someone asked for the end of the run as a whole.
    pub fn run_cancel_was_asked(&self) -> bool {
        self.run_was_asked(Verb::Cancel)
            || self.run_was_asked(Verb::ForceCancel)
            || self.is_cancelled_by_group()
            || self.is_cancelled_by_parent()
    }

    /// Its parent stopped it; `kin` looks whether that had a reason.
    fn is_cancelled_by_parent(&self) -> bool {
        let parent = self.after.head.parent.as_deref().map(Parent::word);
        matches!(&self.after.progress.cancel,
            Some(CancelCause::Asked(by)) if Some(by) == parent.as_ref())
    }

    /// It gave way to a newer run of its group.
    fn is_cancelled_by_group(&self) -> bool {
        matches!(&self.after.progress.cancel,
            Some(CancelCause::Asked(by)) if by.starts_with(BY_GROUP))
    }

    /// Someone asked this of the run as a whole.
    pub fn run_was_asked(&self, verb: Verb) -> bool {
        self.orders.iter().any(|order| order.verb == verb && order.task.is_none())
    }

    pub fn row_before(&self, task: TaskRef) -> Option<&TaskRow> {
        self.before?.rows.get(&task)
    }

    /// What a group's own row says now.
    pub fn group(&self, no: TaskNo) -> Option<&Group> {
        self.reading.row(no)?.group.as_deref()
    }

    pub fn group_before(&self, no: TaskNo) -> Option<&Group> {
        self.row_before(TaskRef::plain(no))?.group.as_deref()
    }

    /// The rows of a group's instances.
    pub fn instances(&self, no: TaskNo) -> impl Iterator<Item = &TaskRow> {
        let rows = self.after.tasks.iter();
        rows.filter(move |row| row.task.no == no && row.task.index.is_some())
    }

    /// Another instance of its group has failed, or had.
    pub fn failed_fast(&self, task: TaskRef) -> bool {
        let closed = |group: Option<&Group>| {
            group.is_some_and(|group| group.closed == Some(Closed::FailFast))
        };
        task.index.is_some() && (closed(self.group(task.no)) || closed(self.group_before(task.no)))
    }

    pub fn name(&self, task: impl Into<Place>) -> String {
        let Place(TaskRef { no, index }) = task.into();
        let index = index.map_or_else(String::new, |index| format!("/{index}"));
        format!("{}{index} of run {}", self.definition.task(no).name, self.after.head.key.0)
    }
}

/// A task or an instance, to be named.
pub struct Place(TaskRef);

impl From<TaskNo> for Place {
    fn from(no: TaskNo) -> Self {
        Self(TaskRef::plain(no))
    }
}

impl From<TaskRef> for Place {
    fn from(task: TaskRef) -> Self {
        Self(task)
    }
}

pub fn everything() -> RunsQuery {
    RunsQuery { limit: usize::MAX, ..RunsQuery::default() }
}

impl Record {
    /// A command is about to be applied; without tasks it is about the run as a whole.
    pub fn ordered(&mut self, run: RunId, verb: Verb, tasks: Option<&[TaskRef]>) {
        self.moment += 1;
        let order = |task| Ordered { moment: self.moment, verb, task };
        let orders = self.orders.entry(run).or_default();
        match tasks {
            None => orders.push(order(None)),
            Some(tasks) => orders.extend(tasks.iter().map(|task| order(Some(*task)))),
        }
    }

    /// A decision is about to be applied.
    pub fn ruled(&mut self, run: RunId, task: TaskRef, verdict: Verdict) {
        self.rulings.entry(run).or_default().push((task, verdict));
    }

    /// It was given up by force: its work may go on for a while.
    pub fn was_abandoned(&self, attempt: AttemptId) -> bool {
        self.ends.get(&attempt) == Some(&AttemptEnd::Abandoned)
    }

    /// A batch was taken: what is applied from here on is not in it.
    pub fn batch_taken(&mut self) {
        self.moment += 1;
        self.pending.push_back(self.moment);
    }

    /// The oldest pending batch is durable, or never will be.
    pub fn batch_ended(&mut self) {
        self.taken = self.pending.pop_front().expect("a batch that ends was taken");
    }

    /// None of the pending batches comes to be.
    pub fn batches_dropped(&mut self) {
        self.pending.clear();
    }

    /// After every commit that became durable.
    pub fn check_commit(
        &mut self,
        model: &Model,
        outside: Outside<'_>,
        tally: &mut Tally,
    ) -> Check {
        let mut found = BTreeSet::new();
        let mut stamp = self.stamp;
        kin::check(model, outside.library)?;
        for (head, progress) in model.runs(&everything()) {
            found.insert(head.id);
            self.parents.entry(head.id).or_insert_with(|| head.parent.clone());
            stamp = stamp.max(progress.stamp);
            let run = whole(model, head.id).expect("listed runs exist");
            if self.is_unchanged(&run) {
                continue;
            }
            Promise::Stamps.ensure(progress.stamp > self.stamp, || {
                format!("run {} changed with stamp {}", head.key.0, progress.stamp)
            })?;
            let history = model.attempts(head.key);
            let definition = outside.library.of(model, &head);
            let signals = model.all_signals(head.key);
            let listed = model.listed().into_iter().filter(|place| place.run == head.key).collect();
            let live = |row: &TaskRow| Some((row.task, row.finalizing()?.attempt?.shown()));
            let landing = run.tasks.iter().filter_map(live).collect();
            let stored = Stored { run, history, definition, signals, listed, landing };
            self.check_run(&stored, outside, tally)?;
        }
        self.stamp = stamp;
        let lost = self.accepted.iter().find(|id| !found.contains(id));
        Promise::Kept.ensure(lost.is_none(), || format!("run {lost:?} is not stored"))
    }

    fn is_unchanged(&self, run: &StoredRun) -> bool {
        self.runs.get(&run.head.id).is_some_and(|past| {
            past.progress == run.progress && past.rows.values().eq(run.tasks.iter())
        })
    }

    fn check_run(&mut self, stored: &Stored, outside: Outside<'_>, tally: &mut Tally) -> Check {
        let Stored { run, history, definition, signals, listed, landing } = stored;
        let id = run.head.id;
        if run.head.retry_of.is_some() && !self.runs.contains_key(&id) {
            self.begin_anew(run, definition, outside.blobs)?;
        }
        let known = |attempt: &Attempt| self.ends.contains_key(&attempt.id);
        let past = history.iter().map(|past| (past.task, &past.attempt));
        // What was copied is the former run's.
        let own = run.tasks.iter().filter(|row| !is_copied(row));
        let current = own.filter_map(|row| Some((row.task, row.attempt.as_ref()?)));
        let live = landing.iter().map(|(task, attempt)| (*task, attempt));
        let attempts: Vec<(TaskRef, &Attempt)> = past.chain(current).chain(live).collect();
        let landed = history.iter().filter(|past| past.step == Step::Finalize);
        let landed = landed.map(|past| past.attempt.id);
        let landings = landed.chain(landing.iter().map(|(_, attempt)| attempt.id)).collect();
        let over = attempts.iter().filter(|(_, attempt)| attempt.end.is_some() && !known(attempt));
        let since = self.runs.get(&id).map_or(0, |past| past.taken);
        let window = |order: &&Ordered| order.moment > since && order.moment <= self.taken;
        let ids = attempts.iter().map(|(_, attempt)| attempt.id);
        let turn = Turn {
            before: self.runs.get(&id),
            after: run,
            history,
            definition,
            reading: Reading::of(definition, run.tasks.iter(), &run.progress),
            orders: self.orders_of(run).into_iter().filter(|order| window(&order)).collect(),
            new: ids.clone().filter(|id| !self.attempts.contains_key(id)).collect(),
            landings,
            ended: over.copied().collect(),
            signals,
            rulings: self.rulings.get(&id).map_or(&[], Vec::as_slice),
            listed,
            outside,
            now: outside.now,
        };
        check_turn(&turn, tally)?;
        self.check_history(id, &ids.clone().collect(), outside.executors)?;
        let was_final = turn.before.is_some_and(|past| past.progress.status.is_final());
        let ends_now =
            run.progress.status.is_final() && (!was_final || turn.was_asked(Verb::Retry));
        let ends: Vec<_> = attempts.iter().map(|(_, attempt)| (*attempt).clone()).collect();
        self.attempts.extend(ids.map(|attempt| (attempt, id)));
        ends.iter().try_for_each(|attempt| self.check_end(attempt))?;
        if ends_now {
            *self.finals.entry(id).or_default() += 1;
        }
        let rows = run.tasks.iter().map(|row| (row.task, row.clone())).collect();
        let past = Past { progress: run.progress.clone(), rows, taken: self.taken };
        self.runs.insert(id, past);
        Ok(())
    }

    /// What was asked of it, or of anything above it: holds and cancels are handed down.
    fn orders_of(&self, run: &StoredRun) -> Vec<Ordered> {
        let own = self.orders.get(&run.head.id).into_iter().flatten().copied();
        let mut orders: Vec<Ordered> = own.collect();
        let mut above = run.head.parent.clone();
        while let Some(parent) = above {
            let given = self.orders.get(&parent.run).into_iter().flatten();
            let handed = given.filter(|order| order.verb != Verb::Retry);
            orders.extend(handed.map(|order| Ordered { task: None, ..*order }));
            above = self.parents.get(&parent.run).cloned().flatten();
        }
        orders
    }

    /// What it was to begin with is what it was before anything happened to it.
    fn begin_anew(&mut self, run: &StoredRun, definition: &Definition, blobs: &Blobs) -> Check {
        let id = run.head.id;
        let unasked = || Promise::Copied.broken(format!("nobody asked for run {id}"));
        let anew = self.anew.get(&id).ok_or_else(unasked)?;
        let former = Some(anew.former.head.id);
        Promise::Copied.ensure(run.head.retry_of == former, || format!("run {id}: {former:?}"))?;
        let rows = anew.check(run, definition, blobs)?;
        let rows = rows.into_iter().map(|row| (row.task, row)).collect();
        let progress = RunProgress { status: RunStatus::Pending, ..run.progress.clone() };
        let progress = RunProgress { cancel: None, alone_since: None, hold: None, ..progress };
        self.runs.insert(id, Past { progress, rows, taken: 0 });
        Ok(())
    }

    /// An attempt that was durable once is in its row or in the history for good, unless it was
    /// refused: then its number is used again.
    fn check_history(
        &self,
        run: RunId,
        found: &BTreeSet<AttemptId>,
        executors: &Executors,
    ) -> Check {
        let known = self.attempts.iter().filter(|(_, of)| **of == run).map(|(id, _)| id);
        let mut lost = known.filter(|id| !found.contains(id) && !executors.refused.contains(id));
        let lost = lost.next();
        Promise::History.ensure(lost.is_none(), || format!("attempt {lost:?} is nowhere"))
    }

    fn check_end(&mut self, attempt: &Attempt) -> Check {
        let known = self.ends.get(&attempt.id);
        match (&attempt.end, known) {
            (None, None) => Ok(()),
            (Some(end), None) => {
                self.ends.insert(attempt.id, end.clone());
                Ok(())
            }
            (end, Some(known)) => Promise::OneOutcome.ensure(end.as_ref() == Some(known), || {
                format!("{:?} ended twice: {known:?}, then {end:?}", attempt.id)
            }),
        }
    }
}

/// Everything that is looked at of one run.
fn check_turn(turn: &Turn<'_>, tally: &mut Tally) -> Check {
    runs::check(turn, tally)?;
    rows::check(turn)?;
    groups::check(turn)?;
    lists::check(turn, tally)?;
    cancels::check(turn)?;
    retries::check(turn)?;
    anew::check(turn)?;
    waits::check(turn)?;
    always::check(turn)?;
    overdue::check(turn)?;
    checkpoints::check(turn)?;
    finals::check(turn)?;
    hindered::check(turn, tally)?;
    starts::check(turn)
}
