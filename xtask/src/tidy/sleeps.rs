//! A test that sleeps is slow when it passes and wrong when the machine is busy: it waits
//! for the thing itself, or runs on a simulated clock.

use super::finding::{Finding, Rule};
use super::scan::{line_at, test_modules, words};
use super::source::Source;

pub fn check(source: &Source<'_>, found: &mut Vec<Finding>) {
    let code = &source.code;
    let whole_file = is_test_file(source.path);
    let modules = test_modules(code);
    for (at, word) in words(code) {
        let in_test = whole_file || modules.iter().any(|module| module.contains(&at));
        let is_sleep = matches!(word, "sleep" | "sleep_ms" | "sleep_until");
        if in_test && is_sleep && is_call(&code[at + word.len()..]) && sleeps(&code[..at]) {
            let text = format!("`{word}` in a test: wait for what it waits for instead");
            found.push(Finding::new(Rule::Sleep, source.path, line_at(code, at), text));
        }
    }
}

fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests")
        || path.ends_with("tests.rs")
        || path.ends_with("_test.rs")
}

fn is_call(after: &str) -> bool {
    after.trim_start().starts_with('(')
}

/// `thread::sleep`, `time::sleep` and an imported `sleep` do; `clock.sleep`, `Action::sleep`
/// and `fn sleep` do not.
fn sleeps(before: &str) -> bool {
    let before = before.trim_end();
    if let Some(owner) = before.strip_suffix("::") {
        return owner.ends_with("thread") || owner.ends_with("time");
    }
    !before.ends_with('.') && !before.ends_with("fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_lines(path: &str, text: &str, lines: &[usize]) {
        let mut found = Vec::new();
        check(&Source::new(path, text), &mut found);
        let at: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(at, lines, "in {path}: {text}");
    }

    #[test]
    fn a_sleep_in_a_test_is_found() {
        check_lines("crates/a/tests/it/b.rs", "std::thread::sleep(d);", &[1]);
        check_lines("crates/a/src/b/tests.rs", "\ntokio::time::sleep(d).await;", &[2]);
        check_lines("crates/a/src/b_tests.rs", "sleep(d).await;", &[1]);
        check_lines("crates/a/src/b.rs", "mod tests {\n time::sleep_until(d).await; }", &[2]);
    }

    #[test]
    fn a_sleep_elsewhere_is_not() {
        check_lines("crates/a/src/b.rs", "thread::sleep(d);\nmod tests {}", &[]);
    }

    #[test]
    fn simulated_and_spelled_sleeps_are_not() {
        let text = "clock.sleep(d); Action::sleep(d); fn sleep() {} run(\"sleep 5\"); // sleep(5)";
        check_lines("crates/a/tests/b.rs", text, &[]);
    }
}
