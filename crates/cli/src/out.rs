//! The one place that writes to stdout and stderr. stdout is for results, stderr for everything
//! said on the way. A reader that went away (`| head`) is no error: what nobody reads is dropped
//! and the work goes on.

use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_GONE: AtomicBool = AtomicBool::new(false);
static STDERR_GONE: AtomicBool = AtomicBool::new(false);
/// Why results could not be written, when it was not for lack of a reader.
static FAILED: OnceLock<String> = OnceLock::new();

/// Writes a piece of the result; colours are left out unless stdout is a terminal.
pub fn result(text: &str) {
    let mut stdout = anstream::stdout().lock();
    write_to(&mut stdout, &STDOUT_GONE, text.as_bytes());
}

/// Says something on stderr; colours as above.
pub fn say(text: &str) {
    let mut stderr = anstream::stderr().lock();
    write_to(&mut stderr, &STDERR_GONE, text.as_bytes());
}

/// A result that is passed on as it is, such as the text of a log.
pub fn raw(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    write_to(&mut stdout, &STDOUT_GONE, bytes);
}

/// Says something on a terminal that moves its cursor. With NO_COLOR the movements stay.
pub fn steer(text: &str) {
    let colours = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let mut stderr = io::stderr().lock();
    match colours {
        true => write_to(&mut stderr, &STDERR_GONE, text.as_bytes()),
        false => write_to(&mut stderr, &STDERR_GONE, without_colours(text).as_bytes()),
    }
}

fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic());
        match end.map(|end| piece.split_at(end)) {
            Some((_, rest)) if rest.starts_with('m') => plain.push_str(&rest[1..]),
            _ => plain.push_str(&format!("\u{1b}[{piece}")),
        }
    }
    plain
}

/// Nobody reads stdout any more.
pub fn is_unread() -> bool {
    STDOUT_GONE.load(Ordering::Relaxed)
}

/// Whether this program was started without a stdout. The runtime then opens /dev/null in its
/// place, to be read and written, which no shell does: all is taken, and nobody gets it.
pub fn is_closed() -> bool {
    let stdout = io::stdout();
    let is_stand_in = || {
        let null = std::fs::metadata("/dev/null").ok()?;
        let found = rustix::fs::fstat(&stdout).ok()?;
        let flags = rustix::fs::fcntl_getfl(&stdout).ok()?;
        Some(found.st_rdev == null.rdev() && flags.contains(rustix::fs::OFlags::RDWR))
    };
    is_stand_in().unwrap_or(false)
}

/// Why a result is incomplete, if it is.
pub fn failure() -> Option<&'static str> {
    FAILED.get().map(String::as_str)
}

fn write_to(to: &mut dyn Write, gone: &AtomicBool, bytes: &[u8]) {
    if gone.load(Ordering::Relaxed) {
        return;
    }
    if let Err(error) = to.write_all(bytes).and_then(|()| to.flush()) {
        gone.store(true, Ordering::Relaxed);
        let is_result = std::ptr::eq(gone, &STDOUT_GONE);
        if is_result && error.kind() != ErrorKind::BrokenPipe {
            let _ = FAILED.set(error.to_string());
        }
    }
}

/// Says an error with everything that caused it.
pub fn error(error: &anyhow::Error) {
    let mut text = format!("{}: {error}\n", red("error"));
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Some name their cause themselves: what it comes down to is said once.
        if cause.rsplit(": ").next().is_some_and(|last| text.contains(last)) {
            continue;
        }
        text.push_str(&format!("  because: {cause}\n"));
    }
    say(&text);
}

pub fn red(text: &str) -> String {
    painted("31;1", text)
}

pub fn green(text: &str) -> String {
    painted("32", text)
}

pub fn yellow(text: &str) -> String {
    painted("33", text)
}

pub fn blue(text: &str) -> String {
    painted("34;1", text)
}

pub fn dim(text: &str) -> String {
    painted("2", text)
}

pub fn bold(text: &str) -> String {
    painted("1", text)
}

fn painted(code: &str, text: &str) -> String {
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Text of someone else's making on one line of ours: no escape sequences, no control characters.
pub fn tame(text: &str) -> String {
    let stripped = anstream::adapter::strip_str(text).to_string();
    stripped.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movements_stay_when_colours_go() {
        let text = format!("\u{1b}[3A\r\u{1b}[J{}\n", red("failed"));
        assert_eq!(without_colours(&text), "\u{1b}[3A\r\u{1b}[Jfailed\n");
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(tame("\u{1b}[31mred\u{1b}[0m\tand\u{7}"), "red\tand");
    }
}
