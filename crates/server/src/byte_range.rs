//! Which part of a text was asked for: one range of bytes. Anything else that a `Range` header may
//! say is passed over, and the whole is sent, as RFC 9110 has it.

use axum::http::{HeaderMap, header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// First and last byte, both included.
    Within(u64, u64),
    /// So many bytes from the end.
    Last(u64),
}

impl ByteRange {
    pub fn asked(headers: &HeaderMap) -> Option<Self> {
        Self::parse(headers.get(header::RANGE)?.to_str().ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (unit, range) = text.split_once('=')?;
        let (first, last) = range.split_once('-')?;
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return None;
        }
        match (first.trim(), last.trim()) {
            ("", last) => Some(Self::Last(number(last)?)),
            (first, "") => Some(Self::Within(number(first)?, u64::MAX)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::Within(first, last))
            }
        }
    }

    /// First and last byte of a text that is so long; None if none of its bytes was asked for.
    pub fn of(self, total: u64) -> Option<(u64, u64)> {
        let (first, last) = match self {
            Self::Within(first, last) => (first, last),
            Self::Last(0) => return None,
            Self::Last(count) => (total.saturating_sub(count), u64::MAX),
        };
        (first < total).then(|| (first, last.min(total - 1)))
    }
}

/// One that is too large to be counted lies behind every end.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_cut_out_of_a_text() {
        for (asked, cut) in [
            ("bytes=0-0", Some((0, 0))),
            ("Bytes = 2 - 5", Some((2, 5))),
            ("bytes=2-", Some((2, 9))),
            ("bytes=2-99999999999999999999999", Some((2, 9))),
            ("bytes=-3", Some((7, 9))),
            ("bytes=-30", Some((0, 9))),
            ("bytes=-0", None),
            ("bytes=10-", None),
            ("bytes=10-12", None),
        ] {
            let range = ByteRange::parse(asked).expect(asked);
            assert_eq!(range.of(10), cut, "{asked}");
            assert_eq!(range.of(0), None, "{asked}");
        }
    }

    #[test]
    fn what_is_no_single_range_is_passed_over() {
        let other = ["", "bytes", "bytes=", "bytes=-", "bytes=5-2", "lines=1-2", "bytes=0-1,3-4"];
        for asked in other.into_iter().chain(["bytes=-5,0-1", "bytes=+1-2", "bytes=a-b"]) {
            assert_eq!(ByteRange::parse(asked), None, "{asked}");
        }
    }
}
