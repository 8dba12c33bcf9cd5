use super::stage::shown;

#[test]
fn values_that_are_only_read_stay_as_they_are_written() {
    for (source, expected) in [
        ("input.day", r#""monday""#),
        ("input.l", "[3, 1, 2]"),
        ("tasks.fetch.output.files[1]", r#""b c""#),
        ("tasks['my-task'].output", r#"{"ok": true, "ratio": 0.50}"#),
        ("tasks['my-task'].output.ratio", "0.50"),
        ("tasks.none.output", "null"),
        ("tasks.none.status", r#""skipped""#),
        ("tasks.fetch.status", r#""success""#),
        ("item.tags[0]", r#""t""#),
        ("index", "1"),
        ("count", "4"),
        ("run.id", r#""0190-run""#),
        ("run.scheduled_for", "null"),
    ] {
        assert_eq!(shown(source), expected, "{source}");
    }
}

#[test]
fn expressions_keep_the_type_of_their_value() {
    for (source, expected) in [
        ("input.n + 1", "3"),
        ("input.f * 2.0", "3.0"),
        ("double(input.n) * input.f", "3.0"),
        ("input.day + '-' + string(input.n)", r#""monday-2""#),
        ("input.n == 2.0 && input.yes", "true"),
        ("input.no == null", "true"),
        ("input.l.map(x, x * 2)", "[6,2,4]"),
        ("input.l.filter(x, x > 1)", "[3,2]"),
        ("input.l.exists(x, x == 1)", "true"),
        ("input.l.all(x, x < 3)", "false"),
        ("input.l.exists_one(x, x == 3)", "true"),
        ("input.l.filter(x, x > 1).map(x, string(x))", r#"["3","2"]"#),
        ("size(tasks.fetch.output.files) == tasks.fetch.output.count", "true"),
        ("tasks.fetch.output.files[index]", r#""b c""#),
        ("tasks.fetch.output.big > 1", "true"),
        ("tasks.fetch.output.big + 0u", "18446744073709551615"),
        ("input.m.map(k, k)", r#"["a","b"]"#),
        ("{'b': 1, 'a': [input.n]}", r#"{"a":[2],"b":1}"#),
        ("has(input.day)", "true"),
        ("has(input.nope)", "false"),
        ("has(input.nope) && input.nope.deeper > 1", "false"),
        ("input.nope == 1 || true", "true"),
        ("input.yes ? 'a' : input.nope", r#""a""#),
        ("'b' in input.m && !('c' in input.m)", "true"),
        ("'é'.size() + int('4')", "5"),
        ("'abc'.matches('^a.c$')", "true"),
        ("\"quote\\\"d\\n\"", r#""quote\"d\n""#),
        ("type(input.n) == int", "true"),
        ("dyn(input.l)[2]", "2"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("[1, 2.0, 'x', null, true, {}]", r#"[1,2.0,"x",null,true,{}]"#),
    ] {
        assert_eq!(shown(source), expected, "{source}");
    }
}
