//! When things started, as far as a rate has to know.
//!
//! A sliding window: starts are counted in slots of a 64th of the rate's time, and a slot counts
//! until its last moment is as long ago as that time. So no window of the rate's length ever holds
//! more starts than it allows; a start may come up to a 64th of it later than it could. (A bucket
//! that fills up again would let twice as many into a window.) What is kept is small whatever the
//! rate is, and is stored with the starts that it counts: a restart forgets none.

use crate::kernel::limit::Rate;
use crate::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

const SLOTS: u64 = 64;

/// Slots by the moment at which they are over, and how many started in each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger(VecDeque<(i64, u32)>);

/// The starts that a limit's rate counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    /// Of the limit, as shown.
    pub name: Arc<str>,
    pub ledger: Ledger,
}

impl Ledger {
    /// Something starts.
    pub fn note(&mut self, now: Timestamp, rate: Rate) {
        let over = slot_end(now, rate.per);
        match self.0.back_mut() {
            Some((last, count)) if *last >= over => *count += 1,
            _ => self.0.push_back((over, 1)),
        }
    }

    /// Drops what is too long ago to count.
    pub fn forget(&mut self, now: Timestamp, rate: Rate) {
        while self.frees_at(rate).is_some_and(|at| at <= now) {
            self.0.pop_front();
        }
    }

    /// When the oldest of its slots counts no more.
    pub fn frees_at(&self, rate: Rate) -> Option<Timestamp> {
        self.0.front().map(|(over, _)| Timestamp(*over) + rate.per)
    }

    /// How many starts count.
    pub fn starts(&self) -> u64 {
        self.0.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// A clock that was set back must not hold things up for longer than the rate does: what is
    /// said to have started later than now started now.
    pub fn not_after(mut self, now: Timestamp) -> Self {
        // Over with the moment after this one: something may start in this one.
        let latest = now.0.saturating_add(1);
        let mut late = 0;
        while let Some((over, count)) = self.0.back().copied()
            && over > latest
        {
            late += count;
            self.0.pop_back();
        }
        if late > 0 {
            self.0.push_back((latest, late));
        }
        self
    }
}

fn slot_end(now: Timestamp, per: Span) -> i64 {
    let width = i64::try_from(per.0.div_ceil(SLOTS)).unwrap_or(i64::MAX).max(1);
    now.0.div_euclid(width).saturating_add(1).saturating_mul(width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: Rate = Rate { starts: 3, per: Span::from_secs(64) };

    fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1_000_000)
    }

    /// Starts whenever it may, looking every so often.
    fn starts(rate: Rate, looks: impl IntoIterator<Item = Timestamp>) -> Vec<Timestamp> {
        let mut ledger = Ledger::default();
        let mut started = Vec::new();
        for now in looks {
            ledger.forget(now, rate);
            if ledger.starts() < u64::from(rate.starts) {
                ledger.note(now, rate);
                started.push(now);
            }
        }
        started
    }

    #[test]
    fn a_slot_counts_until_all_of_it_is_long_enough_ago() {
        let started = starts(RATE, (0..140).map(at));
        assert_eq!(started, [0, 1, 2, 65, 66, 67, 130, 131, 132].map(at));
    }

    #[test]
    fn a_clock_set_back_holds_up_for_one_window_at_most() {
        let mut ledger = Ledger::default();
        ledger.note(at(1_000_000), RATE);
        ledger.note(at(1_000_001), RATE);
        let mut ledger = ledger.not_after(at(10));
        let frees = Timestamp(at(74).0 + 1);
        assert_eq!((ledger.starts(), ledger.frees_at(RATE)), (2, Some(frees)));
        ledger.forget(frees, RATE);
        assert_eq!(ledger.starts(), 0);
    }

    proptest! {
        #[test]
        fn no_window_holds_more_than_the_rate_allows(
            gaps in prop::collection::vec(0_u64..20_000, 1..400),
            allowed in 1_u32..6,
            per_ms in 1_u64..60,
        ) {
            let rate = Rate { starts: allowed, per: Span::from_ms(per_ms) };
            let mut now = Timestamp(0);
            let looks = gaps.into_iter().map(|gap| { now = now + Span(gap); now });
            let started = starts(rate, looks.collect::<Vec<_>>());
            for from in &started {
                let within = started.iter().filter(|at| *at >= from && **at <= *from + rate.per);
                prop_assert!(within.count() <= allowed as usize);
            }
        }
    }
}
