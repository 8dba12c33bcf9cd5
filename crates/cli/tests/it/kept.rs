//! A server at work on either kind of database, and SQL behind its back.

use crate::door::begin;
use crate::rig::{Bench, Done, PATIENCE, Running};
use mainspring_throwaway::{Database, database};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::File;
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    /// What differs between the two.
    pub fn pick<'a>(self, sqlite: &'a str, postgres: &'a str) -> &'a str {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }
}

pub struct Kept {
    pub bench: Bench,
    pub kind: Kind,
    pub database: Option<Database>,
    pub url: Option<String>,
    server: Option<Running>,
    /// Keeps the tasks that read `gate` waiting; see `open`.
    gate: Option<File>,
}

impl Kept {
    pub fn new(kind: Kind) -> Self {
        let bench = Bench::new();
        bench.fifo("gate");
        // Whoever opens the fifo while it is held neither blocks nor comes to its end.
        let gate = File::options().read(true).write(true).open(bench.path("gate"));
        let database = (kind == Kind::Postgres).then(database);
        let url = database.as_ref().map(Database::url);
        let gate = Some(gate.expect("a fifo"));
        Self { bench, kind, database, url, server: None, gate }
    }

    /// Flags that name the database.
    pub fn place(&self) -> Vec<&str> {
        self.url.as_deref().map_or(Vec::new(), |url| vec!["--database", url])
    }

    pub fn serve(&mut self) {
        let args = [&["--listen", "127.0.0.1:0"][..], &self.place()].concat();
        self.server = Some(begin(&self.bench, &args).0);
    }

    /// The server is killed; what is left of its work ends with the gate, or the next server.
    pub fn kill(&mut self) {
        let server = self.server.take().expect("it runs");
        server.signal(Signal::KILL);
        assert!(server.done().was_killed());
    }

    pub fn end(&mut self) {
        let server = self.server.take().expect("it runs");
        server.signal(Signal::TERM);
        server.done().is(0);
    }

    /// Whoever waits for the gate goes on, and nobody waits from now on.
    pub fn open(&mut self) {
        self.bench.write("open", "");
        std::fs::rename(self.bench.path("open"), self.bench.path("gate")).expect("renamed");
        self.gate = None;
    }

    pub fn apply(&self, text: &str) {
        self.bench.write("w.yaml", text);
        self.bench.run(&["apply", "w.yaml"]).is(0);
    }

    /// Starts a run; its id.
    pub fn trigger(&self, args: &[&str]) -> String {
        let done = self.bench.run(&[&["trigger", "w", "-o", "json"], args].concat());
        done.is(0).json()["id"].as_str().expect("an id").to_owned()
    }

    /// Waits until a task of a run has this state.
    pub fn until(&self, run: &str, name: &str, state: &str) {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let shown = self.bench.show(run);
            if crate::rig::task(&shown, name)["status"] == state {
                return;
            }
        }
        panic!("{name} never is {state}");
    }

    pub fn db(&self, args: &[&str]) -> Done {
        self.bench.run(&[&["db"], args, &self.place()].concat())
    }

    /// `db check -o json`, which ends with this code.
    pub fn check(&self, code: i32) -> Value {
        self.db(&["check", "-o", "json"]).is(code).json()
    }

    /// Behind everybody's back.
    pub fn sql(&self, sql: &str) {
        match &self.database {
            Some(database) => {
                database.sql(&format!("set search_path = mainspring; {sql}"));
            }
            None => sqlite(&self.bench, ".mainspring", sql),
        }
    }
}

pub fn sqlite(bench: &Bench, folder: &str, sql: &str) {
    let path = bench.path(folder).join("mainspring.db");
    let conn = rusqlite::Connection::open(path).expect("a database");
    conn.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}
