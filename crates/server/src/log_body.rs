//! A log as the body of an answer: read as it is sent, a chunk at a time, never held as a whole.

use crate::problem::{Code, Problem};
use axum::body::{Body, Bytes};
use futures_util::StreamExt as _;
use mainspring_engine::logs::{Line, LogText, Stream, stream_word};
use std::io;

/// Gathered before it is sent.
const CHUNK_BYTES: usize = 64 * 1024;

/// What stands before each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    None,
    TimeAndStream,
}

pub fn broken() -> Problem {
    Problem::new(Code::Internal, "the log could not be read")
}

/// Puts lines together, of which one may be told in pieces.
pub struct Text {
    stamps: Stamps,
    /// The stream whose last line has not ended yet.
    open: Option<Stream>,
}

impl Text {
    pub fn new(stamps: Stamps) -> Self {
        Self { stamps, open: None }
    }

    pub fn add(&mut self, line: &Line, text: &mut String) {
        if self.open.is_some_and(|stream| stream != line.stream) {
            self.end(text);
        }
        if self.open.is_none() && self.stamps == Stamps::TimeAndStream {
            text.push_str(&format!("{} {} ", line.at, stream_word(line.stream)));
        }
        text.push_str(&line.text);
        self.open = (!line.complete).then_some(line.stream);
        if line.complete {
            text.push('\n');
        }
    }

    /// What comes next begins a line.
    pub fn end(&mut self, text: &mut String) {
        if self.open.take().is_some() {
            text.push('\n');
        }
    }
}

/// Lines as text, in chunks.
pub struct Rendered {
    lines: LogText,
    text: Text,
    done: bool,
}

impl Rendered {
    pub fn new(lines: LogText, stamps: Stamps) -> Self {
        Self { lines, text: Text::new(stamps), done: false }
    }
}

impl Iterator for Rendered {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = String::new();
        while !self.done && text.len() < CHUNK_BYTES {
            match self.lines.next() {
                Some(Ok(line)) => self.text.add(&line, &mut text),
                Some(Err(error)) => {
                    self.done = true;
                    return Some(Err(error));
                }
                None => {
                    self.done = true;
                    self.text.end(&mut text);
                }
            }
        }
        (!text.is_empty()).then(|| Ok(text.into()))
    }
}

/// The bytes of a text from one to another.
pub struct Part {
    text: Rendered,
    /// To be passed over.
    before: u64,
    /// To be sent after that.
    left: u64,
}

impl Part {
    /// Both ends included.
    pub fn of(text: Rendered, first: u64, last: u64) -> Self {
        Self { text, before: first, left: last - first + 1 }
    }

    fn cut(&mut self, chunk: &Bytes) -> Bytes {
        let length = chunk.len() as u64;
        let from = self.before.min(length);
        let to = from + self.left.min(length - from);
        (self.before, self.left) = (self.before - from, self.left - (to - from));
        let within = |at: u64| usize::try_from(at).expect("within the chunk");
        chunk.slice(within(from)..within(to))
    }
}

impl Iterator for Part {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            match self.text.next()? {
                Ok(chunk) => {
                    let cut = self.cut(&chunk);
                    if !cut.is_empty() {
                        return Some(Ok(cut));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }
}

/// The first chunk is read before anything is promised: what is damaged mostly shows there, and can
/// still be said. What shows later cuts the body off.
pub async fn begun(
    mut chunks: impl Iterator<Item = io::Result<Bytes>> + Send + 'static,
) -> io::Result<Body> {
    let read = tokio::task::spawn_blocking(move || (chunks.next(), chunks)).await;
    let (first, rest) = read.map_err(io::Error::other)?;
    let first = first.transpose()?;
    Ok(streamed(first.map(Ok).into_iter().chain(rest)))
}

/// Read on a thread that may wait for a disk or a database, no faster than it is taken.
pub fn streamed(chunks: impl Iterator<Item = io::Result<Bytes>> + Send + 'static) -> Body {
    let stream = futures_util::stream::unfold(chunks, |mut chunks| async {
        let next = tokio::task::spawn_blocking(move || (chunks.next(), chunks)).await;
        match next {
            Ok((Some(chunk), chunks)) => Some((chunk, chunks)),
            Ok((None, _)) | Err(_) => None,
        }
    });
    // Whoever compresses it asks once more after its end.
    Body::from_stream(stream.fuse())
}

pub fn lines_in(mut log: LogText) -> io::Result<u64> {
    log.try_fold(0, |count, line| line.map(|_| count + 1))
}

pub fn bytes_in(mut text: Rendered) -> io::Result<u64> {
    text.try_fold(0, |total, chunk| chunk.map(|chunk| total + chunk.len() as u64))
}
