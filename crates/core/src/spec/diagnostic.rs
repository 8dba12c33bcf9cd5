//! What was wrong, where, and what to do: plain data, drawn by whoever shows it.

use super::code::Code;
use serde::Serialize;

/// A place in the text, as people and as programs name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// Of the start, from 1.
    pub line: usize,
    /// Of the start, from 1, in characters.
    pub column: usize,
    /// Of the end: the character after the last one.
    pub end_line: usize,
    pub end_column: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    pub message: String,
    /// JSON pointer to what it is about, as far as the text could be read; empty for the whole.
    pub path: String,
    pub span: Span,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Other places that have to do with it, and how.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
}

/// Another place that has to do with a mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Related {
    pub message: String,
    pub span: Span,
}
