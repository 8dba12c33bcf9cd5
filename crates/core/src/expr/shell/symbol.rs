//! A script as a row of bytes and templates.

use crate::expr::compiled::Expr;
use crate::expr::problem::{Problem, quoted};
use crate::expr::split::{OPEN, Piece, split};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    Byte(u8),
    /// By its position in the list of templates.
    Template(usize),
}

#[derive(Debug)]
pub struct Template {
    pub expr: Expr,
    /// Bytes of the source: all of it, and the expression.
    pub whole: Range<usize>,
    pub inner: Range<usize>,
    /// The number of its variable; the same expression has the same one.
    pub number: usize,
    /// No template before it has the same expression.
    pub first: bool,
}

#[derive(Debug)]
pub struct Symbols {
    pub symbols: Vec<Symbol>,
    pub templates: Vec<Template>,
}

impl Symbols {
    pub fn read(source: &str) -> Result<Self, Vec<Problem>> {
        let mut read = Self { symbols: Vec::with_capacity(source.len()), templates: Vec::new() };
        let mut problems = Vec::new();
        for piece in split(source).map_err(|problem| vec![problem])? {
            match piece {
                Piece::Plain(plain) => read.symbols.extend(plain.bytes().map(Symbol::Byte)),
                Piece::Template { whole, inner } => match Expr::compile(&source[inner.clone()]) {
                    Ok(expr) => read.add(expr, whole, inner),
                    Err(found) => {
                        problems.extend(found.into_iter().map(|it| it.moved(inner.start)));
                    }
                },
            }
        }
        if problems.is_empty() { Ok(read) } else { Err(problems) }
    }

    fn add(&mut self, expr: Expr, whole: Range<usize>, inner: Range<usize>) {
        let same = self.templates.iter().find(|template| template.expr == expr);
        let (number, first) = match same {
            Some(same) => (same.number, false),
            None => (self.templates.iter().filter(|template| template.first).count() + 1, true),
        };
        self.symbols.push(Symbol::Template(self.templates.len()));
        self.templates.push(Template { expr, whole, inner, number, first });
    }
}

/// The marks of a template, for messages.
pub fn shown(template: &Template) -> String {
    quoted(&format!("{OPEN}{}}}}}", template.expr.source()))
}
