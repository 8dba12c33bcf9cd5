//! `mainspring validate`: everything that is wrong with all files.

use crate::args::{Format, ValidateArgs};
use crate::exit::Exit;
use crate::print::document;
use crate::source::Source;
use crate::{draw, limits, out};
use anyhow::Result;
use mainspring_core::spec::{Diagnostic, Severity};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Serialize)]
struct Document {
    valid: bool,
    files: Vec<Checked>,
}

#[derive(Serialize)]
struct Checked {
    file: String,
    valid: bool,
    /// Why it could not be read at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    errors: Vec<Found>,
    warnings: Vec<Found>,
}

/// A diagnostic as other programs read it: documented in docs/editors.md.
#[derive(Serialize)]
struct Found {
    /// What the code stands for, whatever the message says.
    title: &'static str,
    #[serde(flatten)]
    diagnostic: Diagnostic,
    /// The command that tells more.
    explain: String,
}

impl From<Diagnostic> for Found {
    fn from(diagnostic: Diagnostic) -> Self {
        let code = diagnostic.code;
        let explain = format!("mainspring explain-code {code}");
        Self { title: code.title(), diagnostic, explain }
    }
}

pub fn validate(args: &ValidateArgs) -> Result<Exit> {
    let tiers = limits::names(&limits::here(&args.limits, None)?);
    let mut files = Vec::new();
    for path in &args.files {
        let checked = check(path, &tiers, args.output);
        files.push(checked);
    }
    let valid = files.iter().all(|file| file.valid);
    if args.output != Format::Table {
        document(args.output, &Document { valid, files }, || Ok(String::new()))?;
    }
    Ok(if valid { Exit::Success } else { Exit::Usage })
}

fn check(path: &Path, tiers: &BTreeSet<String>, format: Format) -> Checked {
    let source = match Source::read(path) {
        Ok(source) => source,
        Err(error) => {
            if format == Format::Table {
                out::error(&error);
            }
            let (file, error) = (path.display().to_string(), Some(format!("{error:#}")));
            return Checked { file, valid: false, error, errors: Vec::new(), warnings: Vec::new() };
        }
    };
    let found = source.parse(tiers);
    let valid = found.is_ok();
    let tasks = found.as_ref().map_or(0, |parsed| parsed.definition.tasks.len());
    let found = found.map_or_else(|found| found, |parsed| parsed.warnings);
    if format == Format::Table {
        out::say(&draw::diagnostics(&source.name, &source.text(), &found));
        if valid {
            let plural = if tasks == 1 { "" } else { "s" };
            out::result(&format!(
                "{}: {} ({tasks} task{plural})\n",
                source.name,
                out::green("valid")
            ));
        }
    }
    let found = found.into_iter().map(Found::from);
    let (errors, warnings) = found.partition(|it| it.diagnostic.severity == Severity::Error);
    Checked { file: source.name, valid, error: None, errors, warnings }
}
