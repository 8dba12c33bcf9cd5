//! Plays many worlds on all cores: `sim --seeds N [--from SEED] [--minutes M]`, or one again:
//! `sim --seed SEED`. Ends with 1 and the failing seed when a promise is broken.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use mainspring_testkit::sim::{Failure, Report, play};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

struct Wanted {
    from: u64,
    seeds: u64,
    minutes: u64,
}

fn main() -> ExitCode {
    let wanted = match read_arguments() {
        Ok(wanted) => wanted,
        Err(what) => {
            eprintln!("{what}\nusage: sim --seeds N [--from SEED] [--minutes M] | sim --seed SEED");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let (sum, played, failure) = play_all(&wanted, begun);
    if let Some(failure) = failure {
        println!("{failure}");
        println!("again: cargo xtask sim --seed {}", failure.seed);
        println!("FAILED after {played} worlds");
        return ExitCode::FAILURE;
    }
    let rate = played as f64 / begun.elapsed().as_secs_f64();
    println!("{played} worlds kept every promise in {:.1?} ({rate:.0}/s)", begun.elapsed());
    println!(
        "{} steps, {} runs accepted, {} attempts begun, {} commits, {} of them failed, {} kills",
        sum.steps, sum.runs, sum.attempts, sum.commits, sum.failed_commits, sum.crashes
    );
    ExitCode::SUCCESS
}

fn read_arguments() -> Result<Wanted, String> {
    let mut wanted = Wanted { from: 0, seeds: 2_000, minutes: u64::MAX };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} wants a number"))?;
        let value = value.parse().map_err(|_| format!("{word} wants a number, not '{value}'"))?;
        match word.as_str() {
            "--seeds" => wanted.seeds = value,
            "--from" => wanted.from = value,
            "--minutes" => wanted.minutes = value,
            "--seed" => (wanted.from, wanted.seeds) = (value, 1),
            unknown => return Err(format!("unknown option {unknown}")),
        }
    }
    Ok(wanted)
}

fn play_all(wanted: &Wanted, begun: Instant) -> (Sum, u64, Option<Box<Failure>>) {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let sum = Mutex::new((Sum::default(), 0));
    let failure = Mutex::new(None);
    let patience = Duration::from_secs(wanted.minutes.saturating_mul(60));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let over = nth >= wanted.seeds || begun.elapsed() >= patience;
                    if over || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    match play(wanted.from + nth) {
                        Ok(report) => {
                            let mut sum = sum.lock().expect("no thread panics with it");
                            sum.0.add(report);
                            sum.1 += 1;
                        }
                        Err(broken) => {
                            *failure.lock().expect("no thread panics with it") = Some(broken);
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let (sum, played) = sum.into_inner().expect("no thread panicked");
    (sum, played, failure.into_inner().expect("no thread panicked"))
}

#[derive(Default)]
struct Sum {
    steps: u64,
    runs: u64,
    attempts: u64,
    commits: u64,
    failed_commits: u64,
    crashes: u64,
}

impl Sum {
    fn add(&mut self, report: Report) {
        self.steps += u64::from(report.steps);
        self.runs += u64::from(report.runs);
        self.attempts += u64::from(report.attempts);
        self.commits += u64::from(report.commits);
        self.failed_commits += u64::from(report.failed_commits);
        self.crashes += u64::from(report.crashes);
    }
}
