//! Old runs are forgotten, in small batches, through the engine: whatever is opened again in
//! between stays.

use crate::engine::{Engine, NotDone};
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::world::input::{Forget, Input};
use mainspring_exec::log::remove_log;
use mainspring_store::{ReadError, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const BATCH: usize = 100;
/// Between two looks. Nothing is written when nothing is old.
const LOOK: Duration = Duration::from_secs(3_600);
/// A moment after the start, when there is other work to do.
const FIRST_LOOK: Duration = Duration::from_secs(60);
/// Keys of requests live this long, or as long as their run.
const KEYS: Span = Span::from_secs(7 * 86_400);

#[derive(Clone, Debug)]
pub struct Retention {
    /// How long a run stays after its end.
    pub runs: Span,
    /// Where log files are.
    pub folder: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    NotDone(#[from] NotDone),
}

impl Retention {
    /// Looks now and then, for as long as it is polled.
    pub async fn keep(self, engine: Arc<Engine>, store: Arc<dyn Store>) {
        tokio::time::sleep(FIRST_LOOK).await;
        loop {
            // What could not be done now is done next time.
            let _ = self.forget(&engine, &*store, now()).await;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Forgets everything whose time is up. Returns how many runs that were.
    pub async fn forget(
        &self,
        engine: &Engine,
        store: &dyn Store,
        now: Timestamp,
    ) -> Result<usize, RetentionError> {
        let (mut count, mut last) = (0, None);
        loop {
            let expired = store.expired(now - self.runs, BATCH).await?;
            let first = expired.first().map(|expired| expired.run);
            // What stays although its time is up was opened again just now: next time.
            if first.is_none() || first == last {
                return Ok(count);
            }
            last = first;
            let runs = expired.iter().map(|expired| expired.run).collect();
            engine.submit(Input::Forget(Forget { runs, keys_before: now - KEYS })).await?;
            count += expired.len();
            let logs = expired.into_iter().flat_map(|expired| expired.logs).collect();
            remove_logs(self.folder.clone(), logs).await;
        }
    }
}

async fn remove_logs(folder: PathBuf, attempts: Vec<mainspring_core::ids::AttemptId>) {
    let remove = move |folder: &Path| {
        for attempt in attempts {
            // A file that stays costs disk and nothing else.
            let _ = remove_log(folder, attempt);
        }
    };
    let _ = tokio::task::spawn_blocking(move || remove(&folder)).await;
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
