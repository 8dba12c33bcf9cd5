//! Hides secrets in JSON that is going to be read: in its strings and keys, as they are read. All
//! else stays as it was written, to the last digit of a number.

use super::mask::Mask;
use super::patterns::{Patterns, START};
use std::borrow::Cow;
use std::sync::Arc;

pub(crate) enum Hidden {
    /// There was nothing to hide.
    Nothing,
    /// In strings: the text without them.
    InText(String),
    /// Not only in strings: it would not be JSON any more.
    Outside,
}

/// Takes text that was checked to be JSON.
pub(crate) fn hide_in_json(text: &str, patterns: &Arc<Patterns>) -> Hidden {
    if is_outside(text, patterns) {
        return Hidden::Outside;
    }
    let mut mask = Mask::new(Arc::clone(patterns));
    let mut shown = Vec::new();
    let (mut out, mut copied) = (String::new(), 0);
    for (at, literal) in literals(text) {
        let read = decoded(literal);
        shown.clear();
        mask.push(read.as_bytes(), &mut shown);
        mask.finish(&mut shown);
        if shown != read.as_bytes() {
            out.push_str(&text[copied..at]);
            out.push_str(&serde_json::Value::from(String::from_utf8_lossy(&shown)).to_string());
            copied = at + literal.len();
        }
    }
    if copied == 0 {
        return Hidden::Nothing;
    }
    out.push_str(&text[copied..]);
    Hidden::InText(out)
}

/// Each string, with its quotes, and where it begins.
fn literals(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at + text.as_bytes()[at..].iter().position(|byte| *byte == b'"')?;
        at = begin + length(&text.as_bytes()[begin..]);
        Some((begin, &text[begin..at]))
    })
}

/// Of the string that a text begins with, with its quotes.
fn length(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match text.get(at) {
            None => return text.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

fn decoded(literal: &str) -> Cow<'_, str> {
    let inner = || Cow::Borrowed(literal.trim_matches('"'));
    match literal.contains('\\') {
        true => serde_json::from_str(literal).map_or_else(|_| inner(), Cow::Owned),
        false => inner(),
    }
}

/// Whether a secret as it stands reaches beyond a string: a number, or a piece of JSON.
fn is_outside(text: &str, patterns: &Patterns) -> bool {
    let bytes = text.as_bytes();
    let (mut state, mut at) = (START, 0);
    let mut strings = literals(text).map(|(begin, literal)| begin + 1..begin + literal.len() - 1);
    let mut string = strings.next();
    while at < bytes.len() {
        state = patterns.next(state, bytes[at]);
        at += 1;
        let matched = patterns.matched(state);
        if matched == 0 {
            continue;
        }
        while string.as_ref().is_some_and(|string| string.end < at) {
            string = strings.next();
        }
        if string.as_ref().is_none_or(|string| at - matched < string.start) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::value::Secret;
    use super::*;

    fn hidden(secret: &str, text: &str) -> Hidden {
        let patterns = Patterns::new([&Secret::new(secret.as_bytes())]).map(Arc::new).unwrap();
        hide_in_json(text, &patterns)
    }

    fn check(secret: &str, text: &str, expected: &str) {
        match hidden(secret, text) {
            Hidden::InText(found) => assert_eq!(found, expected),
            Hidden::Nothing => assert_eq!(text, expected),
            Hidden::Outside => panic!("outside of text: {text}"),
        }
    }

    #[test]
    fn strings_and_keys_are_hidden_as_they_are_read() {
        check("pässwört-42", r#"{"t": "p\u00e4ssw\u00F6rt-42"}"#, r#"{"t": "***"}"#);
        check("a/b+c", r#"{"a\/b\u002bc": 1, "x":"\u0061/b+c"}"#, r#"{"***": 1, "x":"***"}"#);
        check("key😀1", r#"["key\ud83d\ude001", "key😀1"]"#, r#"["***", "***"]"#);
        check("say \"hi\"", r#""I say \u0022hi\"!""#, r#""I ***!""#);
        check("one two\nthree", r#"["one two\nthree","three"]"#, r#"["***","***"]"#);
    }

    #[test]
    fn json_in_a_string_is_hidden_as_its_reader_sees_it() {
        check(
            "a/b+c",
            r#"{"body": "{\"t\": \"a\\/b\\u002Bc\"}"}"#,
            r#"{"body": "{\"t\": \"***\"}"}"#,
        );
    }

    #[test]
    fn all_else_stays_as_it_was_written() {
        let text =
            r#"{"n":  1.10000000000000000000001e2, "\u00e4" : "\/", "t":"hunter22", "e":""}"#;
        check("hunter22", text, &text.replace("hunter22", "***"));
        check("hunter23", text, text);
        check("nope1234", r#""o\nope1234""#, r#""o\nope1234""#);
        check("pass\\", r#"["pass\\", "pass\\\""]"#, r#"["***", "***\""]"#);
    }

    #[test]
    fn what_is_no_text_cannot_be_hidden() {
        for text in ["[123456]", r#"{"a": "b"}"#, r#"["true", true]"#, r#"["x123456", 1234567]"#] {
            let found = ["123456", r#"{"a": "b"}"#, "true"].map(|secret| hidden(secret, text));
            assert!(found.iter().any(|found| matches!(found, Hidden::Outside)), "{text}");
        }
    }
}
