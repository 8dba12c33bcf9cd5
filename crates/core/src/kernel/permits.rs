//! Limits as sets of permits. A task needs a *set* and takes all of it or none. Counts are
//! indexes over task rows: rebuilt on load, compared with a recount in simulation. What a rate
//! counts is stored, because the rows of what it counts may be gone.

use crate::kernel::ledger::{Ledger, LedgerRow};
use crate::kernel::limit::{Bound, LimitSetting, Source, default_bound};
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An interned limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitId(u32);

/// The limits a task counts against, sorted, no limit twice.
pub type PermitSet = Arc<[LimitId]>;

#[derive(Clone, Debug)]
pub struct Limit {
    /// As shown.
    pub name: Arc<str>,
    pub bound: Bound,
    pub source: Source,
    pub used: u32,
    /// What its rate counts; empty without one.
    ledger: Ledger,
}

impl Limit {
    /// Whether another permit can be had, as far as it was last looked at the time.
    pub fn is_full(&self) -> bool {
        self.used >= self.bound.limit || self.is_rate_full()
    }

    fn is_rate_full(&self) -> bool {
        self.bound.rate.is_some_and(|rate| self.ledger.starts() >= u64::from(rate.starts))
    }

    /// When its rate lets the next one in, if that is what keeps it out.
    pub fn frees_at(&self) -> Option<Timestamp> {
        let rate = self.bound.rate.filter(|_| self.is_rate_full())?;
        self.ledger.frees_at(rate)
    }
}

/// Every limit this world knows, with what is in use.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    limits: Vec<Limit>,
    by_name: BTreeMap<Arc<str>, LimitId>,
    /// Those with a rate.
    rated: Vec<LimitId>,
    /// What was stored of those whose rates are not known yet.
    former: BTreeMap<Arc<str>, Ledger>,
    /// Nothing starts any more, whatever is free.
    closed: bool,
}

impl Limits {
    pub fn of(settings: &[LimitSetting], ledgers: &[LedgerRow], now: Timestamp) -> Self {
        let former = ledgers.iter().map(|row| {
            let ledger = row.ledger.clone().not_after(now);
            (Arc::clone(&row.name), ledger)
        });
        let mut limits = Self { former: former.collect(), ..Self::default() };
        for LimitSetting { name, bound, source } in settings {
            limits.put(name, *bound, *source);
        }
        limits
    }

    /// Adds a limit or changes its bound. What is in use stays, even over the new bound.
    pub fn put(&mut self, name: &str, bound: Bound, source: Source) -> LimitId {
        let id = self.id(name).unwrap_or_else(|| self.add(name));
        let limit = &mut self.limits[id.0 as usize];
        match (limit.bound.rate, bound.rate) {
            (None, Some(_)) => limit.ledger = self.former.remove(name).unwrap_or_default(),
            (Some(_), None) => limit.ledger = Ledger::default(),
            // What has started has started, whatever the number is now.
            (Some(_), Some(_)) | (None, None) => {}
        }
        (limit.bound, limit.source) = (bound, source);
        self.rated.retain(|rated| *rated != id);
        self.rated.extend(bound.rate.map(|_| id));
        id
    }

    /// A limit that is counted against, whether or not anybody has said what it is: nothing gets
    /// through a tier that nobody has, and one at a time through a queue.
    pub fn named(&mut self, name: &str) -> LimitId {
        self.id(name).unwrap_or_else(|| self.add(name))
    }

    fn add(&mut self, name: &str) -> LimitId {
        let id = LimitId(u32::try_from(self.limits.len()).expect("limits are few"));
        let name: Arc<str> = name.into();
        self.by_name.insert(Arc::clone(&name), id);
        let (bound, source) = (default_bound(&name), Source::Default);
        self.limits.push(Limit { name, bound, source, used: 0, ledger: Ledger::default() });
        id
    }

    #[cfg(test)]
    pub fn set(&mut self, name: &str, limit: u32) -> LimitId {
        self.put(name, Bound::of(limit), Source::Default)
    }

    pub fn id(&self, name: &str) -> Option<LimitId> {
        self.by_name.get(name).copied()
    }

    pub fn get(&self, id: LimitId) -> &Limit {
        &self.limits[id.0 as usize]
    }

    pub fn find(&self, name: &str) -> Option<&Limit> {
        self.id(name).map(|id| self.get(id))
    }

