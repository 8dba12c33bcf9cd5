//! Looks for secrets in a stream as whoever reads it as JSON sees it, and says where in the stream
//! they are.

use super::escapes::{self, Next};
use super::patterns::{Patterns, START};
use std::collections::VecDeque;
use std::ops::Range;

/// Positions count from the beginning of the stream.
#[derive(Debug, Default)]
pub(super) struct Reader {
    state: u32,
    /// Where each of the bytes is written that `state` has read.
    written: VecDeque<usize>,
    /// What is before it was read.
    at: usize,
}

/// Whether more of a stream may come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Open,
    Reached,
}

impl Reader {
    /// Reads on, in `held`, which begins at `base`.
    pub fn read(
        &mut self,
        patterns: &Patterns,
        (base, held): (usize, &[u8]),
        end: End,
        mut found: impl FnMut(Range<usize>),
    ) {
        loop {
            if self.state == START {
                self.at += skipped(patterns, &held[self.at - base..]);
            }
            let rest = &held[self.at - base..];
            match escapes::next(rest) {
                Next::Byte(length, byte) => self.take(patterns, length, &[byte], &mut found),
                Next::Char(length, char) => {
                    let mut bytes = [0; 4];
                    self.take(
                        patterns,
                        length,
                        char.encode_utf8(&mut bytes).as_bytes(),
                        &mut found,
                    );
                }
                // Half an escape at the end is none.
                Next::Unfinished if end == End::Reached && !rest.is_empty() => {
                    self.take(patterns, 1, &rest[..1], &mut found);
                }
                Next::Unfinished => return,
            }
        }
    }

    /// So many bytes of the stream that stand for these.
    fn take(
        &mut self,
        patterns: &Patterns,
        length: usize,
        bytes: &[u8],
        found: &mut impl FnMut(Range<usize>),
    ) {
        for byte in bytes {
            self.state = patterns.next(self.state, *byte);
            self.written.push_back(self.at);
            let depth = patterns.depth(self.state);
            self.written.drain(..self.written.len() - depth);
            let matched = patterns.matched(self.state);
            if matched > 0 {
                found(self.written[depth - matched]..self.at + length);
            }
        }
        self.at += length;
    }

    /// What is from here on may be the beginning of a secret.
    pub fn undecided(&self) -> usize {
        self.written.front().copied().unwrap_or(self.at)
    }

    /// What comes next has nothing to do with what came before.
    pub fn restart(&mut self) {
        *self = Self { at: self.at, ..Self::default() };
    }
}

/// How many bytes cannot be the beginning of anything.
fn skipped(patterns: &Patterns, text: &[u8]) -> usize {
    let begins = |byte: &u8| *byte == b'\\' || patterns.begins_with(*byte);
    text.iter().position(begins).unwrap_or(text.len())
}
