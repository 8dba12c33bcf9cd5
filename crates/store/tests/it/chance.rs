//! Rows and batches by chance, the same for the same seed.

use crate::rows::{
    OTHER, SCHEDULER, attempt, attempt_id, blob, head, instance, parent, plain, progress, run_id,
    task,
};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::ids::{RunKey, TaskNo, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::finalizer::{Finalizer, LiveAttempt, Step};
use mainspring_core::kernel::group::{Closed, Group};
use mainspring_core::kernel::row::{
    AdditionRow, Attempt, AttemptEnd, AttemptRow, CancelCause, Cancelled, Counts, Hold, Log,
    RunError, RunHead, RunProgress, RunStatus, Stopping, TaskRow,
};
use mainspring_core::kernel::wait::{
    ApprovalPlace, Awaited, Decision, InTime, SignalRow, Verdict, Wait,
};
use mainspring_core::output::Output;
use mainspring_core::time::{Span, Timestamp};
use mainspring_core::work::CacheNote;
use mainspring_core::world::batch::Change;
use std::collections::{BTreeMap, BTreeSet};

/// The runs of a store: numbered from 1, and which of them are there, with their stamps.
#[derive(Clone, Default)]
pub struct Runs {
    pub last: u64,
    pub stored: BTreeMap<u64, u64>,
}

/// SplitMix64.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn small(&mut self) -> u32 {
        u32::try_from(self.below(6)).unwrap()
    }

    pub fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        let at = self.below(u64::try_from(choices.len()).unwrap());
        choices[usize::try_from(at).unwrap()].clone()
    }

    pub fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(2).then(|| make(self))
    }

    pub fn time(&mut self) -> Timestamp {
        Timestamp(1_700_000_000_000_000 + i64::try_from(self.below(50)).unwrap())
    }

    /// One of very few: for what is looked for by its time.
    pub fn moment(&mut self) -> Timestamp {
        Timestamp(i64::try_from(self.below(4)).unwrap())
    }

    pub fn text(&mut self) -> String {
        self.of(&["", "a", "it's \"so\"", "zwölf\nlines", "\u{1F41F}\t"]).to_owned()
    }

    fn json(&mut self) -> Json {
        if self.one_in(20) {
            let long = "y".repeat(usize::try_from(self.below(6_000)).unwrap());
            return Json::from_value(&serde_json::Value::from(long));
        }
        let text = self.of(&["{}", "null", "[1, 2.50, \"x\"]", "{\"b\": 1, \"a\": {\"é\": []}}"]);
        Json::parse(text).unwrap()
    }

    pub fn output(&mut self) -> Output {
        match self.one_in(3) {
            true => blob(u8::try_from(self.below(3)).unwrap()),
            false => self.json().into(),
        }
    }

    fn hold(&mut self) -> Hold {
        Hold { by: self.text(), at: self.time() }
    }

    pub fn task_ref(&mut self) -> TaskRef {
        match self.one_in(2) {
            true => plain(self.small()),
            false => instance(self.small(), self.small()),
        }
    }
}

/// Rows.
impl Chance {
    pub fn head(&mut self, number: u64) -> RunHead {
        RunHead {
            workflow: self.workflow().into(),
            version: self.small(),
            input: self.json(),
            labels: (0..self.below(4)).map(|_| (self.text(), self.text())).collect(),
            priority: self.of(&[i32::MIN, -1, 0, 1, i32::MAX]),
            triggered_by: self.text(),
            workdir: self.text(),
            parent: self.maybe(|chance| parent(chance.below(9), chance.task_ref())),
            retry_of: self.maybe(|chance| head(chance.below(9)).id),
            group: self.maybe(|chance| chance.text().into()),
            // Few moments for many runs: the id has to tell them apart.
            created_at: self.moment(),
            ..head(number)
        }
    }

