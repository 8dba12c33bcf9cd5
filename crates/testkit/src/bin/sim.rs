//! Plays many worlds on all cores: `sim --seeds N [--from SEED] [--minutes M]`, or tells the
//! story of one: `sim --seed SEED [--steps N] [--tasks N] [--without KIND,KIND]`. Ends with 1
//! when a promise is broken. `--covered` prints how often each thing happened and wants all
//! of them; `--brief` says which promise is broken and no more; `--all` goes on and says so of every
//! world in which one is.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use mainspring_testkit::sim::{Failure, Scenario, Story, Tally, Trouble, play, shrink, tell};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: sim --seeds N [--from SEED] [--minutes M] [--covered] [--brief] [--all]
       sim --seed SEED [--steps N] [--tasks N] [--without KIND,KIND]";

#[derive(Default)]
struct Many {
    from: u64,
    seeds: u64,
    patience: Duration,
    covered: bool,
    brief: bool,
    all: bool,
}

enum Wanted {
    Many(Many),
    One(Scenario),
}

fn main() -> ExitCode {
    // A panic in a world is a broken promise and is reported as one.
    std::panic::set_hook(Box::new(|_| {}));
    match read_arguments() {
        Ok(Wanted::Many(many)) => play_many(&many),
        Ok(Wanted::One(scenario)) => tell_one(&scenario),
        Err(what) => {
            eprintln!("{what}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn read_arguments() -> Result<Wanted, String> {
    let mut many = Many { seeds: 2_000, patience: Duration::MAX, ..Many::default() };
    let mut one: Option<Scenario> = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--covered" => many.covered = true,
            "--brief" => many.brief = true,
            "--all" => many.all = true,
            _ => {}
        }
        if matches!(word.as_str(), "--covered" | "--brief" | "--all") {
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word} wants a value"))?;
        if word == "--without" {
            let scenario = one.as_mut().ok_or("--without goes with --seed")?;
            for name in value.split(',') {
                let trouble = Trouble::from_name(name);
                scenario.without.insert(trouble.ok_or_else(|| format!("no trouble '{name}'"))?);
            }
            continue;
        }
        let number: u64 =
            value.parse().map_err(|_| format!("{word} wants a number, not '{value}'"))?;
        match (word.as_str(), &mut one) {
            ("--seeds", None) => many.seeds = number,
            ("--from", None) => many.from = number,
            ("--minutes", None) => many.patience = Duration::from_secs(number.saturating_mul(60)),
            ("--seed", None) => one = Some(Scenario::of(number)),
            ("--steps", Some(one)) => one.steps = u32::try_from(number).unwrap_or(u32::MAX),
            ("--tasks", Some(one)) => one.tasks = number.max(1),
            (unknown, _) => return Err(format!("{unknown} does not belong there")),
        }
    }
    Ok(one.map_or(Wanted::Many(many), Wanted::One))
}

fn tell_one(scenario: &Scenario) -> ExitCode {
    let (outcome, Story { workflows, lines }) = tell(scenario);
    for workflow in workflows {
        println!("--- workflow\n{workflow}");
    }
    println!("--- what happened: step, time, what\n{}", lines.join("\n"));
    match outcome {
        Ok(tally) => {
            print_tally(&tally);
            println!("seed {} kept every promise", scenario.seed);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            println!("seed {} broke {} at step {}", scenario.seed, failure.broken, failure.step);
            ExitCode::FAILURE
        }
    }
}

fn play_many(wanted: &Many) -> ExitCode {
    let begun = Instant::now();
    let (tally, played, failure) = play_all(wanted, begun);
    if let Some(failure) = failure {
        let needed = failure.scenario.seed - wanted.from + 1;
        println!("seed {} broke {}", failure.scenario.seed, failure.broken);
        println!("promise: {}", failure.broken.promise.name());
        if !wanted.brief {
            print_failure(failure);
        }
        println!("worlds: {needed}");
        return ExitCode::FAILURE;
    }
    let rate = played as f64 / begun.elapsed().as_secs_f64();
    if wanted.covered {
        print_tally(&tally);
    }
    println!("{played} worlds kept every promise in {:.1?} ({rate:.0}/s)", begun.elapsed());
    println!(
        "{} steps, {} runs accepted, {} transitions, {} commits",
        tally.sum("step"),
        tally.sum("run"),
        tally.sum("transition"),
        tally.sum("commit"),
    );
    println!("troubles: {}", troubles(&tally));
    let missing = tally.missing();
    if wanted.covered && !missing.is_empty() {
        println!("never happened: {missing:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn troubles(tally: &Tally) -> String {
    let count = |trouble: &Trouble| {
        let name = trouble.name();
        format!("{name} {}", tally.get(("trouble", name, "")))
    };
    Trouble::ALL.iter().map(count).collect::<Vec<_>>().join(", ")
}

fn print_failure(failure: Box<Failure>) {
    let seed = failure.scenario.seed;
    let small = shrink(failure);
    println!("{small}");
    println!("again, whole: cargo xtask sim --seed {seed}");
    println!("again, small: cargo xtask sim {}", small.scenario);
}

fn print_tally(tally: &Tally) {
    for ((group, name, second), count) in tally.iter() {
        println!("{count:>10}  {group}: {name} {second}");
    }
}

/// Worlds are begun in the order of their seeds. After a failure those before it are played to
/// their end, so that the first one is told, however many cores there are.
fn play_all(wanted: &Many, begun: Instant) -> (Tally, u64, Option<Box<Failure>>) {
    let next = AtomicU64::new(0);
    let end = AtomicU64::new(wanted.seeds);
    let sum = Mutex::new((Tally::default(), 0));
    let first: Mutex<Option<Box<Failure>>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let (mut tally, mut played) = (Tally::default(), 0_u64);
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= end.load(Ordering::Relaxed) || begun.elapsed() >= wanted.patience {
                        break;
                    }
                    played += 1;
                    match play(&Scenario::of(wanted.from + nth)) {
                        Ok(one) => tally.add(&one),
                        Err(failure) => {
                            if wanted.all {
                                println!("seed {} broke {}", wanted.from + nth, failure.broken);
                            } else {
                                end.fetch_min(nth, Ordering::Relaxed);
                            }
                            let mut first = first.lock().expect("no thread panics with it");
                            let known = first.as_ref().map(|known| known.scenario.seed);
                            if known.is_none_or(|known| failure.scenario.seed < known) {
                                *first = Some(failure);
                            }
                        }
                    }
                }
                let mut sum = sum.lock().expect("no thread panics with it");
                sum.0.add(&tally);
                sum.1 += played;
            });
        }
    });
    let (sum, played) = sum.into_inner().expect("no thread panicked");
    (sum, played, first.into_inner().expect("no thread panicked"))
}
