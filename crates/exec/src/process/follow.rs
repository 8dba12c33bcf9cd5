//! One live attempt, from its start to its end.
//!
//! ```text
//!              output ─► log, captured stdout
//!                │
//!  watch ────────┼── stop ─► TERM to the group and what left it ── grace ─► KILL
//!                │
//!                └── leader ended (a zombie still: the group's number is ours)
//!                       kill the group
//!                       stopped: until nobody is left, by /proc
//!                       reap
//!                       pipes: up to 1s more, something else may hold them
//!                       output, artifacts, log ─► Ended
//! ```

use super::artifacts::{NotCopied, Outgoing, Taken};
use super::clone;
use super::harvest::{Harvest, Leavings};
use super::keeper::{self, Prey};
use super::leader::{Fate, Leader, fate};
use super::output::{self, Captured};
use super::pipes::{Pipes, Reading};
use super::table::Shared;
use super::work_files::WorkFiles;
use super::worktree::{self, Landed, Working};
use crate::git::GitError;
use crate::log::assemble;
use crate::log::format::Stream;
use crate::log::recorder::Recorder;
use crate::log::segments::Written;
use crate::secrets::Patterns;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::Ticket;
use mainspring_core::kernel::finalizer::Step;
use mainspring_core::kernel::row::Log;
use mainspring_core::spec::definition::OutputFrom;
use mainspring_core::time::Span;
use mainspring_core::work::{Ended, Outcome};
use mainspring_core::work_git::GitMerge;
use rustix::process::{Pid, Signal, WaitIdStatus};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

/// How long pipes are read after the leader's end: whatever still holds them is not the task.
const PIPES_READ_ON: Duration = Duration::from_secs(1);
/// Waits between two looks for survivors of a SIGKILL, doubled up to the second.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
const LOOK_AGAIN_MAX: Duration = Duration::from_millis(500);
/// What a follower is given.
pub(super) struct Follow {
    pub shared: Arc<Shared>,
    pub ticket: Ticket,
    pub step: Step,
    /// Guarded from its first moment: a runtime that ends may drop this before it was looked at.
    pub leader: Leader,
    pub pidfd: OwnedFd,
    pub pipes: Pipes,
    pub files: WorkFiles,
    pub stop: oneshot::Receiver<()>,
    pub output: OutputFrom,
    pub kill_grace: Span,
    pub log_bytes_max: u64,
    pub secrets: Option<Arc<Patterns>>,
    pub outgoing: Option<Arc<Outgoing>>,
    /// What of its worktree is committed when it has succeeded.
    pub working: Option<Arc<Working>>,
    /// What it lands.
    pub merge: Option<Arc<GitMerge>>,
}

pub(super) async fn follow(follow: Follow) {
    let Follow { shared, ticket, leader, pidfd, pipes, files, stop, secrets, .. } = follow;
    let watched = clone::watch(pidfd).and_then(|pidfd| Ok((pidfd, Reading::new(pipes)?)));
    let (pidfd, pipes) = match watched {
        Ok(watched) => watched,
        Err(error) => return give_up(&shared, ticket, leader, &error),
    };
    let live = Live {
        log: Recorder::new(shared.place(ticket.attempt), follow.log_bytes_max, secrets.clone()),
        captured: (follow.output == OutputFrom::Stdout).then(Captured::default),
        shared,
        ticket,
        step: follow.step,
        leader,
        pidfd,
        pipes,
        files,
        stop,
        stopping: Stopping::Not,
        kill_grace: follow.kill_grace,
        secrets,
        outgoing: follow.outgoing,
        working: follow.working,
        merge: follow.merge,
    };
    live.run().await;
}

/// The runtime cannot watch it: it must not go on unwatched.
fn give_up(shared: &Arc<Shared>, ticket: Ticket, mut leader: Leader, error: &std::io::Error) {
    leader.kill_group(Signal::KILL);
    shared.reap(ticket.attempt, || leader.reap());
    let error = TaskError::new(ErrorClass::Internal, format!("cannot watch the process: {error}"));
    shared.ended(ticket, Ended::of(Outcome::Failed(error)));
}

enum Stopping {
    Not,
    /// Asked for when the leader had ended by itself: its outcome stands.
    TooLate,
    /// Signals were sent; SIGKILL follows when the time is up.
    Sent {
        grace: Option<Pin<Box<Sleep>>>,
    },
}

struct Live {
    shared: Arc<Shared>,
    ticket: Ticket,
    step: Step,
    leader: Leader,
    pidfd: AsyncFd<OwnedFd>,
    pipes: Reading,
    files: WorkFiles,
    log: Recorder,
    captured: Option<Captured>,
    stop: oneshot::Receiver<()>,
    stopping: Stopping,
    kill_grace: Span,
    secrets: Option<Arc<Patterns>>,
    outgoing: Option<Arc<Outgoing>>,
    working: Option<Arc<Working>>,
    merge: Option<Arc<GitMerge>>,
}

