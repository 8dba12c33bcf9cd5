//! Hides secrets in a stream of bytes. Every byte that is part of a secret, wherever secrets
//! begin, end or overlap, as it stands or as JSON may write it, is hidden; a row of hidden bytes
//! becomes one `***`. All other bytes pass as they are, and as soon as they cannot be the
//! beginning of a secret.

use super::patterns::{Patterns, START};
use super::reader::{End, Reader};
use std::ops::Range;
use std::sync::Arc;

const STARS: &[u8] = b"***";
/// A buffer above this size is given back when little is held.
const HELD_KEPT_BYTES: usize = 1024;

/// One stream. Positions count from its beginning.
#[derive(Debug)]
pub(crate) struct Mask {
    patterns: Arc<Patterns>,
    /// Of the bytes as they stand.
    state: u32,
    /// Of the bytes as JSON.
    reader: Reader,
    /// Bytes that may be the beginning of a secret: no more than the longest may be written with.
    held: Held,
    /// Where they begin.
    base: usize,
    /// What of them is part of a secret for certain.
    hidden: Vec<Range<usize>>,
    /// The last byte that was let go was hidden: its stars stand already.
    hiding: bool,
}

/// Half of a secret, perhaps.
struct Held(Vec<u8>);

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Mask {
    pub fn new(patterns: Arc<Patterns>) -> Self {
        Self {
            patterns,
            state: START,
            reader: Reader::default(),
            held: Held(Vec::new()),
            base: 0,
            hidden: Vec::new(),
            hiding: false,
        }
    }

    /// Takes what was read, and appends to `out` what may be shown of it and of what was held.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let new = self.held.0.len();
        self.held.0.extend_from_slice(bytes);
        self.look(new);
        self.read(End::Open);
        let undecided = self.end() - self.patterns.depth(self.state);
        self.let_go(undecided.min(self.reader.undecided()), out);
    }

    /// Nothing more comes: half a secret is none.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.read(End::Reached);
        self.let_go(self.end(), out);
        self.state = START;
        self.reader.restart();
        self.hiding = false;
    }

    fn end(&self) -> usize {
        self.base + self.held.0.len()
    }

    /// At the bytes as they stand.
    fn look(&mut self, mut at: usize) {
        while at < self.held.0.len() {
            if self.state == START {
                let rest = &self.held.0[at..];
                let next = rest.iter().position(|byte| self.patterns.begins_with(*byte));
                at += next.unwrap_or(rest.len());
                if next.is_none() {
                    break;
                }
            }
            self.state = self.patterns.next(self.state, self.held.0[at]);
            at += 1;
            let matched = self.patterns.matched(self.state);
            if matched > 0 {
                let end = self.base + at;
                hide(&mut self.hidden, end - matched..end);
            }
        }
    }

    fn read(&mut self, end: End) {
        let Self { reader, patterns, held, base, hidden, .. } = self;
        reader.read(patterns, (*base, &held.0), end, |range| hide(hidden, range));
    }

    /// Everything before `decided`. What is behind it stays, hidden or not: it may be part of
    /// another secret.
    fn let_go(&mut self, decided: usize, out: &mut Vec<u8>) {
        let mut at = self.base;
        for range in self.merged() {
            if range.start > decided {
                self.hidden.push(range);
                continue;
            }
            self.show(at..range.start, out);
            if !std::mem::replace(&mut self.hiding, true) {
                out.extend_from_slice(STARS);
            }
            at = range.end.min(decided);
            if range.end > decided {
                self.hidden.push(decided..range.end);
            }
        }
        self.show(at..decided, out);
        self.held.0.drain(..decided - self.base);
        self.held.0.shrink_to(HELD_KEPT_BYTES);
        self.base = decided;
    }

    /// What is hidden, in order and without overlaps.
    fn merged(&mut self) -> Vec<Range<usize>> {
        let mut found = std::mem::take(&mut self.hidden);
        found.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match merged.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    fn show(&mut self, range: Range<usize>, out: &mut Vec<u8>) {
        if !range.is_empty() {
            out.extend_from_slice(&self.held.0[range.start - self.base..range.end - self.base]);
            self.hiding = false;
        }
    }
}

