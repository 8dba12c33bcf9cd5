//! Mistakes of a workflow.

use super::{check, places, told};
use insta::assert_snapshot;

#[test]
fn twenty_mistakes_are_twenty_diagnostics() {
    let text = r#"nmae: x
name: my flow
timeout: 10
tiers: { heavy: 0 }
schedule: { cron: "0 2 * * *" }
defaults: { run: x, retrys: 2 }
tasks:
  a: { run: x, command: [y] }
  b: { depends_on: [a] }
  c: { run: x, depends_on: [d0, c] }
  d: { run: x, depends_on: [a, a] }
  e: { run: x, depends_on: [f] }
  f: { run: x, depends_on: [e] }
  g: { run: x, tier: lihgt }
  h: { run: x, retries: { max: 1, on: [exit], except: [exit] } }
  i: { run: x, env: { 1A: x, MAINSPRING_RUN: y } }
  l: { run: "echo ${{ x }}" }
  m: { service: x }
  m: { noop: {} }
"#;
    let expected = [
        "E101 1:1",
        "E105 2:7",
        "E107 3:10",
        "E109 4:17",
        "E102 5:1",
        "E111 6:13",
        "E101 6:21",
        "E204 8:16",
        "E203 9:3",
        "E205 10:29",
        "E206 10:33",
        "E207 11:32",
        "E208 12:29",
        "E210 14:22",
        "E211 15:47",
        "E105 16:23",
        "E105 16:30",
        "E401 17:23",
        "E102 18:8",
        "E009 19:3",
    ];
    assert_eq!(places(text), expected);
}

