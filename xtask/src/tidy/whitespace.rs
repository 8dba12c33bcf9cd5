//! What nobody sees and every diff shows.

use super::finding::{Finding, Rule};
use super::source::{Class, Source};

/// Any text file.
pub fn check_text(path: &str, text: &str, found: &mut Vec<Finding>) {
    check(path, text, |_| true, found);
}

/// Rust: what stands inside a string literal is data.
pub fn check_rust(source: &Source<'_>, found: &mut Vec<Finding>) {
    check(source.path, source.text, |at| source.class_at(at) != Class::Literal, found);
}

fn check(path: &str, text: &str, counts: impl Fn(usize) -> bool, found: &mut Vec<Finding>) {
    let mut start = 0;
    for (number, line) in text.split('\n').enumerate() {
        let end = start + line.len();
        if line.ends_with(char::is_whitespace) && counts(end) {
            let text = "trailing whitespace: remove it";
            found.push(Finding::new(Rule::Whitespace, path, number + 1, text));
        }
        start = end + 1;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let lines = text.lines().count();
        let text = "no newline at the end of the file: add one";
        found.push(Finding::new(Rule::Whitespace, path, lines, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(found: &[Finding]) -> Vec<usize> {
        found.iter().map(|finding| finding.line).collect()
    }

    fn text(text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        check_text("a.md", text, &mut found);
        lines(&found)
    }

    #[test]
    fn trailing_whitespace_is_found() {
        assert_eq!(text("a\nb \nc\t\nd\r\n"), [2, 3, 4]);
    }

    #[test]
    fn a_missing_newline_is_found() {
        assert_eq!(text("a\nb"), [2]);
        assert!(text("a\n").is_empty());
        assert!(text("").is_empty());
    }

    #[test]
    fn in_rust_a_string_may_end_a_line_with_a_space() {
        let mut found = Vec::new();
        let text = "let a = \"b \nc\"; \n// d \n";
        check_rust(&Source::new("a.rs", text), &mut found);
        assert_eq!(lines(&found), [2, 3]);
    }
}
