//! Stops that take too long. The state stays what it is until the work is gone, and nobody but a
//! person may give the work up: so a person has to hear of it.

use crate::events::Observer;
use mainspring_core::ids::AttemptId;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

pub(crate) struct Overdue {
    observer: Arc<dyn Observer>,
    runtime: Handle,
    within: Duration,
    /// What is being stopped, each with the one that will tell of it.
    stops: BTreeMap<AttemptId, AbortHandle>,
}

impl Overdue {
    /// Within the runtime that counts the time.
    pub fn new(observer: Arc<dyn Observer>, within: Duration) -> Self {
        Self { observer, runtime: Handle::current(), within, stops: BTreeMap::new() }
    }

    /// The time counts from the first of them: one that is stopped again has not begun anew.
    pub fn stopping(&mut self, attempt: AttemptId, whose: Option<String>) {
        self.stops.entry(attempt).or_insert_with(|| {
            let (observer, within) = (Arc::clone(&self.observer), self.within);
            let told = self.runtime.spawn(async move {
                tokio::time::sleep(within).await;
                observer.kill_unconfirmed(attempt, whose.as_deref().unwrap_or("a task"));
            });
            told.abort_handle()
        });
    }

    pub fn settled(&mut self, attempt: AttemptId) {
        if let Some(told) = self.stops.remove(&attempt) {
            told.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Event;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};

    struct Heard(Mutex<Sender<String>>);

    impl Observer for Heard {
        fn committed(&self, _: &[Event]) {}
        fn loaded(&self, _: u64) {}
        fn log_stays(&self, _: AttemptId, _: &str) {}
        fn content_waits(&self, _: &str) {}
        fn store_failed(&self, _: &str) {}
        fn kill_unconfirmed(&self, attempt: AttemptId, whose: &str) {
            let _ = self.0.lock().expect("unpoisoned").send(format!("{attempt} {whose}"));
        }
    }

    fn overdue(within: Duration) -> (Overdue, Receiver<String>) {
        let (say, heard) = channel();
        (Overdue::new(Arc::new(Heard(Mutex::new(say))), within), heard)
    }

    const PATIENCE: Duration = Duration::from_secs(60);
    const ATTEMPT: AttemptId = AttemptId::from_bytes([7; 16]);

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_kill_that_is_not_confirmed_in_time_is_told_once() {
        let (mut overdue, heard) = overdue(Duration::ZERO);
        overdue.stopping(ATTEMPT, Some("task a".to_owned()));
        assert_eq!(heard.recv_timeout(PATIENCE), Ok(format!("{ATTEMPT} task a")));
        overdue.stopping(ATTEMPT, None);
        overdue.settled(ATTEMPT);
        drop(overdue);
        assert!(heard.recv_timeout(PATIENCE).is_err(), "and everybody who could tell is gone");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn one_that_is_gone_in_time_is_not_told() {
        let (mut overdue, heard) = overdue(Duration::from_secs(86_400));
        overdue.stopping(ATTEMPT, None);
        overdue.settled(ATTEMPT);
        drop(overdue);
        // Nothing that counted is left, a day before its time.
        let ended = heard.recv_timeout(PATIENCE);
        assert_eq!(ended, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }
}
