//! How fast one run may be told of: ten messages in any second, and evenly.
//!
//! ```text
//!  wave of two, 200 ms, wave of two, 200 ms, wave of one, 100 ms, …
//! ```
//! The messages of a wave go out together, and the pause comes after them: what happens after a
//! quiet time is told at once, a final state too. Only a wave that is more than a second's worth is
//! itself drawn out.

use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

const MESSAGES_MAX: u32 = 10;
const WITHIN: Duration = Duration::from_secs(1);
/// What one message takes of it.
pub const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub struct Pace {
    /// When the last ones went.
    sent: VecDeque<Instant>,
    /// Messages since the last pause.
    wave: u32,
}

impl Pace {
    /// When the next message about a run may go, which is then taken for sent.
    pub fn message(&mut self, now: Instant) -> Instant {
        let is_full = self.sent.len() >= MESSAGES_MAX as usize;
        let oldest = if is_full { self.sent.pop_front() } else { None };
        let at = oldest.map_or(now, |oldest| now.max(oldest + WITHIN));
        self.sent.push_back(at);
        self.wave = MESSAGES_MAX.min(self.wave + 1);
        at
    }

    /// When to look for the next wave.
    pub fn wave(&mut self, now: Instant) -> Instant {
        let wave = std::mem::take(&mut self.wave);
        let last = self.sent.back().copied().unwrap_or(now);
        now.max(last + PAUSE * wave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waves of these sizes, each there as soon as it is asked for; when each message went, in
    /// milliseconds.
    fn played(waves: &[u32]) -> Vec<u128> {
        let begin = Instant::now();
        let (mut pace, mut now, mut sent) = (Pace::default(), begin, Vec::new());
        for wave in waves {
            now = pace.wave(now);
            for _ in 0..*wave {
                now = pace.message(now);
                sent.push((now - begin).as_millis());
            }
        }
        sent
    }

    #[test]
    fn a_run_is_told_of_at_most_ten_times_in_any_second() {
        for waves in [&[1; 200][..], &[2; 200], &[2, 1, 1, 2, 3, 7, 2, 1].repeat(20), &[51, 2, 2]] {
            let sent = played(waves);
            for eleven in sent.windows(11) {
                assert!(eleven[10] - eleven[0] >= 1_000, "{eleven:?}");
            }
        }
    }

    #[test]
    fn a_wave_goes_out_together_and_nothing_waits_longer_than_its_pause() {
        assert_eq!(played(&[2, 2, 1, 1, 2]), [0, 0, 200, 200, 400, 500, 600, 600]);
        assert_eq!(played(&[3, 1]), [0, 0, 0, 300]);
    }

    #[test]
    fn what_comes_after_a_quiet_time_goes_at_once() {
        let begin = Instant::now();
        let mut pace = Pace::default();
        assert_eq!((pace.message(begin), pace.message(begin)), (begin, begin));
        let later = begin + Duration::from_secs(5);
        assert_eq!((pace.wave(later), pace.message(later)), (later, later));
    }
}
