//! A server under load that is killed, or whose database is: what it said it had accepted is
//! there, ends, and succeeds once.

use crate::chance::{Chance, seed};
use crate::rig::PROGRAM;
use mainspring_testkit::load::{Client, Crowd, Place, Served, Triggered};
use mainspring_throwaway::{Durability, Server, database};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const CLIENTS: usize = 32;
const KILLS: usize = 20;
const RESTARTS: usize = 5;
/// Runs accepted between two faults, at most.
const RUNS: u64 = 60;
/// Far longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Something that the world sees, and something after it.
fn workflow(folder: &Path) -> String {
    let effects = folder.join("effects");
    let line = format!("echo $MAINSPRING_RUN_ID $MAINSPRING_ATTEMPT >> {}", effects.display());
    serde_json::json!({
        "name": "w",
        "tasks": {
            "works": { "run": line },
            "after": { "noop": {}, "depends_on": ["works"] },
        },
    })
    .to_string()
}

struct Ground {
    folder: TempDir,
    place: Place,
}

impl Ground {
    fn new(database: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place { program: PROGRAM.into(), folder: folder.path().join("data"), database };
        Self { folder, place }
    }

    fn start(&self) -> Served {
        Served::start(&self.place)
    }

    fn deploy(&self, server: &Served) {
        let mut client = Client::connect(server.address).expect("it listens");
        let body = workflow(self.folder.path());
        let answer = client.post("/workflows", body.as_bytes()).expect("it answers");
        assert_eq!(answer.status, 201, "{}", answer.json());
    }

    /// How often each attempt of each run ran.
    fn effects(&self) -> BTreeMap<(String, u32), usize> {
        let text = std::fs::read_to_string(self.folder.path().join("effects")).unwrap_or_default();
        let mut counted = BTreeMap::new();
        for line in text.lines() {
            let (run, attempt) = line.split_once(' ').expect("run and attempt");
            let attempt = attempt.parse().expect("a number");
            *counted.entry((run.to_owned(), attempt)).or_default() += 1;
        }
        counted
    }
}

fn gather(server: &Served, runs: usize) -> Crowd {
    let triggered = Triggered { workflow: "w".to_owned(), body: "{}".to_owned(), runs };
    Crowd::gather(server.address, CLIENTS, triggered)
}

/// Every run that is listed, by its status, once nothing is unfinished any more.
fn ended(server: &Served) -> BTreeMap<String, String> {
    let mut client = Client::connect(server.address).expect("it listens");
    let until = Instant::now() + PATIENCE;
    let unfinished = "/runs?status=pending,running,paused,cancelling&limit=1";
    while !client.get(unfinished).expect("it answers").json()["items"]
        .as_array()
        .is_some_and(Vec::is_empty)
    {
        assert!(Instant::now() < until, "runs that do not end:\n{}", server.said());
        std::thread::yield_now();
    }
    let (mut listed, mut cursor) = (BTreeMap::new(), String::new());
    loop {
        let page = client.get(&format!("/runs?limit=500{cursor}")).expect("it answers").json();
        for run in page["items"].as_array().expect("a list") {
            let word = |field: &str| run[field].as_str().expect("a word").to_owned();
            let twice = listed.insert(word("id"), word("status"));
            assert_eq!(twice, None, "listed twice: {run}");
        }
        let Some(next) = page["next_cursor"].as_str() else { return listed };
        cursor = format!("&cursor={next}");
    }
}

/// Whatever was accepted is there and succeeded, and no attempt ran twice.
fn check(ground: &Ground, server: &Served, accepted: &BTreeSet<String>) {
    let listed = ended(server);
    for run in accepted {
        assert_eq!(listed.get(run).map(String::as_str), Some("success"), "{run}");
    }
    let effects = ground.effects();
    for ((run, attempt), times) in &effects {
        assert_eq!(*times, 1, "attempt {attempt} of {run}");
        assert!(listed.contains_key(run), "it ran, and nobody knows it: {run}");
    }
    for run in listed.keys() {
        let last = effects.range((run.clone(), 0)..=(run.clone(), u32::MAX)).next_back();
        assert!(last.is_some(), "a success without work: {run}");
    }
}

/// Killed as often as that, each time after some more runs were accepted.
fn killed(database: Option<String>) {
    let mut chance = Chance::new(seed());
    let ground = Ground::new(database);
    let mut server = ground.start();
    ground.deploy(&server);
    let (mut accepted, mut unfinished) = (BTreeSet::new(), 0);
    for _ in 0..KILLS {
        let crowd = gather(&server, usize::MAX);
        crowd.until(1 + usize::try_from(chance.below(RUNS)).expect("small"));
        server.kill();
        let told = crowd.end();
        assert_eq!(told.others, [], "nothing but 202 and 503");
        unfinished += told.runs.len();
        accepted.extend(told.runs);
        server = ground.start();
    }
    assert!(unfinished >= KILLS, "every round had runs: {unfinished}");
    check(&ground, &server, &accepted);
    println!("{} runs were accepted in {KILLS} lives", accepted.len());
}

#[test]
fn twenty_kills_lose_no_run_on_sqlite() {
    killed(None);
}

#[test]
fn twenty_kills_lose_no_run_on_postgres() {
    let database = database();
    killed(Some(database.url()));
}

/// The server stays, so that nothing is lost: each run works exactly once.
#[test]
fn restarts_of_postgres_lose_nothing_and_repeat_nothing() {
    let mut chance = Chance::new(seed());
    let postgres = Server::start(Durability::Full);
    let ground = Ground::new(Some(postgres.create_database("loaded")));
    let server = ground.start();
    ground.deploy(&server);
    let crowd = gather(&server, usize::MAX);
    for _ in 0..RESTARTS {
        let goal = crowd.accepted() + 1 + usize::try_from(chance.below(RUNS)).expect("small");
        crowd.until(goal);
        let refused = crowd.refused();
        postgres.kill();
        crowd.until_refused(refused + 1);
        postgres.restart();
    }
    crowd.until(crowd.accepted() + 10);
    let told = crowd.stop();
    assert_eq!((told.others.as_slice(), told.broken), (&[][..], 0), "nothing but 202 and 503");
    assert!(told.refused >= RESTARTS);
    assert_eq!(told.refused_with_time, told.refused, "each says when to come again");
    let accepted = told.runs.into_iter().collect();
    check(&ground, &server, &accepted);
    for ((run, attempt), _) in ground.effects() {
        assert_eq!(attempt, 1, "{run} was tried again although its process was never lost");
    }
}
