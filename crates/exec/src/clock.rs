//! The wall clock, read in one place.

use mainspring_core::time::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in UTC; a clock set before 1970 counts as 1970.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
