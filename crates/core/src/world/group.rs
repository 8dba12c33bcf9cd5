//! Fan-out: a group opens, its instances take turns, and when the last one is through the group
//! gets its outcome.
//!
//! ```text
//!  open ─► turn ─► ready queue ─► next instance ─► dispatched … ended ─┬─► turn
//!                  (one entry                                          └─► through? ─► list ─► outcome
//!                  for each group)
//! ```

use crate::error::{ErrorClass, TaskError};
use crate::evaluate::{Answer, Asked, Parking, error_of};
use crate::ids::{RunKey, TaskNo, TaskRef};
use crate::items::Items;
use crate::kernel::fact::Fact;
use crate::kernel::group::{Closed, Group};
use crate::kernel::row::{Cancelled, Stopping};
use crate::kernel::transition::Event;
use crate::kernel::wait::Wait;
use crate::limits::GROUP_NOOPS_AT_ONCE;
use crate::output::Output;
use crate::spec::definition::FailureStrategy;
use crate::time::Timestamp;
use crate::world::child::Stop;
use crate::world::instances::Instances;
use crate::world::park::withdraw;
use crate::world::report::step;
use crate::world::run::{About, Run};
use crate::world::state::World;
use std::sync::Arc;

impl World {
    pub(super) fn open_group(
        &mut self,
        now: Timestamp,
        (key, no): (RunKey, TaskNo),
        count: u32,
        items: Option<Arc<Items>>,
    ) {
        if count == 0 {
            let empty = crate::json::Json::empty_list();
            return self.decide(now, TaskRef::plain(no), key, Ok(Output::Inline(empty)));
        }
        self.change(key, TaskRef::plain(no), |row| {
            step(row, Event::GroupOpened);
            // Attempts of an earlier opening have used their numbers.
            let numbered_from = row.group.as_ref().map_or(0, |group| group.attempts);
            let taken_from = row.group.as_ref().map_or(0, |group| group.taken);
            let group = Group {
                opened_at: Some(now),
                numbered_from,
                attempts: numbered_from,
                taken_from,
                taken: taken_from,
                ..Group::of(count)
            };
            row.group = Some(Box::new(group));
        });
        let instances = Instances::of(items);
        self.run_mut(key).groups.insert(no, instances);
        self.draft.task(key, TaskRef::plain(no));
        self.turn(now, key, no);
    }

    /// Lets a group wait for its next permit, if it has an instance to start.
    pub(super) fn turn(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let Some(index) = run.next_instance(no) else { return self.dequeue(key, no) };
        let fan_out = run.blueprint.definition.task(no).fan_out.as_ref();
        let has_items = fan_out.is_some_and(|fan_out| fan_out.foreach.is_some());
        if has_items && run.groups[&no].items.is_none() {
            return self.ask(now, key, Asked::Items(no));
        }
        if run.blueprint.definition.task(no).action.executor().is_some() {
            return self.enqueue(key, no);
        }
        self.ask_noops(now, key, (no, index));
    }

    /// Asks for what instances without an attempt put out: one that was asked for again, or as
    /// many new ones as are worked out at a time.
    fn ask_noops(&mut self, now: Timestamp, key: RunKey, (no, index): (TaskNo, u32)) {
        let run = self.run_mut(key);
        if run.asked.contains_key(&About::Noops(no)) {
            return;
        }
        let Group { count, next, waiting, .. } =
            *run.group(no).expect("only open groups have a next one");
        let task = run.blueprint.definition.task(no);
        // What is parked takes a place: no more are looked at than there is room for.
        let most = task.fan_out.as_ref().and_then(|fan_out| fan_out.concurrency);
        let most = most.filter(|_| task.control().is_some());
        let room = most.map_or(u32::MAX, |most| most.saturating_sub(waiting).max(1));
        let at_once = if index < next { 1 } else { GROUP_NOOPS_AT_ONCE.min(room) };
        let indexes = index..count.min(index + at_once);
        let instances = run.groups.get_mut(&no).expect("an open group has its instances");
        instances.asked = indexes.clone();
        let items = instances.items.clone();
        self.ask(now, key, Asked::Noops { task: no, indexes, count, items });
    }

