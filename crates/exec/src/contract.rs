//! What every executor does.

use mainspring_core::ids::Ticket;
use mainspring_core::work::{Launch, Life, Question, Report, Stop};

/// Carries out attempts of one kind. No call blocks; answers come as reports.
///
/// Calls about one attempt take effect in the order they are made: a stop that overtakes
/// its start means that it never starts (it is then reported as ended, stopped).
pub trait Executor: Send + Sync + 'static {
    fn start(&self, launch: Launch);

    /// Many at once: between threads whole vectors are handed over.
    fn start_all(&self, launches: Vec<Launch>) {
        for launch in launches {
            self.start(launch);
        }
    }

    /// Ends a live attempt; its `Ended` report comes when the work is gone, not before.
    /// A second stop of the same attempt changes nothing.
    fn stop(&self, stop: Stop);

    /// Asks what became of an attempt; answered by a `Reattached` report, or by saying again
    /// that it was refused: a refusal is an outcome too, kept until it is settled.
    fn reattach(&self, question: Question, life: Life);

    /// The end of this attempt is durable: whatever was kept to report it again may go.
    fn settle(&self, ticket: Ticket);

    /// Every attempt it was given and has not been told to settle.
    fn held(&self) -> Vec<Ticket>;

    /// Kills everything it started, at once, and returns when it is gone.
    fn shut_down(&self);
}

/// Where executors put their reports. Never blocks, never refuses.
pub trait Reports: Send + Sync + 'static {
    fn report(&self, report: Report);

    /// What this attempt has left cannot be kept just now, and why; said at each try. Its work is
    /// over, and its end is told when it could be kept, or when it is stopped. Of matter to those
    /// who can tell a person.
    fn waits(&self, _ticket: Ticket, _why: &str) {}

    /// Many at once: between threads whole vectors are handed over.
    fn report_all(&self, reports: Vec<Report>) {
        for report in reports {
            self.report(report);
        }
    }
}
