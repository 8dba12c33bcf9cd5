//! What has to be done before an attempt can be started and may take long: its worktree is made,
//! its artifacts are brought to its workdir. Not on a spawn thread, where all others would wait
//! behind it.

use super::artifacts::{self, NotCopied};
use super::command::NotStarted;
use super::launch;
use super::spawner::{Job, Spawner};
use super::table::never_started;
use super::worktree::{Working, hunt_down};
use crate::git::{GitError, check_start};
use mainspring_core::work::{ProcessWork, Work};
use mainspring_core::work_git::{GitMerge, GitWorkspace};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// What comes before a start.
enum Before {
    Nothing,
    Files,
    Git,
}

impl Before {
    fn of(work: &Work) -> Self {
        let has_files =
            |work: &ProcessWork| !work.artifacts_in.is_empty() || !work.artifacts_out.is_empty();
        match work {
            Work::Process(ProcessWork { workspace: Some(_), .. }) | Work::GitMerge(_) => Self::Git,
            Work::Process(work) if has_files(work) => Self::Files,
            Work::Process(_) => Self::Nothing,
            #[cfg(feature = "bench")]
            Work::Echo => Self::Nothing,
        }
    }
}

/// Hands an attempt to the spawn threads, prepared.
pub(super) fn submit(job: Job, spawner: &'static Spawner) {
    let runtime = job.shared.runtime.clone();
    match Before::of(&job.launch.work) {
        Before::Nothing => spawner.submit(job),
        Before::Files => drop(runtime.spawn_blocking(move || prepare(job, spawner))),
        Before::Git => drop(runtime.spawn(async move {
            let turns = Arc::clone(&job.shared.git.turns);
            // Queued until then: whoever stops it does not wait for its turn.
            let turn = turns.acquire_owned().await;
            let prepared = tokio::task::spawn_blocking(move || {
                prepare(job, spawner);
                drop(turn);
            });
            // A panic was caught where it was.
            let _ = prepared.await;
        })),
    }
}

fn prepare(mut job: Job, spawner: &Spawner) {
    let ticket = job.launch.ticket;
    if !job.shared.prepare(ticket.attempt) {
        return;
    }
    let prepared = std::panic::catch_unwind(AssertUnwindSafe(|| ready(&mut job)));
    let shared = &job.shared;
    match prepared {
        Ok(Ok(())) if shared.prepared(ticket.attempt) => spawner.submit(job),
        // The next life finds it lost.
        _ if shared.is_shutting_down() => {}
        Ok(Ok(()) | Err(NotCopied::Abandoned)) => shared.ended(ticket, never_started()),
        Ok(Err(NotCopied::Because(NotStarted::Failed(error)))) => {
            shared.ended(ticket, launch::failed(error));
        }
        Ok(Err(NotCopied::Because(NotStarted::Refused(why)))) => shared.refused(ticket, why),
        Ok(Err(NotCopied::Because(NotStarted::Hindered(what)))) => {
            shared.ended(ticket, launch::hindered(what));
        }
        Err(_) => shared.ended(ticket, launch::failed_by_us()),
    }
}

fn ready(job: &mut Job) -> Result<(), NotCopied<NotStarted>> {
    match &job.launch.work {
        Work::Process(ProcessWork { workspace: Some(given), .. }) => {
            let given = given.clone();
            make_workspace(job, &given)?;
        }
        Work::GitMerge(merge) => return check_merge(job, merge),
        _ => {}
    }
    let Work::Process(work) = &job.launch.work else { return Ok(()) };
    if work.artifacts_in.is_empty() && work.artifacts_out.is_empty() {
        return Ok(());
    }
    let attempt = job.launch.ticket.attempt;
    let wanted = || job.shared.is_wanted(attempt);
    artifacts::bring(&work.workdir, &work.artifacts_in, attempt, &wanted)
}

fn make_workspace(job: &mut Job, given: &GitWorkspace) -> Result<(), NotCopied<NotStarted>> {
    let shared = &job.shared;
    let attempt = job.launch.ticket.attempt;
    shared.leaves_worktree(attempt);
    let caller = shared.git(attempt, move |shared| shared.is_wanted(attempt));
    let made = Working::make(&caller, &shared.git.worktrees, &mut job.launch, given);
    job.working = Some(Arc::new(made.map_err(|error| not_started(job, error))?));
    Ok(())
}

/// A merge that has to wait is not started, so that everybody sees what it waits for.
fn check_merge(job: &Job, merge: &GitMerge) -> Result<(), NotCopied<NotStarted>> {
    let shared = &job.shared;
    let attempt = job.launch.ticket.attempt;
    shared.leaves_worktree(attempt);
    let caller = shared.git(attempt, move |shared| shared.is_wanted(attempt));
    check_start(&caller, merge).map_err(|error| not_started(job, error))?;
    let noted = shared.git.write_note(attempt, merge);
    noted.map_err(|error| {
        NotStarted::Refused(format!("what is to be merged cannot be noted down: {error}")).into()
    })
}

fn not_started(job: &Job, error: GitError) -> NotCopied<NotStarted> {
    match error {
        GitError::Abandoned => {
            hunt_down(job.launch.ticket.attempt);
            NotCopied::Abandoned
        }
        GitError::Scarce(_) => NotStarted::Refused(error.to_string()).into(),
        GitError::InTheWay(what) => NotStarted::Hindered(what).into(),
        error => NotStarted::Failed(error.to_task_error()).into(),
    }
}
