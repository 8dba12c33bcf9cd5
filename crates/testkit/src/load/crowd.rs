//! Many clients that trigger runs, each as fast as it is answered.

use super::lane::Lane;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a trigger asks for.
#[derive(Clone, Debug)]
pub struct Triggered {
    pub workflow: String,
    pub body: String,
    /// They stop when so many were accepted by all of them together.
    pub runs: usize,
}

/// What a crowd was told.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    /// Runs that were answered with 202.
    pub runs: Vec<String>,
    /// Requests that were answered with 503, and of those how many said when to come again.
    pub refused: usize,
    pub refused_with_time: usize,
    /// Any other answer, which nobody expects.
    pub others: Vec<(u16, String)>,
    /// Connections that broke.
    pub broken: usize,
}

impl Accepted {
    fn add(&mut self, more: Self) {
        self.runs.extend(more.runs);
        self.refused += more.refused;
        self.refused_with_time += more.refused_with_time;
        self.others.extend(more.others);
        self.broken += more.broken;
    }
}

/// Clients at work, all on one thread: each answer that wakes it is read with whatever else has
/// come, so that a crowd costs the machine little more than its sockets do.
#[derive(Debug)]
pub struct Crowd {
    thread: JoinHandle<Accepted>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    triggered: Triggered,
    accepted: AtomicUsize,
    refused: AtomicUsize,
    stop: AtomicBool,
}

/// Whoever is told to come again does so after a moment, which is far less than it was told.
const AGAIN: Duration = Duration::from_millis(10);

impl Crowd {
    pub fn gather(address: SocketAddr, clients: usize, triggered: Triggered) -> Self {
        let shared = Arc::new(Shared {
            address,
            triggered,
            accepted: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        });
        let working = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime can be made").block_on(working.work_together(clients))
        });
        Self { thread, shared }
    }

    /// How many were accepted so far.
    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// Waits until so many were accepted, or the crowd has gone home.
    pub fn until(&self, accepted: usize) {
        self.wait(&self.shared.accepted, accepted);
    }

    /// Waits until so many requests were answered with 503, or the crowd has gone home.
    pub fn until_refused(&self, refused: usize) {
        self.wait(&self.shared.refused, refused);
    }

    /// How many requests were answered with 503 so far.
    pub fn refused(&self) -> usize {
        self.shared.refused.load(Ordering::Relaxed)
    }

    fn wait(&self, counted: &AtomicUsize, goal: usize) {
        while counted.load(Ordering::Relaxed) < goal && !self.thread.is_finished() {
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Lets each finish its request.
    pub fn stop(self) -> Accepted {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.end()
    }

    /// Waits until as many were accepted as were asked for.
    pub fn end(self) -> Accepted {
        self.thread.join().expect("no client panics")
    }
}

impl Shared {
    async fn work_together(self: Arc<Self>, clients: usize) -> Accepted {
        let mut lanes = tokio::task::JoinSet::new();
        for _ in 0..clients {
            let shared = Arc::clone(&self);
            lanes.spawn(async move { shared.work().await });
        }
        let mut all = Accepted::default();
        for told in lanes.join_all().await {
            all.add(told);
        }
        all
    }

    /// Until enough was accepted or the server is gone.
    async fn work(&self) -> Accepted {
        let mut told = Accepted::default();
        let Ok(mut lane) = Lane::connect(self.address, &self.triggered).await else {
            told.broken += 1;
            return told;
        };
        while !self.stop.load(Ordering::Relaxed)
            && self.accepted.load(Ordering::Relaxed) < self.triggered.runs
        {
            let Ok(answer) = lane.ask().await else {
                told.broken += 1;
                return told;
            };
            match answer.status {
                202 => {
                    told.runs.push(id(answer.body));
                    self.accepted.fetch_add(1, Ordering::Relaxed);
                }
                503 => {
                    told.refused += 1;
                    told.refused_with_time += usize::from(answer.has_retry_after);
                    self.refused.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(AGAIN).await;
                }
                status => {
                    let text = String::from_utf8_lossy(answer.body).into_owned();
                    told.others.push((status, text));
                    return told;
                }
            }
        }
        told
    }
}

/// The run's id, found without reading the rest: it comes first.
fn id(body: &[u8]) -> String {
    let start = br#"{"id":""#;
    let quick = body.strip_prefix(start).and_then(|rest| rest.split(|byte| *byte == b'"').next());
    match quick.and_then(|id| std::str::from_utf8(id).ok()) {
        Some(id) => id.to_owned(),
        None => {
            let run: Value = serde_json::from_slice(body).expect("a run");
            run["id"].as_str().expect("a run has an id").to_owned()
        }
    }
}
