//! Measures processes per second: the executor against a bare tokio loop, `/bin/true`, 16 at once,
//! output captured. `cargo run --release -p mainspring-exec --example spawn_rate`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use mainspring_core::ids::{AttemptId, RunId, RunKey, TaskNo, TaskRef, Ticket};
use mainspring_core::json::Json;
use mainspring_core::spec::definition::OutputFrom;
use mainspring_core::time::Span;
use mainspring_core::work::{Launch, ProcessWork, Program, Report, ReportKind, Work};
use mainspring_exec::{Executor, ProcessConfig, ProcessExecutor, Reports, raise_open_files};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

const SPAWNS: usize = 2_000;
const AT_ONCE: usize = 16;
const ROUNDS: usize = 5;

struct Channel(Sender<Report>);

impl Reports for Channel {
    fn report(&self, report: Report) {
        let _ = self.0.send(report);
    }
}

fn main() {
    raise_open_files().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (sender, reports) = channel();
    let config = ProcessConfig {
        data_id: "bench".to_owned(),
        folder: folder.path().to_owned(),
        pass_env: Vec::new(),
        secrets_dir: None,
        git_merge: Vec::new(),
    };
    let executor =
        ProcessExecutor::new(config, runtime.handle().clone(), Arc::new(Channel(sender))).unwrap();
    let mut next = 0;
    for _ in 0..ROUNDS {
        let bare = rate(|| runtime.block_on(bare_loop()));
        let ours = rate(|| through_executor(&executor, &reports, &mut next));
        println!("bare {bare:.0}/s, executor {ours:.0}/s, ratio {:.2}", ours / bare);
    }
    live(&executor, &reports, &mut next);
}

fn rate(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    SPAWNS as f64 / begin.elapsed().as_secs_f64()
}

async fn bare_loop() {
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            tokio::spawn(async {
                for _ in 0..SPAWNS / AT_ONCE {
                    let output = tokio::process::Command::new("/bin/true")
                        .stdin(Stdio::null())
                        .output()
                        .await;
                    assert!(output.unwrap().status.success());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

fn through_executor(executor: &ProcessExecutor, reports: &Receiver<Report>, next: &mut u64) {
    for _ in 0..AT_ONCE {
        executor.start(launch(next, &["/bin/true"]));
    }
    let (mut started, mut ended) = (AT_ONCE, 0);
    while ended < SPAWNS {
        let report = reports.recv().unwrap();
        if let ReportKind::Ended(_) = report.what {
            ended += 1;
            executor.settle(report.ticket);
            if started < SPAWNS {
                started += 1;
                executor.start(launch(next, &["/bin/true"]));
            }
        }
    }
}

/// Memory of 500 live processes.
fn live(executor: &ProcessExecutor, reports: &Receiver<Report>, next: &mut u64) {
    let before = resident_kib();
    for _ in 0..500 {
        executor.start(launch(next, &["sleep", "1000"]));
    }
    for _ in 0..500 {
        assert_eq!(reports.recv().unwrap().what, ReportKind::Started);
    }
    println!("500 live: {} KiB over {before} KiB", resident_kib() - before);
    let begin = Instant::now();
    executor.shut_down();
    println!("shut down in {:?}", begin.elapsed());
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

fn launch(next: &mut u64, argv: &[&str]) -> Launch {
    *next += 1;
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&next.to_be_bytes());
    let task = TaskRef::plain(TaskNo(0));
    Launch {
        ticket: Ticket { run: RunKey(1), task, attempt: AttemptId::from_bytes(bytes) },
        run: RunId::from_bytes([0; 16]),
        workflow: "bench".into(),
        task: "true".into(),
        attempt: 1,
        finalizes: None,
        work: Work::Process(ProcessWork {
            program: Program::Argv(argv.iter().map(|arg| (*arg).to_owned()).collect()),
            env: Vec::new(),
            workdir: "/".to_owned(),
            workspace: None,
            output: OutputFrom::File,
            kill_grace: Span::from_secs(10),
            log_bytes_max: 10 << 20,
            artifacts_wanted: Vec::new(),
            artifacts_in: Vec::new(),
            artifacts_out: Vec::new(),
        }),
        input: Json::empty_object(),
        run_input: Json::null(),
        instance: None,
        cache: None,
    }
}
