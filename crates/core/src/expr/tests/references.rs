use super::super::Expr;

/// What an expression reads, each with the text of its name.
fn reads(source: &str) -> String {
    let expr = Expr::compile(source).unwrap_or_else(|it| panic!("{source}: {it:?}"));
    let read = |it: &super::super::Reference| format!("{it} at {}", &source[it.name_at.clone()]);
    expr.references().iter().map(read).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_is_read_is_known_from_the_text() {
    for (source, expected) in [
        ("1 + 2", ""),
        ("input", "input at input"),
        (" input.day ", "input.day at input.day"),
        ("tasks.fetch.output", "tasks.fetch.output at fetch"),
        ("tasks.fetch.status", "tasks.fetch.status at fetch"),
        (
            "size(tasks['my-task'].output.x) + input.l[0]",
            "tasks['my-task'].output.x at my-task, input.l[0] at input.l[0]",
        ),
        ("[1].map(x, x + index)", "index at index"),
        ("input.l.filter(input, input > 1)", "input.l at input.l"),
        (
            "has(item.a.b) ? item.a.b : 'é' + run.id",
            "item.a.b at item.a.b, item.a.b at item.a.b, run.id at run.id",
        ),
        ("input[item.key].x", "input at input, item.key at item.key"),
        ("input.m[index].x", "input.m at input.m, index at index"),
        ("run.scheduled_for == null", "run.scheduled_for at run.scheduled_for"),
        ("input.name.startsWith('a')", "input.name at input.name"),
        ("(input).day + 'x'", "input.day at input"),
        ("type(input.n) == int", "input.n at input.n"),
        ("{'a': count}.a", "count at count"),
        ("input . day + ''", "input.day at input . day"),
    ] {
        assert_eq!(reads(source), expected, "{source}");
    }
}

#[test]
fn a_secret_is_known_as_one() {
    let expr = Expr::compile(" secrets['api-token'] ").expect("good");
    assert_eq!(expr.secret().map(|name| &**name), Some("api-token"));
    assert_eq!(Expr::compile("input.secret").expect("good").secret(), None);
}

#[test]
fn two_are_the_same_when_their_texts_are() {
    let compile = |source| Expr::compile(source).expect("good");
    assert_eq!(compile("input.a + 'x'"), compile("input.a + 'x'"));
    assert_ne!(compile("input.a"), compile("input.b"));
    assert_eq!(format!("{:?}", compile("input.a")), "Expr(input.a)");
}
