//! The threads that start processes.
//!
//! ```text
//!  any thread ─► queue ─► spawn-0 ─► prepare, clone, hand to its follower
//!                     └─► spawn-1
//! ```
//! One pool for the whole process, and it never ends: a child is killed when the *thread* that
//! started it ends (PR_SET_PDEATHSIG). Two of them: one reaches 0.86 to 0.90 of a bare spawn loop
//! on two cores, two reach 0.90 to 0.94, four hardly more.

use super::clone::{self, Stack};
use super::launch;
use super::table::Shared;
use super::worktree::Working;
use mainspring_core::work::Launch;
use std::collections::VecDeque;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

const THREADS: usize = 2;

pub(super) struct Job {
    pub shared: Arc<Shared>,
    pub launch: Launch,
    /// Where it works, once that has been made.
    pub working: Option<Arc<Working>>,
}

pub(super) struct Spawner {
    queue: Mutex<VecDeque<Job>>,
    filled: Condvar,
    /// Kernel numbers of the threads: their children are attempts, nobody else's.
    threads: OnceLock<Vec<i32>>,
}

static SPAWNER: OnceLock<Spawner> = OnceLock::new();
/// Guards the start of the threads: two executors may be made at once.
static STARTING: Mutex<()> = Mutex::new(());

/// Starts the threads unless they run already.
pub(super) fn start() -> io::Result<&'static Spawner> {
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let spawner = SPAWNER.get_or_init(|| Spawner {
        queue: Mutex::new(VecDeque::new()),
        filled: Condvar::new(),
        threads: OnceLock::new(),
    });
    if spawner.threads.get().is_none() {
        let (said, numbers) = std::sync::mpsc::channel();
        for no in 0..THREADS {
            let said = said.clone();
            std::thread::Builder::new().name(format!("spawn-{no}")).spawn(move || {
                clone::block_signals();
                // The receiver is gone only if starting the second thread failed.
                let _ = said.send(clone::thread_number());
                spawner.work();
            })?;
        }
        drop(said);
        let _ = spawner.threads.set(numbers.iter().take(THREADS).collect());
    }
    Ok(spawner)
}

impl Spawner {
    pub fn submit(&self, job: Job) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(job);
        self.filled.notify_one();
    }

    /// Whether a thread of ours is the parent of attempts.
    pub fn owns(&self, thread: i32) -> bool {
        self.threads.get().is_some_and(|threads| threads.contains(&thread))
    }

    fn work(&self) {
        let mut stack = Stack::new();
        loop {
            let job = self.next();
            let (shared, ticket) = (Arc::clone(&job.shared), job.launch.ticket);
            let launch = AssertUnwindSafe(|| launch::launch(job, &mut stack));
            // A thread that ended would take every child it started with it.
            if std::panic::catch_unwind(launch).is_err() {
                shared.ended(ticket, launch::failed_by_us());
            }
        }
    }

    fn next(&self) -> Job {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match queue.pop_front() {
                Some(job) => return job,
                None => queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}