    /// No permit is given any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn has_room(&self, set: &[LimitId]) -> bool {
        !self.closed && set.iter().all(|id| !self.get(*id).is_full())
    }

    pub fn take(&mut self, set: &[LimitId]) {
        for id in set {
            self.limits[id.0 as usize].used += 1;
        }
    }

    pub fn give_back(&mut self, set: &[LimitId]) {
        for id in set {
            let used = &mut self.limits[id.0 as usize].used;
            *used = used.checked_sub(1).expect("a permit is given back once");
        }
    }

    /// Something starts that counts against these. Returns those whose ledgers have changed.
    pub fn note_start(&mut self, set: &[LimitId], now: Timestamp) -> Vec<LimitId> {
        let mut rated = Vec::new();
        for id in set {
            let limit = &mut self.limits[id.0 as usize];
            if let Some(rate) = limit.bound.rate {
                limit.ledger.note(now, rate);
                rated.push(*id);
            }
        }
        rated
    }

    /// What was too long ago counts no more.
    pub fn look_at(&mut self, now: Timestamp) {
        for id in &self.rated {
            let limit = &mut self.limits[id.0 as usize];
            if let Some(rate) = limit.bound.rate {
                limit.ledger.forget(now, rate);
            }
        }
    }

    /// When rates that are full now let all of this set through, if nothing but rates is in the
    /// way.
    pub fn frees_at(&self, set: &[LimitId]) -> Option<Timestamp> {
        let is_out = |limit: &Limit| limit.used >= limit.bound.limit;
        if self.closed || self.rated.is_empty() || set.iter().any(|id| is_out(self.get(*id))) {
            return None;
        }
        set.iter().filter_map(|id| self.get(*id).frees_at()).max()
    }

    pub fn ledger(&self, id: LimitId) -> LedgerRow {
        let limit = self.get(id);
        LedgerRow { name: Arc::clone(&limit.name), ledger: limit.ledger.clone() }
    }

    /// Every limit, by name.
    pub fn all(&self) -> impl Iterator<Item = (LimitId, &Limit)> {
        self.by_name.values().map(|id| (*id, self.get(*id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::limit::Rate;
    use crate::time::Span;

    #[test]
    fn a_set_has_room_only_when_every_limit_has() {
        let mut limits = Limits::default();
        let (total, gpu) = (limits.set("total", 2), limits.set("gpu", 1));
        limits.take(&[total, gpu]);
        assert!(limits.has_room(&[total]));
        assert!(!limits.has_room(&[total, gpu]));
        limits.give_back(&[total, gpu]);
        assert!(limits.has_room(&[total, gpu]));
    }

    #[test]
    fn a_bound_below_use_lets_nothing_in_and_loses_nothing() {
        let mut limits = Limits::default();
        let total = limits.set("total", 3);
        limits.take(&[total]);
        limits.take(&[total]);
        limits.set("total", 1);
        assert!(!limits.has_room(&[total]));
        limits.give_back(&[total]);
        assert_eq!((limits.get(total).bound.limit, limits.get(total).used), (1, 1));
    }

    #[test]
    fn what_nobody_has_defined_lets_nothing_through() {
        let mut limits = Limits::default();
        let lost = limits.named("lost");
        assert!(!limits.has_room(&[lost]));
        limits.put("lost", Bound::of(1), Source::Api);
        assert!(limits.has_room(&[lost]));
    }

    #[test]
    fn a_full_rate_says_when_it_frees_unless_something_else_is_full() {
        let mut limits = Limits::default();
        let rate = Some(Rate { starts: 1, per: Span::from_secs(64) });
        let api = limits.put("api", Bound { limit: 9, rate }, Source::Config);
        let gpu = limits.set("gpu", 1);
        limits.note_start(&[api], Timestamp(0));
        assert!(!limits.has_room(&[api]));
        assert_eq!(limits.frees_at(&[api, gpu]), Some(Timestamp(65_000_000)));
        limits.take(&[gpu]);
        assert_eq!(limits.frees_at(&[api, gpu]), None);
        limits.look_at(Timestamp(64_999_999));
        assert!(!limits.has_room(&[api]));
        limits.look_at(Timestamp(65_000_000));
        assert!(limits.has_room(&[api]));
    }
}
