//! A script, and the variables that its templates become.

use super::lexer::Lexer;
use super::symbol::Symbols;
use crate::expr::compiled::Expr;
use crate::expr::problem::Problem;
use crate::expr::reference::Reference;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Names of the variables begin with it; a number follows.
pub const VARIABLE: &str = "_MS_";

/// A script for `/bin/sh -c`. Cloning shares it; two are the same when their sources are.
#[derive(Clone)]
pub struct ShellLine {
    source: Arc<str>,
    script: Arc<str>,
    values: Arc<[Value]>,
}

/// What a variable holds.
#[derive(Clone, Debug)]
struct Value {
    expr: Expr,
    /// The byte of the source at which the expression begins.
    start: usize,
}

impl ShellLine {
    /// Reads a script, or tells everything that is wrong with its templates.
    pub fn parse(source: &str) -> Result<Self, Vec<Problem>> {
        let source: Arc<str> = source.into();
        if !crate::expr::split::has_template(&source) {
            return Ok(Self { script: source.clone(), source, values: Arc::default() });
        }
        let Symbols { symbols, templates } = Symbols::read(&source)?;
        let script = Lexer::new(&symbols, &templates).run()?;
        let values = templates.into_iter().filter(|template| template.first);
        let values = values.map(|it| Value { expr: it.expr, start: it.inner.start }).collect();
        Ok(Self { source, script: script.into(), values })
    }

    /// As it is written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// With variables in the place of templates.
    pub fn script(&self) -> &Arc<str> {
        &self.script
    }

    pub fn has_calls(&self) -> bool {
        self.values.iter().any(|value| value.expr.has_calls())
    }

    /// The variables, and what they hold.
    pub fn variables(&self) -> impl Iterator<Item = (String, &Expr)> {
        self.values.iter().enumerate().map(|(at, value)| (variable(at + 1), &value.expr))
    }

    /// What its expressions read; places are bytes of the source.
    pub fn references(&self) -> impl Iterator<Item = (&Reference, Range<usize>)> {
        self.values.iter().flat_map(|Value { expr, start }| {
            let moved = move |at: &Range<usize>| at.start + start..at.end + start;
            expr.references().iter().map(move |it| (it, moved(&it.name_at)))
        })
    }
}

pub(super) fn variable(number: usize) -> String {
    format!("{VARIABLE}{number}")
}

impl PartialEq for ShellLine {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for ShellLine {}

impl fmt::Debug for ShellLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source)
    }
}
