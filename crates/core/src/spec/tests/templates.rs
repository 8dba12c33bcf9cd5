//! Expressions in workflow files: where they may stand, and what they may name.

use super::{check, places, read, told};
use insta::assert_snapshot;

/// A workflow with the tasks `a`, then `b` below it, then `c` with these fields below `b`.
fn below(fields: &str) -> String {
    let fields: String = fields.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "name: w\ninput: {{properties: {{day: {{}}, days: {{}}}}, additionalProperties: false}}\n\
         tasks:\n  a: {{run: x}}\n  b: {{run: x, depends_on: a}}\n  c:\n    depends_on: b\n{fields}  \
         other: {{run: x}}\n"
    )
}

/// Line and column of a piece of a text.
fn at(text: &str, piece: &str) -> String {
    let before = &text[..text.find(piece).expect("a piece of it")];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{line}:{column}")
}

#[track_caller]
fn good(fields: &str) {
    assert_eq!(told(&below(fields)), "", "{fields}");
}

#[test]
fn templates_stand_in_these_fields() {
    good("run: echo ${{ tasks.a.output.x }} \"${{ tasks.b.status }}\" ${{ run.id }}");
    good("command: [\"${{ input.day }}\", \"a ${{ size(tasks.a.output) }} b\"]");
    good("run: x\ninput: {a: [\"${{ input }}\", {b: \"x ${{ tasks.b.output }}\"}]}");
    good(
        "run: x\nenv: {A: \"${{ tasks.b.output }}\", B: \"Bearer ${{ secrets['api-token'] }}\", C: {secret: token}}",
    );
    good("run: x\nworkdir: \"/srv/${{ run.id }}\"");
    good("run: x\ncache: {key: \"v1 ${{ input.day }}\", ttl: 2d}");
    good("run: x\nif: tasks.b.output.rows > 0 && input.day != 'monday'");
    good("run: x\nif: \"${{ tasks.b.output.rows > 0 }}\"");
    good("run: x\nif: false");
    good("noop: {}\ninput: {a: \"${{ tasks.a.output }}\"}");
    good("run: echo ${{ item }} ${{ index }} ${{ count }}\nforeach: b.files");
    good("run: echo ${{ index }}\nparallel: 4");
    good("run: echo $${{ nothing }} > $${{\n");
    good("run: x\nforeach: b\nartifacts: {out: [\"part-${{ index }}.txt\"]}");
}

