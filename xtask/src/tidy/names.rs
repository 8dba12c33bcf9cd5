//! A name that fits anything says nothing: such a file collects whatever has no home.

use super::finding::{Finding, Rule};
use super::scan::{line_at, words};
use super::source::Source;

const EMPTY_NAMES: &[&str] =
    &["util", "utils", "common", "helper", "helpers", "misc", "manager", "managers"];

/// The path of any file.
pub fn check_path(path: &str, found: &mut Vec<Finding>) {
    for part in path.split('/') {
        let stem = part.trim_start_matches('.').split('.').next().unwrap_or(part);
        if let Some(name) = empty_name(stem) {
            found.push(Finding::new(Rule::Name, path, 1, advice(name)));
        }
    }
}

/// Modules written inside a file; a module with a file of its own shows up as that file.
pub fn check_modules(source: &Source<'_>, found: &mut Vec<Finding>) {
    let code = &source.code;
    let all: Vec<(usize, &str)> = words(code).collect();
    for pair in all.windows(2) {
        let [(at, "mod"), (name_at, name)] = *pair else { continue };
        let inline = code[name_at + name.len()..].trim_start().starts_with('{');
        if inline && let Some(name) = empty_name(name) {
            let line = line_at(code, at);
            found.push(Finding::new(Rule::Name, source.path, line, advice(name)));
        }
    }
}

/// The last word counts: `run_manager` is a manager, `common_prefix` is a prefix.
fn empty_name(stem: &str) -> Option<&str> {
    let last = stem.rsplit(['_', '-']).next().unwrap_or(stem);
    EMPTY_NAMES.contains(&last).then_some(last)
}

fn advice(name: &str) -> String {
    format!("`{name}` says nothing: name it for the one idea it holds")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(path: &str) -> usize {
        let mut found = Vec::new();
        check_path(path, &mut found);
        found.len()
    }

    #[test]
    fn an_empty_name_is_found() {
        assert_eq!(paths("crates/a/src/util.rs"), 1);
        assert_eq!(paths("crates/a/src/common/mod.rs"), 1);
        assert_eq!(paths("crates/a/src/run_manager.rs"), 1);
        assert_eq!(paths("web/test-helpers.js"), 1);
        assert_eq!(paths("docs/misc.md"), 1);
    }

    #[test]
    fn a_name_that_says_something_is_not() {
        assert_eq!(paths("crates/a/src/common_prefix.rs"), 0);
        assert_eq!(paths(".cargo/config.toml"), 0);
        assert_eq!(paths("crates/a/src/utility_bill.rs"), 0);
    }

    #[test]
    fn an_inline_module_is_found() {
        let mut found = Vec::new();
        check_modules(&Source::new("a.rs", "mod b {}\nmod helpers {}\nmod util;"), &mut found);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }
}
