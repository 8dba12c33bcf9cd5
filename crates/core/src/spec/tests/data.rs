//! Schemas of outputs, caches, artifacts.

use super::super::definition::*;
use super::{check, one, read, told};
use crate::ids::TaskNo;
use crate::time::Span;
use crate::work::ArtifactWanted;
use insta::assert_snapshot;

fn task(fields: &str) -> Task {
    read(&one(fields)).expect("good").definition.tasks.remove(0)
}

#[test]
fn schemas_of_outputs() {
    let task = task("run: x\noutputs: {type: array, items: {type: integer}}");
    assert!(task.has_output_schema());
    let json = |text| crate::json::Json::parse(text).expect("JSON");
    assert_eq!(task.check_output(Some(&json("[1, 2]"))), Ok(()));
    let told_of = task.check_output(Some(&json("[1, true]"))).expect_err("no integer");
    assert_snapshot!(told_of, @r#"its output does not match `outputs` at `/1`: true is not of type "integer""#);
    assert_snapshot!(task.check_output(None).expect_err("nothing"), @r#"it put out nothing, and `outputs` asks for more: null is not of type "array""#);
    check(
        "outputs: {type: arry}",
        &[
            "E301 1:17 There is no type `arry`. (use object, array, string, number, integer, boolean or null)",
        ],
    );
    check(
        "outputs: 5",
        &[
            "E104 1:10 `outputs` must be a JSON Schema, not a number. (write a JSON Schema, such as `{type: object, properties: {…}}`)",
        ],
    );
    check(
        "outputs: {properties: {a: {$ref: 'http://x/y'}}}",
        &[
            "E302 1:34 The reference `http://x/y` leads out of this schema. (copy what it refers to under `$defs`, and write `#/$defs/…`)",
        ],
    );
}

#[test]
fn caches() {
    let cache = task("run: x\ncache: {key: a}").cache.expect("given");
    assert_eq!((cache.key.fixed(), cache.ttl), (Some("a"), Span::from_secs(86_400)));
    assert_eq!(
        task("run: x\ncache: {key: a, ttl: 5m}").cache.expect("given").ttl,
        Span::from_secs(300)
    );
    check("cache: {}", &["E103 1:1 A cache needs the field `key`. (add `key: v1-monday`)"]);
    check(
        "cache: {key: \"\", ttl: 0s}",
        &[
            "E110 1:14 `key` is empty.",
            "E109 1:23 `ttl` must be longer than 0. (leave it out to have the default)",
        ],
    );
    check(
        "cache: x",
        &[
            "E104 1:8 `cache` must be a map, not text. (write `{field: value}`, or the fields on lines of their own below it)",
        ],
    );
}

#[test]
fn artifacts() {
    let text = "name: w\ntasks:\n  a: {run: x, artifacts: {out: [one, sub/two]}}\n  b: {run: x, depends_on: a, artifacts: {in: [a], out: [\"x-${{ run.id }}\"]}}\n  c: {run: x, depends_on: b, artifacts: {in: [a/sub/two, b/x-1]}}\n";
    let tasks = read(text).expect("good").definition.tasks;
    let of = |task: &Task| match &task.action {
        Action::Process(process) => process.artifacts.clone(),
        _ => panic!("a process"),
    };
    let out: Vec<String> = of(&tasks[0]).out.iter().map(|path| path.source().to_owned()).collect();
    assert_eq!(out, ["one", "sub/two"]);
    assert_eq!(of(&tasks[1]).wanted, [ArtifactWanted { task: TaskNo(0), path: None }]);
    let wanted =
        |task, path: &str| ArtifactWanted { task: TaskNo(task), path: Some(path.to_owned()) };
    assert_eq!(of(&tasks[2]).wanted, [wanted(0, "sub/two"), wanted(1, "x-1")]);
    assert_eq!(tasks[2].reads, [TaskNo(0)]);
    assert!(tasks[1].needs_store() && !tasks[0].needs_store());
}

#[test]
fn artifacts_that_cannot_be() {
    assert_snapshot!(told(&one("run: x\nartifacts: {out: [/etc/passwd, ../x, a, a, a//b, 5, [x]], in: [z, y, a, {}]}")), @r#"
    E214 5:23 The path `/etc/passwd` is absolute. (write a path below the task's directory, such as `out/report.csv`)
    E214 5:36 The path `../x` has a step that is `.` or `..`. (write a path below the task's directory, such as `out/report.csv`)
    E214 5:45 The artifact `a` is given twice. (keep one of them)
    E214 5:48 The path `a//b` has a step without a name. (write a path below the task's directory, such as `out/report.csv`)
    E104 5:57 `out` must be text, not a list.
    E205 5:68 There is no task `z`. (the tasks are `a`)
    E205 5:71 There is no task `y`. (the tasks are `a`)
    E213 5:74 `a` does not come before `a`. (add `a` to its `depends_on`)
    E104 5:77 `in` must be the name of a task, not a map. (write `task` or `task/path`)
    "#);
    assert_snapshot!(told("name: w\ntasks:\n  a: {run: x, artifacts: {out: [report.csv]}}\n  b: {run: x, depends_on: a, artifacts: {in: [a/reprot.csv, a/x], out: x}}\n  c: {run: x, artifacts: {in: [a]}}\n  d: {run: x, depends_on: c, artifacts: {in: [c]}}\n  e: {noop: {}, artifacts: {out: [x]}}\ndefaults: {artifacts: {}}\n"), @r#"
    E214 4:47 The task `a` leaves no artifact `reprot.csv`. (did you mean `report.csv`?)
    E214 4:61 The task `a` leaves no artifact `x`. (`a` leaves `report.csv`)
    E104 4:72 `out` must be a list, not text. (write `[path, path]`)
    E213 5:32 `a` does not come before `c`. (add `a` to its `depends_on`)
    E214 6:47 The task `c` leaves no artifacts. (add `artifacts: { out: [path] }` to `c`)
    W002 7:17 `artifacts` has no effect on a `noop` task. (leave it out)
    E111 8:12 `artifacts` cannot be a default. (give it to each task)
    "#);
}

#[test]
fn noops_are_worked_out_when_they_have_to_be() {
    assert!(!task("noop: {}\ninput: {a: 1}").needs_answer());
    assert!(task("noop: {}\ninput: {a: \"${{ input.x }}\"}").needs_answer());
    assert!(task("noop: {}\nif: input.x").needs_answer());
    assert!(!task("noop: {}\nif: true").needs_answer());
    assert!(task("noop: {}\noutputs: {}").needs_answer());
    assert!(!task("noop: {}\nparallel: 3\ninput: {a: \"${{ index }}\"}").needs_answer());
    assert!(task("noop: {}\nforeach: [1, 2]").needs_answer());
    let large = format!("noop: {{}}\ninput: {{a: {}}}", "x".repeat(300_000));
    assert!(task(&large).needs_answer(), "it does not fit into a row");
    assert!(!task("run: x").needs_answer());
}

#[test]
fn what_may_take_long_to_work_out_is_known() {
    for plain in [
        "run: echo $(date) ${{ input.x }}",
        "run: x\ninput: {a: [\"${{ input.x + 1 }}\"]}",
        "command: [x, \"(y)\"]",
    ] {
        assert!(!task(plain).has_calls(), "{plain}");
    }
    for calls in [
        "run: echo ${{ size(input.x) }}",
        "command: [x, \"a ${{ input.l.map(x, x) }}\"]",
        "run: x\ninput: {a: [{b: \"${{ input.x.matches('a') }}\"}]}",
        "run: x\nenv: {A: \"${{ input.l.exists(x, x == 1) }}\"}",
        "run: x\nworkdir: \"${{ string(input.x) }}\"",
        "run: x\nartifacts: {out: [\"${{ string(input.x) }}\"]}",
    ] {
        assert!(task(calls).has_calls(), "{calls}");
    }
}
