//! What has to be done before an attempt can be started and may take long: its artifacts are
//! brought to its workdir. Not on a spawn thread, where all others would wait behind it.

use super::artifacts::{self, NotCopied};
use super::command::NotStarted;
use super::launch;
use super::spawner::{Job, Spawner};
use super::table::never_started;
use mainspring_core::work::{ProcessWork, Work};
use std::panic::AssertUnwindSafe;

/// Hands an attempt to the spawn threads, prepared.
pub(super) fn submit(job: Job, spawner: &'static Spawner) {
    let has_none =
        |work: &ProcessWork| work.artifacts_in.is_empty() && work.artifacts_out.is_empty();
    if work(&job).is_none_or(has_none) {
        return spawner.submit(job);
    }
    let runtime = job.shared.runtime.clone();
    drop(runtime.spawn_blocking(move || prepare(job, spawner)));
}

fn work(job: &Job) -> Option<&ProcessWork> {
    match &job.launch.work {
        Work::Process(work) => Some(work),
        Work::GitMerge(_) => None,
        #[cfg(feature = "bench")]
        Work::Echo => None,
    }
}

fn prepare(job: Job, spawner: &Spawner) {
    let ticket = job.launch.ticket;
    if !job.shared.prepare(ticket.attempt) {
        return;
    }
    let shared = &job.shared;
    let brought = std::panic::catch_unwind(AssertUnwindSafe(|| bring(&job)));
    match brought {
        Ok(Ok(())) if shared.prepared(ticket.attempt) => spawner.submit(job),
        // The next life finds it lost.
        _ if shared.is_shutting_down() => {}
        Ok(Ok(()) | Err(NotCopied::Abandoned)) => shared.ended(ticket, never_started()),
        Ok(Err(NotCopied::Because(NotStarted::Failed(error)))) => {
            shared.ended(ticket, launch::failed(error));
        }
        Ok(Err(NotCopied::Because(NotStarted::Refused(why)))) => shared.refused(ticket, why),
        Err(_) => shared.ended(ticket, launch::failed_by_us()),
    }
}

fn bring(job: &Job) -> Result<(), NotCopied<NotStarted>> {
    let Some(work) = work(job) else { return Ok(()) };
    let attempt = job.launch.ticket.attempt;
    let wanted = || job.shared.is_wanted(attempt);
    artifacts::bring(&work.workdir, &work.artifacts_in, attempt, &wanted)
}
