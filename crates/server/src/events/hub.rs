//! What has become of runs lately.

use mainspring_core::ids::{AttemptId, RunId};
use mainspring_core::kernel::row::{RunHead, RunProgress, RunStatus};
use mainspring_engine::events::{Event, Observer};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Changes kept, half a kilobyte each: what full load makes in three rounds of a reader, which
/// is sent to ten times a second. Whoever is further behind reads the store.
const KEPT_MAX: usize = 8_000;

/// A run as of one commit.
pub type State = (Arc<RunHead>, Arc<RunProgress>);

#[derive(Debug)]
pub struct Hub {
    ring: Mutex<Ring>,
    last: watch::Sender<u64>,
    /// What the store said when it failed last.
    trouble: Mutex<Arc<str>>,
    pub counts: Counts,
}

/// For the metrics.
#[derive(Debug, Default)]
pub struct Counts {
    pub commits: AtomicU64,
    pub runs_success: AtomicU64,
    pub runs_failed: AtomicU64,
    pub runs_cancelled: AtomicU64,
    pub store_failures: AtomicU64,
}

#[derive(Debug, Default)]
struct Ring {
    /// In the order of stamps. An entry whose stamp is not its run's latest is passed over.
    changes: VecDeque<(u64, RunId)>,
    latest: HashMap<RunId, State>,
    /// Every change after this stamp is here; whatever came before is in the store.
    floor: u64,
}

/// What is new to a reader.
#[derive(Debug)]
pub enum News {
    /// Latest states in the order of their stamps, and the stamp they go up to.
    States(Vec<State>, u64),
    /// The reader is behind what is kept.
    Behind,
}

