//! Reads the checkout, asks every rule, prints what they found.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::exceptions::{self, EXCEPTIONS};
use super::finding::Finding;
use super::source::Source;
use super::{links, names, paths, rooms, size, sleeps, whitespace, words};
use crate::checkout;

/// Prints every finding; any makes it fail.
pub fn run(root: &Path) -> Result<()> {
    let all = checkout::files(root)?;
    let mut found = Vec::new();
    for path in all.iter().filter(|path| !is_foreign(path)) {
        let bytes =
            std::fs::read(root.join(path)).with_context(|| format!("could not read {path}"))?;
        names::check_path(path, &mut found);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            check(path, text, &all, &mut found);
        }
    }
    let left = exceptions::apply(found, EXCEPTIONS);
    for finding in &left {
        println!("{finding}");
    }
    match left.len() {
        0 => {
            println!("{} files, nothing found", all.len());
            Ok(())
        }
        count => bail!("tidy has {count} to put right, listed above"),
    }
}

/// Written by others, or by a machine: not ours to format.
fn is_foreign(path: &str) -> bool {
    matches!(path, "Cargo.lock" | "LICENSE") || path.split('/').any(|part| part == "vendor")
}

fn check(path: &str, text: &str, all: &BTreeSet<String>, found: &mut Vec<Finding>) {
    paths::check(path, text, found);
    if path.ends_with(".rs") {
        let source = Source::new(path, text);
        size::check(&source, found);
        words::check_rust(&source, found);
        sleeps::check(&source, found);
        names::check_modules(&source, found);
        rooms::check(&source, found);
        whitespace::check_rust(&source, found);
    } else {
        words::check_text(path, text, found);
        whitespace::check_text(path, text, found);
    }
    if path.ends_with(".md") {
        links::check(path, text, all, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::Rule;

    fn rules(path: &str, text: &str) -> Vec<Rule> {
        let mut found = Vec::new();
        check(path, text, &BTreeSet::new(), &mut found);
        let mut rules: Vec<Rule> = found.into_iter().map(|finding| finding.rule).collect();
        rules.sort();
        rules.dedup();
        rules
    }

    #[test]
    fn every_rule_for_rust_is_asked() {
        let long = "    f();\n".repeat(701);
        let machine = ["// see /", "tmp/a"].concat();
        let text = format!(
            "{machine} \nmod util {{}}\nmod tests {{\nfn g() {{\ntodo!();\nsleep(d);\n{long}}}\n}}\n"
        );
        let expected = [
            Rule::FileSize,
            Rule::FunctionSize,
            Rule::Word,
            Rule::Sleep,
            Rule::Name,
            Rule::Room,
            Rule::MachinePath,
            Rule::Whitespace,
        ];
        assert_eq!(rules("crates/a/src/lib.rs", &text), expected);
    }

    #[test]
    fn every_rule_for_pages_is_asked() {
        let text = ["XXX [a](b.md) /", "home/c"].concat();
        let expected = [Rule::Word, Rule::Link, Rule::MachinePath, Rule::Whitespace];
        assert_eq!(rules("docs/a.md", &text), expected);
    }

    #[test]
    fn what_others_wrote_is_left_alone() {
        assert!(is_foreign("Cargo.lock"));
        assert!(is_foreign("web/vendor/preact.js"));
        assert!(!is_foreign("web/vendors.js"));
    }
}
