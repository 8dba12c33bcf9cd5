//! A named thread that is waited for when its owner goes.

use std::io;
use std::thread::{self, JoinHandle};

#[derive(Debug)]
pub(crate) struct Thread(Option<JoinHandle<()>>);

impl Thread {
    pub fn start(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        thread::Builder::new().name(name.to_owned()).spawn(body).map(|handle| Self(Some(handle)))
    }

    /// Waits for its end. Whoever calls has told it to end.
    pub fn join(&mut self) {
        let Some(handle) = self.0.take() else { return };
        // A callback may hold the last reference to the store: then this is the thread itself,
        // and it ends when the callback returns.
        if handle.thread().id() == thread::current().id() {
            return;
        }
        // A panic of the thread was printed where it happened.
        let _ = handle.join();
    }
}
