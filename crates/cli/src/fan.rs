//! How far a fan-out is, in numbers.

use mainspring_core::kernel::group::Group;
use std::collections::BTreeMap;

/// Failed instances that are named one by one.
pub const NAMED_MAX: usize = 5;

/// Fewer instances than this are over soon enough.
const LARGE: u32 = 100;

/// Instances by what has become of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fan {
    pub total: u32,
    pub success: u32,
    pub failed: u32,
    pub cancelled: u32,
}

impl Fan {
    /// From the counts of a server's answer.
    pub fn of(counts: &BTreeMap<String, u32>) -> Self {
        let count = |word: &str| counts.get(word).copied().unwrap_or(0);
        Self {
            total: count("total"),
            success: count("success"),
            failed: count("failed"),
            cancelled: count("cancelled"),
        }
    }

    pub fn of_group(group: &Group) -> Self {
        let Group { count: total, success, failed, cancelled, .. } = *group;
        Self { total, success, failed, cancelled }
    }

    /// Those with an outcome.
    pub fn done(&self) -> u32 {
        self.success + self.failed + self.cancelled
    }

    /// A large one is heard of while it goes on: at each tenth but the last, which is its end.
    pub fn has_news_since(&self, before: Self) -> bool {
        self.total >= LARGE && self.tenth() > before.tenth() && self.done() < self.total
    }

    fn tenth(&self) -> u32 {
        u32::try_from(u64::from(self.done()) * 10 / u64::from(self.total.max(1))).unwrap_or(10)
    }

    /// `812/1000, 3 failed`
    pub fn text(&self) -> String {
        let mut text = format!("{}/{}", self.done(), self.total);
        for (count, word) in [(self.failed, "failed"), (self.cancelled, "cancelled")] {
            if count > 0 {
                text.push_str(&format!(", {count} {word}"));
            }
        }
        text
    }
}

/// `1 instance`, `3 instances`
pub fn counted(instances: u32) -> String {
    if instances == 1 { "1 instance".to_owned() } else { format!("{instances} instances") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_is_told_of_all() {
        let fan = Fan { total: 1_000, success: 808, failed: 3, cancelled: 1 };
        assert_eq!(fan.text(), "812/1000, 3 failed, 1 cancelled");
        assert_eq!(Fan::default().text(), "0/0");
    }

    #[test]
    fn tenths_of_large_ones_are_news() {
        let of = |total, success| Fan { total, success, ..Fan::default() };
        let is_news = |total, before, now| of(total, now).has_news_since(of(total, before));
        assert!(is_news(1_000, 99, 100) && is_news(1_000, 0, 950));
        assert!(!is_news(1_000, 100, 199) && !is_news(1_000, 950, 1_000), "the end is the end");
        assert!(!is_news(99, 0, 50) && !is_news(0, 0, 0));
    }
}
