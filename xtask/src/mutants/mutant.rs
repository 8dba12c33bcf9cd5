//! What a breakage is: one passage of the source, replaced.

use super::{core, engine};

#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    pub name: &'static str,
    /// What no longer holds.
    pub breaks: &'static str,
    pub file: &'static str,
    /// Found exactly once in the file.
    pub old: &'static str,
    pub new: &'static str,
}

impl Mutant {
    /// The file with the breakage in it, or why there is no such passage.
    pub fn applied(&self, text: &str) -> Result<String, String> {
        match text.matches(self.old).count() {
            1 => Ok(text.replacen(self.old, self.new, 1)),
            0 => Err(format!("{}: its text is no longer in {}", self.name, self.file)),
            n => Err(format!("{}: its text is {n} times in {}", self.name, self.file)),
        }
    }
}

pub fn all() -> impl Iterator<Item = &'static Mutant> {
    core::MUTANTS.iter().chain(engine::MUTANTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_mutant_is_found_exactly_once_in_the_source() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
        for mutant in all() {
            let text = std::fs::read_to_string(root.join(mutant.file)).expect(mutant.file);
            let applied = mutant.applied(&text).unwrap_or_else(|stale| panic!("{stale}"));
            assert_ne!(applied, text, "{} changes nothing", mutant.name);
        }
    }

    #[test]
    fn there_are_many_and_each_has_its_own_name() {
        let names: BTreeSet<&str> = all().map(|mutant| mutant.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(names.len() >= 20, "{}", names.len());
    }
}
