//! Old runs are forgotten, in small batches, through the engine: whatever is opened again in
//! between stays. Their logs go after them, and now and then also those that belong to no run.

use crate::engine::{Engine, NotDone};
use crate::logs::LogPlaces;
use mainspring_core::ids::AttemptId;
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::input::{Forget, Input};
use mainspring_exec::log::remove_log;
use mainspring_store::{BlobEntry, BlobError, BlobName, ReadError, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const BATCH: usize = 100;
/// Between two looks. Nothing is written when nothing is old.
const LOOK: Duration = Duration::from_secs(3_600);
/// Every so many looks those logs are looked for that belong to no run: about once a day.
const SWEEP_LOOKS: usize = 24;
/// Logs asked after at once.
const LOGS_AT_ONCE: usize = 1_000;
/// A log that no row knows is at least this old before it goes: its row may be on its way.
const STRAY_MIN: Span = Span::from_secs(86_400);
/// A moment after the start, when there is other work to do.
const FIRST_LOOK: Duration = Duration::from_secs(60);
/// Keys of requests live this long, or as long as their run.
const KEYS: Span = Span::from_secs(7 * 86_400);

#[derive(Clone, Debug)]
pub struct Retention {
    /// How long a run stays after its end.
    pub runs: Span,
    pub logs: LogPlaces,
}

#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    NotDone(#[from] NotDone),
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error("the program is about to end")]
    Ending(#[from] tokio::task::JoinError),
}

impl Retention {
    /// Looks now and then, for as long as it is polled. Says what could not be done.
    pub async fn keep(
        self,
        engine: Arc<Engine>,
        store: Arc<dyn Store>,
        warn: impl Fn(&RetentionError),
    ) {
        tokio::time::sleep(FIRST_LOOK).await;
        for look in 0.. {
            // What could not be done now is done next time.
            let _ = self.forget(&engine, &*store, now()).await.inspect_err(&warn);
            if look % SWEEP_LOOKS == 0 {
                let _ = self.sweep(&*store, now()).await.inspect_err(&warn);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Forgets everything whose time is up: runs, and then keys that none of those left holds.
    /// Returns how many runs that were.
    pub async fn forget(
        &self,
        engine: &Engine,
        store: &dyn Store,
        now: Timestamp,
    ) -> Result<usize, RetentionError> {
        let (mut count, mut last) = (0, None);
        let keys_before = now - KEYS;
        loop {
            let expired = store.expired(now - self.runs, BATCH).await?;
            let first = expired.first().map(|expired| expired.run);
            // What stays although its time is up was opened again just now: next time.
            if first.is_none() || first == last {
                break;
            }
            last = first;
            let runs = expired.iter().map(|expired| expired.run).collect();
            engine.submit(Input::Forget(Forget { runs, keys_before })).await?;
            count += expired.len();
            let logs: Vec<AttemptId> =
                expired.into_iter().flat_map(|expired| expired.logs).collect();
            for logs in logs.chunks(LOGS_AT_ONCE) {
                // A run that was opened again in between keeps its rows, and with them its logs.
                let gone = unknown(store, logs).await?;
                self.remove_files(gone.clone()).await?;
                self.remove_blobs(gone, Timestamp(i64::MAX)).await?;
            }
        }
        // Nothing is written when none is old.
        if store.has_old_keys(keys_before).await? {
            engine.submit(Input::Forget(Forget { runs: Vec::new(), keys_before })).await?;
        }
        Ok(count)
    }

    /// Removes logs from the blob store that no row knows: their run was forgotten, or their
    /// attempt given up, or a crash came in between. They are kept as long as a run of their age
    /// would be. Returns how many there were.
    pub async fn sweep(&self, store: &dyn Store, now: Timestamp) -> Result<usize, RetentionError> {
        let before = now - self.runs.max(STRAY_MIN);
        let (mut count, mut after) = (0, None);
        loop {
            let page = self.page(after).await?;
            let Some(last) = page.last() else { return Ok(count) };
            after = Some(last.name);
            let old = page.iter().filter(|entry| entry.put_at < before);
            let old: Vec<AttemptId> =
                old.map(|BlobEntry { name: BlobName::Log(attempt), .. }| *attempt).collect();
            let stray = unknown(store, &old).await?;
            count += stray.len();
            self.remove_blobs(stray, before).await?;
        }
    }

    async fn page(&self, after: Option<BlobName>) -> Result<Vec<BlobEntry>, RetentionError> {
        let blobs = Arc::clone(&self.logs.blobs);
        let list = move || blobs.list(after, LOGS_AT_ONCE);
        Ok(tokio::task::spawn_blocking(list).await??)
    }

    /// Unless they were put again since.
    async fn remove_blobs(
        &self,
        logs: Vec<AttemptId>,
        put_before: Timestamp,
    ) -> Result<(), RetentionError> {
        let blobs = Arc::clone(&self.logs.blobs);
        let remove = move || {
            let mut names = logs.into_iter().map(BlobName::Log);
            names.try_for_each(|name| blobs.remove(name, put_before))
        };
        Ok(tokio::task::spawn_blocking(remove).await??)
    }

    async fn remove_files(&self, logs: Vec<AttemptId>) -> Result<(), RetentionError> {
        let folder = self.logs.folder.clone();
        let remove = move || {
            for attempt in logs {
                // A file that stays costs disk and nothing else.
                let _ = remove_log(&folder, attempt);
            }
        };
        Ok(tokio::task::spawn_blocking(remove).await?)
    }
}

/// Those of these logs that no row knows.
async fn unknown(store: &dyn Store, logs: &[AttemptId]) -> Result<Vec<AttemptId>, ReadError> {
    if logs.is_empty() {
        return Ok(Vec::new());
    }
    let known: BTreeSet<AttemptId> = store.logs_outside(logs).await?.into_iter().collect();
    Ok(logs.iter().copied().filter(|attempt| !known.contains(attempt)).collect())
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
