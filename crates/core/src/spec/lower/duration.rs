//! Durations: `250ms`, `10s`, `1.5h`, `1h30m`, `2d`. A number without a unit is refused: no two
//! programs agree on what it means.

use super::super::code::Code;
pub use super::super::format::shape::Zero;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::expect;
use crate::limits::DURATION_MAX;
use crate::time::Span;

/// From the largest, with what else people call them: parts of one duration come in this order.
const UNITS: &[(&str, u64, &[&str])] = &[
    ("d", 86_400_000_000, &["day", "days"]),
    ("h", 3_600_000_000, &["hr", "hrs", "hour", "hours"]),
    ("m", 60_000_000, &["min", "mins", "minute", "minutes"]),
    ("s", 1_000_000, &["sec", "secs", "second", "seconds"]),
    ("ms", 1_000, &["msec", "msecs", "millis", "millisecond", "milliseconds"]),
];
const UNITS_HINT: &str = "write it like `250ms`, `10s`, `5m`, `1h30m` or `2d`";

pub fn duration(field: Field<'_>, zero: Zero, report: &mut Report) -> Option<Span> {
    let Some(text) = field.value.scalar() else {
        expect::wrong(field, "a duration", Some(UNITS_HINT), report);
        return None;
    };
    let Some(micros) = parse(text) else {
        let bare = text.parse::<f64>().is_ok_and(|number| number >= 0.0);
        let (what, hint) = match bare {
            true => ("has no unit", format!("write `{text}s` for seconds")),
            false => ("is not a duration", meant(text).unwrap_or_else(|| UNITS_HINT.to_owned())),
        };
        let message = format!("{} {what}.", quoted(text));
        report.add(Code::BadDuration, field.place(), message).hint(hint);
        return None;
    };
    let too_short = micros == 0 && zero == Zero::Refused;
    if too_short || micros > u128::from(DURATION_MAX.0) {
        let bound = match too_short {
            true => "longer than 0".to_owned(),
            false => format!("at most {DURATION_MAX}"),
        };
        let message = format!("{} must be {bound}.", quoted(field.name));
        let hint = too_short.then(|| "leave it out to have the default".to_owned());
        report.add(Code::OutOfRange, field.place(), message).maybe_hint(hint);
        return None;
    }
    u64::try_from(micros).ok().map(Span)
}

/// A duration from elsewhere than a workflow: a flag, a configuration file.
pub fn read(text: &str) -> Result<Span, String> {
    let micros = parse(text).ok_or_else(|| UNITS_HINT.to_owned())?;
    let within = u64::try_from(micros).ok().map(Span).filter(|span| *span <= DURATION_MAX);
    within.ok_or_else(|| format!("at most {DURATION_MAX}"))
}

/// A number and a unit by another name, such as `5 minutes`.
fn meant(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start().to_ascii_lowercase();
    let (short, ..) =
        UNITS.iter().find(|(short, _, names)| *short == unit || names.contains(&&*unit))?;
    let good = format!("{number}{short}");
    parse(&good).map(|_| format!("did you mean `{good}`?"))
}

/// Microseconds. Saturates far above every bound.
fn parse(text: &str) -> Option<u128> {
    let mut rest = text.trim();
    let mut units = UNITS;
    let mut total = 0_u128;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, tail) = rest.split_at(end);
        let unit_end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let position = units.iter().position(|(name, ..)| *name == unit)?;
        let (_, micros, _) = units[position];
        units = &units[position + 1..];
        total = total.saturating_add(scaled(number, micros)?);
        rest = tail.strip_prefix(' ').unwrap_or(tail);
        if number.contains('.') && !rest.is_empty() {
            return None;
        }
    }
    Some(total)
}

/// `number × micros`, exact: no float comes between what was written and what is kept.
pub fn scaled(number: &str, unit: u64) -> Option<u128> {
    let (whole, fraction) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (number, ""),
    };
    if whole.is_empty() || fraction.contains('.') || whole.len() > 20 {
        return None;
    }
    // Twelve digits are finer than a microsecond of a day.
    let fraction = &fraction[..fraction.len().min(12)];
    let digits: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let scale = 10_u128.pow(u32::try_from(fraction.len()).expect("at most 12"));
    let whole: u128 = whole.parse().ok()?;
    Some(whole.saturating_mul(u128::from(unit)) + digits * u128::from(unit) / scale)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn durations_as_people_write_them() {
        let table: &[(&str, Option<u128>)] = &[
            ("250ms", Some(250_000)),
            ("10s", Some(10_000_000)),
            ("1.5h", Some(5_400_000_000)),
            ("1h30m", Some(5_400_000_000)),
            ("1h 30m", Some(5_400_000_000)),
            ("2d", Some(172_800_000_000)),
            ("0s", Some(0)),
            ("0.001s", Some(1_000)),
            ("1d2h3m4s5ms", Some(93_784_005_000)),
            ("99999999999999999999d", Some(99_999_999_999_999_999_999 * 86_400_000_000)),
            ("10", None),
            ("", None),
            ("s", None),
            ("1.s", None),
            (".5s", None),
            ("1..5s", None),
            ("1.5.5s", None),
            ("1m1h", None),
            ("1s1s", None),
            ("1.5h30m", None),
            ("-5s", None),
            ("5 s", None),
            ("5min", None),
            ("5M", None),
            ("1h  30m", None),
            ("5µs", None),
            ("1e3s", None),
            ("999999999999999999999d", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), *expected, "{text}");
        }
    }
}
