//! What a breakage is: one passage of the source, replaced.

use super::{added, always, anew, attempts, children, engine, finals, groups, limits, runs, waits};

#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    pub name: &'static str,
    /// What no longer holds.
    pub breaks: &'static str,
    pub file: &'static str,
    /// An expression, or whole statements, found exactly once in the file. Where it takes more
    /// to be found once, this is more, and what is replaced stands between `«` and `»`.
    pub old: &'static str,
    /// Of the same kind.
    pub new: &'static str,
}

/// With the passage and its replacement together, as they are read in the lists.
pub const fn mutant(
    name: &'static str,
    breaks: &'static str,
    file: &'static str,
    (old, new): (&'static str, &'static str),
) -> Mutant {
    Mutant { name, breaks, file, old, new }
}

impl Mutant {
    /// What is replaced.
    pub fn passage(&self) -> &'static str {
        self.parts().1
    }

    /// Where its passage stands in its file, or why there is no such passage.
    pub fn position(&self, text: &str) -> Result<usize, String> {
        let Self { name, file, .. } = self;
        let (before, passage, after) = self.parts();
        let whole = [before, passage, after].concat();
        let mut places = text.match_indices(&whole);
        match (places.next(), places.next()) {
            (Some((at, _)), None) => Ok(at + before.len()),
            (None, _) => Err(format!("{name}: its text is no longer in {file}")),
            (Some(_), Some(_)) => Err(format!("{name}: its text is more than once in {file}")),
        }
    }

    /// What stands before the passage to find it by, the passage, and what stands behind it.
    fn parts(&self) -> (&'static str, &'static str, &'static str) {
        let marked = self.old.split_once('«').and_then(|(before, rest)| {
            let (passage, after) = rest.split_once('»')?;
            Some((before, passage, after))
        });
        marked.unwrap_or(("", self.old, ""))
    }
}

pub fn all() -> impl Iterator<Item = &'static Mutant> {
    let decided = attempts::MUTANTS.iter().chain(runs::MUTANTS).chain(groups::MUTANTS);
    decided
        .chain(always::MUTANTS)
        .chain(anew::MUTANTS)
        .chain(added::MUTANTS)
        .chain(limits::MUTANTS)
        .chain(waits::MUTANTS)
        .chain(finals::MUTANTS)
        .chain(children::MUTANTS)
        .chain(engine::MUTANTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_many_and_each_has_its_own_name() {
        let names: BTreeSet<&str> = all().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() >= 60, "{}", names.len());
    }
}
