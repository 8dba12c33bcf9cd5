//! Patterns of what the lowering reads by hand. Plain enough for every engine: no look-around,
//! no classes that differ between dialects.

/// From the largest.
const UNITS: &[&str] = &["d", "h", "m", "s", "ms"];
/// More digits are more than any field takes.
const WHOLE: &str = "[0-9]{1,20}";

pub const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_.-]*$";
pub const SECRET: &str = "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$";
pub const VARIABLE: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
pub const NOT_BLANK: &str = "\\S";
/// Holds a template.
pub const TEMPLATE: &str = "\\$\\{\\{";
/// Not zero, for what is a number with units.
pub const NOT_ZERO: &str = "[1-9]";

/// `1h30m`, `1.5h`: units in their order, and only the last may have a fraction.
pub fn duration() -> String {
    let ways = UNITS.iter().enumerate().map(|(last, unit)| {
        let before: String =
            UNITS[..last].iter().map(|unit| format!("({WHOLE}{unit} ?)?")).collect();
        format!("{before}{WHOLE}(\\.[0-9]+)?{unit}")
    });
    format!("^\\s*({})\\s*$", ways.collect::<Vec<_>>().join("|"))
}

/// `100/1m`: a number that is not zero, and a duration.
pub fn rate() -> String {
    let duration = duration();
    format!("^\\s*0*[1-9][0-9]{{0,6}}\\s*/{}", duration.trim_start_matches('^'))
}

/// `10MiB`, `1.5 KiB`, `4096`: there are no parts of a byte.
pub fn size() -> String {
    format!("^\\s*({WHOLE} ?B?|{WHOLE}(\\.[0-9]+)? ?(KiB|MiB|GiB|kB|KB|MB|GB))\\s*$")
}
