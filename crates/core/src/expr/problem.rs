//! What is wrong with an expression before it is ever evaluated.

use std::ops::Range;

/// A mistake in the text of an expression or a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Bytes of the text it is about.
    pub at: Range<usize>,
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    pub fault: Fault,
}

/// What a mistake is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The expression itself.
    Expression,
    /// The place in a script at which its template stands.
    Place,
}

impl Problem {
    pub fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), hint: None, fault: Fault::Expression }
    }

    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub fn maybe_hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    pub fn of_place(self) -> Self {
        Self { fault: Fault::Place, ..self }
    }

    /// The same within a text of which this one is a part.
    pub fn moved(mut self, by: usize) -> Self {
        self.at = self.at.start + by..self.at.end + by;
        self
    }
}

/// The candidate that a word was probably meant to be.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Any two short words are near each other.
    let allowed = (word.chars().count() / 3).min(3);
    let near = candidates.into_iter().map(|known| (strsim::osa_distance(word, known), known));
    near.filter(|(distance, _)| *distance <= allowed).min().map(|(_, known)| known)
}

/// What is quoted of a text or a value in a message.
const QUOTED_CHARS_MAX: usize = 80;

/// In backticks, on one line, not too long.
pub fn quoted(text: &str) -> String {
    let cut = text.char_indices().nth(QUOTED_CHARS_MAX).map(|(at, _)| at);
    let shown: String = text[..cut.unwrap_or(text.len())]
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("`{shown}{}`", if cut.is_some() { "…" } else { "" })
}
