//! From a decided start to an executor: rendered, or answered from the cache, or refused.

use crate::act::Executors;
use crate::artifacts;
use crate::at_hand::AtHand;
use crate::clock::wall;
use crate::inbox::Inbox;
use crate::keeping::Keeping;
use crate::shelf::Shelf;
use mainspring_core::error::{ErrorClass, TaskError, shorten};
use mainspring_core::evaluate::{Outputs, OutputsError};
use mainspring_core::ids::Ticket;
use mainspring_core::kernel::cache::CacheRow;
use mainspring_core::launch::{NotLaunched, StartAttempt};
use mainspring_core::limits::TASK_INPUT_BYTES_MAX;
use mainspring_core::output::Output;
use mainspring_core::work::{
    CacheNote, Ended, ExecutorKind, Launch, Outcome, Report, ReportKind, Work,
};
use mainspring_exec::{Executor, Reports as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub(crate) struct Starts {
    pub executors: Executors,
    pub inbox: Arc<Inbox>,
    pub shelf: Shelf,
    pub keeping: Arc<Keeping>,
}

/// What came of a start.
pub(crate) enum Rendered {
    Launch(Box<Launch>),
    /// No executor is needed: the attempt is over, or has to wait.
    Over(ReportKind),
}

impl Starts {
    /// What comes of a start at once. None when more is needed than is at hand, or much has to be
    /// worked out: then it may take its time, and nobody waits behind it.
    pub fn render_at_once(&self, start: &StartAttempt) -> Option<Rendered> {
        if Self::is_slow(start) {
            return None;
        }
        let at_hand = AtHand::of(&self.keeping);
        let rendered = self.render_with(start, &at_hand);
        (!at_hand.has_lacked()).then_some(rendered)
    }

    fn is_slow(start: &StartAttempt) -> bool {
        let task = start.around.definition.task(start.ticket.task.no);
        let outputs = || start.around.upstream.iter().filter_map(|it| it.output.as_ref());
        let takes_long = match start.finalizes {
            None => task.needs_store() || task.has_calls(),
            Some(_) => task.finalizer_has_calls(),
        };
        takes_long
            || start.lacks_items()
            // Some of them will have to be written into files.
            || outputs().map(Output::weight).sum::<usize>() > TASK_INPUT_BYTES_MAX / 2
    }

    pub fn render(&self, start: &StartAttempt) -> Rendered {
        self.render_with(start, &*self.keeping)
    }

    fn render_with(&self, start: &StartAttempt, outputs: &dyn Outputs) -> Rendered {
        // What people write goes into it: one task that cannot be rendered must not keep all
        // others from starting.
        let rendered = catch_unwind(AssertUnwindSafe(|| self.try_render(start, outputs)));
        match rendered {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(NotLaunched::Failed(error))) => over(Outcome::Failed(error)),
            Ok(Err(NotLaunched::Later(what))) => {
                Rendered::Over(ReportKind::Refused(shorten(what).into()))
            }
            Err(_) => {
                let what = "its work could not be put together: a bug in Mainspring, see its log";
                over(Outcome::Failed(TaskError::new(ErrorClass::Internal, what)))
            }
        }
    }

    fn try_render(
        &self,
        start: &StartAttempt,
        outputs: &dyn Outputs,
    ) -> Result<Rendered, NotLaunched> {
        let mut launch = start.render(outputs)?;
        if let Some(note) = launch.cache
            && let Some(output) = self.cached(start, note, launch.work.leaves())?
        {
            return Ok(over(Outcome::Cached(output)));
        }
        if let Work::Process(work) = &mut launch.work {
            let wanted = std::mem::take(&mut work.artifacts_wanted);
            work.artifacts_in = artifacts::fetch(&self.keeping, &start.around, &wanted)?;
        }
        Ok(Rendered::Launch(Box::new(launch)))
    }

    /// A success under the same key whose time is not up, with all that belongs to it. One that
    /// lacks a blob does not count, nor one that is not what the task is to put out now.
    fn cached(
        &self,
        start: &StartAttempt,
        note: CacheNote,
        files: &[String],
    ) -> Result<Option<Option<Output>>, OutputsError> {
        let key = note.key(&start.around.definition, start.ticket.task.no);
        let found = self.keeping.runtime.block_on(self.keeping.store.cached(&key));
        let found = found.map_err(|error| OutputsError::Unreachable(error.to_string()))?;
        let Some(row) = found.filter(|row| row.expires_at > wall()) else { return Ok(None) };
        match self
            .fits(start, &row)
            .and_then(|fits| Ok(fits && self.take_over(start, &row, files)?))
        {
            Ok(true) => Ok(Some(row.output)),
            Ok(false) | Err(OutputsError::Lost(_)) => Ok(None),
            Err(later) => Err(later),
        }
    }

    /// Whether its output is as the task's schema asks, which may have changed since.
    fn fits(&self, start: &StartAttempt, row: &CacheRow) -> Result<bool, OutputsError> {
        let task = start.around.definition.task(start.ticket.task.no);
        if !task.has_output_schema() {
            return Ok(true);
        }
        let output = match &row.output {
            None => None,
            Some(Output::Inline(json)) => Some(json.clone()),
            Some(Output::Blob(blob)) => Some(self.keeping.load(row.run, blob)?),
        };
        Ok(task.check_output(output.as_ref()).is_ok())
    }

    /// Gives the run what is another run's. False when that is not all there.
    fn take_over(
        &self,
        start: &StartAttempt,
        row: &CacheRow,
        files: &[String],
    ) -> Result<bool, OutputsError> {
        let run = start.around.run;
        if let Some(Output::Blob(blob)) = &row.output
            && row.run != run
        {
            self.keeping.copy(blob, row.run, run)?;
        }
        artifacts::take_over(&self.keeping, row, (run, start.ticket.attempt), files)
    }

    /// It was stopped before any executor had it.
    pub fn never_began(&self, ticket: Ticket) {
        self.inbox.report(Report { ticket, what: unstarted(Outcome::Stopped) });
    }

    /// What an executor has to be given. None when that was all.
    pub fn announce(&self, start: &StartAttempt, rendered: Rendered) -> Option<Box<Launch>> {
        match rendered {
            Rendered::Launch(launch) => {
                self.shelf.expect(start, launch.cache);
                Some(launch)
            }
            Rendered::Over(what) => {
                self.inbox.report(Report { ticket: start.ticket, what });
                None
            }
        }
    }

    pub fn carry_out(&self, start: &StartAttempt, rendered: Rendered) {
        if let Some(launch) = self.announce(start, rendered) {
            self.executor(launch.work.executor()).start(*launch);
        }
    }

    pub fn executor(&self, kind: ExecutorKind) -> &Arc<dyn Executor> {
        self.executors.get(&kind).expect("every kind of work has its executor")
    }
}

fn over(outcome: Outcome) -> Rendered {
    Rendered::Over(unstarted(outcome))
}

fn unstarted(outcome: Outcome) -> ReportKind {
    ReportKind::Ended(Ended::unstarted(outcome))
}
