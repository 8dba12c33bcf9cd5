//! Fan-outs of one task, in the program as people run it, on either store: what an instance costs,
//! how much memory the server needs meanwhile, and whether large lists are read once.

use super::report::Line;
use super::sample::Spread;
use super::sizes::Sizes;
use super::workload::folder;
use crate::load::{Client, Place, Served};
use mainspring_throwaway::Durability;
use std::path::Path;
use std::time::{Duration, Instant};

/// Whoever waits for the end must not be a load of its own.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
/// As many at once as the budget says.
const AT_ONCE: usize = 100;
/// Instances that are settled in the engine, for each that passes through an executor.
const NOOPS: usize = 10;
/// Elements of the large list have so many bytes, those of the small one are numbers.
const ELEMENT_BYTES: usize = 1_000;

/// What every element is for. A program without the feature `bench` knows only the second.
const ECHO: [&str; 2] = [r#""echo": {}"#, r#""noop": {}"#];

pub fn measure(ground: &Path, sizes: &Sizes, program: &Path) -> Vec<Line> {
    let place = |folder: &tempfile::TempDir, database| Place {
        program: program.to_owned(),
        folder: folder.path().join("data"),
        database,
    };
    let own = folder(ground);
    let mut lines = measure_on("SQLite", "≥ 60,000/s (2 cores)", sizes, &place(&own, None));
    let postgres = mainspring_throwaway::Server::start_in(ground, Durability::Full);
    let (own, url) = (folder(ground), postgres.create_database("bench"));
    let on_postgres = place(&own, Some(url));
    lines.extend(measure_on("PostgreSQL", "≥ 30,000/s (2 cores)", sizes, &on_postgres));
    lines
}

fn measure_on(
    store: &'static str,
    budget: &'static str,
    sizes: &Sizes,
    place: &Place,
) -> Vec<Line> {
    let rates = |name: String, count: usize, seconds: &[f64]| {
        Line::new(name, "/s", Spread::of(seconds.iter().map(|it| count as f64 / it)))
    };
    let count = sizes.elements;
    let (echo, most) = rounds(place, sizes.rounds, &ECHO.map(|action| numbers(count, action)));
    let (few, _) = rounds(place, sizes.rounds, &[noops(count)]);
    let (many, noops_most) = rounds(place, sizes.rounds.min(3), &[noops(count * NOOPS)]);
    let (small, _) = rounds(place, sizes.rounds.min(3), &[numbers(count / 2, ECHO[1])]);
    let (large, _) = rounds(place, sizes.rounds.min(3), &[texts(count / 2)]);
    let base = Spread::of(few.iter().copied()).median;
    let growth = Spread::of(many.iter().map(|seconds| seconds / base));
    let plain = Spread::of(small.iter().copied()).median;
    let bytes = count / 2 * ELEMENT_BYTES / 1_000_000;
    let reading = Spread::of(large.iter().map(|seconds| seconds - plain));
    vec![
        rates(format!("foreach, {store}: {count} elements, {AT_ONCE} at once"), count, &echo)
            .budget(budget),
        Line::new(format!("foreach, {store}: memory meanwhile, over idle"), "MB", most)
            .budget("≤ 64 MB"),
        rates(format!("foreach, {store}: {count} noops"), count, &few),
        Line::new(format!("foreach, {store}: time for {NOOPS} × the noops"), "×", growth)
            .budget("≤ 11 for 10")
            .note(format!("{:.0} MB over idle", noops_most.median)),
        Line::new(format!("foreach, {store}: a list of {bytes} MB costs more"), "s", reading)
            .note(format!("than {} numbers, which take {plain:.2} s", count / 2)),
    ]
}

/// Seconds from the trigger to the end, and megabytes over idle at most. Each round has a server
/// of its own, so that its memory is its own.
fn rounds(place: &Place, rounds: usize, definitions: &[String]) -> (Vec<f64>, Spread) {
    let (mut seconds, mut most) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let server = Served::start(place);
        let idle = server.resident_mb();
        let mut client = Client::connect(server.address).expect("it listens");
        let known = definitions.iter().any(|definition| {
            let answer = client.post("/workflows", definition.as_bytes()).expect("it answers");
            answer.status < 300
        });
        assert!(known, "no workflow could be deployed");
        let begun = Instant::now();
        let run = client.post("/workflows/w/runs", b"{}").expect("it answers").json();
        let path = format!("/runs/{}", run["id"].as_str().expect("a run has an id"));
        let ended = loop {
            let seen = client.get(&path).expect("it answers").json();
            if !seen["finished_at"].is_null() {
                break seen;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        };
        seconds.push(begun.elapsed().as_secs_f64());
        assert_eq!(ended["status"], "success", "{ended}");
        most.push(server.most_resident_mb() - idle);
    }
    (seconds, Spread::of(most))
}

/// One instance for each number of a list that a task above put out.
fn numbers(count: usize, action: &str) -> String {
    let list = format!("seq -s, {count} | sed 's/.*/[&]/' > $MAINSPRING_OUTPUT");
    over(&list, action)
}

/// The same for texts, which together are large.
fn texts(count: usize) -> String {
    let text = "x".repeat(ELEMENT_BYTES - 3);
    let list = format!(
        "yes '\\\"{text}\\\"' | head -n {count} | paste -sd, | sed 's/.*/[&]/' > $MAINSPRING_OUTPUT"
    );
    over(&list, ECHO[1])
}

fn over(list: &str, action: &str) -> String {
    format!(
        r#"{{ "name": "w", "tasks": {{
            "list": {{ "run": "{list}" }},
            "each": {{ "depends_on": ["list"], "foreach": "list", "concurrency": {AT_ONCE}, {action} }}
        }} }}"#
    )
}

fn noops(count: usize) -> String {
    format!(
        r#"{{ "name": "w", "max_fanout": {count}, "tasks": {{ "each": {{ "parallel": {count}, "noop": {{}} }} }} }}"#
    )
}
