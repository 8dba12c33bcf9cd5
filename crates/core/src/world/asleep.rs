//! Runs that only wait leave memory: what they wait for may take months, and ten thousand of them
//! must cost next to nothing. Of such a run its key, its id and the moment of its next timer are
//! kept; the rest is in the store, where it was anyway.
//!
//! ```text
//!  only waits ─► drowsy ─► asleep ── a command, or its timer ─► read from the store ─► in memory
//!                (the newest stay in memory)
//! ```
//! A reading that is older than what the run was when it fell asleep is noticed by its stamp.

use crate::ids::{RunId, RunKey};
use crate::kernel::fact::Fact;
use crate::kernel::row::RunStatus;
use crate::kernel::wait::Awaited;
use crate::time::{Span, Timestamp};
use crate::world::input::{Refusal, Reply};
use crate::world::run::Run;
use crate::world::snapshot::RunSnapshot;
use crate::world::state::World;
use crate::world::timers::{Timer, due};
use std::sync::Arc;

/// When a run is asked for again whose reading came to nothing. Readings take milliseconds.
const ASK_AGAIN: Span = Span::from_secs(5);

/// What memory keeps of a run that sleeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asleep {
    pub id: RunId,
    /// It is counted at the gate, as it was.
    pub workflow: Arc<str>,
    /// When it was opened last.
    pub since: Timestamp,
    /// The first of its timers.
    pub wakes_at: Option<Timestamp>,
}

impl World {
    /// Runs of which memory has nothing but that they are there.
    pub fn asleep(&self) -> impl Iterator<Item = (RunKey, &Asleep)> {
        self.asleep.iter().map(|(key, asleep)| (*key, asleep))
    }

    /// Those of a workflow.
    pub(super) fn asleep_of(&self, workflow: &str) -> Vec<RunId> {
        let of = self.asleep.values().filter(|asleep| *asleep.workflow == *workflow);
        of.map(|asleep| asleep.id).collect()
    }

    /// Remembers a run that may do nothing but wait from here on.
    pub(super) fn grow_drowsy(&mut self, key: RunKey) {
        let Some(run) = self.runs.get_mut(&key) else { return };
        if run.progress.counts.waiting > 0 && !std::mem::replace(&mut run.is_drowsy, true) {
            self.drowsy.push_back(key);
        }
    }

    /// Those that have waited longest leave memory, until few enough are left.
    pub(super) fn lay_down_drowsy(&mut self) {
        while self.drowsy.len() > self.drowsy_max {
            let Some(key) = self.drowsy.pop_front() else { return };
            if let Some(run) = self.runs.get_mut(&key) {
                run.is_drowsy = false;
                self.lay_down(key);
            }
        }
    }

    /// Leaves a run to the store, if it may be.
    pub(super) fn lay_down(&mut self, key: RunKey) {
        let is_touched = self.draft.runs.contains(&key) || self.ending.contains(&key);
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        if is_touched || !run.only_waits() {
            return;
        }
        let timers = self.timers_of(key);
        timers.iter().for_each(|timer| self.timers.disarm(timer));
        let wakes_at = timers.iter().map(|timer| timer.at).min();
        let run = self.depart(key).expect("looked at above");
        // The one that all its runs share, if there is one.
        let known = self.latest.get_key_value(&run.head.workflow);
        let workflow = Arc::clone(known.map_or(&run.head.workflow, |(name, _)| name));
        let since = run.active_since();
        self.asleep.insert(key, Asleep { id: run.head.id, workflow, since, wakes_at });
        self.arm_asleep(key);
    }

    fn timers_of(&self, key: RunKey) -> Vec<Timer> {
        let run = self.runs.get(&key).expect("callers hold keys of active runs");
        let of_rows = run.all_rows().filter_map(|row| {
            let at = due(row, run.blueprint.definition.task(row.task.no))?;
            Some(Timer { at, run: key, task: Some(row.task) })
        });
        of_rows.chain(self.run_timers(key)).collect()
    }

    fn arm_asleep(&mut self, key: RunKey) {
        if let Some(at) = self.asleep.get(&key).and_then(|asleep| asleep.wakes_at) {
            self.timers.arm(Timer { at, run: key, task: None });
        }
    }

    /// A timer of a run that sleeps: it has to be read first.
    pub(super) fn stir(&mut self, key: RunKey) {
        let asleep = self.asleep.get_mut(&key).expect("callers hold keys of runs that sleep");
        asleep.wakes_at = None;
        self.stirred.push_back(key);
    }

    /// The next run that sleeps and whose time has come: it is to be read and roused. Should that
    /// come to nothing, it is asked for again.
    pub fn next_stirred(&mut self, now: Timestamp) -> Option<RunId> {
        loop {
            let key = self.stirred.pop_front()?;
            if let Some(asleep) = self.asleep.get_mut(&key) {
                asleep.wakes_at = Some(now + ASK_AGAIN);
                let id = asleep.id;
                self.arm_asleep(key);
                return Some(id);
            }
        }
    }

    /// Its time has come. What was due is due when the world is next woken.
    pub(super) fn rouse(&mut self, found: Option<RunSnapshot>) -> Result<Reply, Refusal> {
        let Some(snapshot) = found else { return Ok(Reply::Done) };
        if let Some(key) = self.awaken(snapshot)? {
            self.run_mut(key).forget_all_unread();
            self.grow_drowsy(key);
        }
        Ok(Reply::Done)
    }

    /// Takes a run that sleeps back into memory. None: it does not sleep.
    pub(super) fn awaken(&mut self, snapshot: RunSnapshot) -> Result<Option<RunKey>, Refusal> {
        let (key, id) = (snapshot.head.key, snapshot.head.id);
        if !self.asleep.contains_key(&key) {
            return Ok(None);
        }
        self.check_newest(id, snapshot.progress.stamp)?;
        let asleep = self.asleep.remove(&key).expect("looked at above");
        if let Some(at) = asleep.wakes_at {
            self.timers.disarm(&Timer { at, run: key, task: None });
        }
        let run = self.revive(snapshot);
        self.place_run(run);
        Ok(Some(key))
    }
}

impl Run {
    /// Nothing can happen to it but by a command or a timer. One with a group of its own is looked
    /// for by whoever comes next in that group; a child by its parent.
    pub fn only_waits(&self) -> bool {
        let is_awake = |fact: Fact| !(fact.is_settled() || fact == Fact::Waiting);
        let waits_outside = self.all_rows().all(|row| match (row.fact, row.awaited()) {
            (Fact::Waiting, Some(awaited)) => match awaited {
                Awaited::Time | Awaited::Signal { .. } | Awaited::Approval { .. } => true,
                // Its child is in memory, and looks for it.
                Awaited::Child { .. } => false,
            },
            (Fact::None, _) => true,
            (fact, _) => !is_awake(fact),
        });
        let may_start = || {
            let tasks = &mut self.blueprint.graph.tasks();
            tasks.any(|no| {
                let is_new = self.rows.fact(no) == Fact::None && self.plan.doom(no).is_none();
                is_new && self.plan.is_open(no) && !self.rows.is_held(no)
            })
        };
        matches!(self.progress.status, RunStatus::Running | RunStatus::Paused)
            && self.head.parent.is_none()
            && self.holds.is_none()
            && self.groups.is_empty()
            && self.asked.is_empty()
            && self.output.is_none()
            && waits_outside
            && (self.progress.status == RunStatus::Paused || !may_start())
    }
}