enum Woken {
    LeaderEnded(Option<WaitIdStatus>),
    Nothing,
    Stop,
    GraceOver,
    Output,
}

impl Live {
    async fn run(mut self) {
        let status = self.watch().await;
        if status.is_none() {
            // Something else in this process took it: the group's number is no longer ours.
            self.leader.reaped = true;
        }
        self.leader.kill_group(Signal::KILL);
        if !matches!(self.stopping, Stopping::Not) {
            // Before the reap: after it the group's number may be someone else's.
            self.hunt(status.as_ref().map(|_| self.leader.pid)).await;
        }
        self.shared.reap(self.ticket.attempt, || self.leader.reap());
        keeper::nudge();
        self.drain().await;
        self.late_stop().await;
        self.finish(status).await;
    }

    /// One that came after the leader's end: its outcome stands, what has left its group goes.
    async fn late_stop(&mut self) {
        if matches!(self.stopping, Stopping::Not) && self.stop.try_recv().is_ok() {
            self.stopping = Stopping::TooLate;
            self.hunt(None).await;
        }
    }

    /// Until the leader has ended; it is not reaped yet.
    async fn watch(&mut self) -> Option<WaitIdStatus> {
        loop {
            match self.wake().await {
                Woken::Output => self.read(),
                Woken::Stop => self.terminate(),
                Woken::GraceOver => {
                    self.stopping = Stopping::Sent { grace: None };
                    self.signal(Signal::KILL);
                }
                Woken::Nothing => {}
                Woken::LeaderEnded(status) => return status,
            }
        }
    }