    pub(super) fn items_known(&mut self, now: Timestamp, key: RunKey, no: TaskNo, answer: Answer) {
        match answer {
            Answer::Fan { items: Some(items), .. } => {
                let group = self.run_mut(key).groups.get_mut(&no);
                group.expect("an open group has its instances").items = Some(items);
                self.turn(now, key, no);
            }
            // They could be read when it opened.
            answer => self.fail_group(now, key, no, error_of(answer)),
        }
    }

    pub(super) fn noops_known(&mut self, now: Timestamp, key: RunKey, no: TaskNo, answer: Answer) {
        let fates: Vec<Fate> = match answer {
            Answer::Noops(outcomes) => outcomes.into_iter().map(Fate::Settled).collect(),
            Answer::Parks(parkings) => parkings.into_iter().map(Fate::parked).collect(),
            answer => return self.fail_group(now, key, no, error_of(answer)),
        };
        let asked = self.run_mut(key).groups[&no].asked.clone();
        let mut parked = Vec::new();
        for (index, fate) in asked.zip(fates) {
            if !self.run_mut(key).may_decide(no, index) {
                break;
            }
            let task = TaskRef { no, index: Some(index) };
            self.open_instance(key, no, index);
            match fate {
                Fate::Parked(parking) => match self.park(now, key, task, parking) {
                    Ok(()) => parked.push(task),
                    Err(error) => self.decide_instance(now, key, task, Err(error)),
                },
                Fate::Settled(outcome) => self.decide_instance(now, key, task, outcome),
            }
        }
        // Only now: the end of a wait may be that of the group.
        for task in parked {
            self.fire(now, key, task);
        }
        if self.run_mut(key).group(no).is_some() {
            self.after_instance(now, key, no);
        }
    }

    fn decide_instance(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        outcome: Result<Output, TaskError>,
    ) {
        let failed = outcome.is_err();
        self.decide(now, task, key, outcome);
        if failed {
            self.instance_failed(now, key, task.no);
        }
    }

    /// Finds what of a group can go on.
    pub(super) fn refill_group(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let instances = self.run_mut(key).groups.get_mut(&no).expect("callers looked for it");
        let indexes = instances.iter().filter_map(|row| row.task.index);
        let due: Vec<u32> = indexes.filter(|index| instances.is_due(*index, now)).collect();
        instances.due.extend(due);
        let done = instances.iter().filter(|row| row.fact == Fact::WorkerDone);
        let done: Vec<TaskRef> = done.map(|row| row.task).collect();
        done.into_iter().for_each(|task| self.line_up(now, key, task));
        self.after_instance(now, key, no);
    }

    /// The instance that is dispatched next, which is opened with that if it is a new one.
    pub(super) fn take_turn(&mut self, key: RunKey, no: TaskNo) -> Option<TaskRef> {
        let run = self.run_mut(key);
        let index = run.next_instance(no)?;
        self.open_instance(key, no, index);
        Some(TaskRef { no, index: Some(index) })
    }

    /// A new one goes on with the numbers of those that the group had before it was sent back.
    fn open_instance(&mut self, key: RunKey, no: TaskNo, index: u32) {
        let run = self.run_mut(key);
        let group = *run.group(no).expect("only open groups open instances");
        if index < group.next {
            return;
        }
        let instances = run.groups.get_mut(&no).expect("an open group has its instances");
        let row = instances.entry(no, index);
        row.attempts = group.numbered_from;
        if group.taken_from > 0 {
            row.wait = Some(Box::new(Wait { taken: group.taken_from, ..Wait::default() }));
        }
        self.edit_group(key, no, |group| group.next += 1);
    }

    /// The attempt of an instance is over: it has its outcome, or another try.
    pub(super) fn instance_ended(&mut self, now: Timestamp, key: RunKey, task: TaskRef) {
        let index = task.index.expect("callers looked for it");
        let fact = self.run_mut(key).row(task).map(|row| row.fact);
        match fact {
            Some(Fact::Failed) => self.instance_failed(now, key, task.no),
            Some(Fact::Delayed) => self.instance_due(now, key, (task.no, index)),
            _ => {}
        }
        self.after_instance(now, key, task.no);
    }

