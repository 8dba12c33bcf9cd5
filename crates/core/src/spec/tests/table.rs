//! A text in, one line for each diagnostic out.

use crate::spec::{Context, Diagnostic, Parsed, ServerTiers, parse};
use std::collections::BTreeSet;

fn server_tiers() -> BTreeSet<String> {
    ["gpu".to_owned(), "shared".to_owned()].into()
}

pub fn read(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    parse(text, &Context { server_tiers: ServerTiers::Known(&server_tiers()) })
}

/// One line for each diagnostic: `E101 3:5 message (hint) [4:1 related]`.
pub fn shown(found: &[Diagnostic]) -> String {
    let line = |diagnostic: &Diagnostic| {
        let Diagnostic { code, span, message, hint, related, .. } = diagnostic;
        let hint = hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let related: String = related
            .iter()
            .map(|it| format!(" [{}:{} {}]", it.span.line, it.span.column, it.message))
            .collect();
        format!("{code} {}:{} {message}{hint}{related}", span.line, span.column)
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What is told about a text, warnings as well.
pub fn told(text: &str) -> String {
    match read(text) {
        Ok(parsed) => shown(&parsed.warnings),
        Err(found) => shown(&found),
    }
}

/// The codes and places only.
pub fn places(text: &str) -> Vec<String> {
    let found = match read(text) {
        Ok(parsed) => parsed.warnings,
        Err(found) => found,
    };
    found.iter().map(|d| format!("{} {}:{}", d.code, d.span.line, d.span.column)).collect()
}

/// A workflow around the fields of its only task `a`.
pub fn one(fields: &str) -> String {
    let indented: String = fields.lines().map(|line| format!("    {line}\n")).collect();
    format!("name: w\ntasks:\n  a:\n{indented}")
}

/// Tells about a task with these fields beside `run: x`; its line is 1.
#[track_caller]
pub fn check(fields: &str, expected: &[&str]) {
    let text = format!("name: w\ntasks:\n  z: {{noop: {{}}}}\n  a:\n    run: x\n{}", {
        fields.lines().map(|line| format!("    {line}\n")).collect::<String>()
    });
    let found = match read(&text) {
        Ok(parsed) => parsed.warnings,
        Err(found) => found,
    };
    let lines: Vec<String> = found
        .iter()
        .map(|d| {
            let hint = d.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            let (line, column) = (d.span.line as isize - 5, d.span.column as isize - 4);
            format!("{} {line}:{column} {}{hint}", d.code, d.message)
        })
        .collect();
    assert_eq!(lines, expected, "\n{text}");
}
