//! What one scalar stands for: its tag, its style and its text together. Numbers that cannot be
//! kept and NUL are refused here, once, whatever field they stand in.

use super::code::Code;
use super::place::Place;
use super::report::{Report, quoted};
use super::scalar::{self, Plain};
use super::tree::Kind;
use granit_parser::Tag;
use std::borrow::Cow;

const TEMPLATE: &str = "${{";

/// What a tag makes of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tagged {
    No,
    Text,
    Null,
    Bool,
    Int,
    Float,
    /// Reported.
    Unknown,
}

pub fn check_tag(
    tag: Option<&Tag>,
    tag_span: Option<granit_parser::Span>,
    report: &mut Report,
) -> Tagged {
    let Some(tag) = tag else { return Tagged::No };
    let tagged = match tag.core_suffix() {
        Some("str") => Tagged::Text,
        Some("null") => Tagged::Null,
        Some("bool") => Tagged::Bool,
        Some("int") => Tagged::Int,
        Some("float") => Tagged::Float,
        // `! text`: not specific, which for a scalar means text.
        _ if tag.handle().is_empty() && tag.suffix() == "!" => Tagged::Text,
        _ => Tagged::Unknown,
    };
    if tagged == Tagged::Unknown {
        refuse_tag(tag, tag_span, report);
    }
    tagged
}

pub fn check_collection_tag(
    tag: Option<&Tag>,
    own: &str,
    span: &granit_parser::Span,
    report: &mut Report,
) {
    let Some(tag) = tag else { return };
    let plain = tag.handle().is_empty() && tag.suffix() == "!";
    if tag.core_suffix() != Some(own) && !plain {
        refuse_tag(tag, span.tag_span(), report);
    }
}

fn refuse_tag(tag: &Tag, span: Option<granit_parser::Span>, report: &mut Report) {
    let offset = |marker: granit_parser::Marker| marker.byte_offset().unwrap_or(0);
    let place = span.map_or(Place::default(), |s| Place::new(offset(s.start), offset(s.end)));
    let message = format!("The tag {} is not supported here.", quoted(&tag.original()));
    report.add(Code::UnknownTag, place, message).hint("leave it out");
}

pub fn scalar_kind<'t>(
    text: Cow<'t, str>,
    (plain, tag): (bool, Tagged),
    place: Place,
    report: &mut Report,
) -> Kind<'t> {
    if tag == Tagged::Unknown {
        return Kind::Broken;
    }
    if text.contains(TEMPLATE) && matches!(tag, Tagged::No | Tagged::Text) {
        return match checked_text(text, place, report) {
            Kind::Text(text) => Kind::Template(text),
            other => other,
        };
    }
    if !plain || tag == Tagged::Text {
        return checked_text(text, place, report);
    }
    let kind = match scalar::resolve(&text) {
        Plain::Null => Kind::Null,
        Plain::Bool(value) => Kind::Bool(value),
        Plain::Int(value) => Kind::Int(value),
        Plain::Float(value) => Kind::Float(value),
        Plain::Text => return tagged_text(text, tag, place, report),
        Plain::Refused(why, hint) => {
            report.add(Code::BadNumber, place, format!("{} {why}.", quoted(&text))).hint(hint);
            return Kind::Broken;
        }
    };
    match (tag, kind) {
        (Tagged::No, kind)
        | (Tagged::Null, kind @ Kind::Null)
        | (Tagged::Bool, kind @ Kind::Bool(_))
        | (Tagged::Int, kind @ Kind::Int(_))
        | (Tagged::Float, kind @ Kind::Float(_)) => kind,
        (Tagged::Float, Kind::Int(_)) => text.parse().map_or(Kind::Broken, Kind::Float),
        _ => tagged_text(text, tag, place, report),
    }
}

/// Text, unless its tag says that it should have been something else.
fn tagged_text<'t>(text: Cow<'t, str>, tag: Tagged, place: Place, report: &mut Report) -> Kind<'t> {
    if tag == Tagged::No {
        return checked_text(text, place, report);
    }
    let message = format!("{} is not what its tag says.", quoted(&text));
    report.add(Code::UnknownTag, place, message).hint("leave the tag out");
    Kind::Broken
}

fn checked_text<'t>(text: Cow<'t, str>, place: Place, report: &mut Report) -> Kind<'t> {
    if text.contains('\0') {
        let message = "Text may not contain the character NUL.";
        report.add(Code::ForbiddenCharacter, place, message);
        return Kind::Broken;
    }
    Kind::Text(text)
}

pub fn copy_of<'t>(kind: &Kind<'t>) -> Kind<'t> {
    match kind {
        Kind::Null => Kind::Null,
        Kind::Bool(value) => Kind::Bool(*value),
        Kind::Int(value) => Kind::Int(*value),
        Kind::Float(value) => Kind::Float(*value),
        Kind::Text(text) => Kind::Text(text.clone()),
        Kind::Template(text) => Kind::Template(text.clone()),
        Kind::List(_) | Kind::Map(_) | Kind::Broken => Kind::Broken,
    }
}
