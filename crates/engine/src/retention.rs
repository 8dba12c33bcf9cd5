//! Old runs are forgotten, in small batches, through the engine: whatever is opened again in
//! between stays. Their logs and what they put out go after them, and now and then also blobs that
//! belong to no run.

use crate::engine::{Engine, NotDone};
use crate::logs::LogPlaces;
use mainspring_core::ids::{AttemptId, RunId};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::input::{Forget, Forgotten, Input};
use mainspring_exec::log::remove_log;
use mainspring_store::{BlobEntry, BlobError, BlobName, Expired, ReadError, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const BATCH: usize = 100;
/// Between two looks. Nothing is written when nothing is old.
const LOOK: Duration = Duration::from_secs(3_600);
/// Every so many looks those blobs are looked for that belong to no run: about once a day.
const SWEEP_LOOKS: usize = 24;
/// Logs asked after at once.
const LOGS_AT_ONCE: usize = 1_000;
/// Rows of tasks dropped in one commit, about: whoever waits behind it waits for a second at most.
/// (PostgreSQL drops some 300,000 in a second, SQLite more.)
const ROWS_AT_ONCE: u64 = 50_000;
/// Contents of a run removed at once.
const CONTENTS_AT_ONCE: usize = 100;
/// A blob that no row knows is at least this old before it goes: its row may be on its way.
const STRAY_MIN: Span = Span::from_secs(86_400);
/// A moment after the start, when there is other work to do.
const FIRST_LOOK: Duration = Duration::from_secs(60);
/// Keys of requests live this long, or as long as their run. So do orders on many runs, from their
/// end.
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

    /// Forgets everything whose time is up: runs, and then keys that none of those left holds, and
    /// orders on many runs that are over.
    /// Returns how many runs that were.
    pub async fn forget(
        &self,
        engine: &Engine,
        store: &dyn Store,
        now: Timestamp,
    ) -> Result<usize, RetentionError> {
        let (mut count, mut last) = (0, None);
        let keys_before = keys_before(store, now).await?;
        loop {
            let expired = store.expired(now - self.runs, BATCH).await?;
            let first = expired.first().map(|expired| expired.run);
            // What stays although its time is up was opened again just now: next time.
            if first.is_none() || first == last {
                break;
            }
            last = first;
            for runs in together(&expired) {
                count += runs.len();
                engine.submit(Input::Forget(Forget { runs, keys_before })).await?;
            }
            let family =
                |expired: &Expired| [vec![expired.run.id], expired.children.clone()].concat();
            let runs: Vec<RunId> = expired.iter().flat_map(family).collect();
            self.remove_contents(gone(store, &runs).await?).await?;
            let logs: Vec<AttemptId> =
                expired.into_iter().flat_map(|expired| expired.logs).collect();
            for logs in logs.chunks(LOGS_AT_ONCE) {
                // A run that was opened again in between keeps its rows, and with them its logs.
                let logs = unknown(store, logs).await?;
                let names = logs.iter().copied().map(BlobName::Log).collect();
                self.remove_files(logs).await?;
                self.remove_blobs(names, Timestamp(i64::MAX)).await?;
            }
        }
        // Nothing is written when none is old.
        if store.has_old_keys(keys_before).await? || store.has_old_bulks(keys_before).await? {
            engine.submit(Input::Forget(Forget { runs: Vec::new(), keys_before })).await?;
        }
        Ok(count)
    }

    /// Removes logs from the blob store that no row knows, and contents whose run is gone: it was
    /// forgotten, or an attempt given up, or a crash came in between. They are kept as long as a
    /// run of their age would be. Returns how many there were.
    pub async fn sweep(&self, store: &dyn Store, now: Timestamp) -> Result<usize, RetentionError> {
        let before = now - self.runs.max(STRAY_MIN);
        let (mut count, mut after) = (0, None);
        loop {
            let page = self.page(after).await?;
            let Some(last) = page.last() else { return Ok(count) };
            after = Some(last.name);
            let old = page.iter().filter(|entry| entry.put_at < before);
            let stray = strays(store, old.map(|entry| entry.name)).await?;
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
        names: Vec<BlobName>,
        put_before: Timestamp,
    ) -> Result<(), RetentionError> {
        let blobs = Arc::clone(&self.logs.blobs);
        let remove = move || names.into_iter().try_for_each(|name| blobs.remove(name, put_before));
        Ok(tokio::task::spawn_blocking(remove).await??)
    }

    /// All that these runs put into the blob store.
    async fn remove_contents(&self, runs: Vec<RunId>) -> Result<(), RetentionError> {
        let blobs = Arc::clone(&self.logs.blobs);
        let remove = move || -> Result<(), BlobError> {
            for run in runs {
                while blobs.remove_contents(run, CONTENTS_AT_ONCE)? == CONTENTS_AT_ONCE {}
            }
            Ok(())
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

/// Runs that are dropped together, so that they have not too many rows. One may have more.
fn together(expired: &[Expired]) -> Vec<Vec<Forgotten>> {
    let mut found: Vec<Vec<Forgotten>> = Vec::new();
    let mut rows = 0;
    for expired in expired {
        rows += 1 + expired.rows;
        match found.last_mut() {
            Some(last) if rows <= ROWS_AT_ONCE => last.push(expired.run),
            _ => {
                rows = 1 + expired.rows;
                found.push(vec![expired.run]);
            }
        }
    }
    found
}

/// Up to when keys may go. An order on many runs that is still at work, after a long time without a
/// server, knows by them what it has done.
async fn keys_before(store: &dyn Store, now: Timestamp) -> Result<Timestamp, ReadError> {
    let at_work = store.unfinished_bulks().await?;
    Ok(at_work.iter().map(|row| row.created_at).chain([now - KEYS]).min().unwrap_or(now - KEYS))
}

/// Those of these logs that no row knows.
async fn unknown(store: &dyn Store, logs: &[AttemptId]) -> Result<Vec<AttemptId>, ReadError> {
    if logs.is_empty() {
        return Ok(Vec::new());
    }
    let known: BTreeSet<AttemptId> = store.logs_outside(logs).await?.into_iter().collect();
    Ok(logs.iter().copied().filter(|attempt| !known.contains(attempt)).collect())
}

/// Those of these runs that are not stored.
async fn gone(store: &dyn Store, runs: &[RunId]) -> Result<Vec<RunId>, ReadError> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let known: BTreeSet<RunId> = store.known_runs(runs).await?.into_iter().collect();
    Ok(runs.iter().copied().filter(|run| !known.contains(run)).collect())
}

/// Those of these blobs that belong to nothing that is stored.
async fn strays(
    store: &dyn Store,
    names: impl Iterator<Item = BlobName>,
) -> Result<Vec<BlobName>, ReadError> {
    let (mut logs, mut contents) = (Vec::new(), Vec::new());
    for name in names {
        match name {
            BlobName::Log(attempt) => logs.push(attempt),
            BlobName::Content(run, _) => contents.push((run, name)),
        }
    }
    let runs: BTreeSet<RunId> = contents.iter().map(|(run, _)| *run).collect();
    let runs: Vec<RunId> = runs.into_iter().collect();
    let gone: BTreeSet<RunId> = gone(store, &runs).await?.into_iter().collect();
    let contents = contents.into_iter().filter(|(run, _)| gone.contains(run));
    let logs = unknown(store, &logs).await?.into_iter().map(BlobName::Log);
    Ok(logs.chain(contents.map(|(_, name)| name)).collect())
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_core::ids::RunKey;

    fn check(rows: &[u64], expected: &[usize]) {
        let id = RunId::from_bytes([0; 16]);
        let run = Forgotten { key: RunKey(0), id, stamp: 0 };
        let expired = rows.iter().map(|rows| Expired {
            run,
            children: Vec::new(),
            rows: *rows,
            logs: Vec::new(),
        });
        let found = together(&expired.collect::<Vec<_>>());
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), expected, "{rows:?}");
    }

    #[test]
    fn runs_of_many_rows_are_dropped_apart() {
        check(&[], &[]);
        check(&[0; 100], &[100]);
        check(&[1_000_000], &[1]);
        check(&[3, 1_000_000, 3, 4], &[1, 1, 2]);
        check(&[20_000, 20_000, 9_997, 1], &[3, 1]);
    }
}
