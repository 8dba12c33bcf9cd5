//! An expression, read and checked once, evaluated many times.

use super::convert::{shown, to_json};
use super::functions;
use super::parse::{check_length, parse};
use super::path;
use super::problem::{Problem, quoted};
use super::reads::Reading;
use super::reference::{Reference, Root};
use super::rewrite::{Reads, rewrite};
use super::scope::{Known, Scope, Source};
use super::trouble::{Trouble, Unread, in_words};
use crate::json::Json;
use cel::common::ast::IdedExpr;
use cel::{Context, Value};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// An expression. Cloning shares it; two are the same when their texts are.
#[derive(Clone)]
pub struct Expr(Arc<Inner>);

struct Inner {
    source: Box<str>,
    kind: Kind,
}

enum Kind {
    /// Nothing but a value that is read: no evaluator is needed, and the value stays as it is
    /// written.
    Plain(Reference),
    Program {
        tree: IdedExpr,
        reads: Reads,
    },
}

impl Expr {
    /// Reads an expression, or tells what is wrong with it.
    pub fn compile(source: &str) -> Result<Self, Vec<Problem>> {
        check_length(source).map_err(|problem| vec![problem])?;
        let kind = match path::whole(source) {
            Some(chain) => Reference::of(&chain, source).map(Kind::Plain).map_err(|it| vec![it])?,
            None => {
                let (mut tree, info) = parse(source).map_err(|problem| vec![problem])?;
                let (reads, problems) = rewrite(&mut tree, source, &info);
                if !problems.is_empty() {
                    return Err(problems);
                }
                Kind::Program { tree, reads }
            }
        };
        Ok(Self(Arc::new(Inner { source: source.into(), kind })))
    }

    /// What of an expression with mistakes can be read: it may have others, in what it names.
    pub fn readable(source: &str) -> Vec<Reference> {
        if check_length(source).is_err() {
            return Vec::new();
        }
        if let Some(chain) = path::whole(source) {
            return Reference::of(&chain, source).into_iter().collect();
        }
        let Ok((mut tree, info)) = parse(source) else { return Vec::new() };
        rewrite(&mut tree, source, &info).0.values
    }

    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// It may take longer than its source shows: only what is called goes through a list or a text
    /// again and again.
    pub fn has_calls(&self) -> bool {
        matches!(self.0.kind, Kind::Program { .. }) && self.0.source.contains('(')
    }

    /// Everything it reads, with places in its source.
    pub fn references(&self) -> &[Reference] {
        match &self.0.kind {
            Kind::Plain(reference) => std::slice::from_ref(reference),
            Kind::Program { reads, .. } => &reads.values,
        }
    }

    /// The secret that it stands for. A secret is never part of a larger expression.
    pub fn secret(&self) -> Option<&Arc<str>> {
        match &self.0.kind {
            Kind::Plain(Reference { root: Root::Secret(name), .. }) => Some(name),
            _ => None,
        }
    }

    /// What it comes to.
    pub fn value(&self, scope: &Scope<'_>) -> Result<Json, Trouble> {
        match &self.0.kind {
            Kind::Plain(reference) => scope.read(reference),
            Kind::Program { tree, reads } => self.evaluate(tree, reads, scope),
        }
    }

    /// What a condition comes to.
    pub fn truth(&self, scope: &Scope<'_>) -> Result<bool, Trouble> {
        match self.value(scope)?.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(self.wrong(&format!(
                "it must come to true or false, and comes to {}",
                super::seek::what(other)
            ))),
        }
    }

    /// What a condition comes to that reads nothing, so that it is known beforehand. Without calls:
    /// what takes time is left for later.
    pub fn constant_truth(&self) -> Option<Result<bool, Trouble>> {
        let plain = self.references().is_empty() && !self.source().contains('(');
        plain.then(|| self.truth(&Known::new(&Nothing).scope()))
    }

    fn evaluate(&self, tree: &IdedExpr, reads: &Reads, scope: &Scope<'_>) -> Result<Json, Trouble> {
        let reading = Reading::prepare(reads, scope)?;
        let evaluated = catch_unwind(AssertUnwindSafe(|| {
            functions::begin();
            let mut context = Context::with_env(Arc::clone(functions::env()));
            context.set_variable_resolver(&reading);
            let value = Value::resolve_val(tree, &context);
            value.map(|value| to_json(&*value)).map_err(|error| (in_words(&error), error))
        }));
        if let Some(why) = functions::end() {
            return Err(self.wrong(&why));
        }
        match evaluated {
            Ok(Ok(Ok(json))) => Ok(json),
            Ok(Ok(Err(why))) => Err(self.wrong(&why)),
            Ok(Err((words, error))) => Err(self.wrong(&reading.missing(&error).unwrap_or(words))),
            Err(_) => Err(self.wrong("it cannot be worked out")),
        }
    }

    fn wrong(&self, why: &str) -> Trouble {
        Trouble::Wrong(format!("in {}: {why}", quoted(self.source().trim_ascii())))
    }
}

/// A source for expressions that read nothing.
struct Nothing;

impl Source for Nothing {
    fn input(&self) -> Json {
        Json::null()
    }

    fn run_id(&self) -> String {
        String::new()
    }

    fn scheduled_for(&self) -> Option<String> {
        None
    }

    fn output(&self, _: &str) -> Result<Option<Json>, Unread> {
        Ok(None)
    }

    fn status(&self, _: &str) -> &str {
        ""
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.0.source == other.0.source
    }
}

impl Eq for Expr {}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expr({})", self.source())
    }
}

/// A value for a message.
pub(super) fn shown_value(value: &Value) -> String {
    let boxed: Result<Box<dyn cel::common::value::Val>, _> = value.clone().try_into();
    boxed.map_or_else(|_| "a value".to_owned(), |value| quoted(&shown(&*value)))
}
