//! Walking over blanked code: words, matching brackets, lines, functions, test modules.

use std::ops::Range;

use super::source::is_word;

/// Every identifier, keyword and number in `code`, with its offset.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = code.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|&b| is_word(b))?;
        let length = bytes[start..].iter().take_while(|&&b| is_word(b)).count();
        at = start + length;
        Some((start, &code[start..at]))
    })
}

/// The line of an offset, counted from 1.
pub fn line_at(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset].iter().filter(|&&b| b == b'\n').count()
}

/// The offset after the bracket that closes the one at `open`.
pub fn after_bracket(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

#[derive(Debug)]
pub struct Function<'a> {
    pub name: &'a str,
    /// From `fn` to the brace that closes its body.
    pub span: Range<usize>,
}

/// Every function with a body, those inside others included.
pub fn functions(code: &str) -> Vec<Function<'_>> {
    let all: Vec<(usize, &str)> = words(code).collect();
    let mut found = Vec::new();
    for pair in all.windows(2) {
        let [(start, "fn"), (name_at, name)] = *pair else { continue };
        let named = code[start + 2..name_at].trim().is_empty();
        if named && let Some(open) = body_after(code, name_at) {
            found.push(Function { name, span: start..after_bracket(code, open) });
        }
    }
    found
}

/// Where the body opens, unless a semicolon ends the signature first.
fn body_after(code: &str, name_at: usize) -> Option<usize> {
    let mut at = name_at;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            b'{' => return Some(at),
            b';' => return None,
            b'(' | b'[' => at = after_bracket(code, at),
            _ => at += 1,
        }
    }
    None
}

/// The bodies of `mod tests { … }` and of any other inline module under `#[cfg(test)]`.
pub fn test_modules(code: &str) -> Vec<Range<usize>> {
    let all: Vec<(usize, &str)> = words(code).collect();
    let mut found = Vec::new();
    for pair in all.windows(2) {
        let [(start, "mod"), (name_at, name)] = *pair else { continue };
        let after = name_at + name.len();
        let opens = code[after..].trim_start().starts_with('{');
        let for_tests = name.ends_with("tests") || is_under_cfg_test(&code[..start]);
        if opens && for_tests {
            let open = after + code[after..].find('{').expect("it opens with a brace");
            found.push(open..after_bracket(code, open));
        }
    }
    found
}

fn is_under_cfg_test(before: &str) -> bool {
    let item = before.rfind(['}', ';', '{']).map_or(before, |end| &before[end..]);
    item.contains("cfg(test)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_with_their_places() {
        let found: Vec<_> = words("a.b_2 (c)").collect();
        assert_eq!(found, [(0, "a"), (2, "b_2"), (7, "c")]);
    }

    #[test]
    fn functions_have_a_name_and_a_body() {
        let code = "trait T { fn a(&self) -> [u8; 2]; fn b(f: fn(u8)) where Self: Sized { if x { } } }\n\
                    fn c() { fn d() {} }";
        let found: Vec<_> = functions(code).into_iter().map(|f| (f.name, &code[f.span])).collect();
        assert_eq!(found[0], ("b", "fn b(f: fn(u8)) where Self: Sized { if x { } }"));
        assert_eq!(found[1], ("c", "fn c() { fn d() {} }"));
        assert_eq!(found[2], ("d", "fn d() {}"));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn test_modules_are_found_by_name_or_attribute() {
        let code = "mod a { } mod tests { b } #[cfg(test)]\nmod c { d } mod tests;";
        let found: Vec<_> = test_modules(code).into_iter().map(|span| &code[span]).collect();
        assert_eq!(found, ["{ b }", "{ d }"]);
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line_at("a\nb\nc", 0), 1);
        assert_eq!(line_at("a\nb\nc", 4), 3);
    }
}
