//! Places in the text: two byte offsets while working, lines and columns only for what is shown.

use super::diagnostic::Span;

/// From `start` up to, but without, `end`. Four bytes each: the text is bounded far below 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub start: u32,
    pub end: u32,
}

impl Place {
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clip(start), end: clip(end.max(start)) }
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Finds line and column of a byte.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t str) -> Self {
        // A byte order mark is no character of the first line.
        let mut starts = vec![if text.starts_with('\u{feff}') { 3 } else { 0 }];
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        Self { text, starts }
    }

    /// Places are clipped to the text and to whole characters, whatever a parser said.
    pub fn span(&self, place: Place) -> Span {
        let start = self.text.floor_char_boundary(place.start as usize);
        let end = self.text.ceil_char_boundary(place.end as usize).max(start);
        let (line, column) = self.at(start);
        let (end_line, end_column) = self.at(end);
        Span { start, end, line, column, end_line, end_column }
    }

    fn at(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&first| first <= byte).max(1);
        let first = self.starts[line - 1].min(byte);
        (line, self.text[first..byte].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, byte: usize) -> (usize, usize) {
        let span = Lines::new(text).span(Place::new(byte, byte));
        (span.line, span.column)
    }

    #[test]
    fn columns_count_characters_and_lines_any_line_break() {
        assert_eq!(at("é: x\r\nb\rc", 3), (1, 3));
        assert_eq!(at("é: x\r\nb\rc", 7), (2, 1));
        assert_eq!(at("é: x\r\nb\rc", 9), (3, 1));
    }

    #[test]
    fn the_end_has_a_line_and_a_column_too() {
        let span = Lines::new("é: x\ny: zé\n").span(Place::new(4, 10));
        assert_eq!((span.line, span.column), (1, 4));
        assert_eq!((span.end_line, span.end_column), (2, 5));
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        assert_eq!(at("\u{feff}ab", 4), (1, 2));
        assert_eq!(at("\u{feff}ab", 0), (1, 1));
    }

    #[test]
    fn places_outside_are_clipped() {
        assert_eq!(Lines::new("é").span(Place::new(1, 900)).end, 2);
        assert_eq!(at("é", 1), (1, 1));
        assert_eq!(at("", 7), (1, 1));
    }
}
