//! Every attempt the executor was given and has not been told to settle, and who may touch it.
//!
//! ```text
//!           start            spawn thread takes it           its follower is done
//!  (none) ───────► Queued ───────────────────► Active ─────────────────────► Ended ──settle──►
//!     │              │ ▲ │ stop                   │ refused: (none)             ▲
//!     └─ stop ───────│─│─┴────────────────────────┴── never started ────────────┤
//!                    ▼ │ files are in place                                     │
//!                 Preparing ─── failed, or stopped once it is noticed ──────────┤
//!                                                                               │
//!  (none) ── stop, and a former life has noted what it was to land ─► Recalled ─┘
//! ```
//! Reports are sent without the lock: whoever takes them may call back.

use super::artifacts;
use super::clearing::Clearing;
use super::environment::Provisions;
use super::worktree::{GitDesk, Landed};
use crate::contract::Reports;
use crate::log::assemble;
use crate::log::place::Place;
use mainspring_core::error::shorten;
use mainspring_core::ids::{AttemptId, Ticket};
use mainspring_core::kernel::row::Log;
use mainspring_core::work::{Ended, Outcome, Question, Reattached, Report, ReportKind};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// What the executor, its spawn threads and its followers share.
pub(super) struct Shared {
    pub data_id: String,
    pub provisions: Provisions,
    pub git: GitDesk,
    pub logs: Arc<Path>,
    pub work: Arc<Path>,
    pub runtime: tokio::runtime::Handle,
    reports: Arc<dyn Reports>,
    attempts: Mutex<HashMap<AttemptId, Entry>>,
    shutting_down: AtomicBool,
    /// Attempts between `activate` and the answer to whether they started.
    spawning: AtomicUsize,
    pub clearing: Arc<Clearing>,
}

struct Entry {
    ticket: Ticket,
    stage: Stage,
    /// The number of a question that came before it was known whether the attempt starts.
    asked: Option<u64>,
    /// Settled while live: goes away with its end.
    settled: bool,
    /// It may have a worktree, or a note of what it lands.
    worktree: bool,
}

/// What attempts are carried out with.
pub(super) struct Means {
    pub provisions: Provisions,
    pub git: GitDesk,
    pub runtime: tokio::runtime::Handle,
    pub reports: Arc<dyn Reports>,
}

enum Stage {
    Queued,
    /// Stopped, and a former life may have landed it: that is being looked up.
    Recalled,
    /// Files are being brought to its workdir.
    Preparing {
        stopped: bool,
    },
    Active {
        /// Taken by the first stop.
        stop: Option<oneshot::Sender<()>>,
        /// The process group; set from its start until its leader is reaped, because after that
        /// the number may be someone else's.
        group: Option<Pid>,
    },
    /// An outcome too: said again when asked, until it is settled.
    Refused(Box<str>),
    Ended(Ended),
}

impl Shared {
    pub fn new(data_id: String, folder: &Path, means: Means) -> Self {
        let Means { provisions, git, runtime, reports } = means;
        Self {
            data_id,
            provisions,
            git,
            logs: Place::logs_below(folder),
            work: folder.join("work").into(),
            runtime,
            reports,
            attempts: Mutex::default(),
            shutting_down: AtomicBool::new(false),
            spawning: AtomicUsize::new(0),
            clearing: Arc::default(),
        }
    }

