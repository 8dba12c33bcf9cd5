//! Runs triggered over HTTP: the program as people run it, on either store, and clients on real
//! sockets. What the clients cost is part of the figure: they share the machine.

use super::floors;
use super::procfs::Cpu;
use super::report::Line;
use super::sample::{Round, Spread};
use super::sizes::Sizes;
use super::workload::folder;
use crate::load::{Accepted, Client, Crowd, Place, Served, Triggered};
use mainspring_throwaway::Durability;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 32;
/// The one who looks how long a run takes must not be a load of its own. Its looks are a
/// millisecond apart, which the figures are too high by at most.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
const BETWEEN_SAMPLES: Duration = Duration::from_millis(20);
/// One task that does nothing. A program without the feature `bench` knows only the second.
const DEFINITIONS: [&str; 2] = [
    r#"{ "name": "w", "tasks": { "only": { "echo": {} } } }"#,
    r#"{ "name": "w", "tasks": { "only": { "noop": {} } } }"#,
];

/// A program to measure, and a database for it to work on.
#[derive(Clone, Debug)]
struct Target {
    program: PathBuf,
    /// What the store is called in the table.
    store: &'static str,
    database: Option<String>,
    budget: &'static str,
}

/// On SQLite, and on a PostgreSQL of its own that syncs its commits.
pub fn measure(ground: &Path, sizes: &Sizes, program: &Path) -> Vec<Line> {
    let target =
        |store, database, budget| Target { program: program.to_owned(), store, database, budget };
    let mut lines = measure_on(ground, sizes, &target("SQLite", None, "≥ 12,000/s (2 cores)"));
    let postgres = mainspring_throwaway::Server::start_in(ground, Durability::Full);
    let url = postgres.create_database("bench");
    lines.extend(measure_on(
        ground,
        sizes,
        &target("PostgreSQL", Some(url), "≥ 7,000/s (2 cores)"),
    ));
    lines
}

fn measure_on(ground: &Path, sizes: &Sizes, target: &Target) -> Vec<Line> {
    let folder = folder(ground);
    let place = Place {
        program: target.program.clone(),
        folder: folder.path().join("data"),
        database: target.database.clone(),
    };
    let server = Served::start(&place);
    let idle = server.resident_mb();
    deploy(&mut connect(&server));
    let mut figures = Figures::default();
    round(&server, sizes, &mut Figures::default());
    for _ in 0..sizes.rounds {
        let floor = floors::requests(server.address, CLIENTS, sizes.http_runs);
        round(&server, sizes, &mut figures);
        figures.floors.push(sizes.http_runs as f64 / floor.as_secs_f64());
    }
    check_list(&mut connect(&server), &figures.runs);
    let after = settled_memory(&server, idle);
    lines(target, &figures, (server.ready_after, idle, after))
}

/// A connection that says nothing for long is closed: each part has its own.
fn connect(server: &Served) -> Client {
    Client::connect(server.address).expect("it listens")
}

fn deploy(client: &mut Client) {
    let known = DEFINITIONS.iter().any(|definition| {
        let answer = client.post("/workflows", definition.as_bytes()).expect("it answers");
        answer.status < 300
    });
    assert!(known, "no workflow could be deployed");
}

#[derive(Debug, Default)]
struct Figures {
    rates: Vec<f64>,
    floors: Vec<f64>,
    /// From the trigger to the first answer that says it is final, in milliseconds.
    waits: Vec<f64>,
    /// Processor time of the server per run, in microseconds.
    cpu: Vec<f64>,
    runs: BTreeSet<String>,
}

