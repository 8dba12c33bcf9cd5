//! More than a server can take, and readers that do not read: it says so, stays small, goes on.

use crate::rig::PROGRAM;
use mainspring_testkit::load::{Client, Crowd, Place, Served, Triggered};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _};

const DEFINITION: &[u8] = br#"{ "name": "w", "tasks": { "only": { "noop": {} } } }"#;
/// What a server may grow by, whatever is asked of it at once. Generous: what it would take to
/// hold everything is many times that.
const GROWTH_MB: f64 = 150.0;

fn server() -> (TempDir, Served) {
    mainspring_exec::raise_open_files().expect("the limit can be raised");
    let folder = tempfile::tempdir().expect("a folder");
    let place =
        Place { program: PROGRAM.into(), folder: folder.path().join("data"), database: None };
    let server = Served::start(&place);
    let mut client = Client::connect(server.address).expect("it listens");
    let answer = client.post("/workflows", DEFINITION).expect("it answers");
    assert_eq!(answer.status, 201, "{}", answer.json());
    (folder, server)
}

/// Holds the database as another program might, so that no commit goes through.
struct Held(Child);

impl Held {
    fn hold(folder: &TempDir) -> Self {
        let script = "import sqlite3, sys\n\
            c = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
            c.execute('begin immediate')\n\
            print('held', flush=True)\n\
            sys.stdin.read()\n";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .arg(folder.path().join("data/mainspring.db"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python is there");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("read");
        assert_eq!(line, "held\n");
        Self(child)
    }

    fn let_go(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().expect("our child").success());
    }
}

/// While nothing can be committed requests pile up, and those for which there is no room are
/// told when to come again. None of the others is lost.
#[test]
fn a_full_queue_is_said_and_loses_nothing() {
    let (folder, server) = server();
    let before = server.resident_mb();
    let held = Held::hold(&folder);
    // Large enough that what is refused would be felt if it were kept.
    let input = "x".repeat(7_000);
    let body = format!(r#"{{ "input": {{ "text": "{input}" }} }}"#);
    let triggered = Triggered { workflow: "w".to_owned(), body, runs: usize::MAX };
    let crowd = Crowd::gather(server.address, 2_000, triggered);
    crowd.until_refused(2_000);
    held.let_go();
    crowd.until(2_000);
    let grown = server.resident_mb() - before;
    let told = crowd.stop();
    assert_eq!((told.others.as_slice(), told.broken), (&[][..], 0), "nothing but 202 and 503");
    assert_eq!(told.refused_with_time, told.refused, "each says when to come again");
    assert!(grown < GROWTH_MB, "grown by {grown} MB");
    let mut client = Client::connect(server.address).expect("it listens");
    for run in told.runs {
        let shown = client.get(&format!("/runs/{run}")).expect("it answers").json();
        assert_eq!(shown["status"], "success", "{shown}");
    }
}

/// A reader of `/events` that gathers the runs that are final.
struct Reader {
    address: SocketAddr,
    lines: tokio::io::Lines<tokio::io::BufReader<tokio::net::TcpStream>>,
    last_id: String,
    finals: BTreeSet<String>,
}

impl Reader {
    /// Its place in the stream is fixed once this is done.
    async fn open(address: SocketAddr, last_id: &str) -> Self {
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("it listens");
        let after = match last_id {
            "" => String::new(),
            id => format!("Last-Event-ID: {id}\r\n"),
        };
        let request = format!("GET /events HTTP/1.1\r\nHost: localhost\r\n{after}\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut lines = tokio::io::BufReader::new(stream).lines();
        let line = lines.next_line().await.expect("it speaks").expect("it answers");
        assert!(line.contains("200"), "{line}");
        Self { address, lines, last_id: last_id.to_owned(), finals: BTreeSet::new() }
    }

    /// Comes back where it was, as everybody may who was cut off.
    async fn resume(&mut self) {
        self.lines = Self::open(self.address, &self.last_id).await.lines;
    }

    /// Reads until it knows of so many ends, leaving and coming back after so many events.
    async fn read(&mut self, ends: usize, stay: usize) {
        let mut read = 0;
        while self.finals.len() < ends {
            let Ok(Some(line)) = self.lines.next_line().await else {
                self.resume().await;
                continue;
            };
            if let Some(id) = line.strip_prefix("id:") {
                self.last_id = id.trim().to_owned();
            }
            let Some(data) = line.strip_prefix("data:") else { continue };
            if data.contains(r#""finished_at""#) {
                let run: Value = serde_json::from_str(data).expect("JSON");
                self.finals.insert(run["id"].as_str().expect("an id").to_owned());
            }
            read += 1;
            if read % stay == 0 {
                self.resume().await;
            }
        }
    }
}

fn stalled(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
    stream
}

/// Runs whose ends a thousand readers are told of.
const RUNS: usize = 400;

/// A thousand readers, half of them never reading: the rest sees every end, and so does one that
/// is cut off again and again and resumes.
#[test]
fn readers_that_stall_do_not_hold_up_the_others() {
    let (_folder, server) = server();
    let before = server.resident_mb();
    let address = server.address;
    let stalled: Vec<TcpStream> = (0..500).map(|_| stalled(address)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (told, seen) = runtime.expect("a runtime can be made").block_on(async {
        let mut reading = tokio::task::JoinSet::new();
        for no in 0..500 {
            let mut reader = Reader::open(address, "").await;
            let stay = if no % 50 == 0 { 40 } else { usize::MAX };
            reading.spawn(async move {
                reader.read(RUNS, stay).await;
                reader.finals
            });
        }
        let triggered = Triggered { workflow: "w".to_owned(), body: "{}".to_owned(), runs: RUNS };
        let crowd = Crowd::gather(address, 1, triggered);
        let seen = tokio::time::timeout(Duration::from_secs(120), reading.join_all()).await;
        (crowd.end(), seen.expect("every reader sees every end"))
    });
    assert_eq!((told.others.as_slice(), told.broken), (&[][..], 0));
    let accepted: BTreeSet<String> = told.runs.into_iter().collect();
    assert!(seen.iter().all(|finals| *finals == accepted), "each saw every end");
    let grown = server.resident_mb() - before;
    assert!(grown < GROWTH_MB, "grown by {grown} MB");
    let mut client = Client::connect(address).expect("it listens");
    assert_eq!(client.get("/healthz").expect("it answers").status, 200);
    drop(stalled);
}
