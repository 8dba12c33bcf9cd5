//! What a commit costs: batches of 1, 10, 100 and 1,000 runs, four row writes for each; the steps of
//! a chain; a fan-out, 1,000 instances that begin and 1,000 that end in each; and what it costs to
//! load that run afterwards.
//!
//! ```console
//! $ cargo run --release -p mainspring-store --example batches
//! $ cargo run --release -p mainspring-store --example batches -- folder/for/a/new/file
//! $ cargo run --release -p mainspring-store --example batches -- postgres://user@host/db
//! ```
//! Without a name it starts a throw-away PostgreSQL with production settings, which must be
//! installed. The database named must be an empty one: it is filled.
#![allow(clippy::print_stdout)]

use mainspring_core::ids::{AttemptId, RunId, RunKey, SchedulerId, TaskNo, TaskRef};
use mainspring_core::json::Json;
use mainspring_core::kernel::fact::Fact;
use mainspring_core::kernel::group::Group;
use mainspring_core::kernel::row::{
    Attempt, AttemptEnd, Counts, RunHead, RunKind, RunProgress, RunStatus, TaskRow,
};
use mainspring_core::time::Timestamp;
use mainspring_core::world::batch::Change;
use mainspring_store::{Fence, Postgres, Sqlite, Store};
use mainspring_throwaway::{Durability, Server};
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

const SCHEDULER: SchedulerId = SchedulerId::from_bytes([1; 16]);
const EACH: Duration = Duration::from_secs(5);

fn main() {
    let server;
    let store: Box<dyn Store> = match std::env::args().nth(1) {
        Some(url) if url.starts_with("postgres") => Box::new(open(&url)),
        Some(path) => Box::new(Sqlite::open(path.as_ref()).expect("the file can be opened")),
        None => {
            server = Server::start(Durability::Full);
            Box::new(open(&server.create_database("bench")))
        }
    };
    let mut bench = Bench::of(store);
    println!("{:>6} {:>12} {:>12} {:>12} {:>14}", "each", "p50 ms", "mean ms", "each/s", "rows/s");
    for size in [1, 10, 100, 1_000] {
        bench.batches(size);
    }
    bench.chain();
    bench.fan_out();
}

fn open(url: &str) -> Postgres {
    Postgres::open(url).expect("the database can be opened")
}

struct Bench {
    store: Box<dyn Store>,
    runtime: Runtime,
    fence: Fence,
    next: u64,
    stamp: u64,
}

