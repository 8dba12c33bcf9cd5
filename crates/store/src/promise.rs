//! An answer that is given in any case: whoever handed over a batch waits for it without a limit.

use crate::contract::{CommitError, Done};

/// Whoever drops it without having answered has answered that the fate is not known: a writer
/// whose thread a panic ended, with whatever was queued behind that.
pub(crate) struct Promise(Option<Done>);

impl Promise {
    pub fn new(done: Done) -> Self {
        Self(Some(done))
    }

    pub fn keep(mut self, result: Result<(), CommitError>) {
        if let Some(done) = self.0.take() {
            done(result);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            let what = "the database's writer has ended: start the server again".to_owned();
            done(Err(CommitError::Failed { what, source: None }));
        }
    }
}