#[test]
fn workflow_fields() {
    assert_snapshot!(told("{}"), @r#"
    E103 1:1 A workflow needs the field `name`. (add `name: nightly-report`)
    E103 1:1 A workflow needs the field `tasks`. (add `tasks: { greet: { run: echo hello } }`)
    "#);
    assert_snapshot!(told("name: w\ntasks: {}"), @"E201 2:1 A workflow needs at least one task. (write each task under `tasks:` by its name)");
    assert_snapshot!(told("name: w\ntasks:"), @"E201 2:1 A workflow needs at least one task. (write each task under `tasks:` by its name)");
    assert_eq!(places("name: w\ntasks: {2026: {noop: {}}}"), ["E010 2:9"]);
    assert_snapshot!(told("name: w\ntasks: [a]"), @"E104 2:8 `tasks` must be a map of tasks, not a list. (write `tasks:` and under it each task by its name)");
    assert_snapshot!(told("name: w\nretries: 1\ntasks: {a: {noop: {}, tasks: x}}"), @r#"
    E101 2:1 `retries` is not a field of a workflow. (`retries` belongs into a task, or into `defaults`)
    E101 3:23 `tasks` is not a field of a task. (`tasks` belongs to the workflow itself)
    "#);
    assert_snapshot!(told("name: 5\ntiers: {a: {rate: 1/s}, b: x, c: {}}\ntasks: {a: 1, b: }"), @r#"
    E104 1:7 `name` must be text, not a number. (put it in quotes)
    E103 2:9 A tier needs the field `limit`. (add `limit: 2`)
    E109 2:19 `1/s` is not a rate. (write starts and a time, like `100/1m`)
    E104 2:28 `b` must be a whole number, not text.
    E103 2:31 A tier needs the field `limit`. (add `limit: 2`)
    E104 3:12 `a` must be a map, not a number. (give it `run: …`, `command: […]` or `noop: {}`)
    E203 3:15 The task `b` does nothing. (give it `run: …`, `command: […]` or `noop: {}`)
    "#);
    assert_snapshot!(told("name: -x\nlabels: {a: [], 'b c': x}\ndescription: 5\ntimeout: 0s\ntasks: {'a b': {noop: {}}, ../x: {noop: {}}}"), @r#"
    E105 1:7 The name `-x` of a workflow is not allowed. (use letters, digits, `_`, `-` and `.`, and begin with a letter or digit)
    E104 2:13 `a` must be text, not a list.
    E105 2:17 The name `b c` of a label is not allowed. (use letters, digits, `_`, `-` and `.`, and begin with a letter or digit)
    E104 3:14 `description` must be text, not a number. (put it in quotes)
    E109 4:10 `timeout` must be longer than 0. (leave it out to have the default)
    E105 5:9 The name `a b` of a task is not allowed. (use letters, digits, `_`, `-` and `.`, and begin with a letter or digit)
    E105 5:28 The name `../x` of a task is not allowed. (use letters, digits, `_`, `-` and `.`, and begin with a letter or digit)
    "#);
    assert_snapshot!(told("name: w\ndefaults: {on_failure: run}\ntasks: {a: {noop: {}}, b: {noop: {}, depends_on: [{task: a, when: started}]}}"), @"E209 3:67 `when: started` contradicts `on_failure: run`. (`on_failure: run` waits until every dependency is settled: keep one of them) [2:24 `on_failure: run` is given here]");
}

#[test]
fn unknown_and_later_fields() {
    check(
        "retires: 1",
        &["E101 1:1 `retires` is not a field of a task. (did you mean `retries`?)"],
    );
    check(
        "failover: before_send",
        &[
            "E102 1:1 `failover` is not supported by this version. (take it out: it is kept for a later version)",
        ],
    );
    check(
        "for_each: z.x",
        &["E101 1:1 `for_each` is not a field of a task. (did you mean `foreach`?)"],
    );
}

#[test]
fn dependencies() {
    check("depends_on: [y]", &["E205 1:14 There is no task `y`. (the tasks are `a`, `z`)"]);
    check("depends_on: z, a", &["E205 1:13 There is no task `z, a`. (write a list: `[z, a]`)"]);
    check(
        "depends_on: 5",
        &["E104 1:13 `depends_on` must be a list of task names, not a number. (write `[a, b]`)"],
    );
    check("depends_on: [[z]]", &["E104 1:14 `depends_on` must be the name of a task, not a list."]);
    check(
        "depends_on: [{when: failed}]",
        &["E103 1:14 A dependency needs the field `task`. (add `task: fetch`)"],
    );
    check(
        "depends_on: [{task: z, when: faild}]",
        &[
            "E106 1:30 `when` must be one of `merged`, `success`, `completed`, `started`, `failed`, `finished`, not `faild`. (did you mean `failed`?)",
        ],
    );
    check(
        "on_failure: run\ndepends_on: [{task: z, when: merged}]",
        &[
            "E209 2:30 `when: merged` contradicts `on_failure: run`. (`on_failure: run` waits until every dependency is settled: keep one of them)",
        ],
    );
    check(
        "always: true\ndepends_on: [{task: z, when: started}]",
        &[
            "E209 2:30 `when: started` contradicts `always: true`. (`always: true` waits until every dependency is settled: keep one of them)",
        ],
    );
    check("always: true\ndepends_on: [{task: z, when: finished}]", &[]);
}

#[test]
fn what_runs_always() {
    check("always: yes", &["E104 1:9 `always` must be true or false, not text. (write `true`)"]);
    check("always: true\ngrace: 30s", &[]);
    check("grace: 30s", &["W002 1:1 `grace` has no effect without `always: true`. (leave it out)"]);
    check(
        "always: true\non_failure: skip",
        &["W002 2:1 `on_failure: skip` has no effect beside `always: true`. (leave it out)"],
    );
    check("always: false\non_failure: skip", &[]);
    check("checkpoint: 1", &["E104 1:13 `checkpoint` must be true or false, not a number."]);
}

#[test]
fn cycles_are_told_once_each() {
    let text = "
name: w
tasks:
  a: { noop: {}, depends_on: [c] }
  b: { noop: {}, depends_on: [a] }
  c: { noop: {}, depends_on: [b, x] }
  x: { noop: {}, depends_on: [y] }
  y: { noop: {}, depends_on: [x] }
  below: { noop: {}, depends_on: [a, x] }
";
    assert_snapshot!(told(text), @r#"
    E208 4:31 These tasks wait for each other: a -> c -> b -> a. (take one of these dependencies out) [4:31 `a` waits for `c`] [6:31 `c` waits for `b`] [5:31 `b` waits for `a`]
    E208 7:31 These tasks wait for each other: x -> y -> x. (take one of these dependencies out) [7:31 `x` waits for `y`] [8:31 `y` waits for `x`]
    "#);
}

#[test]
fn durations_and_sizes() {
    check("timeout: 10", &["E107 1:10 `10` has no unit. (write `10s` for seconds)"]);
    check("timeout: \"1.5\"", &["E107 1:10 `1.5` has no unit. (write `1.5s` for seconds)"]);
    check("timeout: 5 minutes", &["E107 1:10 `5 minutes` is not a duration. (did you mean `5m`?)"]);
    check(
        "timeout: 0s",
        &["E109 1:10 `timeout` must be longer than 0. (leave it out to have the default)"],
    );
    check("timeout: 367d", &["E109 1:10 `timeout` must be at most 366d."]);
    check(
        "timeout:",
        &[
            "E104 1:1 `timeout` must be a duration, not empty. (write it like `250ms`, `10s`, `5m`, `1h30m` or `2d`)",
        ],
    );
    check("kill_grace: 0s", &[]);
    check("log_limit: 2GiB", &["E109 1:12 `log_limit` must be from 1 to 1073741824 bytes."]);
    check("log_limit: 10MB", &[]);
}

#[test]
fn retries() {
    check("retries: -1", &["E109 1:10 `retries` must be from 0 to 10000, and is -1."]);
    check("retries: {delay: 1s}", &["E103 1:1 `retries` needs the field `max`. (add `max: 3`)"]);
    check(
        "retries: {max: 1, factor: 0.5}",
        &[
            "E109 1:27 `factor` must be at least 1, and is 0.5. (`1` keeps the delay as it is, `2` doubles it each time)",
        ],
    );
    check(
        "retries: {max: 1, on: [rejected]}",
        &["E212 1:24 `rejected` is a person's decision and never retried. (leave it out)"],
    );
    check(
        "retries: {max: 1, on: []}",
        &["E211 1:23 `on` is empty, so nothing would be retried. (write `max: 0`)"],
    );
    check(
        "retries: {max: 1, on: exti}",
        &["E106 1:23 There is no error class `exti`. (did you mean `exit`?)"],
    );
    check(
        "retries: {max: 1, delay: 2m, max_delay: 1m}",
        &[
            "E211 1:41 `max_delay` (1m) is below `delay` (2m). (no delay is longer than `max_delay`: raise it, or lower `delay`)",
        ],
    );
    check(
        "retries: {max: 1, jitter: yes}",
        &["E104 1:27 `jitter` must be true or false, not text. (write `true`)"],
    );
}

#[test]
fn actions_and_what_programs_are_given() {
    check(
        "noop: {}",
        &[
            "E204 1:1 A task does one thing: `noop` beside `run`. (make two tasks, and `depends_on` between them)",
        ],
    );
    check(
        "env: {A: null, B: [1], C: {}}",
        &[
            "E104 1:10 `A` must be text, a number, true or false, not null. (write `\"\"` for an empty value)",
            "E104 1:19 `B` must be text, a number, true or false, not a list.",
            "E103 1:24 A variable that is no text needs the field `secret`. (add `secret: api-token`)",
        ],
    );
    check("workdir: ' '", &["E110 1:10 `workdir` is empty. (write `workdir: build`)"]);
    check("output: stdin", &["E106 1:9 `output` must be one of `file`, `stdout`, not `stdin`."]);
    check("input: [1]", &["E104 1:8 `input` must be a map, not a list. (write `{name: value}`)"]);
    check("priority: 1.5", &["E104 1:11 `priority` must be a whole number, not a number."]);
    let big = format!("env: {{A: {}}}", "x".repeat(70_000));
    check(&big, &["E110 1:10 `A` has 70000 bytes, at most 65536 are allowed. (put it in a file)"]);
    assert_snapshot!(told("name: w\ntasks:\n  a: {command: ls -l}\n  b: {command: []}\n  c: {command: [x, [y], null]}\n  d: {run: ''}\n  e: {run: 5}\n  f: {noop: true}\n  g: {noop: {x: 1}}\n  h: {command: ['']}\n"), @r#"
    E104 3:16 `command` must be a list, not text. (write `[program, argument]`, or use `run:` for a shell line)
    E110 4:16 `command` names no program. (write `[program, argument]`, or use `run:` for a shell line)
    E104 5:20 An argument must be text, not a list.
    E104 5:25 An argument must be text, not null. (write `""` for an empty one)
    E110 6:12 `run` is empty. (write `run: ./fetch.sh --all`)
    E104 7:12 `run` must be text, not a number. (put it in quotes)
    E104 8:13 `noop` must be an empty map, not true or false. (write `noop: {}`)
    E101 9:14 `x` is not a field of this action.
    E110 10:16 `command` names no program. (write `[program, argument]`, or use `run:` for a shell line)
    "#);
}

#[test]
fn warnings_do_not_refuse() {
    check(
        "depends_on: [z]\ninput: {z: 1, y: 2}",
        &["W001 2:9 The input `z` hides the output of the task `z`. (rename the input)"],
    );
    let text = "name: w\ntasks:\n  a: {noop: {}, env: {A: x}, timeout: 5s, tier: gpu}\n  b: {noop: {}, depends_on: [a], input: {a: 1}}\n";
    assert_eq!(places(text), ["W002 3:17", "W002 3:30", "W002 3:43"]);
    assert!(super::read(text).is_ok());
}

#[test]
fn warnings_push_out_no_error() {
    let noops: String = (0..250).map(|n| format!("  n{n}: {{noop: {{}}, workdir: x}}\n")).collect();
    let text = format!("name: w\ntasks:\n{noops}  z: {{run: x, timeout: nonsense}}\n");
    let found = super::read(&text).expect_err("refused");
    let errors: Vec<_> =
        found.iter().filter(|d| d.severity == crate::spec::Severity::Error).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(found.len(), crate::limits::DIAGNOSTICS_MAX + 1);
}

#[test]
fn only_so_many_are_told() {
    let tasks: String = (0..1_000).map(|n| format!("  t{n}: {{run: x, timeout: 5}}\n")).collect();
    let found = super::read(&format!("name: w\ntasks:\n{tasks}")).expect_err("refused");
    assert_eq!(found.len(), crate::limits::DIAGNOSTICS_MAX + 1);
    assert_eq!(found.last().expect("some").message, "800 more problems are not shown.");
}

#[test]
fn bounds_are_exact() {
    let workflow =
        |name: usize| format!("name: {}\ntasks: {{a: {{noop: {{}}}}}}", "n".repeat(name));
    assert_eq!(places(&workflow(128)), [""; 0]);
    assert_eq!(places(&workflow(129)), ["E105 1:7"]);
    check(&format!("env: {{A: {}}}", "x".repeat(65_536)), &[]);
    check("priority: 1000000\nretries: {max: 10000, factor: 1}\ntimeout: 366d", &[]);
    check(
        "priority: 1000001",
        &["E109 1:11 `priority` must be from -1000000 to 1000000, and is 1000001."],
    );
}

#[test]
fn actions_and_dependencies_are_no_defaults() {
    let text =
        "name: w\ndefaults: {depends_on: [a], noop: {}, command: [x]}\ntasks: {a: {noop: {}}}";
    assert_eq!(places(text), ["E111 2:12", "E111 2:29", "E111 2:39"]);
}

#[test]
fn a_command_with_a_bad_program_is_told_once() {
    assert_eq!(places("name: w\ntasks: {a: {command: [[x]]}}"), ["E104 2:23"]);
}

#[test]
fn fan_outs_name_tasks_above_them() {
    check(
        "foreach: z.x",
        &["E213 1:10 `z` does not come before `a`. (add `z` to its `depends_on`)"],
    );
    check(
        "parallel: z",
        &["E213 1:11 `z` does not come before `a`. (add `z` to its `depends_on`)"],
    );
    check("depends_on: z\nforeach: z.x", &[]);
    check(
        "depends_on: z\nforeach: zz.x",
        &["E205 2:10 There is no task `zz`. (the tasks are `a`, `z`)"],
    );
    check(
        "depends_on: z\nforeach: z..x",
        &["E110 2:10 `z..x` names a field without a name. (write `task.field`)"],
    );
    check(
        "depends_on: z\nforeach: \"z.files[0]\"",
        &[
            "E110 2:10 `z.files[0]` is not a path: it has names only. (write `task.field`; what is inside a list the task can put out by a name)",
        ],
    );
    check(
        "depends_on: z\nparallel: z[0].n",
        &[
            "E110 2:11 `z[0].n` is not a path: it has names only. (write `task.field`; what is inside a list the task can put out by a name)",
        ],
    );
}

#[test]
fn fan_outs_have_numbers_in_range() {
    check("parallel: 0", &[]);
    check("parallel: -1", &["E109 1:11 `parallel` must be from 0 to 100000, and is -1."]);
    check("parallel: 100001", &["E109 1:11 `parallel` must be from 0 to 100000, and is 100001."]);
    check(
        "parallel: \"4\"",
        &[
            "E104 1:11 `parallel` must be a number, or where one is, not text. (leave out the quotes: `parallel: 4`)",
        ],
    );
    check(
        "parallel: 2\nconcurrency: 0",
        &["E109 2:14 `concurrency` must be from 1 to 1000000, and is 0."],
    );
    check(
        "parallel: true",
        &[
            "E104 1:11 `parallel` must be a number, or where one is, not true or false. (write a number, or `task.field`, the place of one in what a task puts out)",
        ],
    );
    check(
        "foreach: 3",
        &[
            "E104 1:10 `foreach` must be a list, or where one is, not a number. (write `task.field`, the place of a list in what a task puts out, or a list)",
        ],
    );
    check(
        "parallel: 2\nfailure_strategy: fast",
        &[
            "E106 2:19 `failure_strategy` must be one of `collect_errors`, `fail_fast`, `ignore_errors`, not `fast`.",
        ],
    );
    check(
        "concurrency: 2",
        &[
            "W002 1:1 `concurrency` has no effect on a task that is no fan-out. (leave it out, or add `foreach:` or `parallel:`)",
        ],
    );
}

#[test]
fn what_tells_instances_apart_is_no_name_of_a_task() {
    for name in ["item", "index", "count"] {
        let text = format!("name: w\ntasks: {{{name}: {{noop: {{}}}}}}");
        let expected = format!(
            "E105 2:9 A task may not be called `{name}`: the name is reserved. (choose another \
             name: `item`, `index` and `count` are for fan-out)"
        );
        assert_eq!(told(&text).trim(), expected);
    }
}