    pub fn workflow(&mut self) -> &'static str {
        self.of(&["build", "deploy", "Build"])
    }

    pub fn progress(&mut self) -> RunProgress {
        let (status, stamp) = (self.of(RunStatus::ALL), self.below(1_000));
        RunProgress {
            hold: self.maybe(Self::hold),
            cancel: self.maybe(|chance| match chance.one_in(2) {
                true => CancelCause::RunTimeout,
                false => CancelCause::Asked(chance.text()),
            }),
            alone_since: self.maybe(Self::time),
            unconfirmed_since: self.maybe(Self::time),
            owner: self.of(&[SCHEDULER, SCHEDULER, OTHER]),
            started_at: self.maybe(Self::time),
            opened_at: self.maybe(Self::time),
            finished_at: self.maybe(Self::moment),
            error: self.maybe(|chance| RunError { class: chance.class(), message: chance.text() }),
            output: self.maybe(Self::output),
            signals: self.small(),
            additions: self.small(),
            counts: Counts {
                total: self.small(),
                live: self.small(),
                waiting: self.small(),
                worker_done: self.small(),
                success: self.small(),
                failed: self.small(),
                cancelled: self.small(),
                skipped: u32::MAX,
            },
            ..progress(status, stamp)
        }
    }

    fn class(&mut self) -> ErrorClass {
        self.of(ErrorClass::ALL)
    }

    fn attempt(&mut self) -> Attempt {
        Attempt {
            dispatched_at: self.time(),
            started_at: self.maybe(Self::time),
            finished_at: self.maybe(Self::time),
            end: self.maybe(Self::end),
            ..attempt(self.small(), self.below(40))
        }
    }

    fn end(&mut self) -> AttemptEnd {
        match self.below(8) {
            0 => AttemptEnd::Success,
            6 => AttemptEnd::Copied,
            5 => AttemptEnd::Cached,
            1 => AttemptEnd::Cancelled,
            4 => AttemptEnd::Abandoned,
            2 => AttemptEnd::Refused(self.text().into()),
            3 => AttemptEnd::Failed(Box::new(TaskError::exit(-1))),
            _ => AttemptEnd::Failed(Box::new(TaskError::new(self.class(), self.text()))),
        }
    }

    fn error(&mut self) -> Box<TaskError> {
        Box::new(TaskError::new(self.class(), self.text()))
    }

    /// What it says of its instances, they may belie.
    fn group(&mut self) -> Box<Group> {
        let cancelled = Closed::Cancel(self.of(Cancelled::ALL));
        let closed = self.maybe(|chance| chance.of(&[Closed::FailFast, cancelled, Closed::Chosen]));
        Box::new(Group {
            opened_at: self.maybe(Self::time),
            count: self.small(),
            next: self.small(),
            success: self.small(),
            failed: self.small(),
            cancelled: self.small(),
            delayed: self.small(),
            held: self.small(),
            waiting: self.small(),
            worker_done: self.small(),
            taken: self.small(),
            taken_from: self.small(),
            attempts: self.small(),
            numbered_from: u32::MAX,
            closed,
            worked: self.one_in(4),
            copied: self.one_in(4),
        })
    }

    fn task(&mut self, at: TaskRef) -> TaskRow {
        let attempt = self.maybe(Self::attempt);
        let has_none = attempt.is_none() && self.one_in(2);
        TaskRow {
            fact: self.of(&[Fact::ALL, &[Fact::Success; 4]].concat()),
            until: self.maybe(Self::time),
            attempts: self.small(),
            attempt,
            error: has_none.then(|| self.error()),
            group: (at.index.is_none() && !self.one_in(3)).then(|| self.group()),
            tries: self.small(),
            losses: self.small(),
            refusals: self.small(),
            refused_for: Span(self.below(1_000_000)),
            ever_started: self.one_in(2),
            hold: self.maybe(Self::hold).map(Box::new),
            stopping: self.maybe(|chance| chance.of(Stopping::ALL)),
            cancelled: self.maybe(|chance| chance.of(Cancelled::ALL)),
            settled_at: self.maybe(Self::time),
            output: self.maybe(Self::output),
            wait: self.maybe(Self::wait).map(Box::new),
            finalizer: self.maybe(Self::finalizer).map(Box::new),
            ..task(at)
        }
    }

    fn finalizer(&mut self) -> Finalizer {
        Finalizer {
            fact: self.of(Fact::ALL),
            since: self.time(),
            queue: self.maybe(Self::text).map(Into::into),
            attempt: self.maybe(|chance| LiveAttempt {
                number: chance.small(),
                id: attempt_id(chance.below(1_000)),
                dispatched_at: chance.time(),
                started_at: chance.maybe(Self::time),
            }),
            tries: self.small(),
            losses: self.small(),
            refusals: self.small(),
            refused_for: Span(self.below(1_000_000)),
            refused: self.maybe(Self::text).map(Into::into),
            hindrances: self.small(),
            error: self.maybe(Self::error),
            cache: self.maybe(|chance| CacheNote { hash: [7; 32], ttl: Span(chance.below(9)) }),
        }
    }

    fn wait(&mut self) -> Wait {
        let on = self.maybe(|chance| match chance.below(4) {
            0 => Awaited::Time,
            3 => Awaited::Child { run: run_id(chance.below(9)) },
            1 => Awaited::Signal { key: chance.text().into() },
            _ => Awaited::Approval {
                message: chance.text().into(),
                decision: chance.maybe(Self::decision).map(Box::new),
            },
        });
        let in_time = self.maybe(|chance| {
            let value = Json::parse(&chance.below(9).to_string()).expect("a number");
            Box::new(InTime { number: chance.small(), value })
        });
        let child = self.maybe(|chance| run_id(chance.below(9)));
        Wait { on, taken: self.small(), in_time, child }
    }

    fn decision(&mut self) -> Decision {
        Decision {
            verdict: self.of(&[Verdict::Approved, Verdict::Rejected]),
            by: self.text(),
            at: self.time(),
            comment: self.maybe(Self::text),
        }
    }

    /// One of few keys and numbers, so that they meet again.
    fn addition(&mut self) -> AdditionRow {
        AdditionRow {
            number: self.small(),
            text: self.text().into(),
            by: self.text(),
            at: self.moment(),
        }
    }

    fn signal(&mut self) -> SignalRow {
        SignalRow {
            number: self.small(),
            key: self.of(&["a", "A", "é", ""]).into(),
            value: self.json(),
            by: self.text(),
            at: self.time(),
        }
    }

    fn log(&mut self) -> Log {
        match self.below(4) {
            0 => Log::File { bytes: self.below(1 << 50) },
            1 => Log::Blob { bytes: self.below(1 << 50) },
            _ => Log::Inline(self.text().into_bytes().into()),
        }
    }
}

