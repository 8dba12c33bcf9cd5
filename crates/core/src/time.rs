//! Time: UTC, in microseconds, everywhere. Core has no clock; `now` is always an argument.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Add, Sub};

/// A moment: microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// A length of time in microseconds, never negative.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(pub u64);

impl Timestamp {
    pub const MAX: Self = Self(253_402_300_799_999_999); // 9999-12-31T23:59:59.999999Z

    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0.max(0)).expect("not negative") / 1_000
    }

    /// How long ago `earlier` was; nothing when it is still to come.
    pub fn since(self, earlier: Self) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Span {
    pub const ZERO: Self = Self(0);

    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000))
    }

    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000
    }

    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_micros(self.0)
    }
}

impl Add<Span> for Timestamp {
    type Output = Self;
    /// Saturates at the year 9999: a task may wait for ever, arithmetic may not wrap.
    fn add(self, span: Span) -> Self {
        let micros = i64::try_from(span.0).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros)).min(Self::MAX)
    }
}

impl Sub<Span> for Timestamp {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => write!(f, "{moment:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl fmt::Display for Span {
    /// As people write durations: `1.5s`, `250ms`, `2m 5s`, `3h 10m`, `1d 4h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MS: u64 = 1_000;
        const S: u64 = 1_000 * MS;
        const M: u64 = 60 * S;
        const H: u64 = 60 * M;
        const D: u64 = 24 * H;
        let us = self.0;
        let two = |f: &mut fmt::Formatter<'_>, (big, name), (small, small_name)| {
            let rest = us % big / small;
            match rest {
                0 => write!(f, "{}{name}", us / big),
                rest => write!(f, "{}{name} {rest}{small_name}", us / big),
            }
        };
        match us {
            0 => f.write_str("0s"),
            _ if us < MS => write!(f, "{us}us"),
            _ if us < S => write!(f, "{}ms", us / MS),
            _ if us < M => {
                let tenths = us % S / (100 * MS);
                match tenths {
                    0 => write!(f, "{}s", us / S),
                    tenths => write!(f, "{}.{tenths}s", us / S),
                }
            }
            _ if us < H => two(f, (M, "m"), (S, "s")),
            _ if us < D => two(f, (H, "h"), (M, "m")),
            _ => two(f, (D, "d"), (H, "h")),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::str::FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        let moment: jiff::Timestamp = text.parse()?;
        Ok(Self(moment.as_microsecond()))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_shown_as_rfc_3339_with_microseconds() {
        assert_eq!(Timestamp(1_700_000_000_000_000).to_string(), "2023-11-14T22:13:20.000000Z");
    }

    #[test]
    fn a_span_is_shown_as_people_write_it() {
        let shown: Vec<String> = [0, 15, 2_500, 1_000_000, 1_540_000, 125_000_000, 3_600_000_000]
            .map(|us| Span(us).to_string())
            .into();
        assert_eq!(shown, ["0s", "15us", "2ms", "1s", "1.5s", "2m 5s", "1h"]);
    }

    #[test]
    fn adding_never_wraps() {
        assert_eq!(Timestamp(5) + Span(u64::MAX), Timestamp::MAX);
    }
}
