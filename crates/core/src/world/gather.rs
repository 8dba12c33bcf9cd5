//! How long ends of attempts wait for more of them before they are committed together.
//!
//! A commit costs about the same whether it carries one end or ten, and while many attempts
//! are live their processors are not idle: waiting a moment then costs nothing and saves
//! commits. A chain must not wait, and neither must anybody who asked for something.
//!
//! ```text
//!  first end ──► more ends … ──► a quarter of the attempts has ended, or the time is up
//!      │
//!      └─ anything else that was decided, or few live: at once
//! ```
//! Whether more ends will come cannot be known: a wait that brought none makes the next waits
//! rarer, so that a chain beside hundreds of sleepers hardly waits at all.

use crate::limits::GATHER;
use crate::time::Timestamp;

/// At once when so many times the gathered ends are not fewer than the live attempts.
const LIVE_PER_END: u32 = 3;
/// After many waits in vain one batch in 64 waits.
const VAIN_MAX: u32 = 6;

#[derive(Clone, Debug, Default)]
pub struct Gather {
    ends: u32,
    /// The first of them.
    since: Option<Timestamp>,
    /// Something in this batch may not wait.
    hurried: bool,
    /// Waits in a row that brought nothing.
    vain: u32,
    /// How many batches to come that could wait will not.
    pass: u32,
}

impl Gather {
    pub fn end(&mut self, now: Timestamp) {
        self.ends += 1;
        self.since.get_or_insert(now);
    }

    pub fn hurry(&mut self) {
        self.hurried = true;
    }

    /// When the batch is due, with so many attempts live beside those that ended.
    pub fn due(&self, live: u32) -> Timestamp {
        match self.since {
            Some(since) if self.pass == 0 && self.may_wait(live) => since + GATHER,
            _ => Timestamp(i64::MIN),
        }
    }

    fn may_wait(&self, live: u32) -> bool {
        !self.hurried && self.ends.saturating_mul(LIVE_PER_END) < live
    }

    /// The batch is taken, with so many attempts live beside those that ended.
    pub fn taken(&mut self, live: u32) {
        let could_wait = self.since.is_some() && self.may_wait(live);
        if could_wait && self.pass > 0 {
            self.pass -= 1;
        } else if could_wait && self.ends == 1 {
            self.vain = (self.vain + 1).min(VAIN_MAX);
            self.pass = (1 << self.vain) - 1;
        } else if self.ends > 1 {
            self.vain = 0;
        }
        (self.ends, self.since, self.hurried) = (0, None, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Timestamp = Timestamp(i64::MIN);
    const T: Timestamp = Timestamp(1_000_000);

    #[test]
    fn with_few_live_nobody_waits() {
        let mut gather = Gather::default();
        gather.end(T);
        for live in 0..=3 {
            assert_eq!(gather.due(live), AT_ONCE, "{live} live");
        }
        assert_eq!(gather.due(4), T + GATHER);
    }

    #[test]
    fn a_quarter_is_enough() {
        let mut gather = Gather::default();
        for ended in 1..=3 {
            gather.end(T);
            assert_eq!(gather.due(16 - ended), T + GATHER, "{ended} ended");
        }
        gather.end(T);
        assert_eq!(gather.due(12), AT_ONCE);
    }

    #[test]
    fn who_asked_does_not_wait_and_the_next_batch_may() {
        let mut gather = Gather::default();
        gather.end(T);
        gather.hurry();
        assert_eq!(gather.due(100), AT_ONCE);
        gather.taken(100);
        gather.end(T);
        assert_eq!(gather.due(100), T + GATHER);
    }

    #[test]
    fn waits_in_vain_become_rare_and_others_bring_them_back() {
        let mut gather = Gather::default();
        let mut waits = 0;
        for _ in 0..1_000 {
            gather.end(T);
            waits += u32::from(gather.due(100) != AT_ONCE);
            gather.taken(100);
        }
        assert!((16..=24).contains(&waits), "{waits} waits");
        gather.end(T);
        gather.end(T);
        while gather.due(100) == AT_ONCE {
            gather.taken(100);
            gather.end(T);
            gather.end(T);
        }
        gather.taken(100);
        gather.end(T);
        assert_eq!(gather.due(100), T + GATHER);
    }
}
