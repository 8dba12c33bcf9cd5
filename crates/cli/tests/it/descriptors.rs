//! Few open files, few processes: work waits, nothing fails for it, nothing escapes.

use crate::oracle::{BEGIN, END, Oracle, tasks};
use crate::rig::{Bench, Running, task};
use rustix::process::{Resource, Rlimit, Signal, prlimit};
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;

fn many(count: usize) -> String {
    let mut text = String::from("name: w\ntasks:\n");
    for no in 0..count {
        let _ = writeln!(text, "  t{no}: {{ run: '{BEGIN}; echo hi; sleep 0.05; {END}' }}");
    }
    text
}

#[test]
fn what_does_not_fit_waits_for_its_turn() {
    for limit in [40, 64] {
        let bench = Bench::with(&many(40));
        let script = format!("ulimit -n {limit}; exec $M run w.yaml --max-processes 40");
        let done = bench.shell(&script);
        done.is(0).prints("40 success").says("open files");
        let shown = bench.show("last");
        Oracle::new(&bench, format!("limit {limit}")).agrees_with(&shown);
        for row in tasks(&shown) {
            assert_eq!(row["attempt"], 1, "{row}");
            let name = row["name"].as_str().expect("a name");
            assert_eq!(bench.run(&["logs", "last", name]).is(0).stdout, "hi\n");
        }
    }
}

#[test]
fn too_few_are_said_before_anything_is_written() {
    let bench = Bench::with(&many(1));
    for limit in [12, 16, 20, 24] {
        let done = bench.shell(&format!("ulimit -n {limit}; exec $M run w.yaml"));
        done.is(2).says("open files").says("ulimit -n");
        assert!(!bench.path(".mainspring").exists());
    }
}

fn limit_to(running: &Running, files: u64) {
    let hard = rustix::process::getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit { current: Some(files), maximum: hard };
    prlimit(Some(running.pid()), Resource::Nofile, limit).expect("lowered");
}

#[test]
fn a_start_that_finds_no_file_is_delayed_and_uses_no_attempt() {
    let bench = Bench::with(
        "name: w
tasks: { a: { retries: { max: 1, delay: 300ms }, run: '[ $MAINSPRING_ATTEMPT = 2 ]' } }
",
    );
    let mut running = bench.start(&["run", "w.yaml"]);
    running.until("retrying   a");
    limit_to(&running, 3);
    let line = running.until("delayed    a");
    assert!(line.contains("Too many open files"), "{line}");
    limit_to(&running, 1_024);
    running.done().is(0);
    let shown = bench.show("last");
    assert_eq!(task(&shown, "a")["attempt"], 2);
    assert_eq!(task(&shown, "a")["tries"], 1);
}

#[test]
fn an_output_waits_until_it_can_be_read() {
    let bench = Bench::with(
        "name: w
tasks: { a: { run: 'echo up > up; cat gate; echo 42 > $MAINSPRING_OUTPUT' } }
",
    );
    bench.fifo("up");
    bench.fifo("gate");
    let mut running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    running.until("started    a");
    limit_to(&running, 3);
    bench.write("gate", "");
    bench.until_none_alive();
    bench.shell("sleep 0.3").is(0);
    limit_to(&running, 1_024);
    running.done().is(0);
    assert_eq!(task(&bench.show("last"), "a")["output"], 42);
}

#[test]
fn nobody_escapes_a_cancel_that_finds_no_file() {
    let bench = Bench::with(
        r#"name: w
tasks:
  a: { run: "setsid sh -c 'echo up > escaped; exec sleep 1000 > /dev/null 2>&1' & echo up > up; exec sleep 1000" }
  b: { depends_on: [a], run: 'true' }
"#,
    );
    bench.fifo("up");
    bench.fifo("escaped");
    let mut running = bench.start(&["run", "w.yaml"]);
    bench.hear("up");
    bench.hear("escaped");
    running.until("started    a");
    limit_to(&running, 3);
    running.signal(Signal::INT);
    running.until("waiting for a");
    // The leader dies at once; the other can be found only by looking at /proc, and must not be
    // called gone because nobody can look.
    bench.shell("sleep 0.5").is(0);
    assert_ne!(bench.show("last")["run"]["status"], "cancelled", "while something runs");
    limit_to(&running, 1_024);
    running.done().is(130);
    assert_eq!(bench.alive(), [""; 0]);
}

#[test]
fn a_process_that_cannot_be_had_is_waited_for() {
    let bench = Bench::with(
        "name: w
defaults: { start_timeout: 3s }
tasks: { a: { command: ['true'] }, b: { depends_on: [a], command: ['true'] } }
",
    );
    bench.shell("cp $M m; mkdir data; chmod 755 . m; chmod 777 data").is(0);
    let root = bench.shell("[ $(id -u) = 0 ]").status.success();
    // The limit does not bind root, and counts all processes of a user: one that has none.
    let user = 61_000 + std::process::id() % 4_000;
    let switch = match root {
        true => format!("setpriv --reuid {user} --regid {user} --clear-groups"),
        false => String::new(),
    };
    for processes in [1, 2, 4, 6, 8, 10, 11, 12, 13] {
        let done = bench.shell(&format!(
            "rm -rf data/*; exec timeout -s KILL 60 {switch} prlimit --nproc={processes} \
             ./m run w.yaml --data data"
        ));
        assert!(!done.stderr.contains("panicked"), "{processes}: {}", done.stderr);
        match done.status.code() {
            // It has no threads for itself, or none for its database.
            Some(2 | 3) => drop(done.says("error")),
            // It has, but none for its tasks.
            Some(1) => drop(done.says("delayed    a").prints("(start_timeout)")),
            code => assert_eq!(code, Some(0), "{processes}: {}", done.stderr),
        }
    }
}

fn listener(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    stream
}

/// Whoever connects waits until there is room, and takes no file that a process needs.
#[test]
fn connections_leave_processes_their_files() {
    crowd(72, "");
    let database = mainspring_throwaway::database();
    crowd(92, &format!("--database {}", database.url()));
}

fn crowd(limit: u32, more: &str) {
    // What finds no file for longer than this fails.
    let impatient = many(12).replace("tasks:", "defaults: { start_timeout: 20s }\ntasks:");
    let bench = Bench::with(&impatient);
    let script =
        format!("ulimit -n {limit}; exec $M server --listen 127.0.0.1:0 --max-processes 6 {more}");
    let mut server = bench.start_shell(&script);
    let line = server.until("listening");
    let line: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
    let address = line["address"].as_str().expect("an address");
    // Each stays for as long as it is let in.
    let strangers: Vec<TcpStream> = (0..100).map(|_| listener(address)).collect();
    bench.run(&["apply", "w.yaml"]).is(0);
    let done = bench.run(&["trigger", "w", "--wait", "-o", "json"]).is(0).json();
    assert_eq!(done["run"]["status"], "success", "{done}");
    for row in tasks(&bench.show("last")) {
        assert_eq!(row["attempt"], 1, "{row}");
        let name = row["name"].as_str().expect("a name");
        assert_eq!(bench.run(&["logs", "last", name]).is(0).stdout, "hi\n");
    }
    // Those before it gone, the next one is served.
    drop(strangers);
    let url = format!("http://{address}");
    bench.run(&["runs", "--server", &url]).is(0);
}
