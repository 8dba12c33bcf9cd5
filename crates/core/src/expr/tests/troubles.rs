use super::super::Trouble;
use super::stage::{Stage, shown};

#[test]
fn what_is_missing_is_named_with_what_is_there() {
    for (source, expected) in [
        (
            "tasks.fetch.output.fils",
            "! `tasks.fetch.output` has no field `fils`; it has `files`, `count`, `big`",
        ),
        (
            "size(tasks.fetch.output.fils) > 0",
            "! in `size(tasks.fetch.output.fils) > 0`: `tasks.fetch.output` has no field `fils`; \
             it has `files`, `count`, `big`",
        ),
        (
            "input.day.x.y == 1",
            "! in `input.day.x.y == 1`: `input.day.x.y` cannot be read: `input.day` has no field \
             `x`: it is the text `\"monday\"`",
        ),
        ("tasks.none.output.x", "! `tasks.none.output` has no field `x`: it is null"),
        ("input.l[7] + 1", "! in `input.l[7] + 1`: `input.l` has 3 elements, none at [7]"),
        (
            "has(input.day.x) || false",
            "! in `has(input.day.x) || false`: `input.day` has no field `x`: it is the text \
             `\"monday\"`",
        ),
        (
            "input.l.map(x, x.y)",
            "! in `input.l.map(x, x.y)`: a whole number has no fields or elements by text",
        ),
        ("{'a': 1}.b + 1", "! in `{'a': 1}.b + 1`: there is no field `b`"),
        ("input.l[index + 7] == 1", "! in `input.l[index + 7] == 1`: there is no element `8`"),
    ] {
        assert_eq!(shown(source), expected, "{source}");
    }
}

#[test]
fn types_that_do_not_fit_are_named() {
    for (source, expected) in [
        (
            "input.n * input.f",
            "! in `input.n * input.f`: it cannot multiply `2` and `1.5`; whole numbers and \
             fractions do not mix: write `double(…)` around the whole one",
        ),
        ("input.day + 1", "! in `input.day + 1`: it cannot add `\"monday\"` and `1`"),
        (
            "input.day && true",
            "! in `input.day && true`: text stands where true or false is needed",
        ),
        ("!input.n", "! in `!input.n`: a whole number stands where true or false is needed"),
        (
            "input.day ? 1 : 2",
            "! in `input.day ? 1 : 2`: text stands where true or false is needed",
        ),
        ("input.n / 0", "! in `input.n / 0`: `2` is divided by zero"),
        (
            "9223372036854775807 + input.n",
            "! in `9223372036854775807 + input.n`: it cannot add `9223372036854775807` and `2`: the result is too large",
        ),
        (
            "-(-9223372036854775808) > input.n",
            "! in `-(-9223372036854775808) > input.n`: `-9223372036854775808` cannot be negated: \
             the result is too large",
        ),
        ("input.n < 'a'", "! in `input.n < 'a'`: a whole number and text cannot be compared"),
        (
            "input.n.map(x, x)",
            "! in `input.n.map(x, x)`: a whole number stands where a list or a map is needed",
        ),
        (
            "size(input.n)",
            "! in `size(input.n)`: `size` is asked of the number `2`, which has none",
        ),
        ("size(input.n + 1)", "! in `size(input.n + 1)`: `size` does not take (a whole number)"),
        (
            "(input.n + 1).matches('a')",
            "! in `(input.n + 1).matches('a')`: `matches` cannot be called on a whole number with \
             (text)",
        ),
        ("input.l[0.5 + input.f]", "2"),
        ("input.l[input.f]", "! in `input.l[input.f]`: there is no element `1.5`"),
        (
            "'a'.matches(input.day + '(')",
            "! in `'a'.matches(input.day + '(')`: `matches`: `monday(` is not a pattern",
        ),
        ("1 in input.day", "! in `1 in input.day`: `in` looks into lists and maps, not into text"),
    ] {
        assert_eq!(shown(source), expected, "{source}");
    }
}

#[test]
fn what_json_does_not_have_is_refused() {
    for (source, expected) in [
        ("b'abc' + b''", "it comes to bytes, and JSON has none"),
        ("[b'abc']", "it comes to bytes, and JSON has none"),
        ("type(1)", "it comes to a type, and JSON has none"),
        ("0.0 / 0.0", "it comes to the number NaN, and JSON has none like it"),
        ("[1.0 / 0.0]", "it comes to the number inf, and JSON has none like it"),
        ("{1: 'a'}", "the key `1` of a map is not text, and in JSON it must be"),
    ] {
        assert_eq!(shown(source), format!("! in `{source}`: {expected}"), "{source}");
    }
}

#[test]
fn a_condition_is_true_or_false() {
    let stage = Stage::new();
    let known = super::super::Known::new(&stage);
    let truth = |source| super::super::Expr::compile(source).expect("good").truth(&known.scope());
    assert_eq!(truth("input.n > 1"), Ok(true));
    assert_eq!(truth("tasks.fetch.status == 'failed'"), Ok(false));
    let told = truth("input.day").expect_err("a text").to_string();
    assert_eq!(
        told,
        "in `input.day`: it must come to true or false, and comes to the text `\"monday\"`"
    );
}

#[test]
fn an_output_that_cannot_be_read_is_not_the_expressions_fault() {
    let stage = Stage::new();
    for source in ["tasks.away.output", "tasks.away.output == 1 || true"] {
        let found = stage.value(source).expect_err("away");
        assert!(matches!(found, Trouble::Unread(super::super::Unread::Later(_))), "{found:?}");
    }
}
