//! The values that one evaluation reads, as the evaluator asks for them.

use super::convert::from_json;
use super::meter;
use super::problem::quoted;
use super::reference::Reference;
use super::rewrite::{Asked, Reads, number};
use super::scope::{Found, Kept, Made, Scope};
use super::seek::{Missing, Why, seek, size, what};
use super::trouble::Trouble;
use cel::ExecutionError;
use cel::common::types::{CelBool, CelInt};
use cel::common::value::CowVal;
use cel::context::VariableResolver;
use std::sync::OnceLock;

/// What is read, its text at hand; made into values only where an evaluation comes by.
#[derive(Debug)]
pub struct Reading<'s> {
    reads: &'s Reads,
    texts: Vec<Found<'s>>,
    values: Vec<Kept>,
    /// What has been asked for in this evaluation, and paid for.
    answers: Vec<OnceLock<Answer>>,
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Nothing,
    /// To a question with `has`.
    There(bool),
    /// To a question with `size`.
    Size(i64),
    Value,
}

impl<'s> Reading<'s> {
    pub fn prepare(reads: &'s Reads, scope: &Scope<'s>) -> Result<Self, Trouble> {
        let mut texts = Vec::with_capacity(reads.values.len());
        let mut values = Vec::with_capacity(reads.values.len());
        for reference in &reads.values {
            texts.push(scope.text(&reference.root)?);
            values.push(scope.kept(reference));
        }
        let answers = vec![OnceLock::new(); texts.len()];
        Ok(Self { reads, texts, values, answers })
    }

    /// What could not be read, when that is why an evaluation failed.
    pub fn missing(&self, error: &ExecutionError) -> Option<String> {
        let ExecutionError::UndeclaredReference(variable) = error else { return None };
        let number = number(variable)?;
        let reference = self.reads.values.get(number)?;
        let found = match self.reads.asked[number] {
            Asked::There => self.is_there(number).map(|_| ""),
            Asked::Value | Asked::Size => seek(self.texts[number].as_str(), &reference.steps),
        };
        match found {
            Err(missing) => Some(told(reference, &missing)),
            Ok(text) if self.reads.asked[number] == Asked::Size => {
                Some(format!("`size` is asked of {}, which has none", what(text)))
            }
            Ok(_) => None,
        }
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

impl Reading<'_> {
    /// Goes the way to a value once, however often it is asked for.
    fn ask(&self, number: usize) -> Option<Answer> {
        let text = self.texts[number].as_str();
        let reference = &self.reads.values[number];
        if !reference.steps.is_empty() {
            meter::pass(text).ok()?;
        }
        match self.reads.asked[number] {
            Asked::There => return self.is_there(number).ok().map(Answer::There),
            Asked::Size => {
                let text = seek(text, &reference.steps).ok()?;
                // The names of a map are told apart, the elements of a list only counted.
                match text.trim_ascii_start().starts_with('{') {
                    true => meter::work(text.len()).ok()?,
                    false => meter::pass(text).ok()?,
                }
                return size(text).map(Answer::Size);
            }
            Asked::Value => {}
        }
        let kept = &self.values[number];
        if let Some(made) = kept.get() {
            meter::work(made.steps).ok()?;
            return Some(Answer::Value);
        }
        let before = meter::left();
        let value = from_json(seek(text, &reference.steps).ok()?).ok()?;
        kept.get_or_init(|| Made { value, steps: before - meter::left() });
        Some(Answer::Value)
    }
}

impl VariableResolver for Reading<'_> {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        let number = number(variable)?;
        let answer = self.answers.get(number)?;
        match answer.get_or_init(|| self.ask(number).unwrap_or(Answer::Nothing)) {
            Answer::Nothing => None,
            Answer::There(there) => Some(CowVal::owned(CelBool::from(*there))),
            Answer::Size(size) => Some(CowVal::owned(CelInt::from(*size))),
            Answer::Value => {
                self.values[number].get().map(|made| CowVal::Borrowed(made.value.as_ref()))
            }
        }
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
