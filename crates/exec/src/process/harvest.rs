//! What a success leaves: its output, and its artifacts. Small outputs are read on the spot;
//! whatever takes long is done on a thread that may be held up.
//!
//! Where there is no room for an artifact it is tried again for as long as it takes: work that was
//! done well does not fail for that. No timeout counts that time, and a stop ends it.

use super::artifacts::{NotCopied, Outgoing, Taken};
use super::output::{self, Captured, Source, Unread};
use super::table::Shared;
use super::work_files::WorkFiles;
use crate::secrets::Patterns;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::Ticket;
use mainspring_core::limits::OUTPUT_INLINE_BYTES_MAX;
use mainspring_core::output::Output;
use mainspring_core::work::ReportKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long it is tried again when there are no open files left: work that was done well does not
/// fail for that. As long as a start that finds none may wait for its next try.
const SCARCE_MAX: Duration = Duration::from_secs(30);
/// Waits between two tries, doubled up to the second.
const AGAIN: Duration = Duration::from_millis(1);
const AGAIN_MAX: Duration = Duration::from_millis(500);

/// Where to look for it.
pub(super) struct Leavings<'a> {
    pub shared: &'a Arc<Shared>,
    pub ticket: Ticket,
    /// None when one has come after the end of the work.
    pub stop: Option<&'a mut oneshot::Receiver<()>>,
    pub files: &'a WorkFiles,
    pub captured: Option<Captured>,
    pub secrets: Option<&'a Arc<Patterns>>,
    pub outgoing: Option<&'a Arc<Outgoing>>,
}

pub(super) struct Harvest {
    pub output: Option<Output>,
    pub artifacts: Taken,
}

impl Leavings<'_> {
    pub async fn harvest(mut self) -> Result<Harvest, NotCopied<TaskError>> {
        let output = self.output().await?;
        let artifacts = self.artifacts().await?;
        Ok(Harvest { output, artifacts })
    }

    async fn output(&mut self) -> Result<Option<Output>, TaskError> {
        let mut patience = Patience::new();
        let written = loop {
            match output::open_file(&self.files.output()) {
                Err(Unread::Scarce(_)) if patience.wait().await => {}
                opened => break opened?,
            }
        };
        let source = Source::new(written, self.captured.take());
        let secrets = self.secrets.cloned();
        if source.bytes() <= OUTPUT_INLINE_BYTES_MAX as u64 {
            return source.read(secrets.as_ref());
        }
        let read = tokio::task::spawn_blocking(move || source.read(secrets.as_ref()));
        read.await.unwrap_or_else(|_| Err(bug("the output could not be read")))
    }

    /// Abandoned when the executor ends, or when a stop has come while there was no room.
    async fn artifacts(&mut self) -> Result<Taken, NotCopied<TaskError>> {
        let Some(outgoing) = self.outgoing else { return Ok(Taken::default()) };
        // However long it takes to keep them, the work did not take longer.
        self.shared.report(self.ticket, ReportKind::Over);
        let mut patience = Patience::new();
        loop {
            let (shared, outgoing) = (Arc::clone(self.shared), Arc::clone(outgoing));
            let target = self.files.artifacts();
            let take = move || outgoing.take(target, &|| !shared.is_shutting_down());
            match tokio::task::spawn_blocking(take).await {
                Ok(Ok(taken)) => return Ok(taken),
                Ok(Err(NotCopied::Abandoned)) => return Err(NotCopied::Abandoned),
                Ok(Err(NotCopied::Because(Unread::Full(why)))) => {
                    self.shared.waits(self.ticket, &why);
                    self.pause(&mut patience).await?;
                }
                Ok(Err(NotCopied::Because(Unread::Scarce(_)))) if patience.wait().await => {}
                Ok(Err(NotCopied::Because(unread))) => return Err(TaskError::from(unread).into()),
                Err(_) => return Err(bug("its artifacts could not be taken").into()),
            }
        }
    }

    /// Until the next try, unless nobody wants it any more.
    async fn pause(&mut self, patience: &mut Patience) -> Result<(), NotCopied<TaskError>> {
        let Some(stop) = self.stop.as_deref_mut() else { return Err(NotCopied::Abandoned) };
        tokio::select! {
            () = patience.pause() => Ok(()),
            Ok(()) = stop => Err(NotCopied::Abandoned),
        }
    }
}

fn bug(what: &str) -> TaskError {
    TaskError::new(ErrorClass::Internal, format!("{what}: a bug"))
}

struct Patience {
    until: Instant,
    next: Duration,
}

impl Patience {
    fn new() -> Self {
        Self { until: Instant::now() + SCARCE_MAX, next: AGAIN }
    }

    /// False when it is at its end.
    async fn wait(&mut self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        self.pause().await;
        true
    }

    /// For as long as it takes.
    async fn pause(&mut self) {
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(AGAIN_MAX);
    }
}