    fn attempts(&self) -> MutexGuard<'_, HashMap<AttemptId, Entry>> {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn report(&self, ticket: Ticket, what: ReportKind) {
        self.reports.report(Report { ticket, what });
    }

    /// What it has left cannot be kept just now.
    pub fn waits(&self, ticket: Ticket, why: &str) {
        self.reports.waits(ticket, why);
    }

    pub fn place(&self, attempt: AttemptId) -> Place {
        Place { folder: Arc::clone(&self.logs), attempt }
    }

    /// Takes an attempt in; false when it is known already: stopped before it came, or given
    /// twice.
    pub fn enqueue(&self, ticket: Ticket) -> bool {
        let mut attempts = self.attempts();
        if attempts.contains_key(&ticket.attempt) {
            return false;
        }
        attempts.insert(ticket.attempt, Entry::new(ticket, Stage::Queued));
        true
    }

    /// Whether a queued attempt may be prepared; `prepared`, `refused` or `ended` has to follow.
    pub fn prepare(&self, attempt: AttemptId) -> bool {
        let mut attempts = self.attempts();
        let Some(entry) = attempts.get_mut(&attempt) else { return false };
        if !matches!(entry.stage, Stage::Queued) || self.is_shutting_down() {
            return false;
        }
        entry.stage = Stage::Preparing { stopped: false };
        true
    }

    /// Something is to be removed when it is settled.
    pub fn leaves_worktree(&self, attempt: AttemptId) {
        if let Some(entry) = self.attempts().get_mut(&attempt) {
            entry.worktree = true;
        }
    }

    /// Whether what is being prepared is still to be started.
    pub fn is_wanted(&self, attempt: AttemptId) -> bool {
        let attempts = self.attempts();
        let stage = attempts.get(&attempt).map(|entry| &entry.stage);
        matches!(stage, Some(Stage::Preparing { stopped: false })) && !self.is_shutting_down()
    }

    /// Everything is in its place: back into the queue, unless it was stopped meanwhile.
    pub fn prepared(&self, attempt: AttemptId) -> bool {
        let mut attempts = self.attempts();
        let Some(entry) = attempts.get_mut(&attempt) else { return false };
        let wanted = matches!(entry.stage, Stage::Preparing { stopped: false });
        if wanted {
            entry.stage = Stage::Queued;
        }
        wanted
    }

    /// Makes a queued attempt active; None when it was stopped meanwhile. `spawned` has to follow,
    /// whatever becomes of it.
    pub fn activate(&self, attempt: AttemptId) -> Option<oneshot::Receiver<()>> {
        let mut attempts = self.attempts();
        let entry = attempts.get_mut(&attempt)?;
        if !matches!(entry.stage, Stage::Queued) || self.is_shutting_down() {
            return None;
        }
        let (stop, stopped) = oneshot::channel();
        self.spawning.fetch_add(1, Ordering::SeqCst);
        entry.stage = Stage::Active { stop: Some(stop), group: None };
        Some(stopped)
    }

    pub fn spawned(&self) {
        self.spawning.fetch_sub(1, Ordering::SeqCst);
    }

    pub fn is_spawning(&self) -> bool {
        self.spawning.load(Ordering::SeqCst) > 0
    }

    /// Its process runs.
    pub fn started(&self, ticket: Ticket, leader: Pid) {
        let mut attempts = self.attempts();
        let mut asked = None;
        if let Some(entry) = attempts.get_mut(&ticket.attempt) {
            asked = entry.asked.take();
            if let Stage::Active { group, .. } = &mut entry.stage {
                *group = Some(leader);
            }
        }
        // A shutdown that came while it was being spawned has not seen its group.
        if self.is_shutting_down() {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        drop(attempts);
        self.report(
            ticket,
            match asked {
                Some(number) => ReportKind::Reattached(number, Reattached::Running),
                None => ReportKind::Started,
            },
        );
    }

    /// It could not be taken now.
    pub fn refused(self: &Arc<Self>, ticket: Ticket, why: String) {
        let why: Box<str> = shorten(why).into();
        let mut attempts = self.attempts();
        if let Some(entry) = attempts.get_mut(&ticket.attempt) {
            if entry.stage.is_stopped() {
                // Stopped while it was being started: that is its end.
                drop(attempts);
                return self.ended(ticket, never_started());
            }
            entry.asked = None;
            entry.stage = Stage::Refused(why.clone());
        }
        drop(attempts);
        self.report(ticket, ReportKind::Refused(why));
    }

    /// Runs `reap` while nobody can signal the group, and forgets the group.
    pub fn reap(&self, attempt: AttemptId, reap: impl FnOnce()) {
        let mut attempts = self.attempts();
        if let Some(Entry { stage: Stage::Active { group, .. }, .. }) = attempts.get_mut(&attempt) {
            *group = None;
        }
        reap();
    }

    /// Its work is gone.
    pub fn ended(self: &Arc<Self>, ticket: Ticket, ended: Ended) {
        let mut attempts = self.attempts();
        let mut asked = None;
        let (mut settled, mut worktree) = (false, false);
        if let Some(entry) = attempts.get_mut(&ticket.attempt) {
            asked = entry.asked.take();
            (settled, worktree) = (entry.settled, entry.worktree);
            entry.stage = Stage::Ended(ended.clone());
        }
        if settled {
            attempts.remove(&ticket.attempt);
        }
        drop(attempts);
        if settled {
            self.remove_kept(ticket.attempt, &ended);
            if worktree {
                self.clear_worktree(ticket.attempt);
            }
        }
        self.report(
            ticket,
            match asked {
                Some(number) => ReportKind::Reattached(number, Reattached::Ended(ended)),
                None => ReportKind::Ended(ended),
            },
        );
    }

    pub fn stop(self: &Arc<Self>, ticket: Ticket) {
        let mut attempts = self.attempts();
        if !attempts.contains_key(&ticket.attempt) && self.git.has_note(ticket.attempt) {
            let entry = Entry { worktree: true, ..Entry::new(ticket, Stage::Recalled) };
            attempts.insert(ticket.attempt, entry);
            drop(attempts);
            return self.recall(ticket);
        }
        let entry =
            attempts.entry(ticket.attempt).or_insert_with(|| Entry::new(ticket, Stage::Queued));
        match &mut entry.stage {
            Stage::Queued => {
                drop(attempts);
                self.ended(ticket, never_started());
            }
            Stage::Active { stop, .. } => {
                if let Some(stop) = stop.take() {
                    // The receiver is gone only when its end is about to be said.
                    let _ = stop.send(());
                }
            }
            Stage::Preparing { stopped } => *stopped = true,
            Stage::Recalled | Stage::Refused(_) | Stage::Ended(_) => {}
        }
    }

    /// Ends an attempt of a former life: as a success if it has landed.
    fn recall(self: &Arc<Self>, ticket: Ticket) {
        let shared = Arc::clone(self);
        drop(self.runtime.spawn_blocking(move || {
            match shared.landed_before(ticket.attempt) {
                Some(Landed::Yes(outcome)) => shared.ended(ticket, Ended::of(outcome)),
                Some(Landed::No) | None => shared.ended(ticket, never_started()),
                // The next life is asked again.
                Some(Landed::Unsaid) => {}
            }
        }));
    }

    /// What is known of an attempt; None when the answer comes by itself, soon.
    pub fn look_up(&self, question: Question) -> Option<Known> {
        let mut attempts = self.attempts();
        let Some(entry) = attempts.get_mut(&question.ticket.attempt) else {
            return Some(Known::Nothing);
        };
        match &entry.stage {
            Stage::Refused(why) => Some(Known::Refused(why.clone())),
            Stage::Ended(ended) => Some(Known::Ended(ended.clone())),
            Stage::Active { group: Some(_), .. } => Some(Known::Running),
            Stage::Queued
            | Stage::Recalled
            | Stage::Preparing { .. }
            | Stage::Active { group: None, .. } => {
                entry.asked = Some(question.number);
                None
            }
        }
    }

    pub fn settle(self: &Arc<Self>, attempt: AttemptId) {
        let mut attempts = self.attempts();
        let Some(entry) = attempts.get_mut(&attempt) else {
            drop(attempts);
            self.git.forget(attempt);
            // Of a former life; its log was handed over inline if it is small.
            return assemble::remove_inline(&self.place(attempt));
        };
        if !matches!(entry.stage, Stage::Ended(_) | Stage::Refused(_)) {
            entry.settled = true;
            return;
        }
        let entry = attempts.remove(&attempt);
        drop(attempts);
        if entry.as_ref().is_some_and(|entry| entry.worktree) {
            self.clear_worktree(attempt);
        }
        if let Some(Entry { stage: Stage::Ended(ended), .. }) = entry {
            self.remove_kept(attempt, &ended);
        }
    }

    fn clear_worktree(self: &Arc<Self>, attempt: AttemptId) {
        let (shared, turn) = (Arc::clone(self), self.clearing.begin());
        drop(self.runtime.spawn_blocking(move || {
            shared.git.clear(attempt);
            drop(turn);
        }));
    }

    fn remove_kept(&self, attempt: AttemptId, ended: &Ended) {
        if let Some(Log::Inline(_)) = ended.log {
            assemble::remove_inline(&self.place(attempt));
        }
        if !ended.artifacts.is_empty() {
            // To remove a large file takes a while.
            let copies = ended.artifacts.clone();
            let turn = self.clearing.begin();
            drop(self.runtime.spawn_blocking(move || {
                artifacts::remove(&copies);
                drop(turn);
            }));
        }
    }

    pub fn held(&self) -> Vec<Ticket> {
        let attempts = self.attempts();
        attempts.values().filter(|entry| !entry.settled).map(|entry| entry.ticket).collect()
    }

    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::SeqCst)
    }

    /// Nothing starts any more, and every group is killed; returns their numbers.
    pub fn kill_groups(&self) -> Vec<i32> {
        self.shutting_down.store(true, Ordering::SeqCst);
        let attempts = self.attempts();
        let groups = attempts.values().filter_map(|entry| match entry.stage {
            Stage::Active { group, .. } => group,
            Stage::Queued
            | Stage::Recalled
            | Stage::Preparing { .. }
            | Stage::Refused(_)
            | Stage::Ended(_) => None,
        });
        groups
            .map(|group| {
                // Gone already: so much the better.
                let _ = kill_process_group(group, Signal::KILL);
                group.as_raw_nonzero().get()
            })
            .collect()
    }
}

/// What a reattach finds.
pub(super) enum Known {
    Running,
    Refused(Box<str>),
    Ended(Ended),
    Nothing,
}

pub(super) fn never_started() -> Ended {
    Ended::unstarted(Outcome::Stopped)
}

impl Stage {
    /// While it was on its way to its start.
    fn is_stopped(&self) -> bool {
        matches!(self, Self::Preparing { stopped: true } | Self::Active { stop: None, .. })
    }
}

impl Entry {
    fn new(ticket: Ticket, stage: Stage) -> Self {
        Self { ticket, stage, asked: None, settled: false, worktree: false }
    }
}
