//! `lib.rs` and `mod.rs` are the door plates of a room: a paragraph on what it is for, then
//! its modules in reading order. Logic lives in files that are named for it.

use super::finding::{Finding, Rule};
use super::scan::{after_bracket, line_at, words};
use super::source::Source;

pub fn check(source: &Source<'_>, found: &mut Vec<Finding>) {
    let file_name = source.path.rsplit('/').next().unwrap_or(source.path);
    if !matches!(file_name, "lib.rs" | "mod.rs") {
        return;
    }
    let first = source.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if first.strip_prefix("//!").is_none_or(|paragraph| paragraph.trim().is_empty()) {
        let text = format!("{file_name} does not begin with `//!`: say what this room is for");
        found.push(Finding::new(Rule::Room, source.path, 1, text));
    }
    for at in logic(&source.code) {
        let line = line_at(&source.code, at);
        let text = format!("logic in {file_name}: move it to a file named for it");
        found.push(Finding::new(Rule::Room, source.path, line, text));
    }
}

/// Where an item begins that is neither `mod name;` nor `use`.
fn logic(code: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = code[at..].find(|c: char| !c.is_whitespace()) {
        at += step;
        let after_hash = code[at..].strip_prefix('#').map(|rest| rest.trim_start_matches('!'));
        if let Some(rest) = after_hash.filter(|rest| rest.starts_with('[')) {
            at = after_bracket(code, code.len() - rest.len());
            continue;
        }
        let end = item_end(code, at);
        if !is_plain(&code[at..end]) {
            found.push(at);
        }
        at = end;
    }
    found
}

/// After the semicolon of the item, or after its braces where it needs none.
fn item_end(code: &str, start: usize) -> usize {
    let is_use = is_plain(&code[start..]) && first_word(&code[start..]) == "use";
    let mut at = start;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b';' => return at + 1,
            b'{' if !is_use => return after_bracket(code, at),
            b'{' | b'(' | b'[' => at = after_bracket(code, at),
            _ => at += 1,
        }
    }
    code.len()
}

fn is_plain(item: &str) -> bool {
    match first_word(item) {
        "use" => true,
        "mod" => item.ends_with(';'),
        _ => false,
    }
}

/// The first word after `pub`, `pub(crate)` and the like.
fn first_word(item: &str) -> &str {
    let visible = item.strip_prefix("pub").map_or(item, |rest| {
        let rest = rest.trim_start();
        if rest.starts_with('(') { &rest[after_bracket(rest, 0)..] } else { rest }
    });
    words(visible).next().map_or("", |(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_lines(path: &str, text: &str, lines: &[usize]) {
        let mut found = Vec::new();
        check(&Source::new(path, text), &mut found);
        let at: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(at, lines, "in {text}");
    }

    #[test]
    fn a_door_plate_passes() {
        let text = "//! What it is for.\n\n#![warn(missing_docs)]\n\n/// First.\npub mod a;\n\
                    #[cfg(test)]\nmod tests;\npub(crate) use a::{\n    B, c::{D, E},\n};\n";
        check_lines("crates/a/src/lib.rs", text, &[]);
    }

    #[test]
    fn a_missing_paragraph_is_found() {
        check_lines("crates/a/src/b/mod.rs", "pub mod a;\n", &[1]);
        check_lines("crates/a/src/lib.rs", "//!\npub mod a;\n", &[1]);
        check_lines("crates/a/src/lib.rs", "", &[1]);
    }

    #[test]
    fn logic_is_found() {
        check_lines("src/lib.rs", "//! A.\nmod a;\nfn f() { g(); }\nmod b;\n", &[3]);
        check_lines("src/lib.rs", "//! A.\npub struct A(u8);\npub const B: u8 = 1;\n", &[2, 3]);
        check_lines("src/lib.rs", "//! A.\nmod tests {\n    use x;\n}\nmod b;\n", &[2]);
        check_lines("src/lib.rs", "//! A.\n#[derive(Debug)]\npub enum A {\n    B,\n}\n", &[3]);
    }

    #[test]
    fn other_files_may_have_logic() {
        check_lines("src/main.rs", "fn main() {}\n", &[]);
    }
}