    /// Its time may have come: then it waits for its turn. Of a closed group none waits.
    pub(super) fn instance_due(&mut self, now: Timestamp, key: RunKey, place: (TaskNo, u32)) {
        let (no, index) = place;
        let instances = self.run_mut(key).groups.get_mut(&no);
        let instances = instances.expect("an open group has its instances");
        if instances.is_due(index, now) {
            instances.due.insert(index);
        }
    }

    /// An instance has its outcome, or waits for another try.
    pub(super) fn after_instance(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        self.follow_work(key, no);
        if !self.run_mut(key).group(no).is_some_and(Group::is_through) {
            self.look_at_work(now, key, no);
            return self.turn(now, key, no);
        }
        self.run_mut(key).asked.remove(&About::Work(no));
        self.dequeue(key, no);
        let group = *self.run_mut(key).group(no).expect("looked at above");
        match group.closed {
            Some(Closed::Cancel(why)) => self.cancel_group(now, key, no, why),
            _ => self.ask(now, key, Asked::List { task: no, count: group.count }),
        }
    }

    /// One instance failed for good: with `fail_fast` that is the end of the others.
    pub(super) fn instance_failed(&mut self, now: Timestamp, key: RunKey, no: TaskNo) {
        let run = self.run_mut(key);
        let is_stopping = run.group(no).is_some_and(Group::is_stopping);
        if run.strategy(no) == FailureStrategy::FailFast && !is_stopping {
            self.close_group(now, key, no, Cancelled::FailFast);
        }
    }

    /// No more instances open, and those that have no outcome are stopped.
    pub(super) fn close_group(&mut self, now: Timestamp, key: RunKey, no: TaskNo, why: Cancelled) {
        self.dequeue(key, no);
        let closed = match why {
            Cancelled::FailFast => Closed::FailFast,
            why => Closed::Cancel(why),
        };
        self.edit_group(key, no, |group| group.closed = Some(closed));
        if why != Cancelled::FailFast {
            // A cancel lifts holds.
            self.change(key, TaskRef::plain(no), |row| row.hold = None);
        }
        let run = self.run_mut(key);
        run.rows.entry(no).forget_work();
        // Whatever was being worked out for it is of no use any more.
        run.forget_questions(no);
        let rows: Vec<(TaskRef, bool, Option<Stopping>)> = run.groups[&no]
            .iter()
            .filter(|row| !row.fact.is_settled())
            .map(|row| (row.task, row.is_live(), row.stopping))
            .collect();
        for (task, is_live, stopping) in rows {
            match is_live {
                true if stopping == Some(Stopping::Cancel) => {}
                true => self.stop_to_cancel(now, (key, task), why),
                false => self.cancel_instance(now, key, task, why),
            }
        }
        self.draft.task(key, TaskRef::plain(no));
        self.after_instance(now, key, no);
    }

    /// One that is not at work.
    pub(super) fn cancel_instance(
        &mut self,
        now: Timestamp,
        key: RunKey,
        task: TaskRef,
        why: Cancelled,
    ) {
        if self.child_of(key, task).is_some() {
            return self.stop_child(now, key, task, Stop::Cancel(why));
        }
        self.line.remove(key, task);
        self.change(key, task, |row| {
            withdraw(row, now);
            step(row, Event::Cancelled);
            row.hold = None;
            row.cancelled = Some(why);
            row.settled_at = Some(now);
        });
        self.draft.task(key, task);
    }

    fn cancel_group(&mut self, now: Timestamp, key: RunKey, no: TaskNo, why: Cancelled) {
        self.change(key, TaskRef::plain(no), |row| {
            row.forget_work();
            step(row, Event::Cancelled);
            row.hold = None;
            row.cancelled = Some(why);
            row.settled_at = Some(now);
        });
        self.decided(now, key, no);
    }

