//! Any string as text that PostgreSQL takes: it refuses U+0000, alone of all characters.
//!
//! U+0000 is written as U+0001 `0` and U+0001 as U+0001 `1`. Both are rare enough that nobody
//! who looks at the tables will ever see it, nothing is lost, and the order stays: U+0001 is
//! before every character that is not escaped. Refusing such a string would be worse: one odd
//! word from a program would fail the batches of everybody, again and again.

use std::borrow::Cow;

const ESCAPE: char = '\u{1}';

pub(super) fn encode(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte <= 1) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => encoded.extend([ESCAPE, '0']),
            ESCAPE => encoded.extend([ESCAPE, '1']),
            c => encoded.push(c),
        }
    }
    Cow::Owned(encoded)
}

/// None when it was not written by `encode`.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(ESCAPE) {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == ESCAPE) {
            (c, false) => decoded.push(c),
            (_, true) => match chars.next()? {
                '0' => decoded.push('\0'),
                '1' => decoded.push(ESCAPE),
                _ => return None,
            },
        }
    }
    Some(Cow::Owned(decoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: &[&str] = &[
        "",
        "\0",
        "\0\0",
        "\u{0}0",
        "\u{0}1",
        "\u{1}",
        "\u{1}\0",
        "\u{1}0",
        "\u{1}1",
        "\u{2}",
        "0",
        "1",
        "a",
        "a\0",
        "a\0b",
        "a\u{1}",
        "a\u{1}0",
        "ab",
        "zwölf \u{1F41F}",
    ];

    #[test]
    fn every_text_comes_back_and_none_holds_what_is_refused() {
        for text in TEXTS {
            let encoded = encode(text);
            assert!(!encoded.contains('\0'), "{text:?}");
            assert_eq!(decode(&encoded).as_deref(), Some(*text));
        }
    }

    #[test]
    fn the_order_stays() {
        for a in TEXTS {
            for b in TEXTS {
                assert_eq!(a.cmp(b), encode(a).cmp(&encode(b)), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn what_nobody_encoded_is_noticed() {
        assert_eq!(decode("a\u{1}"), None);
        assert_eq!(decode("\u{1}x"), None);
    }
}
