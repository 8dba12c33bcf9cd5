//! The world itself: what it holds, how it is made, and the one door through which every
//! change of a task row goes.

use crate::ids::{AttemptId, RunId, RunKey, SchedulerId, TaskNo, TaskRef};
use crate::kernel::fact::Fact;
use crate::kernel::ledger::LedgerRow;
use crate::kernel::limit::LimitSetting;
use crate::kernel::permits::Limits;
use crate::kernel::row::{RunHead, RunStatus, TaskRow, WorkflowRow};
use crate::spec::definition::Definition;
use crate::time::Timestamp;
use crate::world::asleep::Asleep;
use crate::world::batch::Effect;
use crate::world::blueprint::Blueprint;
use crate::world::chance::Chance;
use crate::world::draft::Draft;
use crate::world::gate::Gate;
use crate::world::gather::Gather;
use crate::world::instances::Standing;
use crate::world::line::Line;
use crate::world::parked::Parked;
use crate::world::ready::Ready;
use crate::world::run::Run;
use crate::world::timers::{Timer, Timers, due};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Who this world is and where its numbers go on.
#[derive(Clone, Debug)]
pub struct WorldConfig {
    pub scheduler: SchedulerId,
    pub ordinal: u32,
    /// Different for every world of this scheduler: the number of its questions.
    pub epoch: u64,
    pub next_run: u64,
    pub next_stamp: u64,
    /// For ids and jitter.
    pub seed: u64,
    /// `total`, `executor:<kind>`, the server's tiers.
    pub limits: Vec<LimitSetting>,
    /// What was stored of starts that rates count.
    pub ledgers: Vec<LedgerRow>,
    /// How many runs that only wait stay in memory.
    pub drowsy_max: usize,
    /// When it is made.
    pub now: Timestamp,
}

/// A run that left memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departed {
    /// A reading of it with an older stamp is outdated.
    pub stamp: u64,
    /// The batch that makes it so.
    pub with: u64,
}

/// All active runs of one scheduler. Decides; does nothing.
#[derive(Debug)]
pub struct World {
    pub(super) scheduler: SchedulerId,
    pub(super) ordinal: u32,
    pub(super) epoch: u64,
    pub(super) next_run: u64,
    pub(super) next_stamp: u64,
    pub(super) chance: Chance,
    pub(super) limits: Limits,
    pub(super) blueprints: BTreeMap<(Arc<str>, u32), Arc<Blueprint>>,
    /// Each workflow that came by, and the hash of its latest version.
    pub(super) latest: BTreeMap<Arc<str>, (WorkflowRow, [u8; 32])>,
    /// Each in a box: runs come in the order of their keys, which leaves half of every node empty.
    pub(super) runs: BTreeMap<RunKey, Box<Run>>,
    pub(super) by_id: BTreeMap<RunId, RunKey>,
    /// Runs in memory that may do nothing but wait, those that have waited longest first.
    pub(super) drowsy: VecDeque<RunKey>,
    pub(super) drowsy_max: usize,
    /// Runs that are not final and not in memory.
    pub(super) asleep: BTreeMap<RunKey, Asleep>,
    /// Those of them whose time has come.
    pub(super) stirred: VecDeque<RunKey>,
    /// Opened tasks that have not been looked at: a big cascade, cut at the batch limit.
    pub(super) agenda: VecDeque<(RunKey, TaskNo)>,
    pub(super) ready: Ready,
    /// Finalizers that wait for their permits.
    pub(super) line: Line,
    /// Who may begin.
    pub(super) gate: Gate,
    pub(super) timers: Timers,
    /// Runs that may be over.
    pub(super) ending: BTreeSet<RunKey>,
    pub(super) draft: Draft,
    pub(super) gather: Gather,
    /// Attempts that are dispatched or running.
    pub(super) live: u32,
    pub(super) next_question: u64,
    /// Attempts that were offered to their executors again and not reported missing yet. Once
    /// is enough: a second such answer would start work twice.
    pub(super) asked_after: BTreeSet<AttemptId>,
    /// Attempts whose work is over, while their logs are put away.
    pub(super) over: BTreeSet<AttemptId>,
    /// What was told to end and is not known to be gone, though it should be.
    pub(super) overdue: BTreeSet<(RunKey, TaskRef)>,
    /// The number of the batch in the making.
    pub(super) next_batch: u64,
    /// Runs that left memory, so that an older reading is noticed.
    pub(super) departed: BTreeMap<RunId, Departed>,
}

