//! Where a reader is: a stamp for each scheduler it knows, and when that was. Ids of events are
//! places, so that `Last-Event-ID` says where to go on.

use mainspring_core::ids::SchedulerId;
use mainspring_core::time::{Span, Timestamp};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub scheduler: SchedulerId,
    pub stamp: u64,
    pub at: Timestamp,
}

/// A place this old starts anew: catching up costs more than reading the lists. Where final runs
/// are kept for less than this, an older place than that may have missed some.
pub const KEPT_MAX: Span = Span::from_secs(24 * 3_600);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.scheduler, self.stamp, self.at.0)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split(':');
        let mut part = || parts.next().ok_or(());
        let scheduler = part()?.parse().map_err(drop)?;
        let stamp = part()?.parse().map_err(drop)?;
        let at = Timestamp(part()?.parse().map_err(drop)?);
        match parts.next() {
            None => Ok(Self { scheduler, stamp, at }),
            Some(_) => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_and_rubbish_does_not() {
        let scheduler = SchedulerId::from_bytes([3; 16]);
        let place = Place { scheduler, stamp: 7, at: Timestamp(9) };
        assert_eq!(place.to_string().parse(), Ok(place));
        for rubbish in ["", ":", "x:1:2", &format!("{scheduler}:1"), &format!("{place}:1")] {
            assert_eq!(rubbish.parse::<Place>(), Err(()), "{rubbish}");
        }
    }
}