impl Default for Hub {
    fn default() -> Self {
        let last = watch::Sender::new(0);
        let trouble = Mutex::new("".into());
        Self { ring: Mutex::default(), last, trouble, counts: Counts::default() }
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stamp of the last commit seen, and its changes from now on.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Why the store failed, when it did so last.
    pub fn trouble(&self) -> Arc<str> {
        Arc::clone(&self.trouble.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The latest state of a run that changed lately.
    pub fn state(&self, run: RunId) -> Option<State> {
        self.lock().latest.get(&run).cloned()
    }

    /// Whether a run may have changed after a stamp. What has left the ring may have.
    pub fn may_have_changed(&self, run: RunId, stamp: u64) -> bool {
        let ring = self.lock();
        let latest = ring.latest.get(&run);
        stamp < ring.floor || latest.is_some_and(|(_, progress)| progress.stamp > stamp)
    }

    /// What changed after a stamp.
    pub fn since(&self, stamp: u64) -> News {
        let ring = self.lock();
        if stamp < ring.floor {
            return News::Behind;
        }
        let from = ring.changes.partition_point(|(at, _)| *at <= stamp);
        let last = ring.changes.back().map_or(stamp, |(at, _)| (*at).max(stamp));
        let states = ring.changes.range(from..).filter_map(|(at, run)| {
            ring.latest.get(run).filter(|(_, progress)| progress.stamp == *at).cloned()
        });
        News::States(states.collect(), last)
    }

    /// Lets go of what is kept: nothing has happened for a while, and whoever has not heard of it
    /// yet reads the store.
    pub fn forget(&self) {
        let mut ring = self.lock();
        let last = ring.changes.back().map(|(stamp, _)| *stamp);
        if let Some(floor) = last {
            *ring = Ring { floor, ..Ring::default() };
        }
    }

    fn count(&self, status: RunStatus) {
        let ended = match status {
            RunStatus::Success => &self.counts.runs_success,
            RunStatus::Failed => &self.counts.runs_failed,
            RunStatus::Cancelled => &self.counts.runs_cancelled,
            RunStatus::Pending | RunStatus::Running | RunStatus::Paused | RunStatus::Cancelling => {
                return;
            }
        };
        ended.fetch_add(1, Ordering::Relaxed);
    }
}

impl Ring {
    fn put(&mut self, head: &Arc<RunHead>, progress: &RunProgress) {
        let stamp = progress.stamp;
        self.changes.push_back((stamp, head.id));
        // What it put out is not told of here, and would be by far the largest part.
        let progress = Arc::new(RunProgress { output: None, ..progress.clone() });
        self.latest.insert(head.id, (Arc::clone(head), progress));
        while self.changes.len() > KEPT_MAX {
            let Some((stamp, run)) = self.changes.pop_front() else { return };
            self.floor = self.floor.max(stamp);
            if self.latest.get(&run).is_some_and(|(_, latest)| latest.stamp == stamp) {
                self.latest.remove(&run);
            }
        }
    }
}

impl Observer for Hub {
    fn committed(&self, events: &[Event]) {
        self.counts.commits.fetch_add(1, Ordering::Relaxed);
        let mut last = None;
        let mut ring = self.lock();
        for event in events {
            if let Event::Run(head, progress) = event {
                self.count(progress.status);
                ring.put(head, progress);
                last = Some(progress.stamp);
            }
        }
        drop(ring);
        if let Some(stamp) = last {
            self.last.send_replace(stamp);
        }
    }

    /// What a failed commit did after all, if anything, is in the store and was told to nobody:
    /// whoever has not heard of it by its stamp reads it there.
    fn loaded(&self, last_stamp: u64) {
        *self.lock() = Ring { floor: last_stamp, ..Ring::default() };
        self.last.send_replace(last_stamp);
    }

    fn log_stays(&self, _: AttemptId, _: &str) {}

    fn content_waits(&self, _: &str) {}

    fn store_failed(&self, error: &str) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = error.into();
        self.counts.store_failures.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::ids::{RunKey, SchedulerId};
    use mainspring_core::json::Json;
    use mainspring_core::kernel::row::{Counts as TaskCounts, RunKind};
    use mainspring_core::time::Timestamp;

    fn event(run: u8, stamp: u64) -> Event {
        let head = RunHead {
            key: RunKey(i64::from(run)),
            id: RunId::from_bytes([run; 16]),
            workflow: "w".into(),
            version: 1,
            kind: RunKind::Dag,
            input: Json::empty_object(),
            labels: std::collections::BTreeMap::new(),
            priority: 0,
            triggered_by: "test".into(),
            workdir: "/".into(),
            parent: None,
            retry_of: None,
            group: None,
            created_at: Timestamp(0),
        };
        let progress = RunProgress {
            status: RunStatus::Running,
            hold: None,
            cancel: None,
            alone_since: None,
            unconfirmed_since: None,
            owner: SchedulerId::from_bytes([1; 16]),
            stamp,
            started_at: None,
            opened_at: None,
            finished_at: None,
            error: None,
            output: None,
            signals: 0,
            additions: 0,
            counts: TaskCounts::default(),
        };
        Event::Run(Arc::new(head), progress)
    }

    fn since(hub: &Hub, stamp: u64) -> Option<(Vec<(u8, u64)>, u64)> {
        match hub.since(stamp) {
            News::Behind => None,
            News::States(states, last) => {
                let short =
                    states.iter().map(|(head, progress)| (head.id.as_bytes()[0], progress.stamp));
                Some((short.collect(), last))
            }
        }
    }

    #[test]
    fn the_latest_wins_and_nothing_is_given_twice() {
        let hub = Hub::default();
        hub.loaded(4);
        hub.committed(&[event(1, 5), event(2, 5)]);
        hub.committed(&[event(1, 6)]);
        assert_eq!(since(&hub, 4), Some((vec![(2, 5), (1, 6)], 6)));
        assert_eq!(since(&hub, 5), Some((vec![(1, 6)], 6)));
        assert_eq!(since(&hub, 6), Some((vec![], 6)));
        assert_eq!(since(&hub, 3), None, "what was before this life is in the store");
    }

    #[test]
    fn a_reader_that_is_too_far_behind_is_told_so() {
        let hub = Hub::default();
        for stamp in 1..=KEPT_MAX as u64 + 2 {
            hub.committed(&[event(1, stamp)]);
        }
        assert_eq!(since(&hub, 1), None);
        assert_eq!(since(&hub, 2), Some((vec![(1, KEPT_MAX as u64 + 2)], KEPT_MAX as u64 + 2)));
    }

    #[test]
    fn after_a_rest_only_those_who_are_behind_read_the_store() {
        let hub = Hub::default();
        hub.forget();
        assert_eq!(since(&hub, 0), Some((vec![], 0)), "there was nothing to forget");
        hub.committed(&[event(1, 5), event(2, 6)]);
        hub.forget();
        assert_eq!(since(&hub, 5), None);
        assert_eq!(since(&hub, 6), Some((vec![], 6)));
        assert!(hub.state(RunId::from_bytes([2; 16])).is_none());
        hub.committed(&[event(1, 7)]);
        assert_eq!(since(&hub, 6), Some((vec![(1, 7)], 7)));
    }

    #[test]
    fn what_a_failed_commit_did_after_all_is_read_from_the_store() {
        let hub = Hub::default();
        hub.committed(&[event(1, 5)]);
        let mut watch = hub.watch();
        hub.loaded(6);
        assert!(watch.has_changed().unwrap() && *watch.borrow_and_update() == 6);
        assert_eq!(since(&hub, 5), None, "6 was told to nobody");
        assert_eq!(since(&hub, 6), Some((vec![], 6)));
        hub.committed(&[event(2, 7)]);
        assert_eq!(since(&hub, 6), Some((vec![(2, 7)], 7)));
    }

    #[test]
    fn a_run_that_has_left_the_ring_may_have_changed() {
        let hub = Hub::default();
        let run = RunId::from_bytes([1; 16]);
        hub.committed(&[event(1, 1)]);
        assert!(hub.may_have_changed(run, 0) && !hub.may_have_changed(run, 1));
        for stamp in 2..=KEPT_MAX as u64 + 1 {
            hub.committed(&[event(2, stamp)]);
        }
        assert!(hub.state(run).is_none());
        assert!(hub.may_have_changed(run, 0) && !hub.may_have_changed(run, 1));
        hub.committed(&[event(2, KEPT_MAX as u64 + 2)]);
        assert!(hub.may_have_changed(run, 1), "a change to it at 2 would be gone by now");
    }
}
