//! What goes wrong before a server serves: it costs nothing, and is said.

use crate::door::{Base, Door, Served, Way};
use crate::rig::{Bench, task};
use mainspring_throwaway::{Durability, Server};
use rustix::process::Signal;
use std::net::TcpListener;
use std::sync::mpsc::channel;

const ONCE: &str = "name: w
tasks: { a: { run: '[ -e again ] && exit 0; echo up > up; exec sleep 1000' } }
";

/// How often a server has begun to decide here.
fn lives(bench: &Bench) -> u64 {
    let file = rusqlite::Connection::open(bench.path(".mainspring/mainspring.db")).expect("opened");
    file.query_row("select epoch from schedulers", [], |row| row.get(0)).expect("one scheduler")
}

#[test]
fn an_address_that_is_taken_costs_no_attempt() {
    let mut served = Served::with(Door::Address, ONCE);
    served.bench.fifo("up");
    let run = served.trigger(&[]);
    served.bench.hear("up");
    served.kill();
    let before = lives(&served.bench);
    let other = TcpListener::bind("127.0.0.1:0").expect("bound");
    let taken = other.local_addr().expect("an address").to_string();
    let refused = served.bench.run(&["server", "--listen", &taken]);
    refused.is(2).says("cannot listen at").says(&taken);
    // No life has begun that would have asked what became of it.
    assert_eq!(lives(&served.bench), before);
    let shown = served.bench.show(&run);
    let row = task(&shown, "a");
    assert_eq!(row["attempt"], 1, "{row}");
    assert!(["dispatched", "running"].contains(&row["status"].as_str().expect("a word")), "{row}");
    served.bench.write("again", "");
    served.begin_again();
    served.start(&["watch", &run]).until("success");
}

/// Somebody listens there, and never says a word.
#[test]
fn whoever_is_asked_to_end_does_not_wait_for_the_database() {
    let bench = Bench::new();
    let silent = TcpListener::bind("127.0.0.1:0").expect("bound");
    let url = format!("postgres://me@{}/db", silent.local_addr().expect("an address"));
    let (say, called) = channel();
    std::thread::spawn(move || say.send(silent.accept()));
    let server = bench.start(&["server", "--listen", "127.0.0.1:0", "--database", &url]);
    let _connection = called.recv().expect("it calls").expect("accepted");
    server.signal(Signal::TERM);
    server.done().is(0).says("asked to end before it had begun");
}

#[test]
fn work_that_could_not_be_recorded_is_exit_code_3() {
    let database = Server::start(Durability::None);
    let url = database.create_database("db");
    let bench = Bench::with("name: w\ntasks: { a: { run: 'echo up > up; cat gate' } }\n");
    let args = ["server", "--listen", "127.0.0.1:0", "--drain", "1s", "--database", &url];
    let mut server = bench.start(&args);
    server.until("listening");
    bench.fifo("up");
    bench.fifo("gate");
    bench.run(&["apply", "w.yaml"]).is(0);
    bench.run(&["trigger", "w"]).is(0);
    bench.hear("up");
    database.kill();
    bench.write("gate", "");
    server.until("everything is loaded again");
    server.signal(Signal::TERM);
    server.done().is(3).says("the store failed for good");
}

/// Nothing was to be recorded.
#[test]
fn a_database_that_is_away_does_not_keep_an_idle_server() {
    let database = Server::start(Durability::None);
    let url = database.create_database("db");
    let bench = Bench::new();
    let mut server = bench.start(&["server", "--listen", "127.0.0.1:0", "--database", &url]);
    server.until("listening");
    database.kill();
    server.signal(Signal::TERM);
    server.done().is(0).says("ended");
}

/// The next server has another id, and goes on with what the lost one left.
#[test]
fn a_lost_data_folder_loses_no_run() {
    let way = Way { door: Door::Address, base: Base::Postgres };
    let mut served = Served::with(way, ONCE);
    served.bench.fifo("up");
    let run = served.trigger(&[]);
    served.bench.hear("up");
    let held = served.trigger(&[]);
    served.bench.hear("up");
    served.run(&["pause", &held]).is(0);
    served.kill();
    served.bench.until_none_alive();
    std::fs::remove_dir_all(served.bench.path(".mainspring")).expect("removed");
    served.bench.write("again", "");
    served.begin_again();
    served.start(&["watch", &run]).until("success");
    let shown = served.run(&["show", &run, "-o", "json"]).is(0).json();
    assert_eq!(task(&shown, "a")["attempt"], 2, "the first was lost with its server");
    // What is active is known, and can be ended.
    served.run(&["delete", "w"]).is(1).says("not final");
    served.run(&["cancel", &held]).is(0);
    served.start(&["watch", &held]).until("cancelled");
    served.run(&["delete", "w"]).is(0);
}
