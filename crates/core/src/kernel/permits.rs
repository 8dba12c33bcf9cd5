//! Limits as sets of permits. A task needs a *set* and takes all of it or none. Counts are
//! indexes over task rows: rebuilt on load, compared with a recount in simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

/// An interned limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LimitId(u32);

/// The limits a task counts against, sorted, no limit twice.
pub type PermitSet = Arc<[LimitId]>;

#[derive(Clone, Debug)]
struct Limit {
    name: Arc<str>,
    max: u32,
    used: u32,
}

/// Every limit this world knows, with what is in use.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    limits: Vec<Limit>,
    by_name: BTreeMap<Arc<str>, LimitId>,
}

impl Limits {
    /// Adds a limit or changes its bound. What is in use stays, even over the new bound.
    pub fn set(&mut self, name: &str, max: u32) -> LimitId {
        if let Some(id) = self.by_name.get(name) {
            self.limits[id.0 as usize].max = max;
            return *id;
        }
        let id = LimitId(u32::try_from(self.limits.len()).expect("limits are few"));
        let name: Arc<str> = name.into();
        self.by_name.insert(Arc::clone(&name), id);
        self.limits.push(Limit { name, max, used: 0 });
        id
    }

    pub fn id(&self, name: &str) -> Option<LimitId> {
        self.by_name.get(name).copied()
    }

    pub fn has_room(&self, set: &[LimitId]) -> bool {
        set.iter().all(|id| {
            let limit = &self.limits[id.0 as usize];
            limit.used < limit.max
        })
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

    /// Name, bound and use of every limit, by name.
    pub fn all(&self) -> impl Iterator<Item = (&str, u32, u32)> {
        self.by_name.values().map(|id| {
            let limit = &self.limits[id.0 as usize];
            (&*limit.name, limit.max, limit.used)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(limits.all().collect::<Vec<_>>(), [("total", 1, 1)]);
    }
}
