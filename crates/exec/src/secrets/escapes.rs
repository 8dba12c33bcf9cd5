//! Bytes as whoever reads them as a JSON string sees them. Any character may be written as an
//! escape there, and each language has its own habits, so that what a secret may look like cannot
//! be listed: it is read instead.

/// The longest way to write a byte: `\u0041`. One of a surrogate pair is shorter for each byte.
pub(super) const ESCAPE_BYTES_MAX: usize = 6;
const PAIR_BYTES: usize = 12;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// So many bytes stand for this one.
    Byte(usize, u8),
    /// So many bytes stand for this character.
    Char(usize, char),
    /// The beginning of an escape, perhaps.
    Unfinished,
}

/// Looks at the beginning of a text that may go on. What is no escape stands for itself.
pub(super) fn next(text: &[u8]) -> Next {
    match text {
        [] | [b'\\'] => Next::Unfinished,
        [b'\\', b'u', ..] => by_number(text),
        [b'\\', letter, ..] => match simple(*letter) {
            Some(byte) => Next::Byte(2, byte),
            None => Next::Byte(1, b'\\'),
        },
        [byte, ..] => Next::Byte(1, *byte),
    }
}

fn simple(letter: u8) -> Option<u8> {
    match letter {
        b'"' | b'\\' | b'/' => Some(letter),
        b'b' => Some(8),
        b'f' => Some(12),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

fn by_number(text: &[u8]) -> Next {
    let unit = match unit(text) {
        Unit::Is(unit) => unit,
        Unit::Unfinished => return Next::Unfinished,
        Unit::None => return Next::Byte(1, b'\\'),
    };
    match unit {
        0xD800..=0xDBFF => match self::unit(&text[ESCAPE_BYTES_MAX..]) {
            Unit::Is(low @ 0xDC00..=0xDFFF) => {
                let number = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                char::from_u32(number).map_or(Next::Byte(1, b'\\'), |c| Next::Char(PAIR_BYTES, c))
            }
            Unit::Unfinished => Next::Unfinished,
            Unit::Is(_) | Unit::None => Next::Byte(1, b'\\'),
        },
        // How Python writes a byte that is no UTF-8.
        0xDC80..=0xDCFF => Next::Byte(ESCAPE_BYTES_MAX, unit.to_le_bytes()[0]),
        _ => char::from_u32(unit).map_or(Next::Byte(1, b'\\'), |c| Next::Char(ESCAPE_BYTES_MAX, c)),
    }
}

enum Unit {
    Is(u32),
    Unfinished,
    None,
}

/// `\u` and four digits.
fn unit(text: &[u8]) -> Unit {
    let mut unit = 0;
    for place in 0..ESCAPE_BYTES_MAX {
        let digit = match (place, text.get(place)) {
            (_, None) => return Unit::Unfinished,
            (0, Some(b'\\')) | (1, Some(b'u')) => 0,
            (0 | 1, Some(_)) => return Unit::None,
            (_, Some(byte)) => match char::from(*byte).to_digit(16) {
                Some(digit) => digit,
                None => return Unit::None,
            },
        };
        unit = unit * 16 + digit;
    }
    Unit::Is(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Next) {
        assert_eq!(next(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn escapes_are_read_as_json_reads_them() {
        check("ab", Next::Byte(1, b'a'));
        check(r"\/x", Next::Byte(2, b'/'));
        check(r"\n", Next::Byte(2, b'\n'));
        check(r"\u002Bx", Next::Char(6, '+'));
        check(r"\u00e4", Next::Char(6, 'ä'));
        check(r"\u00E4", Next::Char(6, 'ä'));
        check(r"\ud83d\uDE00", Next::Char(12, '😀'));
        check(r"\udcff", Next::Byte(6, 0xff));
    }

    #[test]
    fn what_is_none_stands_for_itself() {
        for text in [r"\x41", r"\u00g1", r"\ud83d!", r"\ud83d\n", r"\ud83d\u0041", r"\udc00"] {
            check(text, Next::Byte(1, b'\\'));
        }
    }

    #[test]
    fn half_of_one_may_become_one() {
        for text in ["", r"\", r"\u", r"\u00e", r"\ud83d", r"\ud83d\", r"\ud83d\ude0"] {
            check(text, Next::Unfinished);
        }
    }
}
