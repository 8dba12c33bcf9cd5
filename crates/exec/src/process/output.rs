//! What a process leaves behind when it has ended: its exit, and its output as JSON.

use super::procfs;
use crate::secrets::{Hidden, Mask, Patterns, hide_in_json};
use mainspring_core::error::{ErrorClass, TaskError};
use mainspring_core::json::Json;
use mainspring_core::limits::OUTPUT_BYTES_MAX;
use mainspring_core::output::Output;
use rustix::fs::{Mode, OFlags};
use rustix::process::WaitIdStatus;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// How much of a text that is not JSON is quoted.
const QUOTED_CHARS: usize = 200;
const FILE: &str = "$MAINSPRING_OUTPUT";

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
        self.bytes += more.len() as u64;
        if self.bytes > OUTPUT_BYTES_MAX as u64 {
            // None of it is of use any more.
            self.kept = Vec::new();
        } else {
            self.kept.extend_from_slice(more);
        }
    }
}

/// Where the output of a success is.
pub(super) enum Source {
    Nowhere,
    File { file: File, bytes: u64 },
    Stdout(Captured),
}

impl Source {
    /// What was written to the file, else to stdout if that counts.
    pub fn new(written: Option<(File, u64)>, captured: Option<Captured>) -> Self {
        match (written, captured) {
            (Some((file, bytes)), _) => Self::File { file, bytes },
            (None, Some(captured)) => Self::Stdout(captured),
            (None, None) => Self::Nowhere,
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Self::Nowhere => 0,
            Self::File { bytes, .. } | Self::Stdout(Captured { bytes, .. }) => *bytes,
        }
    }

    /// None when nothing was written. Takes as long as it is large.
    pub fn read(self, secrets: Option<&Arc<Patterns>>) -> Result<Option<Output>, TaskError> {
        let (text, bytes, from) = match self {
            Self::Nowhere => return Ok(None),
            Self::File { file, bytes } => (read_file(file, bytes)?, bytes, FILE),
            Self::Stdout(Captured { kept, bytes }) => (kept, bytes, "stdout"),
        };
        let bytes = bytes.max(text.len() as u64);
        if bytes > OUTPUT_BYTES_MAX as u64 {
            return Err(too_large(from, bytes));
        }
        parse(&text, from, secrets)
    }
}

/// Why what a task left could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It will not be read any better later.
    Bad(TaskError),
    /// The machine has no files to open just now: later it may go well.
    Scarce(String),
    /// There is no room to keep it: it waits until somebody has made some.
    Full(String),
}

impl From<Unread> for TaskError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Bad(error) => error,
            Unread::Scarce(message) | Unread::Full(message) => {
                Self::new(ErrorClass::Internal, message)
            }
        }
    }
}

/// The file a task may write its output to, and its size; None when there is none, or nothing in
/// it.
pub(super) fn open_file(path: &Path) -> Result<Option<(File, u64)>, Unread> {
    // Without NONBLOCK a task that leaves a fifo there would hold us up.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let unreadable = |error: io::Error| match procfs::is_scarcity(&error) {
        true => Unread::Scarce(format!("{FILE} cannot be read: {error}")),
        false => Unread::Bad(logic(format!("{FILE} cannot be read: {error}"))),
    };
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(unreadable(error.into())),
    };
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(Unread::Bad(logic(format!("{FILE} is no longer a plain file"))));
    }
    Ok(Some((file, found.len())).filter(|(_, bytes)| *bytes > 0))
}

fn read_file(file: File, bytes: u64) -> Result<Vec<u8>, TaskError> {
    if bytes > OUTPUT_BYTES_MAX as u64 {
        return Err(too_large(FILE, bytes));
    }
    // All of it at once: a vector that grows would hold half of it twice.
    let mut text = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    // Something that left the group may still write to it.
    match file.take(OUTPUT_BYTES_MAX as u64 + 1).read_to_end(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(logic(format!("{FILE} cannot be read: {error}"))),
    }
}

fn parse(
    bytes: &[u8],
    source: &str,
    secrets: Option<&Arc<Patterns>>,
) -> Result<Option<Output>, TaskError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let why = match std::str::from_utf8(bytes) {
        Err(error) => error.to_string(),
        Ok(text) => match Json::parse(text) {
            Ok(json) => return hide(json, source, secrets).map(Output::Inline).map(Some),
            Err(error) => error.to_string(),
        },
    };
    Err(logic(format!("the output in {source} is {why}: {}", quote(bytes, secrets))))
}

/// What is stored holds no secret, as in a log: `***` in its place.
fn hide(json: Json, source: &str, secrets: Option<&Arc<Patterns>>) -> Result<Json, TaskError> {
    let Some(secrets) = secrets else { return Ok(json) };
    let hidden = match hide_in_json(json.as_str(), secrets) {
        Hidden::Nothing => return Ok(json),
        Hidden::InText(text) => Json::parse(&text).ok(),
        Hidden::Outside => None,
    };
    hidden.ok_or_else(|| {
        logic(format!(
            "the output in {source} holds a secret outside of text, where it cannot be hidden: \
             outputs are stored, secrets are not. Leave it out"
        ))
    })
}

/// The beginning of a text. What is hidden is hidden before anything is cut off: half a secret
/// would not be known for what it is.
fn quote(bytes: &[u8], secrets: Option<&Arc<Patterns>>) -> String {
    // Four bytes for each char at most; what is beyond them is not looked at.
    let start = &bytes[..bytes.len().min(4 * QUOTED_CHARS)];
    let masked = secrets.map(|secrets| {
        let reach = &bytes[..bytes.len().min(4 * QUOTED_CHARS + secrets.longest_written())];
        let mut mask = Mask::new(Arc::clone(secrets));
        let mut masked = Vec::new();
        mask.push(reach, &mut masked);
        if reach.len() == bytes.len() {
            mask.finish(&mut masked);
        }
        masked
    });
    let whole = masked.as_deref().unwrap_or(start);
    let text = String::from_utf8_lossy(&whole[..whole.len().min(4 * QUOTED_CHARS)]);
    let shown: String = text.chars().take(QUOTED_CHARS).collect();
    let is_whole = bytes.len() <= start.len() && shown.len() >= whole.len();
    format!("{shown:?}{}", if is_whole { "" } else { " …" })
}

fn too_large(source: &str, bytes: u64) -> TaskError {
    logic(format!(
        "the output in {source} is {bytes} bytes; at most {OUTPUT_BYTES_MAX} are kept. Write \
         large data to files and put their paths into the output"
    ))
}

fn logic(message: String) -> TaskError {
    TaskError::new(ErrorClass::Logic, message)
}
