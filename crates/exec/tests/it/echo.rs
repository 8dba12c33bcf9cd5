//! The executor that benchmarks measure.

use crate::rig::ticket;
use mainspring_core::ids::RunId;
use mainspring_core::json::Json;
use mainspring_core::work::{Launch, Outcome, Report, ReportKind, Work};
use mainspring_exec::{EchoExecutor, Executor, Reports};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

struct Batches(Sender<Vec<Report>>);

impl Reports for Batches {
    fn report(&self, report: Report) {
        self.report_all(vec![report]);
    }

    fn report_all(&self, reports: Vec<Report>) {
        let _ = self.0.send(reports);
    }
}

#[test]
fn an_echo_starts_and_ends() {
    let (sender, batches) = channel();
    let executor = EchoExecutor::new(Arc::new(Batches(sender))).unwrap();
    let tickets: Vec<_> = (0..1_000).map(|_| ticket()).collect();
    for ticket in &tickets {
        executor.start(Launch {
            ticket: *ticket,
            run: RunId::from_bytes([0; 16]),
            workflow: "w".into(),
            task: "t".into(),
            attempt: 1,
            finalizes: None,
            work: Work::Echo,
            input: Json::null(),
            run_input: Json::null(),
            instance: None,
            cache: None,
        });
    }
    drop(executor);
    // The thread hands over what it has before it ends, and lets go of the channel.
    let reports: Vec<Report> = batches.iter().flatten().collect();
    assert_eq!(reports.len(), 2 * tickets.len());
    for (ticket, pair) in tickets.iter().zip(reports.chunks(2)) {
        assert_eq!((pair[0].ticket, pair[1].ticket), (*ticket, *ticket));
        assert_eq!(pair[0].what, ReportKind::Started);
        let ReportKind::Ended(ended) = &pair[1].what else { panic!("{pair:?}") };
        assert_eq!(ended.outcome, Outcome::Success(None));
    }
}
