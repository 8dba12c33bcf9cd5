//! The world's time: never goes back and never stands still. An anchor of wall time plus the
//! monotonic clock, anchored again when the wall is more than a second ahead: it was set, or
//! the machine was suspended, during which the monotonic clock stands still.

use mainspring_core::time::Timestamp;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const DRIFT_MICROS_MAX: i64 = 1_000_000;

#[derive(Debug)]
pub struct Clock {
    wall: i64,
    anchor: Instant,
    last: i64,
}

impl Clock {
    pub fn new() -> Self {
        let wall = wall_micros();
        Self { wall, anchor: Instant::now(), last: wall }
    }

    pub fn now(&mut self) -> Timestamp {
        self.reckon(wall_micros(), Instant::now())
    }

    fn reckon(&mut self, wall: i64, instant: Instant) -> Timestamp {
        let elapsed = instant.saturating_duration_since(self.anchor).as_micros();
        let mut now = self.wall.saturating_add(i64::try_from(elapsed).unwrap_or(i64::MAX));
        // A wall clock that was set back is not followed in this life: time would stand still
        // until it has caught up, and every timer with it.
        if wall - now > DRIFT_MICROS_MAX {
            (self.wall, self.anchor) = (wall, instant);
            now = wall;
        }
        self.last = self.last.max(now);
        Timestamp(self.last)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

/// What the clock on the wall says.
pub fn wall() -> Timestamp {
    Timestamp(wall_micros())
}

fn wall_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SECOND: i64 = 1_000_000;

    #[test]
    fn small_steps_of_the_wall_clock_are_not_followed() {
        let mut clock = Clock::new();
        let (wall, anchor) = (clock.wall, clock.anchor);
        let now = clock.reckon(wall + SECOND / 2, anchor + Duration::from_millis(10));
        assert_eq!(now, Timestamp(wall + 10_000));
    }

    #[test]
    fn a_suspend_is_noticed() {
        let mut clock = Clock::new();
        let (wall, anchor) = (clock.wall, clock.anchor);
        let woken = anchor + Duration::from_millis(10);
        assert_eq!(clock.reckon(wall + 3_600 * SECOND, woken), Timestamp(wall + 3_600 * SECOND));
        let later = clock.reckon(wall + 3_601 * SECOND, woken + Duration::from_secs(1));
        assert_eq!(later, Timestamp(wall + 3_601 * SECOND));
    }

    #[test]
    fn it_never_goes_back() {
        let mut clock = Clock::new();
        let (wall, anchor) = (clock.wall, clock.anchor);
        let before = clock.reckon(wall, anchor + Duration::from_secs(5));
        let after = clock.reckon(wall - 3_600 * SECOND, anchor + Duration::from_secs(6));
        assert!(after >= before);
        let later = clock.reckon(wall - 3_590 * SECOND, anchor + Duration::from_secs(16));
        assert_eq!(later, Timestamp(after.0 + 10 * SECOND), "nor does it stand still");
    }
}
