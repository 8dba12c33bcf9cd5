//! Sizes: `10MiB`, `512KiB`, `10MB`, `4096` (bytes).

use super::super::code::Code;
use super::super::report::{Report, quoted};
use super::super::tree::Field;
use super::duration::scaled;
use super::expect;
use std::ops::RangeInclusive;

const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];
const HINT: &str = "write it like `10MiB`, `512KiB`, `10MB` or `4096`";

pub fn size(field: Field<'_>, range: RangeInclusive<u64>, report: &mut Report) -> Option<u64> {
    let Some(text) = field.value.scalar() else {
        expect::wrong(field, "a size", Some(HINT), report);
        return None;
    };
    let Some(bytes) = parse(text) else {
        let message = format!("{} is not a size.", quoted(text));
        let hint = meant(text).unwrap_or_else(|| HINT.to_owned());
        report.add(Code::BadSize, field.place(), message).hint(hint);
        return None;
    };
    let fits = u64::try_from(bytes).ok().filter(|bytes| range.contains(bytes));
    if fits.is_none() {
        let message = format!(
            "{} must be from {} to {} bytes.",
            quoted(field.name),
            range.start(),
            range.end()
        );
        report.add(Code::OutOfRange, field.place(), message);
    }
    fits
}

/// A unit in other letters, or one that does not say whether 1,000 or 1,024 is meant.
fn meant(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start().to_ascii_lowercase();
    let unit = match unit.as_str() {
        "k" | "m" | "g" => format!("{unit}ib"),
        _ => unit,
    };
    let (good, _) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&unit))?;
    let good = format!("{number}{good}");
    parse(&good).map(|_| format!("did you mean `{good}`?"))
}

fn parse(text: &str) -> Option<u128> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let (_, bytes) = UNITS.iter().find(|(name, _)| *name == unit)?;
    // There are no parts of a byte.
    if *bytes == 1 && number.contains('.') {
        return None;
    }
    scaled(number, *bytes)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_as_people_write_them() {
        let table: &[(&str, Option<u128>)] = &[
            ("4096", Some(4096)),
            ("10MiB", Some(10 << 20)),
            ("10 MiB", Some(10 << 20)),
            ("1.5KiB", Some(1536)),
            ("10MB", Some(10_000_000)),
            ("1.5", None),
            ("1.5B", None),
            ("10M", None),
            ("MiB", None),
            ("-1", None),
            ("", None),
            ("1e3", None),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), *expected, "{text}");
        }
    }
}