#[test]
fn secrets_in_env_need_a_plain_name() {
    assert_snapshot!(told(&below("run: x\nenv: {B: \"${{ secrets['.x'] }}\", C: {secret: a/b}, D: {secert: x}, E: {}}")), @r#"
    E105 9:28 `.x` is not the name of a secret. (use letters, digits, `_`, `-` and `.`, and do not begin with a dot)
    E105 9:50 `a/b` is not the name of a secret. (use letters, digits, `_`, `-` and `.`, and do not begin with a dot)
    E101 9:60 `secert` is not a field of a variable. (did you mean `secret`?)
    E103 9:72 A variable that is no text needs the field `secret`. (add `secret: api-token`)
    "#);
}

#[test]
fn a_template_where_none_is_taken() {
    check(
        "timeout: ${{ input.day }}",
        &[
            "E016 1:10 `timeout` takes no template. (write the value itself; templates stand in `run`, `command`, `input`, `env`, `workdir`, `workspace`, `cache` and `outputs`)",
        ],
    );
    for fields in [
        "description: \"x ${{ a }}\"",
        "labels: {a: \"${{ b }}\"}",
        "depends_on: [\"${{ z }}\"]",
        "retries: \"${{ z }}\"",
        "retries: {max: \"${{ z }}\"}",
        "foreach: [1, \"${{ z }}\"]",
        "parallel: \"${{ z }}\"",
        "tier: \"${{ z }}\"",
        "priority: \"${{ z }}\"",
        "on_failure: \"${{ z }}\"",
        "allow_failure: \"${{ z }}\"",
        "outputs: {type: \"${{ z }}\"}",
        "log_limit: \"${{ z }}\"",
        "artifacts: {in: [\"${{ z }}\"]}",
    ] {
        let text = format!("name: w\ntasks:\n  a: {{run: x, {fields}}}\n");
        let expected = at(&text, "${{");
        assert_eq!(places(&text), [format!("E016 {expected}")], "{fields}: {}", told(&text));
    }
    assert_eq!(places("name: \"${{ x }}\"\ntasks: {a: {noop: {}}}"), ["E016 1:8"]);
    assert_eq!(
        places(
            "name: w\ninput: {properties: {a: {default: \"${{ x }}\"}}}\ntasks: {a: {noop: {}}}"
        ),
        ["E016 2:36"]
    );
    assert_eq!(places("name: w\ntasks: {\"${{ x }}\": {noop: {}}}"), ["E016 2:9"]);
    check(
        "input: {\"a ${{ input.day }}\": 1}",
        &[
            "E016 1:9 The name of a field takes no template: `\"a ${{ input.day }}\"`. (write the name itself; templates stand in values)",
        ],
    );
}

/// However a text is written, the line and column are those of the name in it.
#[test]
fn the_place_is_that_of_the_name() {
    for (fields, code, piece) in [
        ("run: echo ${{ tasks.nope.output }}", "E402", "nope"),
        ("run: \"echo ${{ tasks.nope.output }}\"", "E402", "nope"),
        ("command: ['it''s ${{ tasks.nope.output }}']", "E402", "nope"),
        ("command: [x, \"\\n\\t${{ tasks['nope'].output }}\"]", "E402", "nope"),
        ("run: |\n  echo hi\n\n  echo ${{ tasks.nope.output }}\n", "E402", "nope"),
        ("run: >-\n  echo ${{ input.day }} ${{\n  tasks.nope.output }}\n", "E402", "nope"),
        ("run: x\nif: input.day == 'x' && tasks.nope.status == 'failed'", "E402", "nope"),
        ("run: x\nif: |\n  input.day == 'x' &&\n  tasks.nope.status == 'a'\n", "E402", "nope"),
        ("run: x\nif: \"${{ input.day == tasks.nope.status }}\"", "E402", "nope"),
        ("run: x\ninput: {a: [1, {b: \"x ${{ tasks.nope.output }}\"}]}", "E402", "nope"),
        ("run: x\nenv: {A: \"${{ tasks.nope.output }}\"}", "E402", "nope"),
        ("run: x\nenv:\n  A: |\n    x\n    ${{ tasks.nope.output }}\n", "E402", "nope"),
        ("run: echo ${{ input.day ++ 1 }}", "E401", "+ 1 }}"),
        ("run: |\n  x\n  echo ${{ imput.day }}\n", "E401", "imput"),
        ("run: |\n  x\n  echo '${{ input.day }}'\n", "E403", "${{ input"),
        ("run: \"\\u0041 '${{ input.day }}'\"", "E403", "${{ input"),
    ] {
        let text = below(fields);
        let expected = format!("{code} {}", at(&text, piece));
        assert_eq!(places(&text), [expected], "{fields}\n{}", told(&text));
    }
}

#[test]
fn what_is_named_has_to_be_there() {
    assert_snapshot!(told(&below("run: echo ${{ tasks.aa.output }} ${{ tasks.c.output }} ${{ tasks.other.status }} ${{ item }} ${{ index }} ${{ secrets.x }} ${{ input.dya }}")), @r#"
    E402 8:25 There is no task `aa`. (the tasks are `a`, `b`, `c`, `other`)
    E402 8:48 The task `c` cannot read what it puts out itself.
    E213 8:70 `other` does not come before `c`. (add `other` to its `depends_on`)
    E402 8:90 `item` is only there in a fan-out. (add `foreach:`)
    E402 8:102 `index` is only there in a fan-out. (add `foreach:` or `parallel:`)
    E402 8:123 A secret is only given to `env`. (write `env: { NAME: { secret: x } }`, and read `$NAME`)
    E402 8:132 The workflow's `input` has no field `dya`. (did you mean `day`?)
    "#);
    assert_snapshot!(told(&below("run: echo ${{ item }} ${{ count }}\nparallel: 3\nif: index == 0")), @r#"
    E402 8:19 `item` is only there with `foreach`. (`index` tells instances apart)
    E402 10:9 `index` is not there: this is worked out once, for all instances. (leave it out, or make it a part of the work)
    "#);
    assert_snapshot!(told(&below("run: echo ${{ tasks.my-task.output }}")), @"E401 8:19 A name with `-` in it reads as a subtraction here. (write `tasks['my-task'].output`)");
    assert_snapshot!(told(&below("run: x\nif: input.day = 'x'")), @"E401 9:19 `=` alone has no meaning. (write `==` to compare)");
    assert_snapshot!(told(&below("run: x\nif: \"x ${{ input.day }}\"")), @"E401 9:9 `if` is an expression as a whole. (write it without `${{` and `}}`)");
    assert_snapshot!(told(&below("run: x\nif: 5")), @"E104 9:9 `if` must be an expression, not a number. (write an expression, such as `input.day == 'monday'`)");
    assert_snapshot!(told(&below("run: x\nif:")), @"E104 9:5 `if` must be an expression, not empty. (write an expression, such as `input.day == 'monday'`)");
}

#[test]
fn scripts_refuse_templates_in_places_of_doubt() {
    assert_snapshot!(told(&below("run: echo '${{ input.day }}' `x ${{ input.day }}` $((${{ input.day }}))")), @r#"
    E403 8:16 `${{ input.day }}` stands in single quotes, in which no value is put. (use double quotes, or end the single ones before it)
    E403 8:37 `${{ input.day }}` stands in backticks, whose quotes shells read in different ways. (write `$( … )` instead of the backticks)
    E403 8:58 `${{ input.day }}` stands in arithmetic, in which some shells run values as code. (work it out in the expression: `${{ input.n + 1 }}`)
    "#);
    assert_snapshot!(told(&below("run: echo $'\\n' ${{ input.day }}")), @r#"E403 8:21 It is not certain how a shell reads this template, because of `$'` before it. (give it a name under `env:` and write `"$NAME"` here)"#);
}

#[test]
fn tasks_far_above_are_read_without_being_depended_on() {
    let parsed = read(&below(
        "run: echo ${{ tasks.a.output }} ${{ tasks.b.output }}\nif: tasks.a.status == 'success'",
    ));
    let task = parsed.expect("good").definition.tasks.remove(2);
    assert_eq!(task.reads, [crate::ids::TaskNo(0)]);
}

#[test]
fn defaults_are_looked_at_for_each_task() {
    let text = "name: w\ndefaults:\n  env: {A: \"${{ tasks.a.output }}\", I: \"${{ index }}\"}\ntasks:\n  a: {run: x, env: {}}\n  b: {run: x, depends_on: a, parallel: 2}\n  c: {run: x, depends_on: a}\n  d: {run: x, parallel: 2}\n  e: {noop: {}}\n";
    assert_snapshot!(told(text), @r#"
    E213 3:23 `a` does not come before `d`. (add `a` to its `depends_on`)
    E402 3:45 `index` is only there in a fan-out. (add `foreach:` or `parallel:`)
    "#);
    let tasks: String = (0..50_000).map(|n| format!("  t{n}: {{run: x}}\n")).collect();
    let many = "${{ input.x }}".repeat(50);
    let text = format!("name: w\ndefaults: {{env: {{A: \"{many}\"}}}}\ntasks:\n{tasks}");
    assert_eq!(places(&text), ["E112 2:1"]);
}

#[test]
fn a_run_puts_out_what_its_tasks_did() {
    let outputs = |outputs: &str| {
        format!("name: w\ntasks:\n  a: {{run: x}}\n  b: {{run: x}}\noutputs: {outputs}\n")
    };
    let parsed =
        read(&outputs("{a: \"${{ tasks.b.output }}\", b: [1, \"${{ size(tasks.b.output) }}\"]}"));
    let definition = parsed.expect("good").definition;
    assert_eq!(definition.output_reads(), [crate::ids::TaskNo(1)]);
    assert!(definition.has_outputs());
    assert_snapshot!(told(&outputs("{a: \"${{ tasks.c.output }} ${{ item }} ${{ secrets.x }}\"}")), @r#"
    E402 5:25 There is no task `c`. (the tasks are `a`, `b`)
    E402 5:41 `item` is not there: a run has no instances. (name a task's output)
    E402 5:61 A secret is only given to `env`. (write `env: { NAME: { secret: x } }`, and read `$NAME`)
    "#);
    assert_snapshot!(told(&outputs("[x]")), @"E104 5:10 `outputs` must be a map, not a list. (write `{name: value}`)");
}

#[test]
fn many_references_stay_quick() {
    let line = "${{ tasks.t0.output }} ".repeat(4_000);
    let text = format!(
        "name: w\ntasks:\n  t0: {{noop: {{}}}}\n  a: {{depends_on: t0, run: \"\\x41 {line}\"}}\n  b: {{run: \"\\x41 {line}\"}}\n"
    );
    let found = read(&text).expect_err("b does not come after t0");
    assert_eq!(found.len(), 1, "{}", told(&text));
    // A task far above for each of many.
    let count = 20_000;
    let tasks: String = (1..count)
        .map(|n| format!("  t{n}: {{noop: {{}}, depends_on: [t{}], input: {{x: \"${{{{ tasks.t{}.output }}}}\"}}}}\n", n - 1, n / 2))
        .collect();
    let _whatever = read(&format!("name: w\ntasks:\n  t0: {{noop: {{}}}}\n{tasks}"));
}

/// One mistake hides no other, neither in its own text nor in another field.
#[test]
fn all_mistakes_are_told_at_once() {
    assert_snapshot!(told(&below("run: echo ${{ tasks.other.output }} ${{ item }} ${{ inputt.day }}\nenv: {X: \"${{ tasks.other.output }}\"}")), @r#"
    E213 8:25 `other` does not come before `c`. (add `other` to its `depends_on`)
    E402 8:45 `item` is only there in a fan-out. (add `foreach:`)
    E401 8:57 There is no `inputt` in expressions. (did you mean `input`?)
    E213 9:25 `other` does not come before `c`. (add `other` to its `depends_on`)
    "#);
    assert_snapshot!(told(&below("run: \"echo '${{ tasks.other.output }}' ${{ tasks.nope.output + tsks.x }}\"\nif: item == 1 && nope\nworkdir: \"${{ index }}${{ 1 + }}\"\ninput: {a: \"${{ 1 + }}\", b: \"${{ tasks.zz.output }}\"}")), @r#"
    E213 8:27 `other` does not come before `c`. (add `other` to its `depends_on`)
    E402 8:54 There is no task `nope`. (the tasks are `a`, `b`, `c`, `other`)
    E401 8:68 There is no `tsks` in expressions. (did you mean `tasks`?)
    E402 9:9 `item` is only there in a fan-out. (add `foreach:`)
    E401 9:22 There is no `nope` in expressions. (text is written in quotes; names are `input`, `tasks`, `item`, `index`, `count`, `run`, `secrets`)
    E401 10:14 The expression ends too early.
    E402 10:19 `index` is only there in a fan-out. (add `foreach:` or `parallel:`)
    E401 11:16 The expression ends too early.
    W001 11:30 The input `b` hides the output of the task `b`. (rename the input) [7:17 its output would be seen under this name]
    E402 11:44 There is no task `zz`. (the tasks are `a`, `b`, `c`, `other`)
    "#);
    assert_snapshot!(told(&below("command: [\"${{ 1 + }}\", \"${{ item }}\"]\nenv: {A: \"${{ tasks.zz.output }}\"}\ncache: {key: \"${{ nope }} ${{ count }}\"}")), @r#"
    E401 8:15 The expression ends too early.
    E402 8:34 `item` is only there in a fan-out. (add `foreach:`)
    E402 9:25 There is no task `zz`. (the tasks are `a`, `b`, `c`, `other`)
    E401 10:23 There is no `nope` in expressions. (text is written in quotes; names are `input`, `tasks`, `item`, `index`, `count`, `run`, `secrets`)
    E402 10:35 `count` is only there in a fan-out. (add `foreach:` or `parallel:`)
    "#);
    assert_snapshot!(told(&below("run: [x]\nenv: {A: \"${{ tasks.zz.output }}\"}")), @r#"
    E104 8:10 `run` must be text, not a list. (use `command:` for a list, or write one text)
    E402 9:25 There is no task `zz`. (the tasks are `a`, `b`, `c`, `other`)
    "#);
}

#[test]
fn a_condition_that_is_never_true_or_false() {
    for (condition, expected) in [
        ("\"'yes'\"", "`'yes'`: it must come to true or false, and comes to the text `\"yes\"`"),
        ("\"1\"", "`1`: it must come to true or false, and comes to the number `1`"),
        ("\"${{ null }}\"", "`null`: it must come to true or false, and comes to null"),
        ("1 + 'a' == 2", "`1 + 'a' == 2`: it cannot add `1` and `\"a\"`"),
    ] {
        let told = told(&below(&format!("run: x\nif: {condition}")));
        let expected = format!("E401 9:9 `if` is always wrong: in {expected}.");
        assert!(told.starts_with(&expected), "{told}");
    }
    good("run: x\nif: 1 < 2");
    good("run: x\nif: \"${{ true }}\"");
    good("run: x\nif: \"'yes' == 'yes' || false\"");
}

#[test]
fn what_an_instance_is_told_hides_inputs() {
    assert_snapshot!(told(&below("run: x\nforeach: b.files\ninput: {item: 1, index: 2, count: 3, other: 4}")), @r#"
    W001 10:13 The input `item` is hidden by the `item` of each instance. (rename the input) [9:5 each instance is given its own]
    W001 10:22 The input `index` is hidden by the `index` of each instance. (rename the input) [9:5 each instance is given its own]
    W001 10:32 The input `count` is hidden by the `count` of each instance. (rename the input) [9:5 each instance is given its own]
    "#);
    assert_snapshot!(told(&below("run: x\nparallel: 2\ninput: {item: 1, index: 2}")), @"W001 10:22 The input `index` is hidden by the `index` of each instance. (rename the input) [9:5 each instance is given its own]");
    good("run: x\ninput: {item: 1, index: 2}");
    good("noop: {}\nparallel: 2\ninput: {item: 1, index: 2}");
}
