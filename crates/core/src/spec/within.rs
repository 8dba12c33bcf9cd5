//! Where a piece of a scalar's text stands in the file: the text of a scalar is not always written
//! as it reads.

use super::place::Place;
use std::ops::Range;

const TEMPLATE: &str = "${{";

/// The place of some bytes of the text `read`, which is written as `written` from this place on.
/// None when they cannot be found again.
pub fn within(read: &str, written: &str, scalar: Place, at: Range<usize>) -> Option<Place> {
    let start = scalar.start as usize;
    if read == written {
        return Some(Place::new(start + at.start, start + at.end));
    }
    // Templates are written as they read, nearly always: they are found by their number.
    let before = read.get(..at.start)?;
    let (read_from, written_from) = match before.rfind(TEMPLATE) {
        Some(template) => {
            let number = before.matches(TEMPLATE).count();
            (template, written.match_indices(TEMPLATE).nth(number - 1)?.0)
        }
        None => (0, begin(written)),
    };
    let escapes = written.starts_with('"');
    let first = along(&read[read_from..at.start], &written[written_from..], escapes)?;
    let first = written_from + first.end;
    // What stands before it may have been folded: it begins where its first character does.
    let piece = along(&read[at.clone()], &written[first..], escapes)?;
    Some(Place::new(start + first + piece.start, start + first + piece.end))
}

/// Where the text of a scalar begins, its quotes or its indicator left out.
fn begin(written: &str) -> usize {
    match written.as_bytes().first() {
        Some(b'"' | b'\'') => 1,
        Some(b'|' | b'>') => written.find('\n').map_or(written.len(), |end| end + 1),
        _ => 0,
    }
}

/// The bytes that a text is written in, when what is only writing is passed over: line breaks,
/// indentation, doubled quotes.
fn along(read: &str, written: &str, escapes: bool) -> Option<Range<usize>> {
    let mut rest = written.char_indices();
    let mut range: Option<Range<usize>> = None;
    for wanted in read.chars() {
        let (at, end) = loop {
            let (at, found) = rest.next()?;
            if found == wanted {
                break (at, at + found.len_utf8());
            }
            if escapes && found == '\\' {
                let (last, escaped) = rest.next()?;
                break (at, last + escaped.len_utf8());
            }
        };
        range = Some(range.map_or(at, |range| range.start)..end);
    }
    Some(range.unwrap_or(0..0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The piece of a written scalar that a piece of its text was found in.
    fn found<'w>(read: &str, written: &'w str, piece: &str) -> Option<&'w str> {
        let at = read.rfind(piece).expect("a piece of it");
        let place = within(read, written, Place::new(0, written.len()), at..at + piece.len())?;
        written.get(place.range())
    }

    #[test]
    fn pieces_are_found_however_they_are_written() {
        for (read, written, piece) in [
            ("a ${{ b }}", "a ${{ b }}", "b"),
            ("a ${{ b }}", "\"a ${{ b }}\"", "b"),
            ("it's ${{ b }}", "'it''s ${{ b }}'", "b"),
            ("é\n${{ b }} ${{ c.d }}", "\"\\u00e9\\n${{ b }} ${{ c.d }}\"", "c.d"),
            ("x\ny ${{ b }}\n", "|\n    x\n    y ${{ b }}\n", "b"),
            ("x y ${{ b + c }}\n", ">-\n    x\n    y ${{ b +\n    c }}\n", "c"),
            ("x ${{ a }} ${{ a }}", "'x ${{ a }}\n   ${{ a }}'", "a"),
            ("input.a == 'x'", "\"input.a == 'x'\"", "input.a"),
            ("input.a\n  && input.b\n", "|\n  input.a\n    && input.b\n", "input.b"),
            ("a == \"b\" && c", "\"a == \\\"b\\\" && c\"", "c"),
        ] {
            assert_eq!(found(read, written, piece), Some(piece), "{written}");
        }
    }

    #[test]
    fn what_cannot_be_found_again_has_no_place() {
        assert_eq!(found("${{ b }}", "\"\\u0024{{ b }}\"", "b"), None);
    }
}
