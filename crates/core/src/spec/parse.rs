//! The way in: text, then tree, then definition, then its hash.

use super::build;
use super::code::Code;
use super::definition::Definition;
use super::diagnostic::Diagnostic;
use super::lower;
use super::place::Place;
use super::report::Report;
use super::tree::Tree;
use crate::limits::DEFINITION_BYTES_MAX;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// What a definition may refer to beside itself.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// Tiers of the server, which tasks may name beside the workflow's own.
    pub server_tiers: ServerTiers<'c>,
}

#[derive(Clone, Copy, Debug)]
pub enum ServerTiers<'c> {
    Known(&'c BTreeSet<String>),
    /// For a text that was accepted before: the server's tiers may have changed since.
    Any,
}

impl Context<'_> {
    /// For a text that was checked when it was deployed.
    pub const STORED: Self = Self { server_tiers: ServerTiers::Any };
}

/// A definition without errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub definition: Definition,
    pub warnings: Vec<Diagnostic>,
    /// SHA-256 of the text: the same text deployed twice makes no new version.
    pub hash: [u8; 32],
}

/// Reads a definition, or says everything that is wrong with it.
pub fn parse(text: &str, context: &Context<'_>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut report = Report::on(context);
    let tree = tree(text, &mut report);
    let definition =
        tree.as_ref().and_then(|tree| lower::definition(tree.root(), context, &mut report));
    let failed = report.has_errors();
    let path = |place| tree.as_ref().map(|tree| tree.root().path_of(place)).unwrap_or_default();
    let found = report.finish(text, path);
    match definition {
        Some(definition) if !failed => {
            let hash = Sha256::digest(text.as_bytes()).into();
            Ok(Parsed { definition, warnings: found, hash })
        }
        _ => Err(found),
    }
}

/// As `parse`, for bytes that may not be text.
pub fn parse_bytes(bytes: &[u8], context: &Context<'_>) -> Result<Parsed, Vec<Diagnostic>> {
    if bytes.len() > DEFINITION_BYTES_MAX {
        let mut report = Report::default();
        too_large(bytes.len(), &mut report);
        return Err(report.finish("", |_| String::new()));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, context),
        Err(error) => Err(not_utf8(bytes, error)),
    }
}

/// The plain values of a text, for whoever checks them by the schema. Nothing is said about what
/// they mean.
pub fn values(text: &str) -> Result<serde_json::Value, Vec<Diagnostic>> {
    let mut report = Report::default();
    match tree(text, &mut report) {
        Some(tree) if !report.has_errors() => Ok(tree.root().to_json()),
        _ => Err(report.finish(text, |_| String::new())),
    }
}

/// The text as a tree; `None` when it has none.
pub(super) fn tree<'t>(text: &'t str, report: &mut Report) -> Option<Tree<'t>> {
    if text.len() > DEFINITION_BYTES_MAX {
        too_large(text.len(), report);
        return None;
    }
    if check_text(text, report) { build::build(text, report) } else { None }
}

/// Whether all of it may stand in a text.
pub(super) fn check_text(text: &str, report: &mut Report) -> bool {
    if let Some((at, found)) = text.char_indices().find(|&(_, c)| is_forbidden(c)) {
        let message = format!("The character U+{:04X} may not stand in a text.", u32::from(found));
        report
            .add(Code::ForbiddenCharacter, Place::new(at, at + found.len_utf8()), message)
            .hint("is this a text file? In quotes it can be written as an escape");
        return false;
    }
    true
}

fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')
}

fn too_large(bytes: usize, report: &mut Report) {
    let message = format!("The text has {bytes} bytes; at most {DEFINITION_BYTES_MAX} are read.");
    let hint = "put long scripts and data into files of their own";
    report.add(Code::TooLarge, Place::default(), message).hint(hint);
}

pub(super) fn not_utf8(bytes: &[u8], error: std::str::Utf8Error) -> Vec<Diagnostic> {
    let start = error.valid_up_to();
    let length = error.error_len().unwrap_or(bytes.len() - start);
    // Bad bytes show as one replacement character each, so that lines and columns still count.
    let shown = String::from_utf8_lossy(&bytes[..start]);
    let mut report = Report::default();
    let hint = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "this is UTF-16: save it as UTF-8",
        _ => "save the text as UTF-8",
    };
    let message = format!("The byte 0x{:02X} is not UTF-8 text.", bytes[start]);
    report.add(Code::NotUtf8, Place::new(start, start), message).hint(hint);
    let mut found = report.finish(&shown, |_| String::new());
    for diagnostic in &mut found {
        diagnostic.span.end = start + length;
        diagnostic.span.end_column += length;
    }
    found
}
