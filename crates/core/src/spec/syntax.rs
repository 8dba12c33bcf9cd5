//! What is wrong with a text that is not YAML, in the words of someone who writes one, where
//! the parser's own are those of the grammar.

use super::code::Code;
use super::place::Place;
use super::report::Report;
use granit_parser::{ErrorKind, ScanError};

pub fn tell(error: &ScanError, place: Place, text: &str, report: &mut Report) {
    let Some((what, hint)) = words(error.kind()) else {
        report.add(Code::Syntax, place, format!("Not valid YAML: {}.", error.info()));
        return;
    };
    let message = format!("Not valid YAML: {what}.");
    if is_open_quote(error.kind())
        && let Some(quote) = quote_before(place, text)
    {
        report
            .add(Code::Syntax, quote, message)
            .hint(hint)
            .related(place, "here the text should have ended");
        return;
    }
    let place = match is_tab(error.kind()) {
        true => tab_before(place, text),
        false => place,
    };
    report.add(Code::Syntax, place, message).hint(hint);
}

fn is_open_quote(kind: &ErrorKind) -> bool {
    matches!(kind, ErrorKind::InvalidQuotedScalarIndent | ErrorKind::UnclosedQuotedScalar)
}

/// The quote that was probably opened: one that does not stand in the middle of a word.
fn quote_before(place: Place, text: &str) -> Option<Place> {
    let before = text.get(..place.range().start)?;
    let mut quotes = before.rmatch_indices(['"', '\'']);
    let opens = |at: usize| {
        let last = before[..at].chars().next_back();
        last.is_none_or(|c| c.is_whitespace() || matches!(c, '[' | '{' | ',' | ':'))
    };
    quotes.find(|(at, _)| opens(*at)).map(|(at, _)| Place::new(at, at + 1))
}

fn is_tab(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation | ErrorKind::TabNotAllowed
    )
}

/// What happened, and what to do. The mistakes that people make; the rest keeps its name.
fn words(kind: &ErrorKind) -> Option<(&'static str, &'static str)> {
    use ErrorKind as K;
    Some(match kind {
        kind if is_tab(kind) => ("a tab in the indentation", "indent with spaces"),
        K::MappingValueNotAllowed | K::InvalidColonPlacement => (
            "`: ` begins a value, and there is one already",
            "put text that contains `: ` in quotes, or on lines of its own after `|`",
        ),
        K::ExpectedBlockMappingKey | K::InvalidIndentation | K::ExpectedBlockSequenceEntry => (
            "this line does not fit in with the lines above",
            "fields of one map, and items of one list, begin in the same column",
        ),
        K::InvalidSimpleKey | K::SimpleKeyExpected => {
            ("a line without `:` where a field is expected", "write `field: value`")
        }
        K::InvalidQuotedScalarIndent | K::UnclosedQuotedScalar => {
            ("this quote is not closed", "add the closing quote")
        }
        K::DocumentIndicatorInQuotedScalar => (
            "the text ends inside quotes",
            "add the closing quote; `---` and `...` may not begin a line within quotes",
        ),
        K::InvalidTrailingDoubleQuotedScalar | K::InvalidTrailingSingleQuotedScalar => (
            "something follows the closing quote",
            "put the whole value in quotes; inside, write \\\" (in '…' quotes, '') for a quote",
        ),
        K::UnknownQuotedScalarEscape => (
            "an escape that is not known",
            "write \\\\ for a backslash, or use '…' quotes, in which it stands for itself",
        ),
        K::UnclosedFlowCollection { open: '[' } | K::UnexpectedEofFlowSequence => {
            ("`[` is not closed", "add `]`")
        }
        K::UnclosedFlowCollection { .. } | K::UnexpectedEofFlowMapping => {
            ("`{` is not closed", "add `}`")
        }
        K::ExpectedFlowSequenceSeparator => {
            ("`,` or `]` is missing before this", "separate items by `,` and end them with `]`")
        }
        K::ExpectedFlowMappingSeparator => {
            ("`,` or `}` is missing before this", "separate fields by `,` and end them with `}`")
        }
        K::MismatchedFlowCollectionEnd { .. } | K::MisplacedFlowCollectionEnd => {
            ("a bracket that closes nothing", "check the brackets before it")
        }
        K::BlockSequenceEntryNotAllowed | K::BlockEntryInFlowCollection => (
            "`- ` may not begin an item here",
            "begin each item on a line of its own, or write `[a, b]`",
        ),
        K::UnexpectedCharacter { character: '`' | '@' | '%' } => {
            ("a text may not begin with this character", "put it in quotes")
        }
        K::InvalidFlowScalarIndent => (
            "this line must be indented further than the bracket's own line",
            "indent it, or close the bracket before it",
        ),
        _ => return None,
    })
}

/// The first tab in front of this place on its line.
fn tab_before(place: Place, text: &str) -> Place {
    let at = place.range().start;
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    match text.get(line..).and_then(|rest| rest.find('\t')) {
        Some(tab) if line + tab <= at => Place::new(line + tab, line + tab + 1),
        _ => place,
    }
}
