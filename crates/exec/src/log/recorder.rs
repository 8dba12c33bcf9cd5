//! From bytes as they are read to records of the log, secrets hidden before anything else is done
//! with them. Holds at most one unfinished piece of a line for each stream, and what may be the
//! beginning of a secret; everything else goes through buffers shared by all attempts of a thread.

use super::format::{self, LogLine, RECORD_EXTRA_BYTES, Stream};
use super::place::Place;
use super::segments::{Amount, Segments, Written};
use crate::clock;
use crate::secrets::{Mask, Patterns};
use mainspring_core::time::Timestamp;
use std::cell::RefCell;
use std::sync::Arc;

/// Records gathered before one write. Two pipes' worth: fewer writes gain nothing measurable.
const GATHER_BYTES: usize = 128 * 1024;
/// An unfinished line's buffer above this size is given back once it is empty.
const PARTIAL_KEPT_BYTES: usize = 1024;

thread_local! {
    static GATHERED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static MASKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug)]
pub(crate) struct Recorder {
    segments: Segments,
    /// The beginning of a line whose end has not been read: of stdout, of stderr.
    partial: [Vec<u8>; 2],
    /// For an attempt that was given secrets: of stdout, of stderr.
    masks: Option<Box<[Mask; 2]>>,
}

impl Recorder {
    pub fn new(place: Place, limit: u64, secrets: Option<Arc<Patterns>>) -> Self {
        let masks =
            secrets.map(|secrets| Box::new([Mask::new(Arc::clone(&secrets)), Mask::new(secrets)]));
        Self { segments: Segments::new(place, limit), partial: [Vec::new(), Vec::new()], masks }
    }

    /// Takes what was just read from one of the two pipes.
    pub fn chunk(&mut self, stream: Stream, bytes: &[u8]) {
        match self.masks.take() {
            None => self.record(stream, bytes),
            Some(mut masks) => {
                self.masked(stream, |out| masks[slot(stream)].push(bytes, out));
                self.masks = Some(masks);
            }
        }
    }

    fn masked(&mut self, stream: Stream, fill: impl FnOnce(&mut Vec<u8>)) {
        MASKED.with_borrow_mut(|masked| {
            masked.clear();
            fill(masked);
            self.record(stream, masked);
            masked.shrink_to(GATHER_BYTES);
        });
    }

    fn record(&mut self, stream: Stream, bytes: &[u8]) {
        GATHERED.with_borrow_mut(|gathered| {
            let mut batch = Batch::new(&mut self.segments, stream, gathered);
            let partial = &mut self.partial[slot(stream)];
            let mut rest = bytes;
            while !rest.is_empty() {
                rest = batch.take(partial, rest);
            }
            batch.flush();
        });
    }

    /// Ends both streams: lines that never got their newline are written, marked.
    pub fn finish(&mut self) -> (Written, Option<Vec<u8>>) {
        let mut masks = self.masks.take();
        for stream in [Stream::Stdout, Stream::Stderr] {
            if let Some(masks) = &mut masks {
                self.masked(stream, |out| masks[slot(stream)].finish(out));
            }
            let partial = std::mem::take(&mut self.partial[slot(stream)]);
            if partial.is_empty() {
                continue;
            }
            GATHERED.with_borrow_mut(|gathered| {
                let mut batch = Batch::new(&mut self.segments, stream, gathered);
                batch.push(&partial, Newline::Missing);
                batch.flush();
            });
        }
        self.segments.finish()
    }

    pub fn place(&self) -> &Place {
        self.segments.place()
    }
}

fn slot(stream: Stream) -> usize {
    usize::from(stream == Stream::Stderr)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Newline {
    Followed,
    Missing,
}

/// Records on their way into the segments: all of one chunk, with one time stamp.
struct Batch<'a> {
    segments: &'a mut Segments,
    stream: Stream,
    at: Timestamp,
    /// `at` as text, made once.
    stamp: String,
    gathered: &'a mut Vec<u8>,
    amount: Amount,
    piece_max: usize,
}

impl<'a> Batch<'a> {
    fn new(segments: &'a mut Segments, stream: Stream, gathered: &'a mut Vec<u8>) -> Self {
        gathered.clear();
        let piece_max = segments.piece_bytes_max();
        let at = clock::now();
        let stamp = at.to_string();
        Self { segments, stream, at, stamp, gathered, amount: Amount::default(), piece_max }
    }

    /// Takes one line, or as much of one as there is; returns what is left.
    fn take<'b>(&mut self, partial: &mut Vec<u8>, bytes: &'b [u8]) -> &'b [u8] {
        let room = self.piece_max - partial.len();
        let window = &bytes[..bytes.len().min(room + 1)];
        let (text, newline, rest) = match window.iter().position(|byte| *byte == b'\n') {
            Some(end) => (&bytes[..end], Newline::Followed, &bytes[end + 1..]),
            None if bytes.len() > room => (&bytes[..room], Newline::Missing, &bytes[room..]),
            None => {
                partial.extend_from_slice(bytes);
                return &[];
            }
        };
        if partial.is_empty() {
            self.push(text, newline);
        } else {
            partial.extend_from_slice(text);
            self.push(partial, newline);
            partial.clear();
            if partial.capacity() > PARTIAL_KEPT_BYTES {
                *partial = Vec::new();
            }
        }
        rest
    }

    fn push(&mut self, text: &[u8], newline: Newline) {
        let record_bytes = text.len() + RECORD_EXTRA_BYTES;
        if !self.segments.has_room(self.gathered.len(), record_bytes) {
            self.flush();
            self.segments.turn();
        } else if self.gathered.len() + record_bytes > GATHER_BYTES {
            self.flush();
        }
        let complete = newline == Newline::Followed;
        let line = LogLine { at: self.at, stream: self.stream, text, complete };
        format::push(self.gathered, &self.stamp, &line);
        self.amount.add(Amount {
            bytes: text.len() as u64 + u64::from(complete),
            lines: u64::from(complete),
        });
    }

    fn flush(&mut self) {
        self.segments.write(self.gathered, std::mem::take(&mut self.amount));
        self.gathered.clear();
        self.gathered.shrink_to(GATHER_BYTES);
    }
}
