//! A text with `${{ … }}` in it, taken apart. `$${{` is a plain `${{`.

use super::problem::Problem;
use std::ops::Range;

pub const OPEN: &str = "${{";
const CLOSE: &str = "}}";

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Stands for itself, an escape replaced.
    Plain(String),
    Template {
        /// The whole, with its marks.
        whole: Range<usize>,
        /// The expression.
        inner: Range<usize>,
    },
}

/// Whether there is anything to take apart.
pub fn has_template(text: &str) -> bool {
    text.contains(OPEN)
}

/// The parts in order, or the first template that does not end.
pub fn split(text: &str) -> Result<Vec<Piece>, Problem> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(OPEN) {
        let open = at + found;
        let before = &text[at..open];
        if let Some(before) = before.strip_suffix('$') {
            plain.push_str(before);
            plain.push_str(OPEN);
            at = open + OPEN.len();
            continue;
        }
        plain.push_str(before);
        if !plain.is_empty() {
            pieces.push(Piece::Plain(std::mem::take(&mut plain)));
        }
        let start = open + OPEN.len();
        let Some(end) = close(&text[start..]) else {
            let message = "This template is not closed.";
            let hint = "end it with `}}`; for a plain `${{` write `$${{`";
            return Err(Problem::new(open..start, message).with_hint(hint));
        };
        at = start + end + CLOSE.len();
        pieces.push(Piece::Template { whole: open..at, inner: start..start + end });
    }
    plain.push_str(&text[at..]);
    if !plain.is_empty() {
        pieces.push(Piece::Plain(plain));
    }
    Ok(pieces)
}

/// Where the expression ends: braces of its own maps and braces in its texts do not count. When
/// its quotes or braces do not match, the first `}}` is it, and the expression's parser will say
/// what is wrong.
fn close(text: &str) -> Option<usize> {
    balanced(text).or_else(|| text.find(CLOSE))
}

fn balanced(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\'' | b'"' => at = skip_quoted(bytes, at)?,
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b'}' if bytes.get(at + 1) == Some(&b'}') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The last byte of a text in quotes.
fn skip_quoted(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = bytes[start];
    let triple = bytes.get(start + 1) == Some(&quote) && bytes.get(start + 2) == Some(&quote);
    let raw = start > 0 && matches!(bytes[start - 1], b'r' | b'R');
    let mut at = start + if triple { 3 } else { 1 };
    loop {
        match *bytes.get(at)? {
            b'\\' if !raw => at += 1,
            byte if byte == quote && !triple => return Some(at),
            byte if byte == quote && bytes.get(at..at + 3) == Some(&[quote; 3]) => {
                return Some(at + 2);
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match split(text) {
            Err(problem) => format!("! {} {:?}", problem.message, problem.at),
            Ok(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Plain(plain) => format!("[{plain}]"),
                    Piece::Template { inner, .. } => format!("<{}>", &text[inner.clone()]),
                })
                .collect(),
        }
    }

    #[test]
    fn templates_end_where_their_expression_does() {
        for (text, expected) in [
            ("", ""),
            ("a", "[a]"),
            ("${{x}}", "<x>"),
            ("a ${{ x }} b${{y}}", "[a ]< x >[ b]<y>"),
            ("${{ {'a': {'b': 1}} }}!", "< {'a': {'b': 1}} >[!]"),
            ("${{ '}}' + \"}}\" }}", "< '}}' + \"}}\" >"),
            ("${{ '\\'}}' }}", "< '\\'}}' >"),
            ("${{ r'\\' }}}}", "< r'\\' >[}}]"),
            ("${{ '''it's }}''' }}", "< '''it's }}''' >"),
            ("${{ it's }} and ${{ x }}", "< it's >[ and ]< x >"),
            ("${{ {{ }}", "< {{ >"),
            ("}} {{ $ {{", "[}} {{ $ {{]"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn two_dollars_are_a_plain_one() {
        assert_eq!(shown("a $${{ x }} b"), "[a ${{ x }} b]");
        assert_eq!(shown("$$${{ x }}"), "[$${{ x }}]");
        assert_eq!(shown("$$ ${{ x }}"), "[$$ ]< x >");
    }

    #[test]
    fn one_that_does_not_end_is_told() {
        assert_eq!(shown("é ${{ x }"), "! This template is not closed. 3..6");
        assert_eq!(shown("${{"), "! This template is not closed. 0..3");
    }
}
