use super::stage::problems;

#[test]
fn references_that_do_not_exist() {
    for (source, expected) in [
        ("inputs.day", "[inputs] There is no `inputs` in expressions. (did you mean `input`?)"),
        ("imput.day + ''", "[imput] There is no `imput` in expressions. (did you mean `input`?)"),
        ("needs.a.output", "[needs] There is no `needs` in expressions. (did you mean `tasks`?)"),
        (
            "monday",
            "[monday] There is no `monday` in expressions. (text is written in quotes; names are \
             `input`, `tasks`, `item`, `index`, `count`, `run`, `secrets`)",
        ),
        ("tasks", "[tasks] `tasks` needs the name of a task after it. (write `tasks.name.output`)"),
        (
            "tasks.a",
            "[tasks.a] It does not say what of the task `a` is meant. (write `tasks.a.output` or \
             `tasks.a.status`)",
        ),
        (
            "tasks['a-b'] == null",
            "[tasks['a-b']] It does not say what of the task `a-b` is meant. (write \
             `tasks['a-b'].output` or `tasks['a-b'].status`)",
        ),
        (
            "tasks.a.files",
            "[files] A task has `output` and `status`, not `files`. (write \
             `tasks.a.output.files` for a field of its output)",
        ),
        ("tasks.a.status.x", "[x] `tasks.a.status` has no fields."),
        ("index.x", "[x] `index` has no fields."),
        ("run.name", "[name] A run has `run.id` and `run.scheduled_for`."),
        ("run", "[run] A run has `run.id` and `run.scheduled_for`."),
        (
            "secrets",
            "[secrets] `secrets` needs the name of a secret after it. (write `secrets.name`)",
        ),
    ] {
        assert_eq!(problems(source), [expected], "{source}");
    }
}

#[test]
fn a_name_with_a_dash() {
    for source in ["tasks.my-task.output", "tasks.my-task.output.x > 1", "1 + tasks.my-task.status"]
    {
        let found = problems(source);
        assert_eq!(found.len(), 1, "{source}: {found:?}");
        let field = if source.contains("status") { "status" } else { "output" };
        assert_eq!(
            found[0],
            format!(
                "[tasks.my-task.{field}] A name with `-` in it reads as a subtraction here. \
                 (write `tasks['my-task'].{field}`)"
            )
        );
    }
    assert_eq!(
        problems("tasks.a.output - tasks.b.output - 1"),
        Vec::<String>::new(),
        "a subtraction is one"
    );
}

#[test]
fn a_secret_with_a_dash() {
    assert_eq!(
        problems("secrets.api-token"),
        ["[secrets.api-token] A name with `-` in it reads as a subtraction here. (write \
          `secrets['api-token']`)"]
    );
}

#[test]
fn every_wrong_reference_of_an_expression_is_told() {
    let found = problems("imput.a == tasks.b.outputs && size(itm) > 0");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn which_task_is_read_must_be_known() {
    let expected = "[tasks[input.x]] Which one is read must be known beforehand. (write its name: \
                    `tasks['name'].output`)";
    let found = problems("tasks[input.x].output");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(expected.starts_with(&found[0][..12]), "{found:?}");
    assert!(problems("[1].map(tasks, tasks)").is_empty(), "a name of its own");
}

#[test]
fn what_the_parser_says_is_told_in_words() {
    for (source, expected) in [
        ("", "[] The expression is empty. (write `input.name`, for example)"),
        ("  ", "[] The expression is empty. (write `input.name`, for example)"),
        ("input.", "[] The expression ends too early."),
        ("input.x ==", "[] The expression ends too early."),
        ("(input.x", "[] `)` is missing here."),
        ("input.x)", "[)] `)` is not expected here."),
        ("input.x = 1", "[=] `=` alone has no meaning. (write `==` to compare)"),
        ("input.x & true", "[&] `&` alone has no meaning. (write `&&`)"),
        ("input.x and true", "[and] `and` is not expected here. (write `&&`)"),
        ("input.x or true", "[or] `or` is not expected here. (write `||`)"),
        ("not input.x", "[input] `input` is not expected here. (write `!`)"),
        ("$input.x", "[$] `$` has no meaning here. (names are written without it)"),
        (
            "input.x ? 1",
            "[input] `?` needs a value, `:` and another value after it. (write `condition ? one : other`)",
        ),
        ("if == 1", "[if] `if` is a reserved word."),
        ("99999999999999999999 + 1", "[99999999999999999999] This number is too large."),
        ("has(input)", "[input] `has` takes a field of something, such as `has(input.day)`."),
        ("input.l.map(1, 2)", "[1] The first argument names each element, such as `x`."),
        (
            "'abc",
            "['] A text that begins here is not closed, or holds an escape that is not known. \
             (close it with the same quote; write `\\\\` for a backslash)",
        ),
        ("é", "[é] `é` has no place in an expression."),
        ("'é' + é", "[é] `é` has no place in an expression."),
        ("a.?b", "[.] `.?` and `[?` are not supported. (ask with `has(…)` first)"),
        ("Foo{a: 1}", "[{] Types with fields are not known here. (write a map: `{'name': value}`)"),
    ] {
        assert_eq!(problems(source), [expected], "{source}");
    }
}

#[test]
fn functions_are_known_beforehand() {
    for (source, expected) in [
        (
            "startswith(input.a, 'x')",
            "[startswith] There is no function `startswith` to be called like this. (did you mean `startsWith`?)",
        ),
        (
            "startsWith(input.a, 'x')",
            "[startsWith] There is no function `startsWith` to be called like this. (write `value.startsWith(…)`)",
        ),
        (
            "input.a.string()",
            "[string] There is no function `string` to be called like this. (write `string(…)`)",
        ),
        (
            "input.l.map(x)",
            "[map] There is no function `map` to be called like this. (check its arguments, such as `list.map(x, x.name)`)",
        ),
        (
            "false && always()",
            "[always] There is no function `always` to be called like this. (there are `bool`, `bytes`, `double`, `dyn`, `int`, `matches`, `size`, `string`, `type`, `uint`, `contains`, `endsWith`, `matches`, `size`, `startsWith`, `all`, `exists`, `exists_one`, `filter`, `has`, `map`)",
        ),
        (
            "input.a.matches('(')",
            "['('] `(` is not a pattern. (check its brackets; look-around and back references are not supported)",
        ),
        (
            "input.a.matches('(a{500}){500}')",
            "['(a{500}){500}'] The pattern is too large. (check its brackets; look-around and back references are not supported)",
        ),
    ] {
        assert_eq!(problems(source)[0], expected, "{source}");
    }
}

#[test]
fn secrets_stand_alone() {
    let found = problems("'Bearer ' + secrets.token");
    assert_eq!(
        found,
        ["[secrets.token] A secret stands alone in its template. (write text around it outside: \
          `Bearer ${{ secrets.token }}`)"]
    );
}