    /// The list is there: nothing is left to be known.
    pub(super) fn list_known(&mut self, now: Timestamp, key: RunKey, no: TaskNo, answer: Answer) {
        let output = match answer {
            Answer::Value(output) => output,
            answer => return self.fail_group(now, key, no, error_of(answer)),
        };
        let run = self.run_mut(key);
        let group = *run.group(no).expect("only open groups are asked about");
        let own = run.rows.get(no).and_then(|row| row.error.clone());
        let failed =
            own.is_some() || group.failed > 0 && run.strategy(no) != FailureStrategy::IgnoreErrors;
        // One that was tried again by itself leaves the others as they were.
        if !failed && group.cancelled + group.unopened() > 0 {
            return self.cancel_group(now, key, no, Cancelled::ByName);
        }
        let error = failed.then(|| own.unwrap_or_else(|| Box::new(run.group_error(no, group))));
        self.draft.weigh(output.weight());
        self.change(key, TaskRef::plain(no), |row| {
            row.forget_work();
            step(row, if failed { Event::FailedForGood } else { Event::Succeeded });
            row.hold = None;
            row.error = error;
            row.output = Some(output);
            row.settled_at = Some(now);
        });
        self.decided(now, key, no);
    }

    /// Something about the group as a whole is wrong.
    fn fail_group(&mut self, now: Timestamp, key: RunKey, no: TaskNo, error: TaskError) {
        if self.run_mut(key).group(no).is_some_and(Group::is_through) {
            self.change(key, TaskRef::plain(no), |row| {
                row.forget_work();
                step(row, Event::FailedForGood);
                row.hold = None;
                row.error = Some(Box::new(error));
                row.settled_at = Some(now);
            });
            return self.decided(now, key, no);
        }
        self.change(key, TaskRef::plain(no), |row| row.error = Some(Box::new(error)));
        self.close_group(now, key, no, Cancelled::FailFast);
    }

    pub(super) fn edit_group(&mut self, key: RunKey, no: TaskNo, edit: impl FnOnce(&mut Group)) {
        let row = self.run_mut(key).rows.entry(no);
        edit(row.group.as_mut().expect("callers looked at the group first"));
        self.draft.task(key, TaskRef::plain(no));
    }
}

/// What becomes of an instance that nobody carries out.
enum Fate {
    Settled(Result<Output, TaskError>),
    Parked(Parking),
}

impl Fate {
    fn parked(parking: Result<Parking, TaskError>) -> Self {
        parking.map_or_else(|error| Self::Settled(Err(error)), Self::Parked)
    }
}

impl Run {
    /// What a group's own row says, while it is open.
    pub fn group(&self, no: TaskNo) -> Option<&Group> {
        let row = self.rows.get(no).filter(|row| row.fact == Fact::Open)?;
        row.group.as_deref()
    }

    /// The instance that could be dispatched now, permits aside.
    pub fn next_instance(&self, no: TaskNo) -> Option<u32> {
        if !self.lets_start(no) || self.rows.is_held(no) {
            return None;
        }
        let fan_out = self.blueprint.definition.task(no).fan_out.as_ref()?;
        self.groups.get(&no)?.next(self.group(no)?, fan_out)
    }

    /// An instance without an attempt still waits for its outcome: a hold, a pause or a cancel may
    /// have come in between.
    fn may_decide(&self, no: TaskNo, index: u32) -> bool {
        let is_new = self.group(no).is_some_and(|group| group.has_more() && group.next == index);
        let is_due = self.groups.get(&no).is_some_and(|instances| instances.due.contains(&index));
        self.next_instance(no).is_some() && (is_new || is_due)
    }

    pub fn strategy(&self, no: TaskNo) -> FailureStrategy {
        let fan_out = self.blueprint.definition.task(no).fan_out.as_ref();
        fan_out.map_or(FailureStrategy::CollectErrors, |fan_out| fan_out.failure_strategy)
    }

    /// How many failed, and how the first of them did.
    fn group_error(&self, no: TaskNo, group: Group) -> TaskError {
        let rows = self.groups.get(&no).into_iter().flat_map(Instances::iter);
        let first = rows.filter(|row| row.fact == Fact::Failed).find_map(|row| {
            let index = row.task.index?;
            Some((index, row.failure()?))
        });
        let Group { failed, count, .. } = group;
        let told = format!("{failed} of {count} instances failed");
        match first {
            None => TaskError::new(ErrorClass::Internal, told),
            Some((index, error)) => {
                let message = format!("{told}; the first, with index {index}: {}", error.message);
                TaskError {
                    exit_code: error.exit_code,
                    signal: error.signal,
                    ..TaskError::new(error.class, message)
                }
            }
        }
    }
}
