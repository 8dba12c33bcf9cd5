//! For how long the store has been failing, and how long to wait before the next try.

use std::time::{Duration, Instant};

/// Waits between loads after the store failed.
pub(crate) const PAUSE_MIN: Duration = Duration::from_millis(100);
pub(crate) const PAUSE_MAX: Duration = Duration::from_secs(5);
/// A store that let itself be loaded and then took what it was given, or was given nothing, for
/// so long has recovered: what fails after that is another trouble. Twice the longest pause, so
/// that a disk which takes little things and no large ones is no recovery.
const CALM: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub since: Instant,
    /// Before the next try.
    pub pause: Duration,
    /// What was said last, for a person.
    pub why: String,
}

impl Trouble {
    /// Another failure. `loaded`: since when there was a world, if there was one.
    pub fn after(former: Option<Self>, loaded: Option<Instant>, now: Instant, why: &str) -> Self {
        let calm = loaded.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let why = why.to_owned();
        match former.filter(|_| calm < CALM) {
            None => Self { since: now, pause: PAUSE_MIN, why },
            Some(Self { since, pause, .. }) => {
                Self { since, pause: (pause * 2).min(PAUSE_MAX), why }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn pauses_grow_while_the_store_fails() {
        let begin = Instant::now();
        let mut trouble = Trouble::after(None, Some(begin), begin, "full");
        assert_eq!(trouble.pause, PAUSE_MIN);
        for n in 1..=10 {
            // Loaded now and then, but never for long.
            let now = begin + seconds(10 * n);
            trouble = Trouble::after(Some(trouble), Some(now - seconds(9)), now, "full");
        }
        assert_eq!((trouble.since, trouble.pause), (begin, PAUSE_MAX));
        // A load that takes long to fail is no recovery.
        let now = begin + seconds(1_000);
        assert_eq!(Trouble::after(Some(trouble), None, now, "away").since, begin);
    }

    /// Nobody need commit anything for that.
    #[test]
    fn what_fails_long_after_a_load_is_another_trouble() {
        let begin = Instant::now();
        let first = Trouble::after(None, Some(begin), begin, "full");
        let now = begin + seconds(60);
        let second = Trouble::after(Some(first), Some(now - CALM), now, "away");
        let expected = Trouble { since: now, pause: PAUSE_MIN, why: "away".to_owned() };
        assert_eq!(second, expected);
    }
}
