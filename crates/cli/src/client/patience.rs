//! How long an answer is waited for.

use super::ask::Ask;
use std::time::Duration;

/// A server that is stopped takes a connection and never says a word.
const READING_MAX: Duration = Duration::from_secs(30);
/// Longer than a server lets a commit wait: whoever leaves before does not know what was done.
const CHANGING_MAX: Duration = Duration::from_secs(60);
/// What is on its way through a slow line is no silence.
const BYTES_A_SECOND_MIN: u64 = 64 * 1024;

/// Until the head of an answer is there. What follows it in a stream has a patience of its own.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    reading: Duration,
    changing: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { reading: READING_MAX, changing: CHANGING_MAX }
    }
}

impl Patience {
    /// The same for everything.
    #[cfg(test)]
    pub fn of_all(time: Duration) -> Self {
        Self { reading: time, changing: time }
    }

    pub fn with(self, ask: &Ask) -> Duration {
        let usual = if ask.is_read() { self.reading } else { self.changing };
        usual + Duration::from_secs(ask.body_bytes() / BYTES_A_SECOND_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_has_time_to_arrive() {
        let seconds = |ask: &Ask| Patience::default().with(ask).as_secs();
        assert_eq!(seconds(&Ask::get(&["runs"])), 30);
        assert_eq!(seconds(&Ask::post(&["runs"])), 60);
        let large = Ask::post(&["workflows"]).body("application/yaml", vec![b' '; 8 * 1024 * 1024]);
        assert_eq!(seconds(&large), 60 + 128);
    }
}
