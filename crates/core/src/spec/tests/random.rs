//! Chance: whatever the bytes are, nothing panics and every place lies in the text.

use super::super::{Context, Diagnostic, parse_bytes};
use proptest::prelude::*;
use std::collections::BTreeSet;

const GOOD: &str = r#"name: nightly
description: "é \u00e9"
labels: { a: b }
input: { type: object, properties: { day: { type: string, default: x, pattern: "^[a-z]+$" } } }
timeout: 2h
tiers: { heavy: 2 }
defaults: { retries: 1, env: &e { A: 1 } }
tasks:
  first: { run: "echo hi", env: *e }
  second:
    depends_on: [{ task: first, when: started }]
    command: [python3, x.py]
    retries: { max: 3, delay: 2s, on: [exit] }
    input: { k: [1, 2.5, null, ~] }
  third: { noop: {}, depends_on: second, on_failure: run }
"#;

/// Pieces that mean something to YAML or to a workflow.
const PIECES: &[&str] = &[
    "\n",
    " ",
    "  ",
    ":",
    ": ",
    "-",
    "- ",
    "?",
    "[",
    "]",
    "{",
    "}",
    ",",
    "#",
    "&a",
    "*a",
    "!",
    "!!str ",
    "|",
    ">",
    "'",
    "\"",
    "\\",
    "%",
    "@",
    "`",
    "\t",
    "\r",
    "\0",
    "\u{feff}",
    "é",
    "😀",
    "---",
    "...",
    "<<",
    "${{ x }}",
    "012",
    ".inf",
    "null",
    "true",
    "tasks:",
    "run: x",
    "depends_on:",
    "99999999999999999999",
    "retries",
    "noop: {}",
    "first",
    "timeout: 5",
    "$ref",
    "default",
    "pattern",
    "input:",
];

fn parse_any(bytes: &[u8]) -> Vec<Diagnostic> {
    let tiers = BTreeSet::new();
    match parse_bytes(bytes, &Context { server_tiers: crate::spec::ServerTiers::Known(&tiers) }) {
        Ok(parsed) => parsed.warnings,
        Err(found) => {
            assert!(!found.is_empty(), "refused without a word");
            found
        }
    }
}

fn places_are_sound(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes);
    for found in parse_any(bytes) {
        let related = found.related.iter().map(|related| related.span);
        for span in related.chain([found.span]) {
            assert!(span.start <= span.end && span.end <= bytes.len(), "{found:?}");
            assert!(span.line >= 1 && span.column >= 1, "{found:?}");
            let (start, end) = ((span.line, span.column), (span.end_line, span.end_column));
            assert!(start <= end, "{found:?}");
            if let Ok(text) = text {
                assert!(text.is_char_boundary(span.start), "{found:?}");
                assert!(text.is_char_boundary(span.end), "{found:?}");
            }
        }
    }
}

#[test]
fn the_text_that_is_mutated_is_good() {
    assert_eq!(parse_any(GOOD.as_bytes()), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        places_are_sound(&bytes);
    }

    #[test]
    fn random_pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        places_are_sound(pieces.concat().as_bytes());
    }

    #[test]
    fn mutated_documents(
        cuts in prop::collection::vec(
            (0..GOOD.len(), 0..6_usize, prop::sample::select(PIECES)), 1..6)
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (at, length, piece) in cuts {
            let at = at.min(bytes.len());
            let end = (at + length).min(bytes.len());
            bytes.splice(at..end, piece.bytes());
        }
        places_are_sound(&bytes);
    }
}
