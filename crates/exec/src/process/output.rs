//! What a process leaves behind when it has ended: its exit, and its output as JSON.

use super::procfs;
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::json::Json;
use mainspring_core::limits::OUTPUT_INLINE_BYTES_MAX;
use rustix::fs::{Mode, OFlags};
use rustix::process::WaitIdStatus;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How much of a text that is not JSON is quoted.
const QUOTED_CHARS: usize = 200;

/// None when it exited with 0.
pub(super) fn exit_error(status: Option<&WaitIdStatus>) -> Option<TaskError> {
    let Some(status) = status else {
        let message = "its exit status was taken by something else in this process";
        return Some(TaskError::new(ErrorClass::Internal, message));
    };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(TaskError::exit(code)),
        (None, Some(signal)) => Some(TaskError::signal(signal, signal_name(signal))),
        (None, None) => Some(TaskError::new(ErrorClass::Internal, "it ended in no known way")),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGSYS => "SIGSYS",
        _ => "an uncommon one",
    }
}

/// Stdout of a task whose output it is: kept up to the limit, counted beyond it.
#[derive(Debug, Default)]
pub(super) struct Captured {
    kept: Vec<u8>,
    bytes: u64,
}

impl Captured {
    pub fn push(&mut self, more: &[u8]) {
        let room = OUTPUT_INLINE_BYTES_MAX - self.kept.len();
        self.kept.extend_from_slice(&more[..more.len().min(room)]);
        self.bytes += more.len() as u64;
    }
}

/// What was written to the file, else to stdout if that counts; None when nothing was.
pub(super) fn collect(
    written: Option<Vec<u8>>,
    captured: Option<Captured>,
) -> Result<Option<Json>, TaskError> {
    if let Some(written) = written {
        return parse(&written, "$MAINSPRING_OUTPUT");
    }
    match captured {
        None => Ok(None),
        Some(Captured { bytes, .. }) if bytes > OUTPUT_INLINE_BYTES_MAX as u64 => {
            Err(too_large("stdout", bytes))
        }
        Some(Captured { kept, .. }) => parse(&kept, "stdout"),
    }
}

/// Why what a task wrote could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The task's own fault.
    Bad(TaskError),
    /// Ours or the machine's: later it may go well.
    Scarce(io::Error),
}

impl From<Unread> for TaskError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Bad(error) => error,
            Unread::Scarce(error) => Self::new(
                ErrorClass::Internal,
                format!("$MAINSPRING_OUTPUT cannot be read: {error}"),
            ),
        }
    }
}

/// What is in the file a task may write its output to; None when there is none, or nothing in it.
pub(super) fn read_file(path: &Path) -> Result<Option<Vec<u8>>, Unread> {
    // Without NONBLOCK a task that leaves a fifo there would hold us up.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let unreadable = |error: io::Error| match procfs::is_scarcity(&error) {
        true => Unread::Scarce(error),
        false => bad(format!("$MAINSPRING_OUTPUT cannot be read: {error}")),
    };
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(unreadable(error.into())),
    };
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(bad("$MAINSPRING_OUTPUT is no longer a plain file".to_owned()));
    }
    if found.len() > OUTPUT_INLINE_BYTES_MAX as u64 {
        return Err(Unread::Bad(too_large("$MAINSPRING_OUTPUT", found.len())));
    }
    let mut text = Vec::new();
    file.take(OUTPUT_INLINE_BYTES_MAX as u64).read_to_end(&mut text).map_err(unreadable)?;
    Ok((!text.is_empty()).then_some(text))
}

fn parse(bytes: &[u8], source: &str) -> Result<Option<Json>, TaskError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let why = match std::str::from_utf8(bytes) {
        Err(error) => error.to_string(),
        Ok(text) => match Json::parse(text) {
            Ok(json) => return Ok(Some(json)),
            Err(error) => error.to_string(),
        },
    };
    Err(logic(format!("the output in {source} is {why}: {}", quote(bytes))))
}

fn quote(bytes: &[u8]) -> String {
    // Four bytes for each char at most; what is beyond them is not looked at.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * QUOTED_CHARS)]);
    let shown: String = text.chars().take(QUOTED_CHARS).collect();
    let more = if shown.len() < bytes.len() { " …" } else { "" };
    format!("{shown:?}{more}")
}

fn too_large(source: &str, bytes: u64) -> TaskError {
    logic(format!(
        "the output in {source} is {bytes} bytes; at most {OUTPUT_INLINE_BYTES_MAX} are kept. Write \
         large data to files and put their paths into the output"
    ))
}

fn bad(message: String) -> Unread {
    Unread::Bad(logic(message))
}

fn logic(message: String) -> TaskError {
    TaskError::new(ErrorClass::Logic, message)
}
