//! Work that the blob store keeps waiting: when it is tried again, and who hears of it.
//!
//! ```text
//!  desk, shelf ─► wait ─► the first one that waits: said once
//!                     ├─► pause, longer each time, on no thread
//!                     └─► patience is over: the engine ends, as it does when a commit fails
//! ```

use crate::engine::EngineConfig;
use crate::events::Observer;
use crate::inbox::{Control, Inbox};
use crate::trouble::{PAUSE_MAX, PAUSE_MIN};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Clone)]
pub(crate) struct Again(Arc<Parts>);

struct Parts {
    observer: Arc<dyn Observer>,
    inbox: Arc<Inbox>,
    patience: Option<Duration>,
    trouble: Mutex<Option<Trouble>>,
}

/// It lasts as long as anything waits.
struct Trouble {
    since: Instant,
    waiting: usize,
}

/// One that waits, until it is dropped: it was done, or nobody wants it any more.
pub(crate) struct Wait {
    again: Again,
    tries: u32,
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").field("tries", &self.tries).finish_non_exhaustive()
    }
}

impl Again {
    pub fn new(config: &EngineConfig, inbox: &Arc<Inbox>) -> Self {
        Self(Arc::new(Parts {
            observer: Arc::clone(&config.observer),
            inbox: Arc::clone(inbox),
            patience: config.store_patience,
            trouble: Mutex::default(),
        }))
    }

    /// Something could not be done for this reason, for the first time or once more.
    pub fn wait(&self, former: Option<Wait>, why: &str) -> Wait {
        let mut trouble = self.trouble();
        let is_first = trouble.is_none();
        let now = trouble.get_or_insert(Trouble { since: Instant::now(), waiting: 0 });
        now.waiting += usize::from(former.is_none());
        let so_far = now.since.elapsed();
        drop(trouble);
        if is_first {
            self.0.observer.content_waits(why);
        }
        if self.0.patience.is_some_and(|patience| so_far >= patience) {
            self.0.inbox.control(Control::GiveUp(why.to_owned()));
        }
        let mut wait = former.unwrap_or_else(|| Wait { again: self.clone(), tries: 0 });
        wait.tries += 1;
        wait
    }

    fn trouble(&self) -> MutexGuard<'_, Option<Trouble>> {
        // Each change of it is one call.
        self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wait {
    /// Before the next try.
    pub fn pause(&self) -> Duration {
        let doubled = PAUSE_MIN * 2_u32.saturating_pow(self.tries.saturating_sub(1).min(16));
        doubled.min(PAUSE_MAX)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut trouble = self.again.trouble();
        if let Some(now) = &mut *trouble {
            now.waiting = now.waiting.saturating_sub(1);
            if now.waiting == 0 {
                *trouble = None;
            }
        }
    }
}