    async fn wake(&mut self) -> Woken {
        let Self { pidfd, pipes, stop, stopping, .. } = self;
        let (may_stop, grace) = match stopping {
            Stopping::Not => (true, None),
            Stopping::TooLate => (false, None),
            Stopping::Sent { grace } => (false, grace.as_mut()),
        };
        let grace = async {
            match grace {
                Some(grace) => grace.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // An error means that the runtime is ending: this task is about to be dropped.
            Ok(mut ready) = pidfd.readable() => match fate(pidfd.get_ref()) {
                Fate::Ended(status) => Woken::LeaderEnded(Some(status)),
                Fate::Unknown => Woken::LeaderEnded(None),
                Fate::Running => {
                    ready.clear_ready();
                    Woken::Nothing
                }
            },
            Ok(()) = stop, if may_stop => Woken::Stop,
            () = grace => Woken::GraceOver,
            () = pipes.readable() => Woken::Output,
        }
    }

    fn terminate(&mut self) {
        if !matches!(fate(self.pidfd.get_ref()), Fate::Running) {
            self.stopping = Stopping::TooLate;
            return;
        }
        let until = Instant::now() + self.kill_grace.to_std();
        let grace = Some(Box::pin(tokio::time::sleep_until(until)));
        self.stopping = Stopping::Sent { grace };
        self.signal(Signal::TERM);
        // A stopped process could not act on it.
        self.leader.kill_group(Signal::CONT);
    }

    /// To the group at once, to what has left it as soon as it is found.
    fn signal(&self, signal: Signal) {
        self.leader.kill_group(signal);
        let attempt = self.ticket.attempt;
        drop(keeper::hunt(Prey { attempt, group: None, signal }));
    }

    /// Kills until nobody is left: in the group, or carrying this attempt's id.
    async fn hunt(&self, group: Option<Pid>) {
        let attempt = self.ticket.attempt;
        let mut wait = LOOK_AGAIN;
        loop {
            let found = keeper::hunt(Prey { attempt, group, signal: Signal::KILL });
            // The keeper lives as long as the process.
            if found.await.unwrap_or(0) == 0 {
                return;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LOOK_AGAIN_MAX);
        }
    }

    fn read(&mut self) {
        let Self { pipes, log, captured, .. } = self;
        pipes.read(|stream, bytes| {
            log.chunk(stream, bytes);
            if let (Stream::Stdout, Some(captured)) = (stream, captured.as_mut()) {
                captured.push(bytes);
            }
        });
    }

    async fn drain(&mut self) {
        self.read();
        if self.pipes.is_done() {
            return;
        }
        let until = Instant::now() + PIPES_READ_ON;
        while !self.pipes.is_done() {
            if tokio::time::timeout_at(until, self.pipes.readable()).await.is_err() {
                return;
            }
            self.read();
            if Instant::now() >= until {
                return;
            }
        }
    }

    async fn finish(mut self, status: Option<WaitIdStatus>) {
        let stopped = self.is_stopped();
        if self.shared.is_shutting_down() && was_killed(status.as_ref()) && !stopped {
            // Our doing, not the task's: the next life calls it lost.
            return;
        }
        let mut artifacts = Taken::default();
        let lands = self.working.as_ref().map(|working| Box::new(working.lands()));
        let outcome = match (stopped, output::exit_error(status.as_ref())) {
            (true, Some(_)) => Outcome::Stopped,
            // Work that is stopped may end well without being done; what lands says so by its 0.
            (true, None) if self.step == Step::Work => Outcome::Stopped,
            (false, Some(error)) => Outcome::Failed(error),
            (_, None) => match self.harvest().await {
                Ok(harvest) => {
                    artifacts = harvest.artifacts;
                    Outcome::Success(harvest.output)
                }
                Err(_) if self.is_stopped() => Outcome::Stopped,
                Err(NotCopied::Because(error)) => Outcome::Failed(error),
                // The server ends, and what it leaves is not all there: lost as well.
                Err(NotCopied::Abandoned) => return,
            },
        };
        // The server ends, and whether it landed is not known: the next life asks.
        let Some(outcome) = self.landed_or(outcome).await else { return };
        // Large files took their time.
        self.late_stop().await;
        let log = self.close_log().await;
        let Self { shared, ticket, files, .. } = self;
        drop(files);
        let artifacts = artifacts.keep();
        shared.ended(ticket, Ended { log, artifacts, lands, ..Ended::of(outcome) });
    }

    fn is_stopped(&self) -> bool {
        matches!(self.stopping, Stopping::Sent { .. })
    }

    /// What has landed is a success, however its process ended. None when nobody can say.
    async fn landed_or(&self, outcome: Outcome) -> Option<Outcome> {
        let Some(merge) = self.merge.clone() else { return Some(outcome) };
        if matches!(outcome, Outcome::Success(_)) {
            return Some(outcome);
        }
        let (shared, attempt) = (Arc::clone(&self.shared), self.ticket.attempt);
        let landed = tokio::task::spawn_blocking(move || shared.landed(attempt, &merge)).await;
        match (landed.unwrap_or(Landed::Unsaid), outcome) {
            (Landed::Yes(landed), _) => Some(landed),
            (Landed::Unsaid, _) => None,
            (Landed::No, Outcome::Failed(error)) => {
                let said = worktree::verdict(&self.files.output());
                Some(said.unwrap_or(Outcome::Failed(error)))
            }
            (Landed::No, other) => Some(other),
        }
    }

    /// Commits what a success has left in its worktree. A stop ends that, and with it the attempt.
    async fn commit(&mut self) -> Result<(), NotCopied<TaskError>> {
        let Some(working) = self.working.take() else { return Ok(()) };
        let (shared, attempt) = (Arc::clone(&self.shared), self.ticket.attempt);
        let wanted = Arc::new(AtomicBool::new(true));
        let still = Arc::clone(&wanted);
        let caller = shared.git(attempt, move |shared| {
            still.load(Ordering::Relaxed) && !shared.is_shutting_down()
        });
        let mut done = tokio::task::spawn_blocking(move || working.commit(&caller));
        let done = loop {
            let may_stop = matches!(self.stopping, Stopping::Not);
            tokio::select! {
                done = &mut done => break done,
                Ok(()) = &mut self.stop, if may_stop => {
                    self.stopping = Stopping::Sent { grace: None };
                    wanted.store(false, Ordering::Relaxed);
                }
            }
        };
        match done {
            Ok(Ok(())) => Ok(()),
            Ok(Err(GitError::Abandoned)) => {
                self.hunt(None).await;
                Err(NotCopied::Abandoned)
            }
            Ok(Err(error)) => Err(error.to_task_error().into()),
            Err(_) => {
                let what = "what it left could not be committed: a bug";
                Err(TaskError::new(ErrorClass::Internal, what).into())
            }
        }
    }

    async fn harvest(&mut self) -> Result<Harvest, NotCopied<TaskError>> {
        self.commit().await?;
        let may_stop = matches!(self.stopping, Stopping::Not);
        let leavings = Leavings {
            shared: &self.shared,
            ticket: self.ticket,
            stop: may_stop.then_some(&mut self.stop),
            files: &self.files,
            captured: self.captured.take(),
            secrets: self.secrets.as_ref(),
            outgoing: self.outgoing.as_ref(),
        };
        let harvest = leavings.harvest().await;
        if matches!(harvest, Err(NotCopied::Abandoned)) && !self.shared.is_shutting_down() {
            self.stopping = Stopping::Sent { grace: None };
            self.hunt(None).await;
        }
        harvest
    }

    async fn close_log(&mut self) -> Option<Log> {
        let (written, missing_note) = self.log.finish();
        let place = self.log.place().clone();
        let hand_over = move || assemble::hand_over(&place, written, missing_note);
        // Only a log in several parts is worth a thread: it is copied.
        let log = match written {
            Written::Parts => tokio::task::spawn_blocking(hand_over).await.ok()?,
            Written::Nothing | Written::Head { .. } => hand_over(),
        };
        // The outcome counts more than a log that cannot be read back.
        log.ok().flatten()
    }
}

fn was_killed(status: Option<&WaitIdStatus>) -> bool {
    status.and_then(WaitIdStatus::terminating_signal) == Some(Signal::KILL.as_raw())
}
