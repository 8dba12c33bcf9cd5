//! A text with templates in it.

use super::compiled::Expr;
use super::problem::Problem;
use super::reference::Reference;
use super::scope::Scope;
use super::split::{Piece, has_template, split};
use super::trouble::Trouble;
use crate::json::Json;
use crate::limits::EXPR_VALUE_BYTES_MAX;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text, perhaps with templates. Cloning shares it; two are the same when their sources are.
#[derive(Clone)]
pub struct Text(Arc<Inner>);

struct Inner {
    source: Box<str>,
    /// Empty when the source stands for itself.
    parts: Vec<Part>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Plain(Arc<str>),
    /// An expression, and the byte of the text at which it begins.
    Template(Expr, usize),
}

impl Text {
    /// Reads a text, or tells everything that is wrong with its templates.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        let parts = match has_template(source) {
            true => parts(source)?,
            false => Vec::new(),
        };
        Ok(Self(Arc::new(Inner { source: source.into(), parts })))
    }

    /// What can be read of a text with mistakes; places are bytes of it.
    pub fn readable(source: &str) -> Vec<(Reference, Range<usize>)> {
        let mut found = Vec::new();
        for piece in split(source).unwrap_or_default() {
            if let Piece::Template { inner, .. } = piece {
                let references = Expr::readable(&source[inner.clone()]);
                found.extend(within(&references, inner.start).map(|(it, at)| (it.clone(), at)));
            }
        }
        found
    }

    /// As it is written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The text itself, where no expression stands in it.
    pub fn fixed(&self) -> Option<&str> {
        match self.0.parts.as_slice() {
            [] => Some(&self.0.source),
            [Part::Plain(plain)] => Some(plain),
            _ => None,
        }
    }

    pub fn has_calls(&self) -> bool {
        let calls = |part: &Part| matches!(part, Part::Template(expr, _) if expr.has_calls());
        self.0.parts.iter().any(calls)
    }

    pub fn parts(&self) -> Vec<Part> {
        match self.0.parts.as_slice() {
            [] if self.0.source.is_empty() => Vec::new(),
            [] => vec![Part::Plain((&*self.0.source).into())],
            parts => parts.to_vec(),
        }
    }

    /// What its expressions read; places are bytes of the source.
    pub fn references(&self) -> impl Iterator<Item = (&Reference, Range<usize>)> {
        self.0.parts.iter().flat_map(|part| match part {
            Part::Plain(_) => within(&[], 0),
            Part::Template(expr, start) => within(expr.references(), *start),
        })
    }

    /// Its value: that of the expression when a template is all of it, else text.
    pub fn value(&self, scope: &Scope<'_>) -> Result<Json, Trouble> {
        match self.0.parts.as_slice() {
            [Part::Template(expr, _)] => expr.value(scope),
            _ => {
                let mut json = String::new();
                super::convert::write_text(&self.render(scope)?, &mut json);
                Ok(Json::composed(json))
            }
        }
    }

    /// As text, values put in.
    pub fn render(&self, scope: &Scope<'_>) -> Result<String, Trouble> {
        if let Some(fixed) = self.fixed() {
            return Ok(fixed.to_owned());
        }
        let mut text = String::with_capacity(self.0.source.len());
        for part in &self.0.parts {
            match part {
                Part::Plain(plain) => text.push_str(plain),
                Part::Template(expr, _) => put(&expr.value(scope)?, &mut text),
            }
            if text.len() > EXPR_VALUE_BYTES_MAX {
                let message =
                    format!("with its values put in it has more than {EXPR_VALUE_BYTES_MAX} bytes");
                return Err(Trouble::Wrong(message));
            }
        }
        Ok(text)
    }
}

fn within(
    references: &[Reference],
    start: usize,
) -> impl Iterator<Item = (&Reference, Range<usize>)> {
    references.iter().map(move |it| (it, it.name_at.start + start..it.name_at.end + start))
}

fn parts(source: &str) -> Result<Vec<Part>, Vec<Problem>> {
    let mut parts = Vec::new();
    let mut problems = Vec::new();
    for piece in split(source).map_err(|problem| vec![problem])? {
        match piece {
            Piece::Plain(plain) => parts.push(Part::Plain(plain.into())),
            Piece::Template { inner, .. } => match Expr::compile(&source[inner.clone()]) {
                Ok(expr) => parts.push(Part::Template(expr, inner.start)),
                Err(found) => problems.extend(found.into_iter().map(|it| it.moved(inner.start))),
            },
        }
    }
    if problems.is_empty() { Ok(parts) } else { Err(problems) }
}

/// A value within a text: text as it is, null as nothing, lists and maps as JSON in one line.
pub fn put(value: &Json, text: &mut String) {
    let json = value.as_str();
    match json.as_bytes().first() {
        Some(b'"') => {
            let inner: String = serde_json::from_str(json).expect("Json holds valid JSON");
            text.push_str(&inner);
        }
        Some(b'n') => {}
        Some(b'{' | b'[') => compact(json, text),
        _ => text.push_str(json),
    }
}

/// Without the spaces between its values.
fn compact(json: &str, text: &mut String) {
    let mut in_text = false;
    let mut escaped = false;
    for c in json.chars() {
        if in_text || !c.is_ascii_whitespace() {
            text.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_text = !in_text,
            _ => {}
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source())
    }
}
