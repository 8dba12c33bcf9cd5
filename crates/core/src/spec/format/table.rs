//! What is known of a field, and of a map that has fields.

use super::shape::Shape;

/// A map whose fields are known by name.
#[derive(Debug)]
pub struct Group {
    /// What has these fields, for messages.
    pub of: &'static str,
    pub known: &'static [Entry],
    /// Those of them that must be given.
    pub required: &'static [&'static str],
    /// Designed, and not in this version: the answer to them is not 'unknown'.
    pub later: &'static [&'static str],
}

/// One field.
#[derive(Debug)]
pub struct Entry {
    pub name: &'static str,
    /// For people, in Markdown on one line.
    pub about: &'static str,
    /// What holds when it is left out, as people write it; `None` where nothing does.
    pub default: Option<&'static str>,
    /// Values as people write them, in YAML.
    pub examples: &'static [&'static str],
    pub shape: Shape,
}

impl Group {
    pub fn knows(&self, name: &str) -> bool {
        self.known.iter().any(|entry| entry.name == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.known.iter().map(|entry| entry.name)
    }

    /// The field with a value that it may have.
    pub fn example(&self, name: &str) -> Option<String> {
        let entry = self.known.iter().find(|entry| entry.name == name)?;
        entry.examples.first().map(|example| format!("{name}: {example}"))
    }

    /// What is written about: everything but what only benchmarks know.
    pub fn listed(&self) -> impl Iterator<Item = &'static Entry> + use<> {
        self.known.iter().filter(|entry| !matches!(entry.shape, Shape::Unlisted))
    }
}
