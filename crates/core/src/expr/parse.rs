//! From the text of an expression to its tree. The parser's own words are for those who know its
//! grammar; here they become words for people.

use super::functions;
use super::problem::{Problem, quoted};
use crate::limits::{EXPR_BRACKETS_MAX, EXPR_BYTES_MAX, EXPR_OPERATORS_MAX};
use cel::ParseError;
use cel::common::ast::{IdedExpr, SourceInfo};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads an expression that is not too much for the parser.
pub fn parse(source: &str) -> Result<(IdedExpr, SourceInfo), Problem> {
    check_operators(source)?;
    let parsed =
        catch_unwind(AssertUnwindSafe(|| functions::env().parser().parse_with_source_info(source)));
    match parsed {
        Ok(Ok(parsed)) => Ok(parsed),
        Ok(Err(found)) => Err(found.errors.first().map_or_else(
            || Problem::new(0..source.len(), "This is not an expression."),
            |error| told(source, error),
        )),
        Err(_) => Err(Problem::new(0..source.len(), "This expression cannot be read.")),
    }
}

const SPLIT: &str = "split it: a task can work out a part of it";

pub fn check_length(source: &str) -> Result<(), Problem> {
    if source.len() <= EXPR_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "An expression may have {EXPR_BYTES_MAX} bytes, and this one has {}.",
        source.len()
    );
    Err(Problem::new(0..source.len(), message).with_hint(SPLIT))
}

/// Counted over the plain text, what is in quotes included: where a quote that is not closed
/// ends is not known, and the parser recurses into whatever comes after it.
fn check_operators(source: &str) -> Result<(), Problem> {
    let whole = 0..source.len();
    let brackets = source.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count();
    if brackets > EXPR_BRACKETS_MAX {
        let message = format!(
            "An expression may have {EXPR_BRACKETS_MAX} pairs of brackets, and this one has \
             {brackets}."
        );
        return Err(Problem::new(whole, message).with_hint(SPLIT));
    }
    let operators = operators(source);
    if operators > EXPR_OPERATORS_MAX {
        let message = format!(
            "An expression may have {EXPR_OPERATORS_MAX} operators and dots, and this one has \
             {operators}."
        );
        return Err(Problem::new(whole, message).with_hint(SPLIT));
    }
    Ok(())
}

/// Two of the same that make one operator count once.
fn operators(source: &str) -> usize {
    let mut count = 0;
    let mut before = b' ';
    for byte in source.bytes() {
        let operator = matches!(
            byte,
            b'.' | b'+'
                | b'-'
                | b'*'
                | b'/'
                | b'%'
                | b'<'
                | b'>'
                | b'='
                | b'!'
                | b'&'
                | b'|'
                | b'?'
        );
        let second = byte == before && matches!(byte, b'=' | b'&' | b'|');
        count += usize::from(operator && !second);
        before = if second { b' ' } else { byte };
    }
    count
}

fn told(source: &str, error: &ParseError) -> Problem {
    let at = place(source, error.pos);
    let here = &source[at.clone()];
    let message = error.msg.as_str();
    if message.contains("Recursion limit") {
        return Problem::new(at, "The brackets nest too deep.");
    }
    if let Some(word) = message.strip_prefix("reserved identifier: ") {
        return Problem::new(at, format!("{} is a reserved word.", quoted(word)));
    }
    if message.contains("token recognition error") {
        return stray(at, here);
    }
    if message.contains("invalid argument to has()") {
        let message = "`has` takes a field of something, such as `has(input.day)`.";
        return Problem::new(at, message);
    }
    if message.contains("argument must be a simple name") {
        return Problem::new(at, "The first argument names each element, such as `x`.");
    }
    if message.contains("int literal") || message.contains("double literal") {
        return Problem::new(at, "This number is too large.");
    }
    if message.contains("unsupported syntax") {
        let message = "`.?` and `[?` are not supported.";
        return Problem::new(at, message).with_hint("ask with `has(…)` first");
    }
    if message.contains("_?_:_") {
        let message = "`?` needs a value, `:` and another value after it.";
        return Problem::new(at, message).with_hint("write `condition ? one : other`");
    }
    if let Some(closing) = message.strip_prefix("Syntax error: missing '").map(|rest| &rest[..1]) {
        return Problem::new(at, format!("{} is missing here.", quoted(closing)));
    }
    unexpected(source, at)
}

/// What cannot follow, or nothing where something must.
fn unexpected(source: &str, at: Range<usize>) -> Problem {
    let here = &source[at.clone()];
    if source.trim_ascii().is_empty() {
        let message = "The expression is empty.";
        return Problem::new(at, message).with_hint("write `input.name`, for example");
    }
    if here.is_empty() {
        return Problem::new(at, "The expression ends too early.");
    }
    let hint = match here {
        "and" | "AND" => Some("write `&&`"),
        "or" | "OR" => Some("write `||`"),
        "is" => Some("write `==`"),
        _ if source[..at.start].trim_ascii_end().ends_with("not") => Some("write `!`"),
        _ => None,
    };
    Problem::new(at, format!("{} is not expected here.", quoted(here)))
        .maybe_hint(hint.map(str::to_owned))
}

/// A character that begins nothing.
fn stray(at: Range<usize>, here: &str) -> Problem {
    let (message, hint) = match here.chars().next() {
        Some('\'' | '"') => (
            "A text that begins here is not closed, or holds an escape that is not known.",
            Some("close it with the same quote; write `\\\\` for a backslash"),
        ),
        Some('=') => ("`=` alone has no meaning.", Some("write `==` to compare")),
        Some('&') => ("`&` alone has no meaning.", Some("write `&&`")),
        Some('|') => ("`|` alone has no meaning.", Some("write `||`")),
        Some('$') => ("`$` has no meaning here.", Some("names are written without it")),
        Some('`') => ("A backtick has no meaning here.", Some("text is written in quotes")),
        _ => {
            let message = format!("{} has no place in an expression.", quoted(here));
            return Problem::new(at, message);
        }
    };
    Problem::new(at, message).maybe_hint(hint.map(str::to_owned))
}

/// The word or sign at a line and column, both from 1.
fn place(source: &str, (line, column): (isize, isize)) -> Range<usize> {
    let lines_before = usize::try_from(line - 1).unwrap_or(0);
    let column = usize::try_from(column - 1).unwrap_or(0);
    let first: usize = source.split_inclusive('\n').take(lines_before).map(str::len).sum();
    let rest = &source[first..];
    let start = first + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at);
    let rest = &source[start..];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let length = match rest.chars().next() {
        Some(c) if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        Some(c) => c.len_utf8(),
        None => 0,
    };
    start..start + length
}