/// The crowd triggers; one more client looks how long a run takes to its end.
fn round(server: &Served, sizes: &Sizes, figures: &mut Figures) {
    let process = Path::new("/proc").join(server.pid().to_string());
    let (begun, cpu) = (Instant::now(), Cpu::of(&process));
    let triggered =
        Triggered { workflow: "w".to_owned(), body: "{}".to_owned(), runs: sizes.http_runs };
    let crowd = Crowd::gather(server.address, CLIENTS, triggered);
    let done = AtomicBool::new(false);
    let (told, sampled) = std::thread::scope(|scope| {
        let sampler = scope.spawn(|| sample(server, &done));
        let told: Accepted = crowd.end();
        done.store(true, Ordering::Relaxed);
        (told, sampler.join().expect("no sampler panics"))
    });
    let seconds = begun.elapsed().as_secs_f64();
    assert!(told.others.is_empty() && told.broken == 0, "{:?} {}", told.others, told.broken);
    let runs = told.runs.len() + sampled.len();
    let spent = Cpu::of(&process).since(cpu).own.as_secs_f64();
    figures.rates.push(runs as f64 / seconds);
    figures.cpu.push(spent * 1e6 / runs as f64);
    figures.runs.extend(told.runs);
    for (id, waited) in sampled {
        figures.runs.insert(id);
        figures.waits.push(waited.as_secs_f64() * 1e3);
    }
}

fn sample(server: &Served, done: &AtomicBool) -> Vec<(String, Duration)> {
    let mut client = connect(server);
    let mut seen = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let begun = Instant::now();
        let answer = client.post("/workflows/w/runs", b"{}").expect("it answers");
        assert_eq!(answer.status, 202, "{:?}", answer.json());
        let id = answer.json()["id"].as_str().expect("a run has an id").to_owned();
        let path = format!("/runs/{id}");
        while client.get(&path).expect("it answers").json()["finished_at"].is_null() {
            std::thread::sleep(BETWEEN_LOOKS);
        }
        seen.push((id, begun.elapsed()));
        std::thread::sleep(BETWEEN_SAMPLES);
    }
    seen
}

/// Every run is listed, and listed as final.
fn check_list(client: &mut Client, runs: &BTreeSet<String>) {
    let mut missing = runs.clone();
    let mut cursor = String::new();
    loop {
        let path = format!("/runs?status=success&limit=500{cursor}");
        let page = client.get(&path).expect("it answers").json();
        for run in page["items"].as_array().expect("a list") {
            missing.remove(run["id"].as_str().expect("a run has an id"));
        }
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert!(missing.is_empty(), "{} runs are not listed as final", missing.len());
}

/// What stays when the work is done. Memory is given back some time after.
fn settled_memory(server: &Served, idle: f64) -> f64 {
    let until = Instant::now() + Duration::from_secs(5);
    let mut least = server.resident_mb();
    while least > idle + 20.0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
        least = least.min(server.resident_mb());
    }
    least
}

fn lines(target: &Target, figures: &Figures, server: (Duration, f64, f64)) -> Vec<Line> {
    let (ready_after, idle, after) = server;
    let store = target.store;
    let rounds = figures.rates.iter().zip(&figures.floors);
    let rounds: Vec<Round> = rounds.map(|(&figure, &floor)| Round { figure, floor }).collect();
    let cpu = Spread::of(figures.cpu.iter().copied()).median;
    let name = format!("http, {store}: runs by {CLIENTS} clients");
    let rate = Line::of(name, "/s", "/s healthz", &rounds).budget(target.budget);
    let rate = rate.note(format!("{cpu:.0} µs CPU of the server per run"));
    let mut waits = figures.waits.clone();
    waits.sort_by(f64::total_cmp);
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize];
    let wait = Spread { median: at(0.5), min: waits[0], max: at(0.99) };
    let wait =
        Line::new(format!("http, {store}: trigger to final, 99th"), "ms", Spread::of([at(0.99)]))
            .budget("< 15 ms")
            .note(format!(
                "{} samples, median {:.1} ms, longest {:.1} ms",
                waits.len(),
                wait.median,
                at(1.0)
            ));
    let memory = Line::new(
        format!("http, {store}: memory afterwards, over idle"),
        "MB RSS",
        Spread::of([after - idle]),
    )
    .budget("≤ 20 MB")
    .note(format!("idle {idle:.1} MB, {} runs", figures.runs.len()));
    let ready = ready_after.as_secs_f64() * 1e3;
    let ready = Line::new(format!("http, {store}: ready after"), "ms", Spread::of([ready]))
        .budget("≤ 100 ms");
    vec![rate, wait, memory, ready]
}
