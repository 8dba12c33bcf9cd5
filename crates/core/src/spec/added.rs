//! The way in for tasks that are added to a run.
//!
//! Two texts have a say: the addition, and the version with its defaults. Places of the addition
//! are counted from behind the version's text, so that it is known of each which text it is in.

use super::build;
use super::code::Code;
use super::definition::{Definition, Task};
use super::diagnostic::{Diagnostic, Span};
use super::lower;
use super::parse::{Context, check_text, not_utf8, tree};
use super::place::Place;
use super::report::Report;
use crate::limits::DEFINITION_BYTES_MAX;

/// What an addition is added to.
#[derive(Clone, Copy, Debug)]
pub struct RunSoFar<'r> {
    /// Of the version that the run is pinned to.
    pub text: &'r str,
    /// With everything that was added before.
    pub definition: &'r Definition,
    /// Bytes that were added before.
    pub added_bytes: usize,
}

/// Tasks to add, without errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    pub tasks: Vec<Task>,
    pub warnings: Vec<Diagnostic>,
}

impl Definition {
    /// With more tasks, behind those that it has.
    pub fn extended(&self, tasks: Vec<Task>) -> Self {
        let mut extended = self.clone();
        extended.tasks.extend(tasks);
        extended
    }
}

/// Reads an addition, or says everything that is wrong with it.
pub fn parse_added(
    text: &str,
    run: RunSoFar<'_>,
    context: &Context<'_>,
) -> Result<Added, Vec<Diagnostic>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut report = Report::on(context);
    let bytes = run.text.len() + run.added_bytes + text.len();
    if bytes > DEFINITION_BYTES_MAX {
        let message = format!(
            "The run's definition would have {bytes} bytes; at most {DEFINITION_BYTES_MAX} are read."
        );
        report.add(Code::TooLarge, Place::default(), message).hint("start another run with it");
        return Err(report.finish("", |_| String::new()));
    }
    if !check_text(text, &mut report) {
        return Err(report.finish(text, |_| String::new()));
    }
    // A blank line is no part of a document, however long.
    let behind = run.text.len() + 1;
    let padded = format!("{}\n{text}", " ".repeat(behind - 1));
    let workflow = tree(run.text, &mut Report::default());
    let tree = build::build(&padded, &mut report);
    let tasks = tree.as_ref().zip(workflow.as_ref()).and_then(|(tree, workflow)| {
        let base = lower::Base { workflow: workflow.root(), definition: run.definition };
        lower::added(tree.root(), base, context, &mut report)
    });
    let failed = report.has_errors();
    let path = |place: Place| match (&tree, (place.start as usize) < behind) {
        (Some(tree), false) => tree.root().path_of(place),
        _ => String::new(),
    };
    let found = report.finish(&padded, path).into_iter();
    let found: Vec<Diagnostic> = found.map(|found| moved(found, behind)).collect();
    match tasks {
        Some(tasks) if !failed => Ok(Added { tasks, warnings: found }),
        _ => Err(found),
    }
}

/// A version's definition with everything that was added to a run of it, in that order. What was
/// added was checked then.
pub fn with_additions<'a>(
    (text, definition): (&str, &Definition),
    additions: impl Iterator<Item = &'a str>,
) -> Result<Definition, Vec<Diagnostic>> {
    let mut whole = definition.clone();
    for addition in additions {
        let run = RunSoFar { text, definition: &whole, added_bytes: 0 };
        let added = parse_added(addition, run, &Context::STORED)?;
        whole.tasks.extend(added.tasks);
    }
    Ok(whole)
}

/// As `parse_added`, for bytes that may not be text.
pub fn parse_added_bytes(
    bytes: &[u8],
    run: RunSoFar<'_>,
    context: &Context<'_>,
) -> Result<Added, Vec<Diagnostic>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_added(text, run, context),
        Err(error) => Err(not_utf8(bytes, error)),
    }
}

/// To where it is in the text that was sent. What follows from the version's defaults is told of
/// the addition as a whole.
fn moved(mut found: Diagnostic, behind: usize) -> Diagnostic {
    if found.span.start < behind && found.span.start < found.span.end {
        found.message = format!("{} (This comes from the workflow's `defaults`.)", found.message);
        found.span = Span { start: 0, end: 0, line: 1, column: 1, end_line: 1, end_column: 1 };
    } else {
        found.span = back(found.span, behind);
    }
    for related in &mut found.related {
        related.span = back(related.span, behind);
    }
    found
}

fn back(span: Span, behind: usize) -> Span {
    Span {
        start: span.start.saturating_sub(behind),
        end: span.end.saturating_sub(behind),
        line: span.line.saturating_sub(1).max(1),
        end_line: span.end_line.saturating_sub(1).max(1),
        ..span
    }
}