impl World {
    pub fn new(config: &WorldConfig) -> Self {
        Self {
            scheduler: config.scheduler,
            ordinal: config.ordinal,
            epoch: config.epoch,
            next_run: config.next_run,
            next_stamp: config.next_stamp,
            chance: Chance::new(config.seed),
            limits: Limits::of(&config.limits, &config.ledgers, config.now),
            blueprints: BTreeMap::new(),
            latest: BTreeMap::new(),
            runs: BTreeMap::new(),
            by_id: BTreeMap::new(),
            drowsy: VecDeque::new(),
            drowsy_max: config.drowsy_max,
            asleep: BTreeMap::new(),
            stirred: VecDeque::new(),
            agenda: VecDeque::new(),
            ready: Ready::default(),
            line: Line::default(),
            gate: Gate::default(),
            timers: Timers::default(),
            ending: BTreeSet::new(),
            draft: Draft::default(),
            gather: Gather::default(),
            live: 0,
            next_question: 0,
            asked_after: BTreeSet::new(),
            over: BTreeSet::new(),
            overdue: BTreeSet::new(),
            next_batch: 0,
            departed: BTreeMap::new(),
        }
    }

    /// When the next batch has to be taken: what was decided, and what follows from it.
    pub fn deadline(&self) -> Option<Timestamp> {
        if self.draft.is_urgent() || !self.is_stuck() {
            let due = self.gather.due(self.live);
            return Some(if self.is_full() { Timestamp(i64::MIN) } else { due });
        }
        self.draft.rides_until()
    }

    /// Nothing follows from what was decided.
    fn is_stuck(&self) -> bool {
        let lets_in = self.gate.is_open() && !self.limits.is_closed();
        let is_idle = self.agenda.is_empty() && self.ending.is_empty();
        let has_next = self.ready.has_next(&self.limits) || self.line.next(&self.limits).is_some();
        is_idle && !lets_in && !has_next
    }

    /// A batch was cut at its limit: what is left must not wait for anything.
    pub(super) fn hurry_what_is_left(&mut self) {
        if !self.is_stuck() {
            self.gather.hurry();
        }
    }

