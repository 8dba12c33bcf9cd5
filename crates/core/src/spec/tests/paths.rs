//! Every diagnostic says what it is about, as a JSON pointer.

use super::read;

/// The path of the only diagnostic of a text.
#[track_caller]
fn check(text: &str, path: &str) {
    let found = read(text).map_or_else(|found| found, |parsed| parsed.warnings);
    let paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, [path], "{text}");
}

#[test]
fn a_path_leads_to_the_value_or_its_field() {
    check("name: w\ntasks: {a: {run: x, timeout: 5}}", "/tasks/a/timeout");
    check("name: w\ntasks:\n  a:\n    run: x\n    retires: 5\n", "/tasks/a/retires");
    check("name: w\ntasks:\n  a: { command: [x, [y]] }\n", "/tasks/a/command/1");
    check(
        "name: w\ntasks:\n  a: {noop: {}}\n  b: {noop: {}, depends_on: [a, c/d~e]}",
        "/tasks/b/depends_on/1",
    );
    check("name: w\ntasks: {a/b~c: {noop: {}}}", "/tasks/a~1b~0c");
    check("name: w\ntasks: {a: {timeout: 5s}}", "/tasks/a");
}

#[test]
fn what_is_missing_everywhere_or_cannot_be_read_has_no_path() {
    check("tasks: {a: {noop: {}}}", "");
    check("name: w\ntasks: [", "");
    check("- a", "");
}

#[test]
fn what_an_alias_shares_is_found_where_it_is_written() {
    let text = "name: w\ntasks:\n  a: {run: x, env: &e {1A: x}}\n  b: {run: x, env: *e}\n";
    check(text, "/tasks/a/env/1A");
    check(
        "name: w\ntasks:\n  a: {run: x, priority: &p 1.5}\n  b: {run: x, priority: *p}\n",
        "/tasks/a/priority",
    );
}
