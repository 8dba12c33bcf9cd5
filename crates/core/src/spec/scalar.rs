//! Plain scalars by the core schema of YAML 1.2: `yes` and `on` are text, `012` is neither
//! here nor there and refused.

/// What a plain scalar stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text,
    /// Looks like a number and is none that can be kept; says why, and what to do.
    Refused(&'static str, &'static str),
}

const QUOTE: &str = "put it in quotes if it is text";

pub fn resolve(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned.as_bytes() {
        [b'0'..=b'9', ..] | [b'.', _, ..] => number(text, unsigned),
        _ => Plain::Text,
    }
}

fn number(text: &str, unsigned: &str) -> Plain {
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Plain::Refused("is not a number that JSON can hold", QUOTE);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return integer(text, unsigned);
    }
    if !is_float(unsigned) {
        return Plain::Text;
    }
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() => Plain::Float(float),
        _ => Plain::Refused("is too large for a number", QUOTE),
    }
}

fn integer(text: &str, unsigned: &str) -> Plain {
    if unsigned.len() > 1 && unsigned.starts_with('0') {
        let hint = "put it in quotes if it is text, else drop the zeros (`0o17` is octal)";
        return Plain::Refused("begins with 0, which some read as octal", hint);
    }
    match text.parse() {
        Ok(int) => Plain::Int(int),
        Err(_) => Plain::Refused("is too large: integers have 64 bits", QUOTE),
    }
}

fn radix(digits: &str, radix: u32) -> Plain {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Plain::Text;
    }
    match i64::from_str_radix(digits, radix) {
        Ok(int) => Plain::Int(int),
        Err(_) => Plain::Refused("is too large: integers have 64 bits", QUOTE),
    }
}

/// `[0-9]+(\.[0-9]*)?` or `\.[0-9]+`, with an exponent or without.
fn is_float(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let good_exponent = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    digits(whole) && digits(fraction) && good_exponent && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema() {
        let table = [
            ("~", Plain::Null),
            ("", Plain::Null),
            ("TRUE", Plain::Bool(true)),
            ("yes", Plain::Text),
            ("on", Plain::Text),
            ("-7", Plain::Int(-7)),
            ("+7", Plain::Int(7)),
            ("0", Plain::Int(0)),
            ("0x1F", Plain::Int(31)),
            ("0o17", Plain::Int(15)),
            ("0x", Plain::Text),
            ("1.5", Plain::Float(1.5)),
            ("1.", Plain::Float(1.0)),
            (".5", Plain::Float(0.5)),
            ("1e3", Plain::Float(1000.0)),
            ("-1E-2", Plain::Float(-0.01)),
            ("1_000", Plain::Text),
            ("190:20:30", Plain::Text),
            ("1.2.3", Plain::Text),
            ("2024-01-02", Plain::Text),
            ("10s", Plain::Text),
            ("...", Plain::Text),
            (".e1", Plain::Text),
            ("1e", Plain::Text),
            ("+", Plain::Text),
            ("-9223372036854775808", Plain::Int(i64::MIN)),
        ];
        for (text, expected) in table {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_cannot_be_kept_are_refused() {
        for text in [
            "012",
            "-00",
            ".inf",
            "-.INF",
            ".nan",
            "9223372036854775808",
            "1e999",
            "0xFFFFFFFFFFFFFFFF",
        ] {
            assert!(matches!(resolve(text), Plain::Refused(..)), "{text}");
        }
    }
}
