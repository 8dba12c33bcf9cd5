//! The patterns of `matches`. What one costs is known from what is in it: for each byte of a text
//! as many steps as it has places to be at, and never more.

use super::meter::{self, Over};
use super::problem::quoted;
use crate::limits::{EXPR_BYTES_MAX, EXPR_PATTERN_BYTES_MAX, EXPR_PATTERN_PLACES_MAX};
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A pattern, ready for use.
#[derive(Clone)]
pub struct Pattern {
    regex: Regex,
    /// Letters, classes and borders in it, repeated as often as they may be.
    places: usize,
}

/// To read a pattern and compile it, for each place in it; one with large classes takes longer.
const COMPILE: usize = 1_000;
/// To find the memory that a search works in.
const SEARCH: usize = 20;

thread_local! {
    /// The patterns of this evaluation. A pattern that is written out in a loop is compiled
    /// once; it is not kept longer, since it is large and definitions may have many.
    static COMPILED: RefCell<BTreeMap<String, Pattern>> = const { RefCell::new(BTreeMap::new()) };
}

/// Before and after each evaluation.
pub fn forget() {
    COMPILED.take();
}

impl Pattern {
    /// Reads a pattern, or says what is wrong with it.
    pub fn read(source: &str) -> Result<Self, String> {
        if source.len() > EXPR_BYTES_MAX {
            return Err(too_large());
        }
        let hir = regex_syntax::parse(source)
            .map_err(|_| format!("{} is not a pattern.", quoted(source)))?;
        let places = places(&hir);
        if places > EXPR_PATTERN_PLACES_MAX {
            return Err(too_large());
        }
        match RegexBuilder::new(source).size_limit(EXPR_PATTERN_BYTES_MAX).build() {
            Ok(regex) => Ok(Self { regex, places }),
            Err(_) => Err(too_large()),
        }
    }
}

fn too_large() -> String {
    "The pattern is too large.".to_owned()
}

/// Why it cannot be said whether a text matches.
pub enum Unmatched {
    Over(Over),
    /// The pattern is none.
    Wrong(String),
}

impl From<Over> for Unmatched {
    fn from(over: Over) -> Self {
        Self::Over(over)
    }
}

pub fn matches(text: &str, pattern: &str) -> Result<bool, Unmatched> {
    COMPILED.with_borrow_mut(|compiled| {
        if !compiled.contains_key(pattern) {
            let read = Pattern::read(pattern).map_err(Unmatched::Wrong)?;
            meter::work(COMPILE.saturating_mul(1 + read.places))?;
            compiled.insert(pattern.to_owned(), read);
        }
        let Pattern { regex, places } = &compiled[pattern];
        meter::work(SEARCH.saturating_add(text.len().saturating_mul(1 + places)))?;
        Ok(regex.is_match(text))
    })
}

fn places(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min + 1).max(1);
            places(&repeated.sub).saturating_mul(times as usize)
        }
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(places).fold(0, usize::saturating_add)
        }
    }
}