impl Bench {
    fn of(store: Box<dyn Store>) -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let registered = runtime.block_on(store.register(SCHEDULER)).expect("it registers");
        let (fence, next, stamp) = (registered.fence, registered.next_run, registered.next_stamp);
        Self { store, runtime, fence, next, stamp }
    }

    fn commit(&mut self, changes: Vec<Change>) -> Duration {
        let (fate, told) = mpsc::channel();
        let began = Instant::now();
        let done = Box::new(move |result| fate.send(result).expect("somebody waits"));
        self.store.commit(self.fence, changes, done);
        told.recv().expect("every commit is answered").expect("it is durable");
        self.stamp += 1;
        began.elapsed()
    }

    /// Each commit accepts some runs and ends those of the commit before.
    fn batches(&mut self, size: u64) {
        let mut times = Vec::new();
        let began = Instant::now();
        let mut ending = Vec::new();
        while began.elapsed() < EACH {
            let starting: Vec<u64> = (self.next..self.next + size).collect();
            self.next += size;
            let mut changes = Vec::new();
            for number in &starting {
                changes.push(Change::NewRun(head(*number), self.progress(RunStatus::Running)));
                changes.push(Change::PutTask(key(*number), task(0, Fact::Dispatched)));
            }
            for number in &ending {
                changes.push(Change::PutRun(key(*number), self.progress(RunStatus::Success)));
                changes.push(Change::PutTask(key(*number), task(0, Fact::Success)));
            }
            times.push(self.commit(changes));
            ending = starting;
        }
        report(&size.to_string(), size, 4 * size, times);
    }

    /// Each commit ends a task and dispatches the next.
    fn chain(&mut self) {
        let number = self.next;
        self.next += 1;
        let accepted = Change::NewRun(head(number), self.progress(RunStatus::Running));
        self.commit(vec![accepted]);
        let mut times = Vec::new();
        let began = Instant::now();
        for step in 0.. {
            if began.elapsed() > EACH {
                break;
            }
            let changes = vec![
                Change::PutRun(key(number), self.progress(RunStatus::Running)),
                Change::PutTask(key(number), task(step, Fact::Success)),
                Change::PutTask(key(number), task(step + 1, Fact::Dispatched)),
            ];
            times.push(self.commit(changes));
        }
        report("chain", 1, 3, times);
    }

    /// Each commit opens some instances and ends those of the commit before; then the run is loaded.
    fn fan_out(&mut self) {
        const EACH_TIME: u32 = 1_000;
        let number = self.next;
        self.next += 1;
        let accepted = Change::NewRun(head(number), self.progress(RunStatus::Running));
        self.commit(vec![accepted]);
        let (mut times, began) = (Vec::new(), Instant::now());
        let mut opened = 0;
        while began.elapsed() < EACH {
            let group = Group { next: opened + EACH_TIME, success: opened, ..Group::of(u32::MAX) };
            let group = Some(Box::new(group));
            let group = TaskRow { group, ..TaskRow::new(TaskRef::plain(TaskNo(0))) };
            let mut changes = vec![
                Change::PutRun(key(number), self.progress(RunStatus::Running)),
                Change::PutTask(key(number), group),
            ];
            let rows = (opened..opened + EACH_TIME).map(|at| instance(at, Fact::Dispatched));
            let ended = opened.saturating_sub(EACH_TIME)..opened;
            let rows = rows.chain(ended.map(|at| instance(at, Fact::Success)));
            changes.extend(rows.map(|row| Change::PutTask(key(number), row)));
            times.push(self.commit(changes));
            opened += EACH_TIME;
        }
        report("fan", u64::from(EACH_TIME), 2 * u64::from(EACH_TIME), times);
        let mut times = Vec::new();
        for _ in 0..20 {
            let began = Instant::now();
            let found = self.runtime.block_on(self.store.run(head(number).id));
            let found = found.expect("it can be read").expect("it is there");
            assert_eq!(found.tasks.len(), 1 + EACH_TIME as usize, "the group and those at work");
            times.push(began.elapsed());
        }
        report("load", 1, u64::from(opened), times);
    }

    fn progress(&self, status: RunStatus) -> RunProgress {
        RunProgress {
            status,
            hold: None,
            cancel: None,
            alone_since: None,
            unconfirmed_since: None,
            owner: SCHEDULER,
            stamp: self.stamp,
            started_at: Some(Timestamp(1)),
            opened_at: Some(Timestamp(1)),
            finished_at: None,
            error: None,
            output: None,
            signals: 0,
            additions: 0,
            counts: Counts { total: 1, ..Counts::default() },
        }
    }
}

fn report(what: &str, runs: u64, rows: u64, mut times: Vec<Duration>) {
    times.sort_unstable();
    let total: f64 = times.iter().map(Duration::as_secs_f64).sum();
    let count = f64::from(u32::try_from(times.len()).expect("few commits"));
    let each = |number: u64| f64::from(u32::try_from(number).expect("small")) * count / total;
    println!(
        "{what:>6} {:>12.2} {:>12.2} {:>12.0} {:>14.0}",
        times[times.len() / 2].as_secs_f64() * 1e3,
        total / count * 1e3,
        each(runs),
        each(rows)
    );
}

fn key(number: u64) -> RunKey {
    RunKey::new(1, number)
}

fn head(number: u64) -> RunHead {
    let [a, b, c, d, e, f, g, h] = number.to_be_bytes();
    RunHead {
        key: key(number),
        id: RunId::from_parts(1_700_000_000_000 + number, [a, b, c, d, e, f, g, h, 0, 0]),
        workflow: "bench".into(),
        version: 1,
        kind: RunKind::Dag,
        input: Json::empty_object(),
        labels: BTreeMap::new(),
        priority: 0,
        triggered_by: "bench".to_owned(),
        workdir: "/".to_owned(),
        parent: None,
        retry_of: None,
        group: None,
        created_at: Timestamp(i64::try_from(number).expect("small")),
    }
}

fn instance(index: u32, fact: Fact) -> TaskRow {
    TaskRow { task: TaskRef { no: TaskNo(0), index: Some(index) }, ..task(index, fact) }
}

fn task(no: u32, fact: Fact) -> TaskRow {
    let is_over = fact == Fact::Success;
    let attempt = Attempt {
        number: 1,
        id: AttemptId::from_parts(u64::from(no), [7; 10]),
        dispatched_at: Timestamp(1),
        started_at: is_over.then_some(Timestamp(2)),
        finished_at: is_over.then_some(Timestamp(3)),
        end: is_over.then_some(AttemptEnd::Success),
    };
    TaskRow {
        fact,
        attempts: 1,
        attempt: Some(attempt),
        ever_started: is_over,
        settled_at: is_over.then_some(Timestamp(3)),
        output: is_over.then(|| Json::parse("{\"answer\": 42}").expect("it is JSON").into()),
        ..TaskRow::new(TaskRef::plain(TaskNo(no)))
    }
}
