//! What a person or an operating system asks of a running `mainspring run`.

use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Ctrl-C or SIGTERM: cancel; the second time leave at once.
    End,
    /// The terminal is gone: leave at once, so that the run can be resumed elsewhere.
    Leave,
}

#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Option<Signal>,
    /// When the last wish to end was heard.
    wished: Option<Instant>,
    /// Heard and let pass: a write beyond `ulimit -f` then fails like one on a full disk, instead
    /// of ending the program.
    _file_size: Signal,
}

/// Signals this close to each other are one wish: `timeout` signals the program and then its
/// group, and nobody presses keys that fast.
const TOGETHER: Duration = Duration::from_millis(50);
/// SIGXFSZ on Linux.
const FILE_SIZE_EXCEEDED: i32 = 25;

impl Signals {
    pub fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("signals cannot be heard");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            // Under nohup it is ignored, and stays so.
            hang_up: match ignores_hang_up() {
                true => None,
                false => Some(listen(SignalKind::hangup())?),
            },
            wished: None,
            _file_size: listen(SignalKind::from_raw(FILE_SIZE_EXCEEDED))?,
        })
    }

    pub async fn next(&mut self) -> Asked {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
                () = heard(&mut self.hang_up) => return Asked::Leave,
            }
            let before = self.wished.replace(Instant::now());
            if before.is_none_or(|before| before.elapsed() > TOGETHER) {
                return Asked::End;
            }
        }
    }
}

async fn heard(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 is signal 1.
    mask.is_some_and(|mask| mask & 1 == 1)
}
