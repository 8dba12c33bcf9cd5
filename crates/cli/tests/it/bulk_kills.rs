//! A server that is killed in the middle of an order on many runs: the next one goes on with it, and
//! every run gets it once.

use crate::chance::{Chance, seed};
use crate::http;
use crate::rig::PROGRAM;
use mainspring_testkit::load::{Client, Place, Served};
use mainspring_throwaway::database;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const RUNS: u64 = 300;
const KILLS: u64 = 3;
/// Far longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// One waits for what never comes, the other is over at once.
const WORKFLOWS: [&str; 2] = [
    r#"{"name": "waits", "tasks": {"a": {"wait": {"signal": "go"}}}}"#,
    r#"{"name": "ends", "tasks": {"a": {"noop": {}}}}"#,
];

struct Ground {
    place: Place,
    /// None in between.
    server: Option<Served>,
    _folder: TempDir,
}

impl Ground {
    fn new(database: Option<String>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Place { program: PROGRAM.into(), folder: folder.path().join("data"), database };
        let server = Some(Served::start(&place));
        let ground = Self { place, server, _folder: folder };
        for workflow in WORKFLOWS {
            ground.ask("POST /workflows", &[], workflow, 201);
        }
        ground
    }

    fn server(&self) -> &Served {
        self.server.as_ref().expect("it is up")
    }

    fn trigger(&self, workflow: &str) {
        let mut client = Client::connect(self.server().address).expect("it listens");
        for _ in 0..RUNS {
            let path = format!("/workflows/{workflow}/runs");
            assert_eq!(client.post(&path, b"{}").expect("it answers").status, 202);
        }
    }

    fn kill_and_start(&mut self) {
        self.server.take().expect("it is up").kill();
        self.server = Some(Served::start(&self.place));
    }

    #[track_caller]
    fn ask(&self, line: &str, headers: &[&str], body: &str, status: u16) -> Value {
        let url = format!("http://{}", self.server().address);
        let headers = [&["content-type: application/json"], headers].concat();
        let answer = http::ask(&url, line, &headers, body);
        assert_eq!(answer.status, status, "{line}: {}", answer.body);
        answer.json()
    }

    fn order(&self, body: &Value) -> Value {
        self.ask("POST /runs/bulk", &["idempotency-key: k"], &body.to_string(), 202)
    }

    /// Looks on until it is as far as that, or over.
    fn until(&self, id: &str, is_enough: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let now = self.ask(&format!("GET /runs/bulk/{id}"), &[], "", 200);
            if now["finished_at"].is_string() || is_enough(&now) {
                return now;
            }
            assert!(Instant::now() < until, "no end of {now}:\n{}", self.server().said());
        }
    }

    /// Everything that is listed.
    fn listed(&self, path: &str) -> Vec<Value> {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.ask(&format!("GET {path}limit=500{cursor}"), &[], "", 200);
            found.extend(page["items"].as_array().expect("a list").iter().cloned());
            let Some(next) = page["next_cursor"].as_str() else { return found };
            cursor = format!("&cursor={next}");
        }
    }

    fn audited(&self, action: &str) -> usize {
        self.listed("/audit?").iter().filter(|it| it["action"] == action).count()
    }
}

/// Killed in the middle of it, and again in the middle of what was left. Its end.
fn killed(ground: &mut Ground, body: &Value) -> Value {
    let mut chance = Chance::new(seed());
    let begun = ground.order(body);
    assert_eq!(begun["matched"], RUNS, "{begun}");
    let id = begun["id"].as_str().expect("an id").to_owned();
    for kill in 0..KILLS {
        let goal = kill * RUNS / 4 + 1 + chance.below(RUNS / 4);
        let seen = ground.until(&id, |now| now["done"].as_u64() >= Some(goal));
        println!("killed after {} of {RUNS}", seen["done"]);
        ground.kill_and_start();
    }
    let end = ground.until(&id, |_| false);
    let told = (&end["matched"], &end["done"], &end["refused"], &end["failed"]);
    assert_eq!(told, (&RUNS.into(), &RUNS.into(), &0.into(), &0.into()), "{end}");
    ground.kill_and_start();
    assert_eq!(ground.until(&id, |_| false), end, "what is over is known, too");
    assert_eq!(ground.order(body), end, "and its key");
    assert_eq!(ground.audited("run.bulk"), 1);
    end
}

fn cancels(database: Option<String>) {
    let mut ground = Ground::new(database);
    ground.trigger("waits");
    killed(&mut ground, &json!({"action": "cancel", "filter": {"workflow": "waits"}}));
    let runs = ground.listed("/runs?");
    assert_eq!(runs.len() as u64, RUNS);
    assert!(runs.iter().all(|run| run["status"] == "cancelled"), "none is left");
    assert_eq!(ground.audited("run.cancel") as u64, RUNS, "each once");
}

fn reruns(database: Option<String>) {
    let mut ground = Ground::new(database);
    ground.trigger("ends");
    killed(&mut ground, &json!({"action": "rerun", "filter": {"workflow": "ends"}}));
    let runs = ground.listed("/runs?");
    assert_eq!(runs.len() as u64, 2 * RUNS);
    let of: BTreeSet<&str> = runs.iter().filter_map(|run| run["retry_of"].as_str()).collect();
    assert_eq!(of.len() as u64, RUNS, "each has one that is new");
}

#[test]
fn a_kill_in_the_middle_of_many_cancels_leaves_none_behind_on_sqlite() {
    cancels(None);
}

#[test]
fn a_kill_in_the_middle_of_many_cancels_leaves_none_behind_on_postgres() {
    let database = database();
    cancels(Some(database.url()));
}

#[test]
fn a_kill_in_the_middle_of_many_reruns_doubles_none_on_sqlite() {
    reruns(None);
}

#[test]
fn a_kill_in_the_middle_of_many_reruns_doubles_none_on_postgres() {
    let database = database();
    reruns(Some(database.url()));
}