/// Batches.
impl Chance {
    /// A batch that contradicts nothing. Its runs are added to those there are.
    pub fn batch(&mut self, runs: &mut Runs) -> Vec<Change> {
        let mut changes = Vec::new();
        for _ in 0..self.below(3) {
            runs.last += 1;
            let (head, progress) = (self.head(runs.last), self.progress());
            runs.stored.insert(runs.last, progress.stamp);
            changes.push(Change::NewRun(head, progress));
        }
        for _ in 0..self.below(4) {
            changes.push(self.record(runs));
        }
        let numbers: Vec<u64> = runs.stored.keys().copied().collect();
        if numbers.is_empty() {
            return changes;
        }
        let mut written = BTreeSet::new();
        for _ in 0..self.below(12) {
            let number = self.of(&numbers);
            let change = self.change(RunKey::new(1, number));
            let is_first = match &change {
                Change::PutRun(run, _) => written.insert((*run, None)),
                Change::PutTask(run, row) => written.insert((*run, Some(row.task))),
                _ => true,
            };
            if is_first {
                changes.push(change);
            }
        }
        if self.one_in(3) {
            let number = self.of(&numbers);
            let stamp = if self.one_in(4) { 0 } else { runs.stored[&number] };
            changes.push(Change::DropRun(RunKey::new(1, number), stamp));
        }
        self.shuffle(&mut changes);
        changes
    }

    fn change(&mut self, run: RunKey) -> Change {
        match self.below(13) {
            12 => Change::NewAddition(run, self.addition()),
            9 => Change::NewSignal(run, self.signal()),
            10 | 11 => {
                let place = ApprovalPlace { since: self.moment(), run, task: self.task_ref() };
                match self.one_in(3) {
                    true => Change::UnlistApproval(place),
                    false => Change::ListApproval(place),
                }
            }
            0 => Change::PutRun(run, self.progress()),
            1 => Change::NewLog(run, attempt_id(self.below(40)), self.log()),
            2 => {
                let (task, attempt) = (self.task_ref(), self.attempt());
                Change::NewAttempt(
                    run,
                    AttemptRow {
                        task,
                        step: self.of(Step::ALL),
                        attempt,
                        output: self.maybe(Self::output),
                    },
                )
            }
            3 => Change::SendBackInstances(run, TaskNo(self.small())),
            _ => {
                let at = self.task_ref();
                Change::PutTask(run, self.task(at))
            }
        }
    }

    /// Something that makes any batch contradict what is stored.
    pub fn contradiction(&mut self, runs: &Runs) -> Change {
        let unknown = RunKey::new(1, runs.last + 50);
        let stored: Vec<u64> = runs.stored.keys().copied().collect();
        match self.below(5) {
            0 if !stored.is_empty() => Change::NewRun(head(self.of(&stored)), self.progress()),
            1 => Change::PutTask(unknown, task(plain(0))),
            2 => Change::NewLog(unknown, attempt_id(1), self.log()),
            3 => Change::SendBackInstances(unknown, TaskNo(0)),
            _ => Change::PutRun(unknown, self.progress()),
        }
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            let other = self.below(u64::try_from(at + 1).unwrap());
            items.swap(at, usize::try_from(other).unwrap());
        }
    }
}
