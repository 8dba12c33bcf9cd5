//! What a server says while it works: lines for people on a terminal, JSON otherwise.

use mainspring_core::ids::AttemptId;
use mainspring_core::world::batch::Unconfirmed;
use mainspring_engine::events::{Event, Observer};
use mainspring_engine::retention::RetentionError;
use mainspring_server::Hub;
use std::io::IsTerminal as _;
use std::sync::Arc;
use tracing::{error, level_filters::LevelFilter, warn};

pub fn begin() {
    let shown = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::INFO)
        .with_writer(std::io::stderr)
        // Said on stderr too, and a panic when that is gone: a server outlives its terminal.
        .log_internal_errors(false)
        .with_target(false);
    if std::io::stderr().is_terminal() {
        shown.init();
    } else {
        shown.json().flatten_event(true).init();
    }
}

pub fn retention_failed(why: &RetentionError) {
    warn!(%why, "what is old was not removed: it is tried again later");
}

/// Tells the hub, and says aloud when the store fails.
#[derive(Debug)]
pub struct Narrator(pub Arc<Hub>);

impl Observer for Narrator {
    fn committed(&self, events: &[Event]) {
        self.0.committed(events);
    }

    fn loaded(&self, last_stamp: u64) {
        self.0.loaded(last_stamp);
    }

    fn log_stays(&self, attempt: AttemptId, why: &str) {
        warn!(%attempt, why, "a log was not moved into the blob store: it stays in its file");
    }

    fn content_waits(&self, why: &str) {
        warn!(why, "what was left cannot be kept, or not be read: it waits, and is tried again");
    }

    fn kill_unconfirmed(&self, what: &Unconfirmed) {
        let Unconfirmed { ticket, run, workflow, task } = what;
        warn!(
            %run,
            %workflow,
            %task,
            index = ticket.task.index,
            attempt = %ticket.attempt,
            "it was told to end 5m ago and is not known to be gone: unless somebody has done so, \
             `mainspring cancel RUN TASK --force` gives it up as abandoned"
        );
    }

    fn store_failed(&self, why: &str) {
        error!(why, "the store failed: everything is loaded again");
        self.0.store_failed(why);
    }
}
