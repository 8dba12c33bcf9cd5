//! One thread that reads `/proc`, for everybody.
//!
//! ```text
//!  followers ── hunt(attempt, group, signal) ──► ┐
//!  shut_down ── hunt(data id, signal) ─────────► ├─ one pass over /proc for all that wait,
//!                                                │  signals sent, survivors counted ─► answers
//!  an attempt's end ── nudge ──────────────────► ┘  ... and now and then the adopted are reaped
//! ```
//! A pass costs 7 to 10 ms with 600 processes: cancelling 500 attempts must not cost 500 passes.

use super::adopted::Adopted;
use super::environment::ATTEMPT_ID;
use super::procfs;
use mainspring_core::ids::AttemptId;
use rustix::process::{Pid, Signal};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// Whom to look for: members of a group, and all that carry an attempt's id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prey {
    pub attempt: AttemptId,
    /// Only while its leader is not reaped.
    pub group: Option<Pid>,
    pub signal: Signal,
}

enum Request {
    Hunt { prey: Prey, survivors: oneshot::Sender<usize> },
    Nudge,
}

static KEEPER: OnceLock<Mutex<Sender<Request>>> = OnceLock::new();
static STARTING: Mutex<()> = Mutex::new(());
/// A nudge is on its way already: at full load one look a second is enough.
static NUDGED: AtomicBool = AtomicBool::new(false);

/// Starts the thread unless it runs already.
pub(super) fn start() -> io::Result<()> {
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if KEEPER.get().is_none() {
        let (sender, requests) = channel();
        let name = "keeper".to_owned();
        std::thread::Builder::new().name(name).spawn(move || work(&requests))?;
        let _ = KEEPER.set(Mutex::new(sender));
    }
    Ok(())
}

fn send(request: Request) {
    if let Some(keeper) = KEEPER.get() {
        let _ = keeper.lock().unwrap_or_else(PoisonError::into_inner).send(request);
    }
}

/// Signals everyone found alive; the answer is how many they were, and never none when it could
/// not look everywhere.
pub(super) fn hunt(prey: Prey) -> oneshot::Receiver<usize> {
    let (survivors, answer) = oneshot::channel();
    send(Request::Hunt { prey, survivors });
    answer
}

/// An attempt has ended: orphans may have become our children.
pub(super) fn nudge() {
    if !NUDGED.swap(true, Ordering::SeqCst) {
        send(Request::Nudge);
    }
}

fn work(requests: &Receiver<Request>) {
    let mut adopted = Adopted::new();
    loop {
        let now = Instant::now();
        if adopted.next_look().is_some_and(|at| at <= now) {
            NUDGED.store(false, Ordering::SeqCst);
            adopted.look(now);
        }
        let first = match adopted.next_look() {
            None => requests.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => requests.recv_timeout(at.saturating_duration_since(now)),
        };
        match first {
            Ok(first) => handle(first, requests, &mut adopted),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Everything that waits is served by the same pass.
fn handle(first: Request, requests: &Receiver<Request>, adopted: &mut Adopted) {
    let mut hunts = Vec::new();
    for request in std::iter::once(first).chain(requests.try_iter()) {
        match request {
            Request::Nudge => adopted.expect(Instant::now()),
            Request::Hunt { prey, survivors } => {
                hunts.push(Hunt { id: prey.attempt.to_string(), prey, found: 0, survivors });
            }
        }
    }
    if hunts.is_empty() {
        return;
    }
    let looked =
        procfs::processes().and_then(|mut pids| pids.try_for_each(|pid| examine(pid, &mut hunts)));
    let unseen = usize::from(looked.is_err());
    for hunt in hunts {
        // Nobody waits for the answer of a first SIGTERM.
        let _ = hunt.survivors.send(hunt.found + unseen);
    }
}

struct Hunt {
    id: String,
    prey: Prey,
    found: usize,
    survivors: oneshot::Sender<usize>,
}

fn examine(pid: i32, hunts: &mut [Hunt]) -> io::Result<()> {
    let Some(stat) = procfs::stat(pid)? else { return Ok(()) };
    if stat.is_zombie() || pid == own_pid() {
        return Ok(());
    }
    let in_group = |hunt: &Hunt| {
        hunt.prey.group.is_some_and(|group| group.as_raw_nonzero().get() == stat.group)
    };
    if let Some(hunt) = hunts.iter_mut().find(|hunt| in_group(hunt)) {
        hunt.found += 1;
        let still = || matches!(procfs::stat(pid), Ok(Some(now)) if now.group == stat.group);
        procfs::signal_if(pid, hunt.prey.signal, still);
        return Ok(());
    }
    let environ = procfs::environ(pid)?.unwrap_or_default();
    let Some(id) = procfs::variable(&environ, ATTEMPT_ID) else { return Ok(()) };
    for hunt in hunts.iter_mut().filter(|hunt| hunt.id.as_bytes() == id) {
        hunt.found += 1;
        let still = || {
            let environ = procfs::environ(pid).ok().flatten().unwrap_or_default();
            procfs::variable(&environ, ATTEMPT_ID) == Some(id)
        };
        procfs::signal_if(pid, hunt.prey.signal, still);
    }
    Ok(())
}

fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}
