//! Whole numbers in bodies. JSON has one kind of number, and for JSON Schema `3.0` is an integer:
//! a program that writes it so is understood.

use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;

/// Beyond this a float no longer says which whole number it is.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

struct Whole(i64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Digits)
    }
}

struct Digits;

impl Visitor<'_> for Digits {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number within its limits")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Whole, E> {
        Ok(Whole(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        let whole = i64::try_from(number).map(Whole);
        whole.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
        if number.fract() != 0.0 || number.abs() > EXACT_MAX {
            return Err(E::invalid_type(Unexpected::Float(number), &self));
        }
        #[allow(clippy::cast_possible_truncation, reason = "whole, and small enough to be exact")]
        Ok(Whole(number as i64))
    }
}

/// For `deserialize_with`.
pub fn whole<'de, D: Deserializer<'de>, T: TryFrom<i64>>(deserializer: D) -> Result<T, D::Error> {
    let Whole(number) = Whole::deserialize(deserializer)?;
    within(number)
}

/// The same for a field that may be null.
pub fn whole_or_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<i64>,
{
    let number: Option<Whole> = Option::deserialize(deserializer)?;
    number.map(|Whole(number)| within(number)).transpose()
}

fn within<T: TryFrom<i64>, E: Error>(number: i64) -> Result<T, E> {
    T::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &Digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Sent {
        #[serde(deserialize_with = "whole")]
        number: u32,
        #[serde(default, deserialize_with = "whole_or_none")]
        maybe: Option<i32>,
    }

    fn read(number: &str) -> Option<u32> {
        let sent: Result<Sent, _> = serde_json::from_str(&format!(r#"{{"number": {number}}}"#));
        sent.ok().map(|sent| sent.number)
    }

    #[test]
    fn whole_numbers_are_read_however_they_are_written() {
        for (text, number) in
            [("3", 3), ("3.0", 3), ("3e2", 300), ("0", 0), ("4294967295", u32::MAX)]
        {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for text in ["3.5", "-1", "4294967296", "1e300", "18446744073709551615", "\"3\"", "null"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn null_is_none() {
        let sent: Sent = serde_json::from_str(r#"{"number": 1, "maybe": null}"#).expect("read");
        assert_eq!(sent.maybe, None);
        let sent: Sent = serde_json::from_str(r#"{"number": 1, "maybe": -2.0}"#).expect("read");
        assert_eq!(sent.maybe, Some(-2));
    }
}
