//! The text of a log. One record is one line of the file:
//!
//! ```text
//! 2026-11-15T23:44:22.123456Z o text as it came, without its newline
//! └── UTC, when it was read ─┘ │
//!                              o e  stdout, stderr: a whole line
//!                              O E  the same, but no newline followed: a piece of a line longer
//!                                   than 64 KiB, or the end of a stream that had none
//!                              n    a note by Mainspring itself: what was cut or lost
//! ```
//! Bytes are kept as they came, UTF-8 or not. Appending the texts of one stream, each with a
//! newline unless it is marked, gives back exactly what the process wrote.

use mainspring_core::time::Timestamp;

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
    /// Mainspring itself: what was cut, what could not be kept.
    Note,
}

/// One record of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// When it was read.
    pub at: Timestamp,
    pub stream: Stream,
    pub text: &'a [u8],
    /// A newline followed it.
    pub complete: bool,
}

/// Length of the time in front of every record, with the blank after it.
const STAMP_BYTES: usize = "2026-11-15T23:44:22.123456Z ".len();
/// Time, letter and blank.
const PREFIX_BYTES: usize = STAMP_BYTES + 2;
/// What a record is longer than its text.
pub(crate) const RECORD_EXTRA_BYTES: usize = PREFIX_BYTES + 1;

/// The records of a log. What is not a record (a file torn by a crash) comes out as a note,
/// with the time of the record before it.
pub fn lines(bytes: &[u8]) -> Lines<'_> {
    Lines { rest: bytes, last: Timestamp(0) }
}

#[derive(Clone, Debug)]
pub struct Lines<'a> {
    rest: &'a [u8],
    last: Timestamp,
}

impl<'a> Iterator for Lines<'a> {
    type Item = LogLine<'a>;

    fn next(&mut self) -> Option<LogLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let (line, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        let torn = LogLine { at: self.last, stream: Stream::Note, text: line, complete: true };
        let line = parse(line).unwrap_or(torn);
        self.last = line.at;
        Some(line)
    }
}

fn parse(line: &[u8]) -> Option<LogLine<'_>> {
    let stamp = line.get(..STAMP_BYTES - 1)?;
    let text = line.get(PREFIX_BYTES..)?;
    if line[STAMP_BYTES - 1] != b' ' || line[PREFIX_BYTES - 1] != b' ' {
        return None;
    }
    let (stream, complete) = match line[STAMP_BYTES] {
        b'o' => (Stream::Stdout, true),
        b'O' => (Stream::Stdout, false),
        b'e' => (Stream::Stderr, true),
        b'E' => (Stream::Stderr, false),
        b'n' => (Stream::Note, true),
        _ => return None,
    };
    let at: jiff::Timestamp = std::str::from_utf8(stamp).ok()?.parse().ok()?;
    Some(LogLine { at: Timestamp(at.as_microsecond()), stream, text, complete })
}

/// Appends one record. Its time comes as text, because many records share one.
pub(crate) fn push(into: &mut Vec<u8>, stamp: &str, line: &LogLine<'_>) {
    let letter = match line.stream {
        Stream::Stdout => b'o',
        Stream::Stderr => b'e',
        Stream::Note => b'n',
    };
    into.extend_from_slice(stamp.as_bytes());
    into.push(b' ');
    into.push(if line.complete { letter } else { letter.to_ascii_uppercase() });
    into.push(b' ');
    into.extend_from_slice(line.text);
    into.push(b'\n');
}

/// A note as a record of its own.
pub(crate) fn note(at: Timestamp, text: &str) -> Vec<u8> {
    let mut record = Vec::with_capacity(text.len() + RECORD_EXTRA_BYTES);
    let line = LogLine { at, stream: Stream::Note, text: text.as_bytes(), complete: true };
    push(&mut record, &at.to_string(), &line);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let at = Timestamp(1_700_000_000_000_001);
        let written = [
            LogLine { at, stream: Stream::Stdout, text: b"one", complete: true },
            LogLine { at, stream: Stream::Stderr, text: b"", complete: true },
            LogLine { at, stream: Stream::Stdout, text: b"\xff\x00 o n", complete: false },
            LogLine { at, stream: Stream::Stderr, text: b"end", complete: false },
        ];
        let mut bytes = Vec::new();
        for line in &written {
            push(&mut bytes, &at.to_string(), line);
        }
        assert_eq!(lines(&bytes).collect::<Vec<_>>(), written);
        assert_eq!(bytes.len(), 12 + 4 * RECORD_EXTRA_BYTES);
    }

    #[test]
    fn what_a_crash_tore_is_a_note() {
        let at = Timestamp(1_700_000_000_000_001);
        let mut bytes = note(at, "cut");
        bytes.extend_from_slice(b"2023-11-14T22:1");
        let found: Vec<_> = lines(&bytes).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].text, b"2023-11-14T22:1");
        assert_eq!((found[1].stream, found[1].at), (Stream::Note, at));
    }
}
