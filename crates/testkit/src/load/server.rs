//! The program `mainspring server` as a process of its own.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where a server keeps what it knows.
#[derive(Clone, Debug)]
pub struct Place {
    pub program: PathBuf,
    /// The data folder.
    pub folder: PathBuf,
    /// PostgreSQL; SQLite in the data folder if there is none.
    pub database: Option<String>,
}

/// Killed when it is dropped.
#[derive(Debug)]
pub struct Served {
    child: Child,
    pub address: SocketAddr,
    /// From its start to the first request that could be answered.
    pub ready_after: Duration,
    said: Arc<Mutex<String>>,
}

impl Served {
    /// Returns when it listens.
    #[track_caller]
    pub fn start(place: &Place) -> Self {
        let mut command = Command::new(&place.program);
        command.arg("server").args(["--listen", "127.0.0.1:0", "--data"]).arg(&place.folder);
        if let Some(url) = &place.database {
            command.args(["--database", url]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let begun = Instant::now();
        let mut child = command.spawn().expect("the program can be started");
        let said = Arc::new(Mutex::new(String::new()));
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let address = address(&mut stderr);
        let ready_after = begun.elapsed();
        let hearing = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let mut said = hearing.lock().unwrap_or_else(PoisonError::into_inner);
                said.push_str(&line);
                said.push('\n');
            }
        });
        Self { child, address, ready_after, said }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// kill -9.
    pub fn kill(mut self) {
        self.child.kill().expect("our child");
        self.child.wait().expect("our child");
    }

    /// What it has written to its log so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn resident_mb(&self) -> f64 {
        resident_mb(&self.process())
    }

    /// The most it ever had.
    pub fn most_resident_mb(&self) -> f64 {
        megabytes(&self.process(), "VmHWM:")
    }

    fn process(&self) -> PathBuf {
        Path::new("/proc").join(self.pid().to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn address(stderr: &mut BufReader<ChildStderr>) -> SocketAddr {
    let mut said = String::new();
    loop {
        let before = said.len();
        let read = stderr.read_line(&mut said).expect("UTF-8");
        assert!(read > 0, "it ended before it listened:\n{said}");
        let line: Option<Value> = serde_json::from_str(&said[before..]).ok();
        let address = line.as_ref().and_then(|line| line["address"].as_str());
        if let Some(address) = address {
            return address.parse().expect("an address");
        }
    }
}

/// Resident memory in megabytes (10⁶ bytes) of the process that this folder of /proc tells of.
pub fn resident_mb(process: &Path) -> f64 {
    megabytes(process, "VmRSS:")
}

fn megabytes(process: &Path, field: &str) -> f64 {
    let status = std::fs::read_to_string(process.join("status")).expect("it lives, on Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap_or("0");
    let kib: f64 = line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0.0);
    kib * 1024.0 / 1e6
}