/// Joins it with what it overlaps, so that a secret in a long row of itself is one range.
fn hide(hidden: &mut Vec<Range<usize>>, mut range: Range<usize>) {
    while let Some(last) = hidden.pop_if(|last| last.end >= range.start && last.start <= range.end)
    {
        range = range.start.min(last.start)..range.end.max(last.end);
    }
    hidden.push(range);
}

#[cfg(test)]
mod tests {
    use super::super::value::Secret;
    use super::*;
    use proptest::prelude::*;

    fn patterns(secrets: &[&[u8]]) -> Option<Arc<Patterns>> {
        let secrets: Vec<Secret> = secrets.iter().map(|secret| Secret::new(*secret)).collect();
        Patterns::new(&secrets).map(Arc::new)
    }

    fn masked<'a>(secrets: &[&[u8]], chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let mut mask = Mask::new(patterns(secrets).unwrap());
        let mut out = Vec::new();
        for chunk in chunks {
            mask.push(chunk, &mut out);
            let longest = mask.patterns.longest_written();
            assert!(mask.held.0.len() <= longest, "{} bytes held", mask.held.0.len());
        }
        mask.finish(&mut out);
        out
    }

    fn check(secrets: &[&str], text: &str, expected: &str) {
        let secrets: Vec<&[u8]> = secrets.iter().map(|secret| secret.as_bytes()).collect();
        for size in 1..=text.len().max(1) {
            let found = masked(&secrets, text.as_bytes().chunks(size));
            assert_eq!(String::from_utf8(found).unwrap(), expected, "in chunks of {size}");
        }
    }

    #[test]
    fn secrets_are_hidden_wherever_they_are_cut() {
        check(&["hunter22"], "a hunter22 b", "a *** b");
        check(&["hunter22"], "hunter22", "***");
        check(&["hunter22"], "hunter2hunter22", "hunter2***");
        check(&["hunter22"], "hunter22hunter22!hunter22", "***!***");
        check(&["hunter22"], "hunter2", "hunter2");
        check(&["hunter22"], "no secret at all", "no secret at all");
        check(&["hunter22"], "", "");
    }

    #[test]
    fn overlaps_are_hidden_to_their_last_byte() {
        check(&["abab"], "xabababy", "x***y");
        check(&["aaaa"], "aaaaaaaaab aaa", "***b aaa");
        check(&["abcde", "defgh"], "abcdefgh abcdef", "*** ***f");
        check(&["abcd", "xxabcdyy"], "xxabcdyz xxabcdyy", "xx***yz ***");
        check(&["abcdef", "bcde"], "abcdeabcdef", "a***");
        check(&["key-1", "key-12"], "key-1 key-12 key-13", "*** *** ***3");
    }

    #[test]
    fn many_lines_are_hidden_as_a_whole_and_one_by_one() {
        let key = "-----BEGIN-----\r\nline one\nabc\nline two\n";
        check(&[key], &format!("<{key}>"), "<***>");
        check(&[key], "1: line one\n2: abc\n3: line two\n", "1: ***\n2: abc\n3: ***\n");
        check(&[key], "-----BEGIN-----\n", "***\n");
        check(&["pass\"word\n1"], r#"{"p": "pass\"word\n1"}"#, r#"{"p": "***"}"#);
    }

    #[test]
    fn however_json_writes_it() {
        check(&["pässwört-42"], r#"{"t": "p\u00e4ssw\u00F6rt-42"}"#, r#"{"t": "***"}"#);
        check(&["a/b+c<d>"], r"a\/b\u002Bc\u003cd\u003E a\/b+c<d>", "*** ***");
        check(&["key😀1"], r"<key\ud83d\uDE001>", "<***>");
        check(&["say \"hi\""], r#"say \u0022hi\u0022 say \"hi\""#, "*** ***");
        check(&["hunter22"], r"\u0068unter2\u0032", "***");
        check(&["-- KEY --\na/b+c=\nabc\n"], r"-- KEY --\na\/b\u002bc\u003d\nabc\n", "***");
        check(&["one two\nthree"], r"three, one\u0020two", "***, ***");
    }

    #[test]
    fn backslashes_of_its_own() {
        check(&[r"C:\new\pass"], r"C:\new\pass C:\\new\\pass", "*** ***");
        check(&[r"\pass\"], r"\\pass\n \\pass\\n", r"\***n ***n");
        check(&["nope1234"], r"o\nope1234 \u00", r"o\*** \u00");
        check(&["nope1234"], r"\u006eop", r"\u006eop");
        check(&["nope1234"], r"\u006eope12\u0033", r"\u006eope12\u0033");
    }

    #[test]
    fn bytes_that_are_no_text_as_python_writes_them() {
        let secret: &[u8] = b"p\xe4ssword";
        assert_eq!(masked(&[secret], [&br#""p\udce4ssword""#[..]]), br#""***""#);
    }

    #[test]
    fn short_ones_are_not_hidden() {
        assert!(patterns(&[b"abc", b"", b"a\nb\nc", b"abc\n\n"]).is_some(), "as a whole they are");
        assert!(patterns(&[b"abc", b"", b"\n\n\n"]).is_none());
        check(&["abc", "abcd"], "abc abcd", "abc ***");
        check(&["a\nb\nc"], "a\nb\nc a\nb c", "*** a\nb c");
    }

    #[test]
    fn what_cannot_be_a_secret_is_shown_at_once() {
        let mut mask = Mask::new(patterns(&[b"hunter22"]).unwrap());
        let mut out = Vec::new();
        mask.push(b"the line\nhunt", &mut out);
        assert_eq!(out, b"the line\n");
        mask.push(b"er22", &mut out);
        assert_eq!(out, b"the line\n***");
    }

    #[test]
    fn nothing_of_it_is_printed() {
        let mut mask = Mask::new(patterns(&[b"hunter22"]).unwrap());
        mask.push(b"hunter2", &mut Vec::new());
        let shown = format!("{mask:?}");
        assert!(!shown.contains("hunt") && !shown.contains("104"), "{shown}");
    }

    /// A secret of one letter, 64 KiB long, in 10 MiB of that letter: costs must not multiply.
    #[test]
    fn a_long_secret_in_a_long_line_of_itself() {
        let secret = vec![b'a'; 64 * 1024];
        let text = vec![b'a'; 10 * 1024 * 1024];
        assert_eq!(masked(&[&secret], text.chunks(65_536)), b"***");
        let almost = [&secret[1..], b"b"].concat();
        assert_eq!(masked(&[&secret], [&almost[..]; 100]), almost.repeat(100));
    }

    /// Marks what every occurrence covers, one by one.
    fn naive(secrets: &[Vec<u8>], text: &[u8]) -> Vec<u8> {
        let mut covered = vec![false; text.len()];
        for secret in secrets.iter().filter(|secret| secret.len() >= 4) {
            for at in 0..text.len().saturating_sub(secret.len() - 1) {
                if text[at..].starts_with(secret) {
                    covered[at..at + secret.len()].fill(true);
                }
            }
        }
        let mut out = Vec::new();
        for at in 0..text.len() {
            match covered[at] {
                false => out.push(text[at]),
                true if at > 0 && covered[at - 1] => {}
                true => out.extend_from_slice(STARS),
            }
        }
        out
    }

    /// Few letters, so that secrets occur, repeat and overlap; no newline and nothing that JSON
    /// writes otherwise.
    fn letters(length: Range<usize>) -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(
            prop_oneof![5 => Just(b'a'), 3 => Just(b'b'), 1 => Just(0xff)],
            length,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_in_any_chunks(
            secrets in proptest::collection::vec(letters(0..12), 1..5),
            parts in proptest::collection::vec((letters(0..20), any::<prop::sample::Index>()), 0..20),
            cuts in proptest::collection::vec(1_usize..9, 1..20),
        ) {
            let mut text = Vec::new();
            for (noise, which) in parts {
                text.extend(noise);
                text.extend(which.get(&secrets));
            }
            let shown: Vec<&[u8]> = secrets.iter().map(Vec::as_slice).collect();
            prop_assume!(patterns(&shown).is_some());
            let mut rest = &text[..];
            let mut chunks = Vec::new();
            for cut in cuts.iter().cycle() {
                let (chunk, more) = rest.split_at((*cut).min(rest.len()));
                chunks.push(chunk);
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(masked(&shown, chunks), naive(&secrets, &text));
        }
    }
}
