//! Words that mean: not finished, switched off, or in the way.

use super::finding::{Finding, Rule};
use super::scan::{after_bracket, line_at, words};
use super::source::Source;

const MACROS: &[(&str, &str)] = &[
    ("todo", "write the code, or leave the feature out"),
    ("unimplemented", "write the code, or leave the feature out"),
    ("dbg", "remove it"),
];

const MARKS: &[&str] = &["FIXME", "XXX"];

/// Rust: macros and attributes in code, marks in comments.
pub fn check_rust(source: &Source<'_>, found: &mut Vec<Finding>) {
    let code = &source.code;
    let mut push = |offset: usize, text: String| {
        found.push(Finding::new(Rule::Word, source.path, line_at(code, offset), text));
    };
    for (at, word) in words(code) {
        let called = code[at + word.len()..].starts_with('!');
        if let Some((name, advice)) = MACROS.iter().find(|(name, _)| called && word == *name) {
            push(at, format!("`{name}!`: {advice}"));
        }
    }
    for (at, attribute) in attributes(code) {
        if ignores_a_test(attribute) {
            push(at, "an ignored test proves nothing: make it pass, or remove it".to_owned());
        }
        if lets_code_die(attribute) {
            push(at, "`dead_code` is allowed: remove the code that nothing uses".to_owned());
        }
    }
    check_marks(source.path, &source.comments, found);
}

/// Any other text: marks, wherever they are.
pub fn check_text(path: &str, text: &str, found: &mut Vec<Finding>) {
    check_marks(path, text, found);
}

fn check_marks(path: &str, text: &str, found: &mut Vec<Finding>) {
    for (at, word) in words(text) {
        if MARKS.contains(&word) {
            let what = format!("`{word}`: do it now, or say what is so and why");
            found.push(Finding::new(Rule::Word, path, line_at(text, at), what));
        }
    }
}

/// Every `#[…]` and `#![…]`, with its offset.
fn attributes(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.match_indices('#').filter_map(|(at, _)| {
        let open = at + 1 + usize::from(code[at + 1..].starts_with('!'));
        code[open..].starts_with('[').then(|| (at, &code[at..after_bracket(code, open)]))
    })
}

fn ignores_a_test(attribute: &str) -> bool {
    let mut inside = words(attribute).map(|(_, word)| word);
    match inside.next() {
        Some("ignore") => true,
        Some("cfg_attr") => inside.any(|word| word == "ignore"),
        _ => false,
    }
}

fn lets_code_die(attribute: &str) -> bool {
    let inside: Vec<&str> = words(attribute).map(|(_, word)| word).collect();
    let quiets = inside.iter().any(|word| matches!(*word, "allow" | "expect"));
    quiets && inside.contains(&"dead_code")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, lines: &[usize]) {
        let mut found = Vec::new();
        check_rust(&Source::new("a.rs", text), &mut found);
        let at: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(at, lines, "in {text}: {found:?}");
    }

    #[test]
    fn unfinished_code_is_found() {
        check("fn f() {\n    todo!()\n}", &[2]);
        check("fn f() { unimplemented!(\"later\") }", &[1]);
        check("fn f() { dbg!(x); }", &[1]);
    }

    #[test]
    fn the_words_alone_are_harmless() {
        check("let todo = list(\"todo!\"); // no dbg! here\nmy_todo!();", &[]);
    }

    #[test]
    fn an_ignored_test_is_found() {
        check("#[test]\n#[ignore]\nfn f() {}", &[2]);
        check("#[ignore = \"slow\"]\nfn f() {}", &[1]);
        check("#[cfg_attr(\n    unix,\n    ignore\n)]\nfn f() {}", &[1]);
        check("#[diagnostic::on_unimplemented(note = \"ignore\")]\nlet ignore = 1;", &[]);
    }

    #[test]
    fn dead_code_is_found() {
        check("#![allow(dead_code)]\n", &[1]);
        check("#[allow(unused_mut, dead_code)]\nfn f() {}", &[1]);
        check("#[expect(dead_code)]\nfn f() {}", &[1]);
        check("#[deny(dead_code)]\nfn f() {}", &[]);
    }

    #[test]
    fn marks_are_found_in_comments_only() {
        check("// FIXME: wrong\nlet a = \"FIXME\";\n/* XXX */", &[1, 3]);
        check("// mktemp a.XXXXXX", &[]);
    }

    #[test]
    fn marks_are_found_anywhere_in_other_files() {
        let mut found = Vec::new();
        check_text("a.yaml", "a: 1\nb: 2 # XXX\n", &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }
}
