//! The values that one evaluation reads, as the evaluator asks for them.

use super::convert::Boxed;
use super::problem::quoted;
use super::reference::Reference;
use super::rewrite::{Reads, number};
use super::scope::{Found, Scope};
use super::seek::{Missing, Why, seek};
use super::trouble::Trouble;
use cel::ExecutionError;
use cel::common::types::CelBool;
use cel::common::value::CowVal;
use cel::context::VariableResolver;
use std::sync::{Arc, OnceLock};

/// What is read, its text at hand; made into values only where an evaluation comes by.
#[derive(Debug)]
pub struct Reading<'s> {
    reads: &'s Reads,
    texts: Vec<Found<'s>>,
    values: Vec<Arc<OnceLock<Boxed>>>,
}

impl<'s> Reading<'s> {
    pub fn prepare(reads: &'s Reads, scope: &Scope<'s>) -> Result<Self, Trouble> {
        let mut texts = Vec::with_capacity(reads.values.len());
        let mut values = Vec::with_capacity(reads.values.len());
        for reference in &reads.values {
            texts.push(scope.text(&reference.root)?);
            values.push(scope.kept(reference));
        }
        Ok(Self { reads, texts, values })
    }

    /// What could not be read, when that is why an evaluation failed.
    pub fn missing(&self, error: &ExecutionError) -> Option<String> {
        let ExecutionError::UndeclaredReference(variable) = error else { return None };
        let number = number(variable)?;
        let reference = self.reads.values.get(number)?;
        let found = match self.reads.tested[number] {
            true => self.is_there(number).map(|_| ()),
            false => seek(self.texts[number].as_str(), &reference.steps).map(|_| ()),
        };
        found.err().map(|missing| told(reference, &missing))
    }

    /// Whether the last field is there, in something that could have it.
    fn is_there(&self, number: usize) -> Result<bool, Missing> {
        let steps = &self.reads.values[number].steps;
        match seek(self.texts[number].as_str(), steps) {
            Ok(_) => Ok(true),
            Err(Missing { taken, why: Why::NoField { .. } }) if taken + 1 == steps.len() => {
                Ok(false)
            }
            Err(missing) => Err(missing),
        }
    }
}

impl VariableResolver for Reading<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let number = number(variable)?;
        let reference = self.reads.values.get(number)?;
        if self.reads.tested[number] {
            return Some(CowVal::owned(CelBool::from(self.is_there(number).ok()?)));
        }
        let cell = &self.values[number];
        if cell.get().is_none() {
            let text = seek(self.texts[number].as_str(), &reference.steps).ok()?;
            cell.get_or_init(|| super::convert::from_json(text));
        }
        cell.get().map(|value| CowVal::Borrowed(value.as_ref()))
    }
}

/// The path that was wanted, and what is there instead.
pub fn told(reference: &Reference, missing: &Missing) -> String {
    let mut into = reference.root.to_string();
    for step in &reference.steps[..missing.taken] {
        into.push_str(&step.to_string());
    }
    let step = &reference.steps[missing.taken];
    let why = missing.why.told(&into, step);
    match missing.taken + 1 == reference.steps.len() {
        true => why,
        false => format!("{} cannot be read: {why}", quoted(&reference.to_string())),
    }
}