    /// When it has to be asked again if nothing is heard before.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let freed = self.ready.frees_at(&self.limits);
        let freed = freed.into_iter().chain(self.line.frees_at(&self.limits));
        self.timers.next().into_iter().chain(freed).chain(self.deadline()).min()
    }

    /// No more input should be applied before a commit.
    pub fn is_full(&self) -> bool {
        self.draft.is_full()
    }

    /// This batch and those before it are durable and no reading of the store is under way: no
    /// reading of what left memory with them can be outdated.
    pub fn forget_departed(&mut self, durable: u64) {
        self.departed.retain(|_, departed| departed.with > durable);
    }

    /// How many rows the batch in the making has by now.
    pub fn drafted(&self) -> usize {
        self.draft.rows()
    }

    /// Which of its scheduler's worlds this is.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn run(&self, id: RunId) -> Option<&Run> {
        self.runs.get(self.by_id.get(&id)?).map(|run| &**run)
    }

    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().map(|run| &**run)
    }

    /// Attempts that are dispatched or running.
    pub fn live_count(&self) -> u32 {
        self.live
    }

    /// Attempts whose work is over though they have not ended yet.
    pub fn over(&self) -> &BTreeSet<AttemptId> {
        &self.over
    }

    /// What a former world of this life knew of that.
    pub fn still_over(&mut self, over: &BTreeSet<AttemptId>) {
        let live: BTreeSet<AttemptId> = self.live().map(|ticket| ticket.attempt).collect();
        self.over.extend(over.intersection(&live));
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn run_mut(&mut self, key: RunKey) -> &mut Run {
        self.runs.get_mut(&key).expect("callers hold keys of active runs")
    }

    /// The version made ready for running, made so once.
    pub(super) fn blueprint(
        &mut self,
        workflow: &Arc<str>,
        version: u32,
        definition: &Arc<Definition>,
    ) -> Arc<Blueprint> {
        let key = (Arc::clone(workflow), version);
        self.gate.note_version(workflow, version, definition.max_active_runs);
        if let Some(known) = self.blueprints.get(&key) {
            return Arc::clone(known);
        }
        let made = Arc::new(Blueprint::new(Arc::clone(definition), version, &mut self.limits));
        self.blueprints.insert(key, Arc::clone(&made));
        made
    }

    /// What a run goes by: its version's, or one of its own when tasks were added to it.
    pub(super) fn blueprint_of(
        &mut self,
        head: &RunHead,
        additions: u32,
        definition: &Arc<Definition>,
    ) -> Arc<Blueprint> {
        if additions == 0 {
            return self.blueprint(&head.workflow, head.version, definition);
        }
        self.gate.note_version(&head.workflow, head.version, definition.max_active_runs);
        Arc::new(Blueprint::new(Arc::clone(definition), head.version, &mut self.limits))
    }

    /// The one door: edits a row and keeps every index over it true.
    pub(super) fn change(&mut self, key: RunKey, task: TaskRef, edit: impl FnOnce(&mut TaskRow)) {
        let run = self.runs.get_mut(&key).expect("callers hold keys of active runs");
        let no = task.no;
        let definition = run.blueprint.definition.task(no);
        let was_settled = run.plan.is_settled(&run.rows, no);
        let row = match task.index {
            None => run.rows.entry(no),
            Some(index) => {
                let group = run.groups.get_mut(&no).expect("instances belong to an open group");
                group.entry(no, index)
            }
        };
        let (fact, timer, standing) = (row.acting(), due(row, definition), Standing::of(row));
        let parked = Parked::of(row);
        let (blueprint, limits) = (&run.blueprint, &self.limits);
        let held = fact.is_live().then(|| blueprint.permits_of(row, standing.step(), limits));
        edit(row);
        let parked_now = Parked::of(row);
        let (fact_now, timer_now, standing_now) =
            (row.acting(), due(row, definition), Standing::of(row));
        let holds = fact_now.is_live();
        let holds = holds.then(|| blueprint.permits_of(row, standing_now.step(), limits));

        // A timer that has fired is gone: with another fact the same time counts anew.
        if timer != timer_now || fact != fact_now {
            let timer_of = |at| Timer { at, run: key, task: Some(task) };
            timer.into_iter().for_each(|at| self.timers.disarm(&timer_of(at)));
            timer_now.into_iter().for_each(|at| self.timers.arm(timer_of(at)));
        }
        // From the end of its work to the start of what lands it a task holds nothing, so that a
        // step never follows another at once.
        match (held, holds) {
            (None, Some(set)) => {
                self.live += 1;
                self.limits.take(&set);
            }
            (Some(set), None) => {
                self.live -= 1;
                self.limits.give_back(&set);
            }
            _ => {}
        }
        if parked != parked_now {
            run.note_parked(task, parked, parked_now, &mut self.draft);
        }
        if standing != standing_now {
            run.count_change(task, (standing, standing_now));
        }
        match (was_settled, run.plan.is_settled(&run.rows, no)) {
            (false, true) => {
                run.unsettled -= 1;
                run.unread.settled.push(no);
            }
            (true, false) => run.unsettled += 1,
            _ => {}
        }
    }

    /// Lets the planner draw its conclusions from a changed row.
    pub(super) fn follow(&mut self, key: RunKey, no: TaskNo) {
        let run = self.run_mut(key);
        let moves = run.plan.touched(run.blueprint.shape(), &run.rows, no);
        run.unsettled -= moves.doomed;
        self.agenda.extend(moves.opened.into_iter().map(|no| (key, no)));
        moves.closed.into_iter().for_each(|no| self.dequeue_unstarted(key, no));
    }

    /// What has begun goes on, whatever became of those above it.
    fn dequeue_unstarted(&mut self, key: RunKey, no: TaskNo) {
        if self.run_mut(key).rows.fact(no) == Fact::None {
            self.dequeue(key, no);
        }
    }

    /// Puts a task where it waits for its permits.
    pub(super) fn enqueue(&mut self, key: RunKey, no: TaskNo) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let set = run.blueprint.permits(no);
        self.ready.insert(set, run.priority(no), key, TaskRef::plain(no));
    }

    pub(super) fn dequeue(&mut self, key: RunKey, no: TaskNo) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let set = run.blueprint.permits(no);
        self.ready.remove(set, run.priority(no), key, TaskRef::plain(no));
    }

    /// Looks at every task of a run again: after a load, a resume, a retry.
    pub(super) fn refill(&mut self, key: RunKey, now: Timestamp) {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        if run.progress.status == RunStatus::Pending {
            return;
        }
        let startable = run.blueprint.graph.tasks().filter(|no| run.is_startable(*no, now));
        self.agenda.extend(startable.map(|no| (key, no)));
        self.line_up_all(now, key);
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let groups: Vec<TaskNo> = run.groups.keys().copied().collect();
        for no in groups {
            if self.run_mut(key).group(no).is_some() {
                self.refill_group(now, key, no);
            }
        }
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.draft.effect(effect);
    }
}
