//! Collects every mistake of a text, so that a person sees all of them at once.

use super::code::Code;
use super::diagnostic::{Diagnostic, Related, Severity};
use super::parse::{Context, ServerTiers};
use super::place::{Lines, Place};
use crate::limits::DIAGNOSTICS_MAX;
use std::collections::BTreeSet;

/// Comparisons of words for all did-you-mean hints of one text: a name against 100,000 tasks
/// takes about 10 ms, and a text may hold many misspelt names.
const COMPARISONS_MAX: usize = 300_000;
/// Rules that came when there were definitions already: whatever was accepted before stays so.
const LATER: &[Code] = &[Code::NoDecider, Code::OutsideWorkspace];
/// What is quoted of the text in a message.
const QUOTED_CHARS_MAX: usize = 60;

/// A mistake, not yet with line and column.
#[derive(Debug)]
pub struct Draft {
    code: Code,
    place: Place,
    message: String,
    hint: Option<String>,
    related: Vec<(Place, String)>,
}

impl Draft {
    pub fn hint(&mut self, hint: impl Into<String>) -> &mut Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn maybe_hint(&mut self, hint: Option<String>) -> &mut Self {
        self.hint = hint.or(self.hint.take());
        self
    }

    pub fn related(&mut self, place: Place, message: impl Into<String>) -> &mut Self {
        self.related.push((place, message.into()));
        self
    }
}

#[derive(Debug, Default)]
pub struct Report {
    found: Vec<Draft>,
    /// An alias is lowered at each of its uses; its mistakes are told once.
    told: BTreeSet<(Place, Code, String)>,
    /// Errors found, and those of them that will be told.
    errors: usize,
    told_errors: usize,
    warnings: usize,
    left_out: usize,
    last_left_out: Option<Draft>,
    comparisons: usize,
    /// The text was accepted before.
    is_stored: bool,
}

impl Report {
    /// On a text that is deployed, or was.
    pub fn on(context: &Context<'_>) -> Self {
        let is_stored = matches!(context.server_tiers, ServerTiers::Any);
        Self { is_stored, ..Self::default() }
    }

    /// Records a mistake (or a warning: the code says which).
    pub fn add(&mut self, code: Code, place: Place, message: impl Into<String>) -> &mut Draft {
        let message = message.into();
        let is_error = code.severity() == Severity::Error;
        let draft =
            Draft { code, place, message: message.clone(), hint: None, related: Vec::new() };
        if self.is_stored && LATER.contains(&code) {
            return self.last_left_out.insert(draft);
        }
        if is_error {
            self.errors += 1;
        }
        // Errors and warnings are bounded apart: no warning pushes out an error.
        let full = if is_error { self.is_full() } else { self.warnings >= DIAGNOSTICS_MAX };
        if full {
            self.left_out += usize::from(is_error);
            return self.last_left_out.insert(draft);
        }
        if !self.told.insert((place, code, message)) {
            return self.last_left_out.insert(draft);
        }
        if is_error {
            self.told_errors += 1;
        } else {
            self.warnings += 1;
        }
        self.found.push(draft);
        self.found.last_mut().expect("one was just pushed")
    }

    /// Further mistakes are only counted: no need to find good words for them.
    pub fn is_full(&self) -> bool {
        self.told_errors >= DIAGNOSTICS_MAX
    }

    /// Whether something was told about a part of this place, which may then look empty.
    pub fn has_within(&self, outer: Place) -> bool {
        self.found.iter().any(|it| outer.start <= it.place.start && it.place.end <= outer.end)
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The candidate that `word` was probably meant to be.
    pub fn nearest<'c>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        if word.len() > QUOTED_CHARS_MAX || self.is_full() {
            return None;
        }
        let length = word.chars().count();
        // Any two short words are near each other.
        let allowed = (length / 3).min(3);
        if allowed == 0 {
            return None;
        }
        let mut best: Option<(usize, &str)> = None;
        for candidate in candidates {
            if candidate.len().abs_diff(word.len()) > 2 * allowed {
                continue;
            }
            if self.comparisons >= COMPARISONS_MAX {
                break;
            }
            self.comparisons += 1;
            let distance = strsim::osa_distance(word, candidate);
            if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// `did you mean …?`, when something is near.
    pub fn did_you_mean<'c>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<String> {
        self.nearest(word, candidates).map(|near| format!("did you mean `{near}`?"))
    }

    /// In the order of the text. `path` says what a place is about.
    pub fn finish(mut self, text: &str, path: impl Fn(Place) -> String) -> Vec<Diagnostic> {
        let lines = Lines::new(text);
        self.found.sort_by_key(|draft| draft.place.start);
        if self.left_out > 0 {
            let place = self.found.last().map(|last| last.place).unwrap_or_default();
            let message = format!("{} more problems are not shown.", self.left_out);
            let hint = Some("correct the ones above first".to_owned());
            let code = Code::TooManyProblems;
            self.found.push(Draft { code, place, message, hint, related: Vec::new() });
        }
        self.found.into_iter().map(|draft| draft.place_in(&lines, &path)).collect()
    }
}

impl Draft {
    fn place_in(self, lines: &Lines<'_>, path: impl Fn(Place) -> String) -> Diagnostic {
        Diagnostic {
            code: self.code,
            severity: self.code.severity(),
            message: self.message,
            path: path(self.place),
            span: lines.span(self.place),
            hint: self.hint,
            related: self
                .related
                .into_iter()
                .map(|(at, message)| Related { message, span: lines.span(at) })
                .collect(),
        }
    }
}

/// Names that are listed in a hint; more would not be read.
const LISTED_MAX: usize = 8;

/// `the tasks are …`, when there are few enough.
pub fn listed<'c>(what: &str, names: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let names: Vec<String> = names.into_iter().take(LISTED_MAX + 1).map(quoted).collect();
    (1..=LISTED_MAX).contains(&names.len()).then(|| format!("{what} {}", names.join(", ")))
}

/// A piece of the text as a message shows it: in backticks, on one line, not too long.
pub fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let shown: String = shown.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("`{shown}`")
}
